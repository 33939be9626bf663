"""`crows_pairs`: CrowS-Pairs by a language model or from scores of its pairs (Nangia et al. 2020).

Pairs were written by 77 writers, some of whom wrote a hundred: intervals are over writers. Blodgett et al. (2021) list
what is wrong with many of the pairs; no interval says anything about that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from biasgauge import registry
from biasgauge.analyses.likelihood.benchmark_scores import DEFAULTS, models_of
from biasgauge.analyses.likelihood.measure import LikelihoodMeasure
from biasgauge.analyses.likelihood.models import ModelLike, kind_of
from biasgauge.analyses.likelihood.preferences import NO_SCORE, Ties
from biasgauge.analyses.likelihood.sentence_pairs.files import read_pair_scores, read_pairs
from biasgauge.analyses.likelihood.sentence_pairs.result import PairPreferences
from biasgauge.analyses.likelihood.sentence_pairs.scoring import ScoredPairs, preferences, score_by_models
from biasgauge.core import JsonObject, check_level, check_number
from biasgauge.errors import ParameterError

FAULTS = "Many of the pairs are faulty (Blodgett et al. 2021); no interval accounts for that."
_DECIMALS = 3


def crows_pairs(
    data: str | os.PathLike[str],
    *,
    model: ModelLike | Sequence[ModelLike] | None = None,
    predictions: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None = None,
    measures: str | LikelihoodMeasure | Sequence[str | LikelihoodMeasure] | None = None,
    as_published: bool = False,
    start: str | None = None,
    min_coverage: float = 0.8,
    level: float = 0.95,
    progress: Callable[[int, int], None] | None = None,
) -> PairPreferences:
    """Percent of CrowS-Pairs in which the more stereotypical sentence is preferred, with intervals over writers.

    Args:
        data: `crows_pairs_anonymized.csv`, compressed or not.
        model: a language model to score the pairs with; several for replicates.
        predictions: scores of the pairs in the place of a model: a CSV file with id, sent_more_score and
            sent_less_score; several for replicates.
        measures: one or several likelihood measures; by default "cps" for masked models, "causal-sum" and "causal-mean"
            for causal ones.
        as_published: as the released codes do: their own version of the measures, scores rounded to 3 decimals, ties
            left in the denominator.
        start: the token that a causal model reads first, such as "<|endoftext|>"; by default what parts documents, else
            the beginning of a text. Results say which it was.
        min_coverage: share of pairs that must be defined for a number to be.
        level: nominal coverage of the intervals.
        progress: called with (done, total).

    Raises:
        ParameterError: not exactly one of model and predictions is given, or a setting cannot be used.
        InputError: a file is not what it should be.
    """
    check_number(0, 1, min_coverage=min_coverage)
    check_level(level)
    if (model is None) == (predictions is None):
        raise ParameterError("CrowS-Pairs needs a model or predictions, and not both.")
    pairs = read_pairs(data)
    ties: Ties = "published" if as_published else "undefined"
    unit = "writers" if any(pair.cluster != pair.identifier for pair in pairs) else "pairs"
    settings: JsonObject = {"ties": ties, "min_coverage": min_coverage, "level": level, "unit": unit}
    settings |= {"data": Path(data).name, "as_published": as_published}
    if predictions is not None:
        for name, setting in (("measures", measures), ("start", start)):
            if setting is not None:
                raise ParameterError(f"The {name!r} parameter is for a model; predictions are scores already.")
        files = [predictions] if isinstance(predictions, str | os.PathLike) else list(predictions)
        tables = np.stack([read_pair_scores(file, [pair.identifier for pair in pairs]) for file in files])
        tables = np.round(tables, _DECIMALS) if as_published else tables
        lost = [{int(at): NO_SCORE for at in np.flatnonzero(~np.isfinite(table).all(axis=1))} for table in tables]
        scored = ScoredPairs({"predictions": tables}, {"predictions": lost}, tuple(Path(file).stem for file in files))
    elif model is not None:
        rules = _rules(measures, models_of(model)[0], released=as_published)
        scored = score_by_models(model, pairs, rules, progress, start)
        settings |= {"start": scored.start}
    return preferences("CrowS-Pairs", pairs, scored, settings, (FAULTS,))


def _rules(
    measures: str | LikelihoodMeasure | Sequence[str | LikelihoodMeasure] | None, model: ModelLike, *, released: bool
) -> list[LikelihoodMeasure]:
    """Measures, each as released code has it where that is asked for and differs."""
    if measures is None:
        usual = {**DEFAULTS, "masked": "cps"}[kind_of(model)]
        measures = ("causal-sum", "causal-mean") if usual == "causal-mean" else usual
    listed = [measures] if isinstance(measures, str | LikelihoodMeasure) else list(measures)
    rules = [registry.get("likelihood_measure", measure) for measure in listed]
    return [registry.get("likelihood_measure", rule.released) if released and rule.released else rule for rule in rules]

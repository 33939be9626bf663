"""Scores of sentences and of pairs by a language model and a measure, with the reason where there is none."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from biasgauge import registry
from biasgauge.analyses.likelihood.context_association.files import Cluster
from biasgauge.analyses.likelihood.measure import LikelihoodMeasure, Pair
from biasgauge.analyses.likelihood.models import LanguageModel, ModelLike, Sentence, kind_of, language_model
from biasgauge.core import Floats
from biasgauge.errors import ParameterError

Progress = Callable[[int, int], None]
DEFAULTS = {"masked": "aul", "causal": "causal-mean"}
_CHUNK = 256
"""Sentences or pairs scored between two reports of progress; results do not depend on it."""


class PairTable(NamedTuple):
    """Scores of pairs × 2, NaN where undefined, and why by place."""

    scores: Floats
    reasons: Mapping[int, str]


class ClusterScores(NamedTuple):
    """Scores of the sentences of StereoSet, models × sentences, with reasons by the id of the sentence."""

    table: Floats
    names: tuple[str, ...]
    reasons: Mapping[str, str]
    warnings: tuple[str, ...]
    measure: str
    start: str | None


def models_of(models: ModelLike | Sequence[ModelLike]) -> list[ModelLike]:
    """One model or several as a list.

    Raises:
        ParameterError: there is none.
    """
    in_memory = isinstance(models, tuple) and len(models) == 2 and hasattr(models[0], "config")
    single = in_memory or isinstance(models, str | os.PathLike) or not isinstance(models, Sequence)
    listed: list[Any] = [models] if single else list(models)  # type: ignore[arg-type]
    if not listed:
        raise ParameterError("At least one model is needed.")
    return listed


def measure_named(measure: str | LikelihoodMeasure | None, model: ModelLike) -> LikelihoodMeasure:
    """A measure by name; by default the plain one for the model's kind."""
    return registry.get("likelihood_measure", DEFAULTS[kind_of(model)] if measure is None else measure)


def open_model(source: ModelLike, measure: LikelihoodMeasure, start: str | None = None) -> LanguageModel:
    """The model, of the kind that the measure asks, with the token that a causal one reads first.

    Raises:
        ParameterError: the model is of the other kind.
    """
    kind = kind_of(source) if not isinstance(source, LanguageModel) else source.kind
    if measure.needs not in {"any", kind}:
        raise ParameterError(f"The measure {measure.name!r} needs a {measure.needs} language model. Got a {kind} one.")
    return language_model(source, kind, start=start)


def score_pair_list(
    model: LanguageModel, pairs: Sequence[Pair], measure: LikelihoodMeasure, progress: Progress | None = None
) -> PairTable:
    """Scores of both sentences of each pair; a pair is undefined where one of them cannot be read."""
    scores = np.full((len(pairs), 2), np.nan)
    reasons: dict[int, str] = {}
    tokens = model.tokens([sentence for pair in pairs for sentence in pair])
    readable = []
    for place in range(len(pairs)):
        own = tokens[2 * place : 2 * place + 2]
        problem = next((reason for reason in map(model.problem, own) if reason), None)
        if problem is None:
            readable.append(place)
        else:
            reasons[place] = problem
    readable.sort(key=lambda place: len(tokens[2 * place]) + len(tokens[2 * place + 1]))
    for start in range(0, len(readable), _CHUNK):
        chunk = readable[start : start + _CHUNK]
        both = [(tokens[2 * place], tokens[2 * place + 1]) for place in chunk]
        scores[chunk] = measure.of_pairs(model, both, [pairs[place] for place in chunk])
        if progress is not None:
            progress(min(start + _CHUNK, len(readable)), len(readable))
    for place in readable:
        if not np.isfinite(scores[place]).all():
            scores[place] = np.nan
            reasons[place] = measure.undefined
    return PairTable(scores, reasons)


def score_clusters(
    models: Any,  # noqa: ANN401 - one model or several
    clusters: Sequence[Cluster],
    measure: str | LikelihoodMeasure | None,
    progress: Progress | None,
    start: str | None = None,
) -> ClusterScores:
    """Scores of all sentences of StereoSet: intersentence ones given their context.

    Raises:
        ParameterError: the measure scores pairs, not sentences.
    """
    listed = models_of(models)
    rule = measure_named(measure, listed[0])
    if not rule.by_sentence:
        raise ParameterError(
            f"The measure {rule.name!r} compares two sentences, and StereoSet has three; use aul, pll or causal-mean."
        )
    sentences = [
        Sentence(text, cluster.context if cluster.split == "intersentence" else "")
        for cluster in clusters
        for text in cluster.texts
    ]
    ids = [sentence for cluster in clusters for sentence in cluster.sentences]
    # Two by two, so that one way of scoring serves pairs and clusters alike; the last may stand beside itself.
    padded = [*sentences, *sentences[-1:]] if len(sentences) % 2 else sentences
    pairs = [(padded[place], padded[place + 1]) for place in range(0, len(padded), 2)]
    rows, names, read_first = [], [], None
    reasons: dict[str, str] = {}
    for count, source in enumerate(listed):
        model = open_model(source, rule, start)

        def told(done: int, total: int, count: int = count) -> None:
            if progress is not None:
                progress(count * total + done, len(listed) * total)

        table = score_pair_list(model, pairs, rule, told)
        flat, lost = table.scores.reshape(-1)[: len(ids)], dict(table.reasons)
        if lost:  # a sentence is undefined for itself, not for the one that happened to stand beside it
            flat = _alone(model, sentences, rule, flat, ids, lost, reasons)
        rows.append(flat)
        names.append(model.name)
        read_first = model.start_token
    warnings = (f"{len(reasons):,} sentences cannot be scored.",) if reasons else ()
    return ClusterScores(np.array(rows), tuple(names), reasons, warnings, rule.name, read_first)


def _alone(
    model: LanguageModel,
    sentences: Sequence[Sentence],
    rule: LikelihoodMeasure,
    flat: Floats,
    ids: Sequence[str],
    lost: Mapping[int, str],
    reasons: dict[str, str],
) -> Floats:
    places = [place for pair in lost for place in (2 * pair, 2 * pair + 1) if place < len(ids)]
    again = score_pair_list(model, [(sentences[place], sentences[place]) for place in places], rule)
    scores = flat.copy()
    for row, place in enumerate(places):
        scores[place] = again.scores[row, 0]
        if row in again.reasons:
            reasons[ids[place]] = again.reasons[row]
    return scores

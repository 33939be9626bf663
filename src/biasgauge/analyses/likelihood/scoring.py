"""Scores of sentences and of pairs by a language model and a measure; preferences between two scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from biasgauge import registry
from biasgauge.analyses.likelihood.benchmark_files import Cluster
from biasgauge.analyses.likelihood.models import (
    LanguageModel,
    LikelihoodMeasure,
    ModelLike,
    Sentence,
    SentenceMeasure,
    kind_of,
    language_model,
)
from biasgauge.core import Estimate, Flags, Floats, Record, check_level, check_number
from biasgauge.errors import ParameterError
from biasgauge.results import Chart, chart_of_rows

Progress = Callable[[int, int], None]
DEFAULTS = {"masked": "aul", "causal": "causal-mean"}
_CHUNK = 256
"""Sentences or pairs scored between two reports of progress; results do not depend on it."""
NO_SCORE = "it has no score"
NOT_FINITE = "its score is not a finite number"
Ties = Literal["published", "undefined"]
TIES: dict[Ties, str] = {
    "undefined": "they are undefined and left out",
    "published": "they count as not preferring the first sentence, as in the released code",
}
"""Treatment of two equal scores."""


@dataclass(frozen=True)
class Undefined(Record):
    """Something without a value: its id and the reason."""

    id: str
    reason: str


class Scored(NamedTuple):
    """Scores, NaN where undefined, and the reasons by index."""

    scores: Floats
    reasons: Mapping[int, str]


class ScoredPairs(NamedTuple):
    """Scores by measure: models × pairs × 2, with reasons by model and index; and what causal models read first.

    Of single sentences: models × sentences × 1.
    """

    tables: Mapping[str, Floats]
    reasons: Mapping[str, Sequence[Mapping[int, str]]]
    models: tuple[str, ...]
    start: str | None = None


def models_of(models: ModelLike | Sequence[ModelLike]) -> list[ModelLike]:
    """One model or several as a list."""
    in_memory = isinstance(models, tuple) and len(models) == 2 and hasattr(models[0], "config")
    single = in_memory or isinstance(models, str | os.PathLike) or not isinstance(models, Sequence)
    sources: list[Any] = [models] if single else list(models)  # type: ignore[arg-type]
    if not sources:
        raise ParameterError("At least one model is needed.")
    return sources


def measure_named(measure: str | LikelihoodMeasure | None, model: ModelLike) -> LikelihoodMeasure:
    """A measure by name; by default the plain one for the model's kind."""
    return registry.get("likelihood_measure", DEFAULTS[kind_of(model)] if measure is None else measure)


def open_model(source: ModelLike, measure: LikelihoodMeasure, start: str | None = None) -> LanguageModel:
    """The model, of the kind that the measure asks, with the token that a causal one reads first."""
    kind = kind_of(source) if not isinstance(source, LanguageModel) else source.kind
    if measure.needs not in {"any", kind}:
        raise ParameterError(f"The measure {measure.name!r} needs a {measure.needs} language model. Got a {kind} one.")
    return language_model(source, kind, start=start)


def score_pair_list(
    model: LanguageModel,
    pairs: Sequence[tuple[Sentence, ...]],
    measure: LikelihoodMeasure,
    progress: Progress | None = None,
) -> Scored:
    """Scores of both sentences of each pair, or of single sentences; shorter ones are scored first.

    A pair is undefined where one of its sentences cannot be read, or has no score.
    """
    width = len(pairs[0]) if pairs else 1
    tokens = model.tokens([sentence for pair in pairs for sentence in pair])
    units = [tuple(tokens[start : start + width]) for start in range(0, len(tokens), width)]
    scores = np.full((len(units), width), np.nan)
    problems = [next(filter(None, map(model.problem, unit)), None) for unit in units]
    reasons = {index: problem for index, problem in enumerate(problems) if problem is not None}
    readable = [index for index, problem in enumerate(problems) if problem is None]
    readable.sort(key=lambda index: sum(map(len, units[index])))
    for start in range(0, len(readable), _CHUNK):
        chunk = readable[start : start + _CHUNK]
        scores[chunk] = measure.score_units(model, [units[index] for index in chunk])
        if progress is not None:
            progress(min(start + _CHUNK, len(readable)), len(readable))
    for index in readable:
        if not np.isfinite(scores[index]).all():
            scores[index], reasons[index] = np.nan, measure.undefined
    return Scored(scores, reasons)


def score_by_models(
    models: ModelLike | Sequence[ModelLike],
    units: Sequence[tuple[Sentence, ...]],
    measures: str | LikelihoodMeasure | Sequence[str | LikelihoodMeasure] | None,
    progress: Progress | None,
    start: str | None = None,
) -> ScoredPairs:
    """Scores of pairs, or of sentences, by every model and measure; each model is let go before the next is loaded."""
    sources = models_of(models)
    single = measures is None or isinstance(measures, str | LikelihoodMeasure)
    rules = [measure_named(measure, sources[0]) for measure in ([measures] if single else measures)]  # type: ignore[union-attr, arg-type]
    if not rules or len({rule.name for rule in rules}) < len(rules):
        raise ParameterError("Measures must be distinct, and at least one.")
    tables: dict[str, list[Floats]] = {rule.name: [] for rule in rules}
    reasons: dict[str, list[Mapping[int, str]]] = {rule.name: [] for rule in rules}
    names, read_first = [], None
    for count, source in enumerate(sources):
        language = open_model(source, rules[0], start)
        for index, rule in enumerate(rules, count * len(rules)):
            report = part_of(progress, index, len(sources) * len(rules))
            scored = score_pair_list(open_model(language, rule), units, rule, report)
            tables[rule.name].append(scored.scores)
            reasons[rule.name].append(scored.reasons)
        names.append(language.name)
        read_first = language.start_token
    if len(set(names)) < len(names):
        names = [f"{name} {number}" for number, name in enumerate(names, 1)]
    return ScoredPairs({name: np.stack(rows) for name, rows in tables.items()}, reasons, tuple(names), read_first)


def score_clusters(
    models: ModelLike | Sequence[ModelLike],
    clusters: Sequence[Cluster],
    measure: str | LikelihoodMeasure | None,
    progress: Progress | None,
    start: str | None = None,
) -> ScoredPairs:
    """Scores of all sentences of StereoSet: intersentence ones given their context.

    Raises:
        ParameterError: the measure scores pairs, not sentences.
    """
    rule = measure_named(measure, models_of(models)[0])
    if not isinstance(rule, SentenceMeasure):
        raise ParameterError(
            f"The measure {rule.name!r} compares two sentences, and StereoSet has three; use aul, pll or causal-mean."
        )
    sentences = [
        (Sentence(text, cluster.context if cluster.split == "intersentence" else ""),)
        for cluster in clusters
        for text in cluster.texts
    ]
    return score_by_models(models, sentences, rule, progress, start)


def check_benchmark(
    name: str, model: object, predictions: object, min_coverage: float, level: float, **of_models: object
) -> None:
    """Refuse settings of a benchmark that cannot be used; `of_models` are those that predictions have no use for."""
    check_number(0, 1, min_coverage=min_coverage)
    check_level(level)
    if (model is None) == (predictions is None):
        raise ParameterError(f"{name} needs predictions or a model, and not both.")
    for parameter, setting in of_models.items():
        if predictions is not None and setting is not None:
            raise ParameterError(f"The {parameter!r} parameter is for a model; predictions are scores already.")


def part_of(progress: Progress | None, index: int, count: int) -> Progress | None:
    """Progress of one of several equal parts, reported as progress of the whole."""
    if progress is None:
        return None
    return lambda done, total: progress(index * total + done, count * total)


def preferred(first: Floats, second: Floats, tied: Ties) -> Floats:
    """1 where the first scores higher, 0 where the second does, NaN where that is undefined.

    A sentence without a score leaves its comparisons undefined. Of two equal scores neither is preferred: "undefined"
    leaves the comparison out, "published" leaves it in the denominator alone, as released codes do, which lowers the
    share.
    """
    wins: Floats = np.where(np.asarray(first) > np.asarray(second), 1.0, 0.0)
    undefined = ~(np.isfinite(first) & np.isfinite(second))
    if tied == "undefined":
        undefined |= np.asarray(first) == np.asarray(second)
    return np.where(undefined, np.nan, wins)


def equal_scores(first: Floats, second: Floats) -> Flags:
    """Mask of comparisons in which both have the same score."""
    return np.asarray(np.isfinite(first) & np.isfinite(second) & (np.asarray(first) == np.asarray(second)))


def preference_chart(name: str, title: str, remark: str, axis: str, rows: Sequence[tuple[str, Estimate]]) -> Chart:
    """Percentages by name with their intervals, and a line at 50, where there is no preference."""
    defined = [(label, estimate) for label, estimate in rows if estimate.value is not None]
    numbers = [{"what": label, "value": e.value, "low": e.low, "high": e.high, "n": e.n} for label, e in defined]
    return chart_of_rows(name, title, remark, axis, numbers, lines=(50.0,))

"""Scores of sentences and of pairs by a language model and a measure; preferences between two scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from biasgauge import registry
from biasgauge.analyses.likelihood.benchmark_files import Cluster
from biasgauge.analyses.likelihood.measure import LikelihoodMeasure, Pair, SentenceMeasure
from biasgauge.analyses.likelihood.models import LanguageModel, ModelLike, Sentence, Tokens, kind_of, language_model
from biasgauge.core import Estimate, Flags, Floats, Record
from biasgauge.errors import ParameterError
from biasgauge.results import ACCENT, AltairChart, altair, zero_line

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
    sources: list[Any] = [models] if single else list(models)  # type: ignore[arg-type]
    if not sources:
        raise ParameterError("At least one model is needed.")
    return sources


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
) -> Scored:
    """Scores of both sentences of each pair; a pair is undefined where one of them cannot be read."""
    tokens = model.tokens([sentence for pair in pairs for sentence in pair])
    both = list(zip(tokens[::2], tokens[1::2], strict=True))
    scored = _score(model, both, lambda chunk: measure.of_pairs(model, chunk), measure.undefined, progress)
    return Scored(scored.scores.reshape(-1, 2), scored.reasons)


def _score(
    model: LanguageModel,
    units: Sequence[tuple[Tokens, ...]],
    score: Callable[[Sequence[Any]], Floats],
    undefined: str,
    progress: Progress | None,
) -> Scored:
    """Score units of one or two sentences, shorter ones first; undefined where one cannot be read or has no score."""
    width = len(units[0]) if units else 1
    scores = np.full((len(units), width), np.nan)
    problems = [next(filter(None, map(model.problem, unit)), None) for unit in units]
    reasons = {index: problem for index, problem in enumerate(problems) if problem is not None}
    readable = [index for index, problem in enumerate(problems) if problem is None]
    readable.sort(key=lambda index: sum(map(len, units[index])))
    for start in range(0, len(readable), _CHUNK):
        chunk = readable[start : start + _CHUNK]
        scores[chunk] = score([units[index] for index in chunk])
        if progress is not None:
            progress(min(start + _CHUNK, len(readable)), len(readable))
    for index in readable:
        if not np.isfinite(scores[index]).all():
            scores[index], reasons[index] = np.nan, undefined
    return Scored(scores, reasons)


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
    sources = models_of(models)
    rule = measure_named(measure, sources[0])
    if not isinstance(rule, SentenceMeasure):
        raise ParameterError(
            f"The measure {rule.name!r} compares two sentences, and StereoSet has three; use aul, pll or causal-mean."
        )
    sentences = [
        Sentence(text, cluster.context if cluster.split == "intersentence" else "")
        for cluster in clusters
        for text in cluster.texts
    ]
    ids = [sentence for cluster in clusters for sentence in cluster.sentences]
    rows, names, read_first = [], [], None
    reasons: dict[str, str] = {}
    for count, source in enumerate(sources):
        model = open_model(source, rule, start)
        units = [(tokens,) for tokens in model.tokens(sentences)]

        def score(chunk: Sequence[tuple[Tokens]], model: LanguageModel = model) -> Floats:
            return np.asarray(rule.score(model, [tokens for (tokens,) in chunk]), np.float64)[:, None]

        scored = _score(model, units, score, rule.undefined, part_of(progress, count, len(sources)))
        rows.append(scored.scores[:, 0])
        reasons |= {ids[index]: reason for index, reason in scored.reasons.items()}
        names.append(model.name)
        read_first = model.start_token
    warnings = (f"{len(reasons):,} sentences cannot be scored.",) if reasons else ()
    return ClusterScores(np.array(rows), tuple(names), reasons, warnings, rule.name, read_first)


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


def forest_chart(rows: Sequence[tuple[str, Estimate]], neutral: float, title: str) -> AltairChart:
    """Numbers by name with their intervals, and a line where there is no preference."""
    import pandas as pd

    alt = altair()
    columns = ["row", "value", "low", "high", "n"]
    defined = [(name, e.value, e.low, e.high, e.n) for name, e in rows if e.value is not None]
    frame = pd.DataFrame(defined, columns=columns)
    order = list(dict.fromkeys(name for name, _ in rows))
    y = alt.Y("row:N", sort=order, title=None, scale=alt.Scale(domain=order), axis=alt.Axis(labelLimit=320))
    base = alt.Chart(frame).encode(y=y, tooltip=[alt.Tooltip(name) for name in columns])
    scale = alt.Scale(zero=False, nice=True)
    lines = base.transform_filter("isValid(datum.low)").mark_rule(color=ACCENT, strokeWidth=2)
    return alt.layer(
        zero_line(neutral),
        lines.encode(x=alt.X("low:Q", title=title, scale=scale), x2="high:Q"),
        base.mark_point(color=ACCENT, filled=True, opacity=1, size=50).encode(
            x=alt.X("value:Q", title=title, scale=scale)
        ),
    ).properties(height={"step": 20})

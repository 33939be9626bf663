"""What the reliabilities come to, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from biasgauge.analyses.reliability.distributions import NOTABLE, Distribution
from biasgauge.analyses.reliability.relations import Correlation, FormComparison
from biasgauge.analyses.reliability.rows import ACCEPTABLE, PAIR, PAIRS, QUERY, RULE, WORD, Rows, band, from_to, verdict
from biasgauge.core import Floats
from biasgauge.results import counted, interval_text, measure_name, number_text, p_phrase


def over_replicates(rows: Rows, summaries: Sequence[Distribution], within: str) -> list[str]:
    """Words, pairs and measures of one list, when the model is trained again."""
    sentences = []
    for of in (WORD, PAIR):
        mine = [row for row in summaries if (row.of, row.list, row.reliability) == (of, within, "test_retest")]
        middle = [row.median for row in mine if row.median is not None]
        if middle:
            poor, count = sorted(row.below for row in mine), max(row.count for row in mine)
            span = from_to(f"{poor[0]:,}", f"{poor[-1]:,}")
            sentences.append(
                f"Trained again, the scores of the median {of} of {within} hold {_well(middle)} "
                f"({_range(middle)}); {span} of {count:,} {of}s are poor (below .5)."
            )
    part = rows.where(of=RULE, list=within).known()
    if len(part):
        words = verdict(float(np.nanmin(part.low)), float(np.nanmax(part.high)))
        kept = f"{_range(part.value)} ({words})"
        sentences.append(f"Averaged over pairs, the words of {within} keep their places: {kept}.")
    return sentences


def over_measures(
    summaries: Sequence[Distribution], measures: Sequence[Correlation], lists: Iterable[str]
) -> list[str]:
    """Whether measures agree on the words of each list, and what raw scores hide."""
    sentences = []
    for within in lists:
        medians = {row.reliability: row.median for row in summaries if row.of == WORD and row.list == within}
        raw, scaled = medians.get("inter_rater"), medians.get("inter_rater_standardized")
        if raw is not None and scaled is not None:
            sentences.append(
                f"Measures agree {_well([raw])} on the median word of {within} on raw scores ({number_text(raw)}) and "
                f"{_well([scaled])} after standardizing ({number_text(scaled)})."
            )
    known = [row for row in measures if row.spread_ratio is not None and row.defined]
    if sentences and known:
        widest = max(known, key=lambda row: abs(np.log(row.spread_ratio or 1)))
        ratio, names = float(widest.spread_ratio or 1), (measure_name(widest.b), measure_name(widest.a))
        if ratio < 1:
            ratio, names = 1 / ratio, names[::-1]
        if ratio > NOTABLE:
            sentences.append(
                f"The two differ because {names[0]} spreads {number_text(ratio, 1)} times as wide as {names[1]}: on "
                f"raw scores, that alone counts as disagreement, though {names[0]} and {names[1]} correlate at "
                f"{number_text(widest.value)} over words."
            )
    return sentences


def within_scales(rows: Rows) -> list[str]:
    """Queries that are no scale, and the pairs as one."""
    sentences = []
    queries = rows.where(of=QUERY).known()
    if len(queries):
        low = queries.take(queries.value < ACCEPTABLE)
        names = dict.fromkeys(zip(low.name, low.measure, low.value, strict=True))
        listed = ", ".join(
            f"{name} ({number_text(value)} under {measure_name(measure)})" for name, measure, value in names
        )
        consistent = f"All {counted(set(queries.name), 'query is', 'queries are')} consistent (alpha ≥ .7)."
        sentences.append(f"Below an alpha of .7: {listed}." if len(low) else consistent)
    values = rows.where(of=PAIRS).known().value
    if len(values):
        state = "consistent" if values.min() >= ACCEPTABLE else "not consistent throughout"
        sentences.append(f"The pairs together are {state}: alpha {_range(values)}.")
    return sentences


def on_relations(relations: Iterable[Correlation], forms: Iterable[FormComparison]) -> list[str]:
    """Whether the two reliabilities go together, and whether the singular differs from the plural."""
    sentences = []
    for row in relations:
        if row.of == PAIR and row.p is not None:
            together = "go together" if row.p < 0.05 else "may be unrelated"
            sentences.append(
                f"Over the pairs on {row.list}, reliability over replicates and over measures {together}: "
                f"r = {number_text(row.value)} {interval_text(row.low, row.high)}."
            )
    for form in forms:
        if form.p is not None:
            more = "more" if (form.value or 0) > 0 else "less"
            sure = f"are {more} reliable than" if form.p < 0.05 else "do not differ for sure from"
            sentences.append(
                f"Singular pairs {sure} plural ones in {form.reliability.replace('_', '-')} on {form.list}: "
                f"{number_text(form.value)} {interval_text(form.low, form.high)}, "
                f"t({form.df}) = {number_text(form.t)}, {p_phrase(form.p)}."
            )
    return sentences


def _well(values: Sequence[float]) -> str:
    words = {"poor": "poorly", "moderate": "moderately", "good": "well", "excellent": "very well"}
    return from_to(*(words[str(band(value))] for value in (min(values), max(values))))


def _range(values: Sequence[float] | Floats) -> str:
    return from_to(number_text(float(min(values))), number_text(float(max(values))))

"""Verdicts of a regression: does the association, or the use, of the targets differ by a term of the formula?

With attribute lists both readings of the association are tested, projection and counts: counts see words of A and B
near the targets best, the projection words that are like them. p-values are adjusted for all terms and readings
together (Holm), so that either may answer; of a term the one with the smaller p does, and the other says whether it
agrees. Without lists the norm answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from biasgauge.analyses.regress.readings import AssociationReading
from biasgauge.analyses.regress.rows import TermEffect, TermNorm
from biasgauge.audits import Evidence, Verdict
from biasgauge.core import Decision, decide
from biasgauge.results import interval_text, level_text, number_text, p_phrase, signed_text, words_text
from biasgauge.stats import student_quantile

Speaker = Literal["norm", "axis", "counts"]
FEWEST_FREEDOM = 4.0
"""Degrees of freedom below which a CR2 test is not to be relied on (Pustejovsky & Tipton 2018)."""
FEWEST_CLUSTERS = 6
"""Clusters below which random signs or permutations cannot show a difference at .05."""
SMALLEST = 0.2
"""The smallest difference that matters: in standard deviations of occurrences, or in log odds."""
ONE_FOR_ALL = "words of A or B that are more frequent everywhere in a group move the projection of every word"
BASE_RATES = (
    "counts compare with the rest of the text of each group, the projection does not: words of A or B that are more "
    "frequent everywhere in a group move it"
)
"""Why projection and counts may contradict each other."""
_NAMES: dict[Speaker, str] = {"norm": "embedding regression", "axis": "projection", "counts": "counts"}


@dataclass(frozen=True, eq=False)
class TermCase:
    """One term, with the readings that its verdict rests on.

    Attributes:
        term: the term.
        title: the question.
        unit: what the numbers of the term are per: 1, or the standard deviation of a column that is not 0 or 1.
        norm: squared norm of its coefficient.
        spread: root mean square length of the residuals of occurrences.
        clusters: number of clusters.
        readings: axis and counts, with a row for the term; empty without attribute lists.
        speaker: reading that answers.
        p_adjusted: p of that reading, adjusted for all terms and readings.
        alpha: level of the test.
        smallest: the smallest difference that matters.
    """

    term: str
    title: str
    unit: float
    norm: TermNorm
    spread: float
    clusters: int
    readings: tuple[AssociationReading, ...]
    speaker: Speaker
    p_adjusted: float | None
    alpha: float
    smallest: float

    def effect(self, kind: str) -> TermEffect | None:
        """Return the effect of the term on one of the readings."""
        return next((reading.row(self.term) for reading in self.readings if reading.kind == kind), None)


def answering_readings(norm: TermNorm, readings: Sequence[AssociationReading]) -> dict[Speaker, float | None]:
    """Readings that may answer for a term, with their p: those with enough clusters, or all where none has.

    Args:
        norm: of the term.
        readings: axis and counts, or none.
    """
    if not readings:
        return {"norm": norm.p}
    effects: dict[Speaker, TermEffect] = {}
    for reading in readings:
        kind: Speaker = "axis" if reading.kind == "axis" else "counts"
        effect = reading.row(norm.term)
        if effect is not None and effect.p is not None:
            effects[kind] = effect
    p_values = {kind: effect.p for kind, effect in effects.items()}
    if "axis" in effects:
        p_values["axis"] = _projection_p(
            effects["axis"], *(r.background_row(norm.term) for r in readings if r.background)
        )
    enough = {kind: p for kind, p in p_values.items() if (effects[kind].df or 0.0) >= FEWEST_FREEDOM}
    return enough or p_values or {"axis": None}


def _projection_p(effect: TermEffect, background: TermEffect | None = None) -> float | None:
    """Larger p of a difference of the projection as it stands and beside the background: it has to be there in both."""
    if background is None or background.p is None or effect.p is None:
        return effect.p
    same = (background.estimate or 0.0) * (effect.estimate or 0.0) > 0
    return max(effect.p, background.p) if same else 1.0


def judge(case: TermCase) -> Verdict:
    """Return the verdict on one term."""
    shown = _shown(case)
    if shown.passes is None:
        return _verdict(case, decide(found=None), "", shown.reason, (shown,))
    enough = _enough_clusters(case)
    if not enough.passes:
        decision = decide(found=shown.passes, barred=True)
        return _verdict(case, decision, "", f"{enough.reason}; {shown.reason}", (shown, enough))
    small = _equivalence(case)
    stable = tuple(_agreement(case))
    failed = [piece.reason for piece in stable if piece.passes is False]
    decision = decide(found=shown.passes, small=small.passes and not failed, stable=[piece.passes for piece in stable])
    if not shown.passes or decision == "no-association-shown":
        why = "; ".join([small.reason, shown.reason, *failed])
        return _verdict(case, decision, "", why, (shown, enough, small, *stable))
    others = [piece.reason for piece in stable if piece.passes is not False]
    why = "; ".join([*failed, shown.reason] if decision == "do-not-report" else [shown.reason, *others])
    return _verdict(case, decision, _claim(case), why, (shown, enough, *stable))


def _verdict(case: TermCase, decision: Decision, claim: str, why: str, evidence: tuple[Evidence, ...]) -> Verdict:
    return Verdict(case.term, case.title, _NAMES[case.speaker], "difference", decision, claim, why, evidence)


def _claim(case: TermCase) -> str:
    if case.speaker == "norm":
        return "the use of the targets differs"
    effect = case.effect(case.speaker)
    side = "A" if effect is not None and (effect.estimate or 0) > 0 else "B"
    where = f"where {case.term} holds" if case.unit == 1.0 else f"with larger {case.term}"
    return f"the targets are more associated with {side} {where}"


def _shown(case: TermCase) -> Evidence:
    """Evidence that passes if the adjusted p of the reading that speaks is below alpha."""
    observed: dict[str, float | None]
    if case.speaker == "norm":
        norm = case.norm
        observed = {"norm2": norm.norm2, "norm2_corrected": norm.norm2_corrected, "low": norm.low, "high": norm.high,
                    "p": norm.p, "p_adjusted": case.p_adjusted}  # fmt: skip
        if norm.p is None:
            return Evidence("embedding regression", observed, case.alpha, None, norm.reason or "there is no test")
        reason = (
            f"squared norm {number_text(norm.estimate.value)} after correction "
            f"{interval_text(norm.low, norm.high)}, {p_phrase(norm.p)}{_adjusted(case)}"
        )
    else:
        effect = case.effect(case.speaker)
        if effect is None or effect.p is None or effect.estimate is None:
            reason = "there is no such reading" if effect is None or effect.reason is None else effect.reason
            return Evidence(_NAMES[case.speaker], None, case.alpha, None, reason)
        observed = {"estimate": effect.estimate, "se": effect.se, "low": effect.low, "high": effect.high,
                    "df": effect.df, "p": effect.p, "p_adjusted": case.p_adjusted}  # fmt: skip
        unit = "log odds" if case.speaker == "counts" else "of the projection"
        beside = _beside(case, observed)
        reason = (
            f"{signed_text(effect.estimate, 3)} {unit}, {level_text(effect.level)} interval "
            f"{interval_text(effect.low, effect.high, 3)}, {p_phrase(effect.p)}{beside}{_adjusted(case)}"
        )
    passes = case.p_adjusted is not None and case.p_adjusted < case.alpha
    return Evidence(_NAMES[case.speaker], observed, case.alpha, passes, reason)


def _beside(case: TermCase, observed: dict[str, float | None]) -> str:
    """Text on the projection beside the background of the documents, which is added to the observed numbers."""
    rows = [reading.background_row(case.term) for reading in case.readings if reading.kind == case.speaker]
    row = next((row for row in rows if row is not None), None)
    if row is None or row.estimate is None or row.p is None:
        return ""
    observed |= {"beside_background": row.estimate, "beside_background_low": row.low,
                 "beside_background_high": row.high, "beside_background_p": row.p}  # fmt: skip
    ends = f"{interval_text(row.low, row.high, 3)}, {p_phrase(row.p)}"
    text = f"; relative to the mean of all words {signed_text(row.estimate, 3)} {ends}"
    shown_alone = (observed["p"] or 0.0) < case.alpha <= row.p
    return f"{text}, so it may be a difference of all words: {ONE_FOR_ALL}" if shown_alone else text


def _adjusted(case: TermCase) -> str:
    return "" if case.p_adjusted is None else f", Holm-adjusted {p_phrase(case.p_adjusted)}"


def _enough_clusters(case: TermCase) -> Evidence:
    """Evidence that passes if the test rests on enough independent clusters."""
    effect = case.effect(case.speaker)
    if case.speaker == "norm" or effect is None or effect.df is None:
        passes = case.clusters >= FEWEST_CLUSTERS
        reason = f"{case.clusters} clusters; {FEWEST_CLUSTERS} required"
        return Evidence("clusters", case.clusters, FEWEST_CLUSTERS, passes, reason)
    passes = effect.df >= FEWEST_FREEDOM
    reason = (
        f"the clusters carry {number_text(effect.df, 1)} degrees of freedom for this term; {FEWEST_FREEDOM:g} required"
    )
    return Evidence("clusters", effect.df, FEWEST_FREEDOM, passes, reason)


def _agreement(case: TermCase) -> Iterator[Evidence]:
    """Yield evidence on whether the other readings agree, and where the difference is too small to matter."""
    spoken = case.effect(case.speaker)
    bounds = _bounds(case, case.speaker)
    if bounds is not None and max(-bounds[0], bounds[1]) < bounds[2]:
        reason = f"the difference is small: it lies within ±{number_text(bounds[2], 3)}, the smallest that matters"
        yield Evidence("size", {"low": bounds[0], "high": bounds[1]}, bounds[2], None, reason)
    for kind in ("counts", "axis"):
        effect = case.effect(kind)
        if kind == case.speaker or effect is None or effect.estimate is None or effect.low is None or spoken is None:
            continue
        same = np.sign(effect.estimate) == np.sign(spoken.estimate or 0.0)
        excludes = bool(effect.interval.excludes(0))
        name = "counts give" if kind == "counts" else "the projection gives"
        ends = interval_text(effect.low, effect.high, 3)
        agree = "the same direction" if same else "the other direction"
        reason = f"{name} {agree} ({signed_text(effect.estimate, 3)} {ends})"
        if excludes and not same:
            reason += f"; {BASE_RATES}"
        yield Evidence(kind, effect.estimate, 0.0, True if same else False if excludes else None, reason)
    if case.speaker != "norm" and case.norm.p is not None:
        shown = case.norm.p < case.alpha
        reason = (
            f"the embedding regression {'shows' if shown else 'does not show'} a difference ({p_phrase(case.norm.p)})"
        )
        yield Evidence("embedding regression", case.norm.p, case.alpha, True if shown else None, reason)


def _bounds(case: TermCase, kind: str) -> tuple[float, float, float] | None:
    """Interval of a reading at 1 − 2 alpha, as of two one-sided tests, and the smallest difference that matters."""
    reading = next((reading for reading in case.readings if reading.kind == kind), None)
    effect = None if reading is None else reading.row(case.term)
    if reading is None or effect is None or effect.se is None or effect.df is None or effect.estimate is None:
        return None
    margin = student_quantile(effect.df, 1 - 2 * case.alpha) * effect.se
    return effect.estimate - margin, effect.estimate + margin, case.smallest * reading.unit / case.unit


def _equivalence(case: TermCase) -> Evidence:
    """Test equivalence with no difference: intervals at 1 − 2 alpha within the smallest difference that matters.

    Of an association both readings must lie within: the projection alone hardly sees words of A and B that are rare.
    """
    level = 1 - 2 * case.alpha
    neither = "a difference is neither shown nor ruled out"
    if case.speaker == "norm":
        high, limit = case.norm.high, (case.smallest * case.spread / case.unit) ** 2
        within = high is not None and high < limit
        largest = None if high is None else max(high, 0.0)  # the corrected norm may lie below 0, no true one does
        ends = f"at most {number_text(largest)} (smallest that matters {number_text(limit)})"
        reason = f"{'any difference is too small to matter' if within else neither}: {ends}"
        return Evidence("equivalence", {"low": 0.0, "high": high, "level": level}, limit, within, reason)
    observed: dict[str, float | None] = {"level": level}
    texts, holds = [], []
    for reading in case.readings:
        name = _NAMES["axis" if reading.kind == "axis" else "counts"]
        bounds = _bounds(case, reading.kind)
        if bounds is None:
            holds.append(False)
            texts.append(f"{name}: no interval")
            continue
        low, high, limit = bounds
        holds.append(-limit < low and high < limit)
        observed |= {f"{reading.kind}_low": low, f"{reading.kind}_high": high, f"{reading.kind}_limit": limit}
        texts.append(f"{name} {interval_text(low, high, 3)} (smallest that matters ±{number_text(limit, 3)})")
    within = bool(holds) and all(holds)
    ends = f"{level_text(level)} intervals: {'; '.join(texts)}"
    reason = f"{'any difference is too small to matter' if within else neither}: {ends}"
    return Evidence("equivalence", observed, case.smallest, within, reason)


def title_of(targets: Sequence[str], term: str, a: Sequence[str], b: Sequence[str]) -> str:
    """Return the question that a verdict answers."""
    name = words_text(targets, 3)
    if not a or not b:
        return f"Does the use of {name} differ by {term}?"
    return f"Does the association of {name} with A ({words_text(a, 3)}) over B ({words_text(b, 3)}) differ by {term}?"

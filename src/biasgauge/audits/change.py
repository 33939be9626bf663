"""Effect of a change of vectors: bias, side effects and what can be recovered, before and after.

The first section of the page has three tiles and a slope for each question; a later one everything that was compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np

from biasgauge.audits.answers import answer_queries
from biasgauge.audits.measurement import SANITY, Measured, QueryOutcome
from biasgauge.audits.shared_scores import SharedScores
from biasgauge.audits.subjects import subjects_of
from biasgauge.audits.verdicts import Evidence, Rules, Verdict
from biasgauge.core import (
    DEFAULT_POLICY,
    REPORTED,
    Decision,
    Estimate,
    IntervalsBeside,
    JsonMapping,
    JsonObject,
    WordPolicy,
    check_object,
    to_plain,
)
from biasgauge.lexicons import Language
from biasgauge.results import (
    Chart,
    Extra,
    Result,
    Slope,
    Stored,
    Summary,
    lexicon_name,
    name_and_about,
    share_text,
    shares_text,
    signed_text,
    slope_chart,
)
from biasgauge.stats import Contrast, contrast_estimate

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext
    from biasgauge.audits.result import AuditResult
    from biasgauge.mitigation import MitigationEffect
    from biasgauge.vectors import Embedding

MOST_LEXICONS = 4
"""Lexicons that are compared when all shipped ones were asked for: the usual ones. Each takes a second."""
MOST_SLOPES = 40
"""Lines of a slope chart; the table has all."""
TITLE = "Did the change remove the bias?"
LINK = "change"
TONES = {True: "good", False: "bad", None: "caution"}
OUTCOMES = {
    "report": "The change removed the bias",
    "report-with-care": "The change reduced the bias, as far as can be told",
    "do-not-report": "The change did not remove the bias",
}


@dataclass(frozen=True, kw_only=True)
class ContrastChange(IntervalsBeside):
    """One question's contrast before and after.

    Attributes:
        question: name of the lexicon that asks it.
        title: what it is about.
        family: gender, race, …; "sanity" for checks of the instrument, which are no bias to be removed.
        before: the contrast before, in cosine units; like the next, the one that a verdict rests on: at equal word
            frequency, where that is known before and after.
        after: the same after.
        change: after less before, on the same words; None where words differ.
        shown: a verdict on the vectors before finds an association.
        reduced: that association is clearly nearer to 0; None where nothing was shown, or words differ.
        flipped: the contrast came out on the other side of 0.
        overcorrected: and the verdict finds an association there.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("before", "after", "change")

    question: str
    title: str
    family: str
    before: Estimate
    after: Estimate
    change: Estimate | None
    shown: bool
    reduced: bool | None
    flipped: bool
    overcorrected: bool

    @property
    def biased(self) -> bool:
        """True if there was a bias to remove: flowers may stay pleasant."""
        return self.shown and self.family != SANITY


@dataclass(frozen=True, eq=False, repr=False)
class VectorChange(Result):
    """Effect of what was done to the vectors.

    Attributes:
        effect: bias, side effects and what can be recovered, before and after.
        contrasts: the contrast of each query before and after.
    """

    effect: Any
    contrasts: tuple[ContrastChange, ...]

    def to_dict(self) -> JsonObject:
        """The effect, with the contrasts beside it."""
        return {**self.effect.to_dict(), "contrasts": to_plain(self.contrasts)}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The change of which `to_dict` made `content`."""
        check_object(cls, content)
        effect = {name: value for name, value in content.items() if name != "contrasts"}
        return cls(Stored.from_dict(effect), tuple(map(ContrastChange.from_dict, content["contrasts"])))

    def summary(self) -> Summary:
        """The summary of the effect."""
        summary: Summary = self.effect.summary()
        return summary


def measure_change(context: AuditContext, earlier: Embedding) -> VectorChange:
    """Compare two models on the tests and stereotypes of an audit, or on the usual ones where it has very many."""
    from biasgauge.mitigation import DEFAULT_LEXICONS, mitigation_effect

    usable = [lexicon for lexicon in context.lexicons if lexicon.kind in ("test", "stereotypes")]
    usual = [lexicon for lexicon in usable if lexicon.name in DEFAULT_LEXICONS]
    chosen = usable if len(usable) <= MOST_LEXICONS or not usual else usual
    effect = mitigation_effect(
        earlier, context.models[0], chosen, policy=context.policy, random_state=context.random_state
    )
    before = context.measure(subjects_of([earlier]))
    contrasts = contrast_changes(
        before, context.outcomes, context.rules, policy=context.policy, random_state=context.random_state
    )
    return VectorChange(effect, contrasts)


def contrast_changes(
    before: Sequence[QueryOutcome],
    after: Sequence[QueryOutcome],
    rules: Rules,
    *,
    policy: WordPolicy = DEFAULT_POLICY,
    random_state: int = 0,
) -> tuple[ContrastChange, ...]:
    """The contrast of each question that both vectors can be asked, before and after."""
    found = [associations_found(outcomes, rules, policy, random_state) for outcomes in (before, after)]
    return tuple(
        _contrast_change(earlier, later, shown=shown, shown_after=shown_after)
        for earlier, later, shown, shown_after in zip(before, after, *found, strict=True)
        if isinstance(earlier, Measured) and isinstance(later, Measured)
    )


def associations_found(
    outcomes: Sequence[QueryOutcome], rules: Rules, policy: WordPolicy, random_state: int
) -> list[bool]:
    """Return whether the verdict on each question finds an association that is not too small to matter.

    Base pairs and other measures are left aside, since they decide on reporting alone.
    """
    models = tuple(dict.fromkeys(model for outcome in outcomes for model in outcome.subject.models))
    without_pairs = SharedScores(models, (), language=Language(name="none", language="none"))
    settings: dict[str, Any] = {"scores": without_pairs, "policy": policy, "random_state": random_state}
    verdicts = answer_queries(outcomes, rules=rules, **settings)
    return [verdict.decision in (*REPORTED, "do-not-report") for verdict in verdicts]


def _contrast_change(before: Measured, after: Measured, *, shown: bool, shown_after: bool) -> ContrastChange:
    at_equal_frequency = all(
        measured.test.adjusted is not None and measured.test.adjusted.contrast.value is not None
        for measured in (before, after)
    )
    contrasts = [
        measured.test.decisive.contrast if at_equal_frequency else measured.test.contrast
        for measured in (before, after)
    ]
    change = _change(before, after, contrasts, at_equal_frequency)
    first, last = (contrast.value or 0.0 for contrast in contrasts)
    reduced = None
    if shown and change is not None:
        end = change.high if first > 0 else change.low
        reduced = end is not None and end * first < 0  # the whole interval lies on the side opposite to the contrast
    flipped = bool(np.sign(first) != np.sign(last))
    return ContrastChange(
        question=before.query.name,
        title=before.query.title,
        family=before.query.family,
        before=_estimate(contrasts[0]),
        after=_estimate(contrasts[1]),
        change=change,
        shown=shown,
        reduced=reduced,
        flipped=flipped,
        overcorrected=flipped and shown_after,
    )


def _change(
    before: Measured,
    after: Measured,
    contrasts: Sequence[Contrast],
    at_equal_frequency: bool,  # noqa: FBT001 - internal
) -> Estimate | None:
    """After less before, with the interval of the differences on the same words; None where the words differ."""
    if before.table.shape != after.table.shape:
        return None
    tables = [measured.decisive[0] if at_equal_frequency else measured.table for measured in (before, after)]
    sides = before.decisive[1:] if at_equal_frequency else before.as_it_is
    paired = contrast_estimate(tables[1] - tables[0], *sides, before.query.weights)
    value = float(contrasts[1].value or 0.0) - float(contrasts[0].value or 0.0)
    if paired.high is None or paired.value is None:
        return replace(_estimate(paired), value=value)
    margin = paired.high - paired.value
    return replace(_estimate(paired), value=value, low=value - margin, high=value + margin)


def _estimate(contrast: Contrast) -> Estimate:
    """The contrast as a number with its interval, and no more."""
    return Estimate(**{field.name: getattr(contrast, field.name) for field in fields(Estimate)})


def answer_change(effect: MitigationEffect, contrasts: Sequence[ContrastChange]) -> Verdict:
    """The verdict on a change of vectors: reduced, overcorrected, hidden but recoverable, damage done."""
    biased = [contrast for contrast in contrasts if contrast.biased]
    name = f"{effect.before} → {effect.after}"
    side_effects = (*_recovered(effect), *_damage(effect))
    if not biased:
        questions = [contrast for contrast in contrasts if contrast.family != SANITY]
        why = (
            f"none of {len(questions)} questions shows an association before the change, so that there was nothing to "
            "remove"
        )
        return Verdict("change", TITLE, name, "change", "inconclusive", "", why, side_effects)
    evidence = (*_reduced(biased, contrasts), *side_effects)
    failed = [piece for piece in evidence if piece.passes is False]
    unknown = [piece for piece in evidence if piece.passes is None]
    decision: Decision = "do-not-report" if failed else "report-with-care" if unknown else "report"
    claim = "the change removed the bias that was measured" if not failed else ""
    why = "; ".join(piece.reason for piece in failed or evidence)
    return Verdict("change", TITLE, name, "change", decision, claim, why, evidence)


def _reduced(biased: Sequence[ContrastChange], contrasts: Sequence[ContrastChange]) -> Iterator[Evidence]:
    """Associations that came nearer to 0, and those that came out on its other side."""
    smaller = sum(contrast.reduced is True for contrast in biased)
    changes = ", ".join(_from_to(contrast) for contrast in biased if contrast.reduced is not None)
    numbers = {"agree": smaller, "of": len(biased), "share": smaller / len(biased)}
    outcome = "reduced" if smaller == len(biased) else "not reduced" if not smaller else "reduced in part"
    reason = f"{outcome}: {smaller} of {len(biased)} {nearer_text(smaller, len(biased))} ({changes})"
    yield Evidence("reduced", numbers, 1.0, smaller == len(biased), reason, LINK)
    turned = [_from_to(contrast) for contrast in contrasts if contrast.overcorrected]
    reason = f"overcorrected: {', '.join(turned)}" if turned else "no association came out on the other side of 0"
    yield Evidence("not overcorrected", float(len(turned)), 0.0, not turned, reason, LINK)


def _from_to(contrast: ContrastChange) -> str:
    return f"{contrast.question} {signed_text(contrast.before.value)} → {signed_text(contrast.after.value)}"


def _recovered(effect: MitigationEffect) -> Iterator[Evidence]:
    """Yield evidence on whether a classifier still separates the most biased words (Gonen & Goldberg 2019)."""
    from biasgauge.mitigation import CLASSIFIER

    row = next((row for row in effect.part("recovery") if row.name == CLASSIFIER), None)
    left = None if row is None else row.after
    if row is None or left is None or left.value is None or row.chance is None:
        reason = "unknown whether the bias can be recovered"
        yield Evidence("not recoverable", None, None, None, reason, LINK)
        return
    hidden = left.low is not None and left.low > row.chance
    reason = (
        f"{'hidden but recoverable' if hidden else 'not recoverable'}: a classifier tells the side of the words that "
        f"were most biased in {share_text(left.value)} of cases, where chance is {share_text(row.chance)}"
    )
    numbers = {"accuracy": left.value, "low": left.low, "high": left.high}
    yield Evidence("not recoverable", numbers, row.chance, not hidden, reason, LINK)


def _damage(effect: MitigationEffect) -> Iterator[Evidence]:
    """Yield evidence on whether the vectors became worse at similarities as people judge them."""
    tried = {row.subject: row.change for row in effect.part("benchmark") if row.change is not None}
    if not tried:
        yield Evidence("no damage", None, 0.0, None, "unknown whether the vectors became worse: no benchmark", LINK)
        return
    worse = [name for name, change in tried.items() if change.high is not None and change.high < 0]
    reason = (
        f"damage done: worse on {', '.join(worse)} of {len(tried)} similarity benchmarks"
        if worse
        else f"no damage seen: none of {len(tried)} similarity benchmarks is clearly worse"
    )
    yield Evidence("no damage", {"worse": float(len(worse)), "of": float(len(tried))}, 0.0, not worse, reason, LINK)


class ChangeTile(NamedTuple):
    """One of the three answers about a change.

    Attributes:
        name: what was asked.
        word: the answer in a word or two, as the verdict has it.
        number: the number that it rests on, as a reader sees it; None where there is none.
        about: what that number is, or why there is none.
        tone: how the answer is meant.
        more: a remark beside it.
    """

    name: str
    word: str
    number: str | None
    about: str
    tone: str
    more: str = ""


def headline_of_change(verdict: Verdict) -> str:
    """State whether a change removed the bias, in one sentence with the numbers of the three answers."""
    start = OUTCOMES.get(verdict.decision, "No bias was found before the change, so there was none to remove")
    measured, recoverable, damage = tiles(verdict)
    remains = f"{recoverable.word} ({recoverable.number})" if recoverable.number else "recoverability unknown"
    lost = damage.word if damage.number else "damage unknown"
    if verdict.decision in OUTCOMES:
        return f"{start}: {measured.number} {measured.about}; {remains}; {lost}."
    return f"{start}. Side of the most biased words: {remains}; {lost}."


def did_it_work(result: AuditResult, verdict: Verdict) -> Summary:
    """Three tiles and the slope of every question, above everything else."""
    answers = tiles(verdict)
    return Summary(
        title="Effect of the change",
        headline="; ".join(f"{tile.name.lower()}: {tile.word}" for tile in answers).capitalize() + ".",
        name="did-it-work",
        about=(
            "Debiasing has to do three things at once: remove the associations that were measured, leave nothing from "
            "which they can be recovered (Gonen & Goldberg 2019), and keep the vectors fit for what they are for."
        ),
        question=f"{result.settings['before']} → {result.models[0].name}",
        more=(verdict.sentence,),
        charts=slope_charts(result.change.contrasts),
        extra=Extra("biasgauge.audits", "did_it_work.html", {"tiles": answers}),
    )


def tiles(verdict: Verdict) -> tuple[ChangeTile, ...]:
    """Bias measured, bias recoverable, damage: each from the numbers of the verdict's evidence."""
    pieces = {piece.rule: piece for piece in verdict.evidence}
    return (
        _measured_tile(pieces.get("reduced"), pieces.get("not overcorrected")),
        _recoverable_tile(pieces.get("not recoverable"), shown="reduced" in pieces),
        _damage_tile(pieces.get("no damage")),
    )


def _numbers(piece: Evidence | None) -> dict[str, Any]:
    return dict(piece.observed) if piece is not None and isinstance(piece.observed, dict) else {}


def nearer_text(smaller: int, total: int) -> str:
    """Words after a count of associations that came nearer to 0: "1 of 2 associations is …"."""
    return f"{'association' if total == 1 else 'associations'} {'is' if smaller == 1 else 'are'} clearly nearer to 0"


def _measured_tile(reduced: Evidence | None, turned: Evidence | None) -> ChangeTile:
    numbers = _numbers(reduced)
    if not numbers:
        return ChangeTile(
            "Bias measured", "nothing to remove", "0", "associations were shown before the change", "caution"
        )
    smaller, total = int(numbers["agree"]), int(numbers["of"])
    word = "reduced" if smaller == total else "not reduced" if not smaller else "reduced in part"
    over = int(turned.observed) if turned is not None and isinstance(turned.observed, float | int) else 0
    description, tone = nearer_text(smaller, total), TONES[smaller == total and not over]
    more = f"{over} {'shows' if over == 1 else 'show'} the opposite association" if over else ""
    return ChangeTile(
        "Bias measured", "overcorrected" if over else word, f"{smaller} of {total}", description, tone, more
    )


def _recoverable_tile(piece: Evidence | None, *, shown: bool) -> ChangeTile:
    numbers = _numbers(piece)
    if piece is None or not numbers:
        return ChangeTile("Bias recoverable", "unknown", None, "too few biased words for a classifier", TONES[None])
    ends = f" {shares_text(numbers['low'], numbers['high'])}".rstrip()
    chance = f"chance is {share_text(piece.threshold or 0)}"
    description = f"of the most biased words are put on their side by a classifier{ends}; {chance}"
    word = "not recoverable" if piece.passes else "hidden but recoverable" if shown else "recoverable"
    return ChangeTile("Bias recoverable", word, share_text(numbers["accuracy"]), description, TONES[piece.passes])


def _damage_tile(piece: Evidence | None) -> ChangeTile:
    numbers = _numbers(piece)
    if piece is None or not numbers:
        return ChangeTile("Damage", "unknown", None, "no similarity benchmark could be tried", TONES[None])
    description = "similarity benchmarks are clearly worse"
    word = "no damage seen" if piece.passes else "damage done"
    return ChangeTile(
        "Damage", word, f"{int(numbers['worse'])} of {int(numbers['of'])}", description, TONES[piece.passes]
    )


def _short_label(contrast: ContrastChange) -> str:
    """Short label of a question beside its line: "WEAT 7: math and arts"."""
    name, topic = name_and_about(contrast.title)
    return f"{name}: {topic.partition(',')[0]}" if topic else lexicon_name(contrast.question)


def slope_charts(contrasts: tuple[ContrastChange, ...]) -> tuple[Chart, ...]:
    """The contrast of every question before and after; those that flipped or were shown before come first."""
    defined = [
        contrast for contrast in contrasts if contrast.before.value is not None and contrast.after.value is not None
    ]
    if not defined:
        return ()
    first = sorted(defined, key=lambda contrast: (not contrast.flipped, not contrast.biased))[:MOST_SLOPES]
    flips = sum(contrast.flipped for contrast in defined)
    sign_changes = (
        f"{flips} of {len(defined)} change their sign" if flips else f"none of {len(defined)} changes its sign"
    )
    title = f"Contrast of each question, before and after: {sign_changes}"
    left = f" {len(defined) - len(first)} more are in the table." if len(defined) > len(first) else ""
    remark = (
        "In cosine units; the gray line is 0, no difference. A line that crosses it changes its sign. "
        f"* an association that was shown before.{left}"
    )
    slopes = [
        Slope(
            _short_label(contrast),
            float(contrast.before.value or 0),
            float(contrast.after.value or 0),
            note=" *" * contrast.biased,
        )
        for contrast in first
    ]
    return (Chart("slopes", title, remark, partial(slope_chart, slopes, "contrast")),)

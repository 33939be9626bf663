"""The first section of an audit of vectors before and after a change: three tiles, then slopes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from biasgauge.audits.measurement import SANITY
from biasgauge.core import Estimate, IntervalsBeside
from biasgauge.results import (
    Chart,
    Extra,
    Slope,
    Summary,
    lexicon_name,
    name_and_about,
    share_text,
    shares_text,
    slope_chart,
)

if TYPE_CHECKING:
    from biasgauge.audits.result import AuditResult
    from biasgauge.audits.verdicts import Evidence, Verdict

TITLE = "Did the change remove the bias?"
ABOUT = (
    "Debiasing has to do three things at once: remove the associations that were measured, leave nothing from which "
    "they can be recovered (Gonen & Goldberg 2019), and keep the vectors fit for what they are for."
)
TONES = {True: "good", False: "bad", None: "caution"}
MOST = 40
"""Lines of a slope chart; the table has all."""


@dataclass(frozen=True, kw_only=True)
class ContrastChange(IntervalsBeside):
    """One question's contrast before and after.

    Attributes:
        question: name of the lexicon that asks it.
        title: what it is about.
        family: gender, race, …; "sanity" for checks of the instrument, which are no bias to be removed.
        before: the contrast before, in cosine units.
        after: the same after.
        change: after less before, on the same words; None where words differ.
        shown: an association was shown before.
        reduced: that association is clearly nearer to 0; None where nothing was shown, or words differ.
        flipped: the contrast came out on the other side of 0.
        overcorrected: and shows an association there.
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


@dataclass(frozen=True)
class Answer:
    """One of the three answers.

    Attributes:
        name: what was asked.
        word: the answer in a word or two, as the verdict has it.
        number: the number that it rests on, as a reader sees it; None where there is none.
        about: what that number is, or why there is none.
        tone: how the answer is meant.
        more: what is to be said beside it, if anything.
    """

    name: str
    word: str
    number: str | None
    about: str
    tone: str
    more: str = ""


OUTCOMES = {
    "report": "The change removed the bias",
    "report-with-care": "The change reduced the bias, as far as can be told",
    "do-not-report": "The change did not remove the bias",
}


def headline_of_change(verdict: Verdict) -> str:
    """State whether a change removed the bias, in one sentence with the numbers of the three answers."""
    start = OUTCOMES.get(verdict.decision, "Before the change there was no bias to remove")
    measured, recoverable, damage = tiles(verdict)
    parts = [f"{measured.number} {measured.about}"] if verdict.decision in OUTCOMES else []
    parts += [f"{recoverable.word} ({recoverable.number})" if recoverable.number else "recoverable: unknown"]
    return f"{start}: {'; '.join([*parts, damage.word if damage.number else 'damage: unknown'])}."


def did_it_work(result: AuditResult) -> Summary | None:
    """Three tiles and the slope of every question, above everything else."""
    if result.change is None:
        return None
    verdict = next(verdict for verdict in result.verdicts if verdict.test == "change")
    answers = tiles(verdict)
    return Summary(
        title=TITLE,
        headline="; ".join(f"{tile.name.lower()}: {tile.word}" for tile in answers).capitalize() + ".",
        name="did-it-work",
        about=ABOUT,
        question=f"{result.settings['before']} → {result.models[0].name}",
        more=(verdict.sentence,),
        charts=slope_charts(result.change.contrasts),
        extra=Extra("biasgauge.audits", "did_it_work.html", {"tiles": answers}),
    )


def tiles(verdict: Verdict) -> tuple[Answer, ...]:
    """Bias measured, bias recoverable, damage: each from the numbers of the verdict's evidence."""
    pieces = {piece.rule: piece for piece in verdict.evidence}
    return (
        _measured(pieces.get("reduced"), pieces.get("not overcorrected")),
        _recoverable(pieces.get("not recoverable")),
        _damage(pieces.get("no damage")),
    )


def _numbers(piece: Evidence | None) -> dict[str, Any]:
    return dict(piece.observed) if piece is not None and isinstance(piece.observed, dict) else {}


def nearer_text(smaller: int, total: int) -> str:
    """Words after a count of associations that came nearer to 0: "1 of 2 associations is …"."""
    return f"{'association' if total == 1 else 'associations'} {'is' if smaller == 1 else 'are'} clearly nearer to 0"


def _measured(reduced: Evidence | None, turned: Evidence | None) -> Answer:
    numbers = _numbers(reduced)
    if not numbers:
        return Answer("Bias measured", "nothing to remove", "0", "associations were shown before the change", "caution")
    smaller, total = int(numbers["agree"]), int(numbers["of"])
    word = "reduced" if smaller == total else "not reduced" if not smaller else "reduced in part"
    over = int(turned.observed) if turned is not None and isinstance(turned.observed, float | int) else 0
    description, tone = nearer_text(smaller, total), TONES[smaller == total and not over]
    more = f"{over} {'shows' if over == 1 else 'show'} the opposite association" if over else ""
    return Answer("Bias measured", "overcorrected" if over else word, f"{smaller} of {total}", description, tone, more)


def _recoverable(piece: Evidence | None) -> Answer:
    numbers = _numbers(piece)
    if piece is None or not numbers:
        return Answer("Bias recoverable", "unknown", None, "too few biased words for a classifier", TONES[None])
    ends = f" {shares_text(numbers['low'], numbers['high'])}".rstrip()
    chance = f"chance is {share_text(piece.threshold or 0)}"
    description = f"of the most biased words have their side told by a classifier{ends}; {chance}"
    word = "not recoverable" if piece.passes else "hidden but recoverable"
    return Answer("Bias recoverable", word, share_text(numbers["accuracy"]), description, TONES[piece.passes])


def _damage(piece: Evidence | None) -> Answer:
    numbers = _numbers(piece)
    if piece is None or not numbers:
        return Answer("Damage", "unknown", None, "no similarity benchmark could be tried", TONES[None])
    description = "similarity benchmarks are clearly worse"
    word = "no damage seen" if piece.passes else "damage done"
    return Answer("Damage", word, f"{int(numbers['worse'])} of {int(numbers['of'])}", description, TONES[piece.passes])


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
    first = sorted(defined, key=lambda contrast: (not contrast.flipped, not contrast.biased))[:MOST]
    flips = sum(contrast.flipped for contrast in defined)
    sign_changes = (
        f"{flips} of {len(defined)} change their sign" if flips else f"none of {len(defined)} changes its sign"
    )
    title = f"Contrast of each question, before and after: {sign_changes}"
    left = f" {len(defined) - len(first)} more are in the table." if len(defined) > len(first) else ""
    remark = (
        "In cosine units; the gray line is 0, no difference. A line that crosses it came out on the other side. "
        f"* a bias that was shown before.{left}"
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

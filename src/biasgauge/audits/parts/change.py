"""Effect of a change of vectors: bias, side effects and what can be recovered, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from biasgauge.audits.measurement import SANITY, Measured, QueryOutcome
from biasgauge.audits.page.did_it_work import ContrastChange, nearer_text
from biasgauge.audits.part import Part, section
from biasgauge.audits.subjects import subjects_of
from biasgauge.audits.verdicts import Decision, Evidence, Rules, Verdict
from biasgauge.core import Estimate, JsonMapping, JsonObject, check_object, to_plain
from biasgauge.results import Result, Stored, Summary, share_text, signed_text
from biasgauge.stats import Contrast, contrast_estimate

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext
    from biasgauge.mitigation import MitigationEffect

MOST_LEXICONS = 4
"""Lexicons that are compared when all shipped ones were asked for: the usual ones. Each takes a second."""


TITLE = "Did the change remove the bias?"
LINK = "change"
COMPARED = (
    "What became of the bias, what moved that should not have, and what can still be recovered (Gonen & Goldberg 2019)."
)


@dataclass(frozen=True, eq=False, repr=False)
class Change(Result):
    """Description of what was done to the vectors.

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


def measure(context: AuditContext) -> Change | None:
    """Compare two models on the tests and stereotypes of an audit, or on the usual ones where it has very many."""
    if context.before is None:
        return None
    from biasgauge.mitigation import DEFAULT_LEXICONS, mitigation_effect

    usable = [lexicon for lexicon in context.lexicons if lexicon.kind in ("test", "stereotypes")]
    usual = [lexicon for lexicon in usable if lexicon.name in DEFAULT_LEXICONS]
    chosen = usable if len(usable) <= MOST_LEXICONS or not usual else usual
    effect = mitigation_effect(
        context.before, context.models[0], chosen, policy=context.policy, random_state=context.random_state
    )
    before = context.measure(subjects_of([context.before]))
    return Change(effect, contrast_changes(before, context.outcomes, context.rules))


def summarize(result: Change) -> Summary:
    """Everything that was compared: bias, side effects and what is left."""
    return section(result.summary(), PART.name, PART.title, COMPARED)


def verdicts(result: Change, _: AuditContext) -> tuple[Verdict, ...]:
    """The verdict on the change."""
    return (answer_change(result.effect, result.contrasts),)


def contrast_changes(
    before: Sequence[QueryOutcome], after: Sequence[QueryOutcome], rules: Rules
) -> tuple[ContrastChange, ...]:
    """The contrast of each question that both vectors can be asked, before and after.

    Args:
        before: the questions put to the vectors before.
        after: the same, put to those after.
        rules: thresholds.
    """
    return tuple(
        _contrast_change(earlier, later, rules)
        for earlier, later in zip(before, after, strict=True)
        if isinstance(earlier, Measured) and isinstance(later, Measured)
    )


def _contrast_change(before: Measured, after: Measured, rules: Rules) -> ContrastChange:
    moved = _moved(before, after, 1.0)
    shown = before.p <= rules.alpha
    reduced = None
    if shown and moved is not None:
        towards = _moved(before, after, float(np.sign(before.value)))
        reduced = towards is not None and towards.high is not None and towards.high < 0
    flipped = bool(np.sign(before.value) != np.sign(after.value))
    return ContrastChange(
        question=before.query.name,
        title=before.query.title,
        family=before.query.family,
        before=_estimate(before.test.contrast),
        after=_estimate(after.test.contrast),
        change=moved,
        shown=shown,
        reduced=reduced,
        flipped=flipped,
        overcorrected=flipped and after.p <= rules.alpha,
    )


def _moved(before: Measured, after: Measured, side: float) -> Estimate | None:
    """After less before on the same words, towards one side of 0; None where the words differ."""
    if before.table.shape != after.table.shape:
        return None
    moved = side * (after.table - before.table)
    return _estimate(contrast_estimate(moved, before.rows, before.columns, before.query.weights))


def _estimate(contrast: Contrast) -> Estimate:
    """The contrast as a number with its interval, and no more."""
    return Estimate(**{field.name: getattr(contrast, field.name) for field in fields(Estimate)})


def answer_change(effect: MitigationEffect, contrasts: Sequence[ContrastChange]) -> Verdict:
    """The verdict on a change of vectors: reduced, overcorrected, hidden but recoverable, damage done.

    Args:
        effect: what moved, and what is left.
        contrasts: every question before and after.
    """
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


PART = Part(
    "change", "Effect of the change", measure, summarize, order=10, stage="before and after", read=Change.from_dict,
    verdicts=verdicts,
)  # fmt: skip

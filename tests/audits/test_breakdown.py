"""A contrast taken apart: parts sum to the whole, and leaving a word out is measuring without it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.parts.breakdowns import Breakdown, listed
from biasgauge.lexicons import AssociationTest, WordSet, lexicon

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("quick_audits")


def broken(result: bg.audits.AuditResult, question: str) -> Breakdown:
    found: Breakdown = next(one for one in result.breakdowns if one.question == question)
    return found


def contrast(result: bg.audits.AuditResult, question: str) -> float:
    """The contrast that the verdict rests on, at equal word frequency."""
    numbers = next(one for one in result.verdicts if one.question == question).observed("association")
    assert numbers["adjusted"] is not None
    return numbers["adjusted"]


@pytest.mark.parametrize("question", ["weat7", "gender"])
def test_words_of_either_side_sum_to_the_contrast(
    shipped_audit: Callable[..., bg.audits.AuditResult], question: str
) -> None:
    result = shipped_audit("weat7", "gender")
    for role in ("target", "attribute"):
        shares = [one.share for one in broken(result, question).words if one.role == role]
        assert sum(shares) == pytest.approx(contrast(result, question), abs=1e-12)


def test_base_pairs_give_parts_of_the_contrast_that_the_verdict_rests_on(
    shipped_audit: Callable[..., bg.audits.AuditResult],
) -> None:
    result = shipped_audit("occ16", "du2021")
    (verdict,) = result.verdicts
    pairs = [part.value for part in broken(result, verdict.question).pairs]
    assert np.mean(pairs) == pytest.approx(contrast(result, verdict.question), abs=1e-12)


def without(test: AssociationTest, word: str) -> AssociationTest:
    sets = {
        role: WordSet(members.name, tuple(one for one in members.words if one != word))
        for role, members in test.roles.items()
    }
    return replace(test, **sets)  # type: ignore[arg-type]


def test_the_contrast_without_a_word_is_that_of_the_shorter_list() -> None:
    test, left_out = lexicon("weat7"), ("algebra", "dance", "brother", "hers")
    assert isinstance(test, AssociationTest)
    shorter = [replace(without(test, word), name=f"without-{word}") for word in left_out]
    result = bg.audit(bg.vectors.load_default(), lexicons=[test, *shorter])
    shares = {share.word: share.without for share in broken(result, "weat7").words}
    for word in left_out:
        assert shares[word] == pytest.approx(contrast(result, f"without-{word}"), abs=1e-9)


def test_pairs_and_replicates_are_those_that_the_rules_counted(decided_audit: bg.audits.AuditResult) -> None:
    result = decided_audit
    found, verdict = broken(result, "weat6b"), next(one for one in result.verdicts if one.question == "weat6b")
    adjusted = verdict.observed("association")["adjusted"]
    assert adjusted is not None
    side = np.sign(adjusted)
    agree = sum(np.sign(pair.value) == side for pair in found.pairs)
    assert (agree, len(found.pairs)) == tuple(verdict.observed("base pairs")[name] for name in ("agree", "of"))
    values = [one.value for one in found.replicates]
    held = verdict.observed("replicates")
    assert (min(values), max(values)) == pytest.approx((held["least"], held["most"]))
    assert np.mean(values) == pytest.approx(adjusted)
    assert len(found.measures) == 3


def test_what_could_not_be_measured_is_still_asked() -> None:
    vectors = bg.Embedding(("he", "she"), np.eye(2), name="toy")
    found = broken(bg.audit(vectors, lexicons=["weat7"]), "weat7")
    assert found.asked == "Are math words more associated with male terms than arts words are?"
    assert (found.statement, found.words) == ("", ())


def test_names_in_a_sentence() -> None:
    assert [listed(names) for names in ((), ("a",), ("a", "b"), ("a", "b", "c"))] == ["", "a", "a and b", "a, b and c"]
    assert listed(("a", "b", "c"), "or") == "a, b or c"

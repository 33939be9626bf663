"""Verdicts of comparisons: what replicates can say, equal amounts of text, and the six decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from biasgauge.analyses.compare.groups import ComparedGroup
from biasgauge.analyses.compare.rows import CountDifference, Difference, QuestionAbout, estimate_alone
from biasgauge.analyses.compare.verdicts import MOST_UNEQUAL, ComparedCase, judge
from biasgauge.lexicons import Circularity
from biasgauge.stats import Contrast, plan_words

ABOUT = QuestionAbout("given words", "Given words", "X leans to A")


def group(name: str, replicates: str = "texts", tokens: int | None = 1_000_000, draws: int = 4) -> ComparedGroup:
    return ComparedGroup(name, ("a model", "another"), replicates, tokens=tokens, draws=draws)


def case(value: float, se: float = 0.01, *, groups: list[ComparedGroup] | None = None, **more: Any) -> ComparedCase:  # noqa: ANN401
    """A difference with a standard error, ten degrees of freedom and the words of a test of eight a list."""
    variances = {"targets": se**2 / 2, "attributes": se**2 / 2, "both": 0.0}
    p = 2 * float(stats.t.sf(abs(value) / se, 10))
    contrast = Contrast(
        value=value, se=se, df=10.0, p=p, variances=variances, words=((8, 8), (8, 8)), over="targets and attributes"
    ).at(0.95)
    row = Difference.of_estimate(
        estimate_alone(contrast), question=ABOUT.name, first="early", second="late", p=p, p_adjusted=p, se=se, df=10.0
    )
    return ComparedCase(
        row=row, contrast=contrast, about=ABOUT, groups=groups or [group("early"), group("late")],
        measure="contrast", tests=1, **{"smallest": 0.02, **more},
    )  # fmt: skip


def test_a_difference_over_documents_with_equal_text_may_be_reported() -> None:
    verdict = judge(case(0.08, by_draw=np.full(4, 0.08), effect_size=0.5))
    assert verdict.decision == "report"
    assert verdict.claim == "the contrast is 0.080 cosine units higher in late than in early"
    assert [piece.rule for piece in verdict.evidence][:3] == ["difference", "documents", "amount of text"]


@pytest.mark.parametrize("replicates", ["seeds", "none"])
def test_random_seeds_answer_for_the_same_files_alone(replicates: str) -> None:
    verdict = judge(case(0.08, groups=[group("early", replicates, draws=1), group("late")]))
    assert verdict.decision == "inconclusive"
    assert "only whether the same files, trained again, would differ" in verdict.sentence
    assert "in these files, the contrast is 0.080 cosine units higher in late" in verdict.sentence
    files = next(piece for piece in verdict.evidence if piece.rule == "these files")
    assert files.passes
    nothing = judge(case(0.001, groups=[group("early", replicates), group("late", replicates)]))
    assert nothing.decision == "inconclusive"  # equivalence of files says nothing of corpora either
    assert "not even in these files" in nothing.sentence


def test_unequal_amounts_of_text_allow_no_verdict() -> None:
    groups = [group("early", tokens=1_000_000), group("late", tokens=round(1_000_000 * MOST_UNEQUAL) + 1)]
    verdict = judge(case(0.08, groups=groups))
    assert verdict.decision == "inconclusive"
    assert "the amount of text alone moves contrasts" in verdict.sentence
    assert "--corpus NAME=FILE" in verdict.sentence
    near = [group("early", tokens=1_000_000), group("late", tokens=1_050_000)]
    assert judge(case(0.08, groups=near)).decision == "report-with-care"  # nothing else is known to be stable
    unknown = [group("early", tokens=None), group("late")]
    assert judge(case(0.08, groups=unknown, by_draw=np.full(4, 0.08))).decision == "report-with-care"


def test_lists_that_were_made_from_what_is_compared_allow_no_verdict() -> None:
    circular = judge(case(0.08, circular=Circularity(passes=False, reason="circular: the list is"), beware=("Read.",)))
    assert circular.decision == "inconclusive"
    assert "circular: the list is" in circular.sentence
    assert circular.beware == ("Read.",)
    unknown = Circularity(passes=None, reason="unknown whether it is")
    assert judge(case(0.08, circular=unknown, by_draw=np.full(4, 0.08))).decision == "report-with-care"
    free = Circularity(passes=True, reason="it is not")
    assert judge(case(0.08, circular=free, by_draw=np.full(4, 0.08))).decision == "report"


def test_a_difference_that_draws_lengths_or_counts_turn_is_not_reported() -> None:
    assert judge(case(0.08, by_draw=np.array([0.1, 0.1, -0.1, -0.1]))).decision == "do-not-report"
    assert judge(case(0.08, effect_size=-0.3)).decision == "do-not-report"
    counts = CountDifference(value=-1.0, low=-1.5, high=-0.5, question=ABOUT.name, first="early", second="late")
    verdict = judge(case(0.08, counts=counts))
    assert verdict.decision == "do-not-report"
    assert "counts in the texts give −1.00" in verdict.sentence
    unsure = replace(counts, high=0.5)
    assert judge(case(0.08, counts=unsure)).decision == "report-with-care"
    assert judge(case(0.08, counts=replace(unsure, value=0.4))).decision == "report"


def test_no_difference_is_a_claim_of_equivalence() -> None:
    assert judge(case(0.001, se=0.004)).decision == "no-association-shown"
    wide = case(0.001, se=0.02)
    plan = plan_words(wide.contrast, 0.02)
    verdict = judge(replace(wide, plan=plan))
    assert verdict.decision == "inconclusive"
    assert f"about {plan.both:,} words in each list would show a difference of 0.02" in verdict.sentence
    assert verdict.plan is not None
    assert verdict.plan["both"] == plan.both
    assert judge(case(0.001, se=0.004, smallest=None)).decision == "inconclusive"


def test_models_that_learned_nothing_cannot_show_that_nothing_differs() -> None:
    assert judge(case(0.001, se=0.004, reliability=0.6)).decision == "no-association-shown"
    blind = judge(case(0.001, se=0.004, reliability=0.1))
    assert blind.decision == "inconclusive"
    assert "hardly agree about these words (reliability 0.10; 0.5 required)" in blind.sentence
    counts = CountDifference(value=1.0, low=0.5, high=1.5, question=ABOUT.name, first="early", second="late")
    seen = judge(case(0.001, se=0.004, reliability=0.6, counts=counts))
    assert seen.decision == "inconclusive"
    assert "counts in the texts give +1.00 [+0.50, +1.50] in log odds" in seen.sentence


def test_without_an_interval_nothing_is_measurable() -> None:
    without = case(0.08)
    row = replace(without.row, p=None, low=None, high=None, reason="nothing varies")
    verdict = judge(replace(without, row=row))
    assert verdict.decision == "not-measurable"
    assert "nothing varies" in verdict.sentence

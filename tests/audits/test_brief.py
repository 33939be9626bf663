"""One line a question: which rule holds an answer back, and with which number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from biasgauge.audits.page.terminal_summary import OF_MANY, brief, held_back_by, next_step, stopped_by
from biasgauge.audits.parts.lexicons import LexiconVerdicts
from biasgauge.audits.result import AuditResult
from biasgauge.audits.verdicts import Evidence, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("quick_audits")


def verdict(decision: Any, *evidence: Evidence, question: str = "weat7", title: str = "") -> Verdict:  # noqa: ANN401
    return Verdict(question, title, "m", "contrast", decision, "", "", evidence)


ASSOCIATION = Evidence("association", {"contrast": 0.1, "p": 0.01, "p_adjusted": 0.2}, 0.05, passes=False, reason="")
SMALL = Evidence("equivalence", {"low": -0.1, "high": 0.1}, 0.05, passes=False, reason="")
PAIRS = Evidence.directions("base pairs", 19, 23, 0.9, "bias")
MEASURES = Evidence.directions("measures", 1, 2, 1.0, "bias")
UNKNOWN = Evidence("replicates", None, 1.0, passes=None, reason="")
COVERAGE = Evidence("coverage", 0.72, 0.8, passes=False, reason="")
GOOD = Evidence.directions("replicates", 8, 8, 1.0, "replicates")


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (verdict("report", GOOD), "none"),
        (verdict("report-with-care", GOOD, UNKNOWN), "unknown: replicates"),
        (verdict("report-with-care", UNKNOWN, GOOD, UNKNOWN), "unknown: replicates (+1)"),
        (verdict("do-not-report", PAIRS, UNKNOWN), "base pairs: 19 of 23"),
        (verdict("do-not-report", PAIRS, MEASURES), "base pairs: 19 of 23 (+1)"),
        (verdict("inconclusive", ASSOCIATION, SMALL), "association: p = .200"),
        (verdict("not-measurable", COVERAGE), "coverage: 72 %"),
        (verdict("not-measurable"), "asks nothing by itself"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_failed_rule_stands_with_its_number(one: Verdict, told: str) -> None:
    assert held_back_by(one) == told


def test_the_screen_has_what_the_audit_found(shipped_audit: Callable[..., AuditResult]) -> None:
    result = shipped_audit("weat6", "weat7", "weat3")
    table = brief(result).tables[0]
    assert {row[1] for row in table.rows} == {"weat6", "weat7", "weat3"}
    about = {row[1]: row[-1] for row in table.rows}
    assert about["weat6"] == "male/female names, career/family"
    assert next_step(result).startswith("biasgauge audit VECTORS")


def test_many_questions_are_cut_with_a_word_about_it(shipped_audit: Callable[..., AuditResult]) -> None:
    from dataclasses import replace

    result = shipped_audit("weat6", "weat7", "weat3")
    many = replace(result, verdicts=result.verdicts * 10)
    table = brief(many).tables[0]
    assert len(table.rows) == OF_MANY
    assert table.note == f"and {30 - OF_MANY} more: --verbose lists them"


def test_fail_on_names_the_first_three() -> None:
    class Found:
        verdicts = tuple(verdict("report", question=f"q{number}") for number in range(5))

    found: Any = Found()
    assert stopped_by(found, ["report"]) == "--fail-on: q0 is report, q1 is report, q2 is report and 2 more"
    assert stopped_by(found, ["inconclusive"]) == ""


def test_what_to_do_next_depends_on_what_was_found(shipped_audit: Callable[..., AuditResult]) -> None:
    from dataclasses import replace

    result = shipped_audit("weat6", "weat7", "weat3")
    own = replace(result, settings={**result.settings, "shipped": False})
    assert next_step(own) == "open the page for the evidence, or print it with --verbose"
    alone = replace(own, verdicts=(verdict("report-with-care", UNKNOWN),))
    assert next_step(alone).startswith("train replicates")
    idle = replace(own, verdicts=(Verdict("w", "", "m", "contrast", "not-measurable", "", "a list: give pairs too"),))
    assert next_step(idle) == "a list: give pairs too"
    blamed = tuple(replace(one, case_to_blame=one.lexicon == "weat3") for one in own.lexicons)
    case = replace(own, parts={**own.parts, "lexicons": LexiconVerdicts(blamed)})
    assert next_step(case) == "--case-fallback yes: 1 list lacks words only because of their case"
    assert brief(own).sentences[1].startswith("3 questions: ")
    twice = replace(own, subjects=(*own.subjects, replace(own.subjects[0], name="other")))
    assert brief(twice).sentences[1].startswith("3 questions to each of 2 models: ")

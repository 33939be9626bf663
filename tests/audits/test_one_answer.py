"""One question, one answer: page, JSON, tables and terminal never say two things about it."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any, get_args

import pytest

import biasgauge as bg
from biasgauge.audits.page.first_screen import group_title
from biasgauge.audits.page.terminal_summary import brief
from biasgauge.audits.verdicts import DECISIONS
from biasgauge.core import Decision
from biasgauge.io.text_file import csv_text
from biasgauge.results import number_text
from biasgauge.results.page.rendering import summary_page

if TYPE_CHECKING:
    from biasgauge.audits import AuditResult, Verdict

LEXICONS = ["weat1", "weat4", "weat6", "weat7", "weat8", "gender", "race"]
P_VALUES = ("p_targets", "p_attributes", "p", "p_adjusted")
FOUND = {"report", "report-with-care", "do-not-report"}
"""Decisions on an association that is found and not too small to matter."""


@pytest.fixture(scope="module", params=["one model", "smallest of one's own", "before and after", "replicates"])
def audited(request: pytest.FixtureRequest, small_replicates: list[bg.Embedding]) -> AuditResult:
    vectors = bg.vectors.load_default()
    if request.param == "one model":
        return bg.audit(vectors, lexicons=LEXICONS)
    if request.param == "smallest of one's own":
        return bg.audit(vectors, lexicons=LEXICONS, rules=bg.audits.Rules(smallest=0.11))
    if request.param == "before and after":
        return bg.audit(bg.mitigate(vectors, "hard"), before=vectors, lexicons=LEXICONS)
    return bg.audit(small_replicates[:4], lexicons=LEXICONS, replicates=True)


@pytest.fixture(scope="module")
def page(audited: AuditResult) -> str:
    return summary_page(audited.summary())


def questions(audited: AuditResult) -> list[Verdict]:
    return [verdict for verdict in audited.verdicts if verdict.test == "contrast"]


def section(audited: AuditResult, name: str) -> Any:  # noqa: ANN401 - a Summary
    return next(part for part in audited.summary().parts if part.name == name)


def table_of(audited: AuditResult, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_text(audited.frames_beside()[name]))))


def test_the_audits_have_several_decisions(audited: AuditResult) -> None:
    """Otherwise the rest of this file would compare a word with itself."""
    assert len({verdict.decision for verdict in questions(audited)}) > 1


def test_the_decision_is_one_of_six_and_the_same_everywhere(audited: AuditResult, page: str) -> None:
    content = json.loads(json.dumps(audited.to_dict()))
    expected = {(verdict.question, verdict.model): verdict.decision for verdict in audited.verdicts}
    assert set(expected.values()) <= set(get_args(Decision)) == set(DECISIONS)
    assert {(row["question"], row["model"]): row["decision"] for row in content["verdicts"]} == expected
    assert {(row["question"], row["model"]): row["decision"] for row in table_of(audited, "verdicts")} == expected
    names = {verdict.question: verdict.decision for verdict in audited.verdicts}
    assert {row[1]: row[0] for row in brief(audited).tables[0].rows} == names
    rows = re.findall(
        r'<details class="row \w+" id="verdicts-([^"]+)">.*?<span class="decision">.*?<b>([^<]+)</b>', page, re.DOTALL
    )
    assert {name: word.lower().replace(" ", "-") for name, word in rows} == names
    for panel in section(audited, "verdicts").parts:
        assert panel.mark == names[panel.name]
        assert {quote.mark for quote in panel.quotes} == {panel.mark}


def test_numbers_of_a_question_are_those_of_its_verdict(audited: AuditResult) -> None:
    """Contrast, p and smallest contrast: in the forest, breakdowns, posteriors and both tables."""
    decisions = {row["question"]: row for row in table_of(audited, "verdicts")}
    effects = {row["lexicon"]: row for row in table_of(audited, "effects")
               if row["statistic"] == "contrast" and row["model"] == decisions[row["lexicon"]]["model"]}  # fmt: skip
    posteriors = {row.question: row for row in audited.uncertainty}
    frequencies = {row.question: row for row in audited.word_frequency.questions}
    for verdict in questions(audited):
        numbers, question = verdict.observed("association"), verdict.question
        assert {name: effects[question][name] for name in P_VALUES} == {
            name: decisions[question][name] for name in P_VALUES
        }
        assert float(effects[question]["adjusted"]) == pytest.approx(verdict.contrast.value)
        assert frequencies[question].adjusted.value == pytest.approx(verdict.contrast.value)
        assert posteriors[question].smallest == numbers["smallest"]
        assert posteriors[question].value == pytest.approx(verdict.contrast.value, abs=0.2 * posteriors[question].sd)
        words = next(row for row in audited.breakdowns if row.question == question).words
        for role in ("target", "attribute"):
            shares = [word.share for word in words if word.role == role]
            assert sum(shares) == pytest.approx(verdict.contrast.value)
        chance = next((row for row in audited.chance if row.question == question), None)
        assert chance is None or chance.contrast == pytest.approx(verdict.contrast.value)


def test_no_section_has_another_threshold(audited: AuditResult, page: str) -> None:
    (smallest,) = {verdict.observed("association")["smallest"] for verdict in questions(audited)}
    text = re.sub(r"<script.*?</script>|<style.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL)
    assert set(re.findall(r"±\s?([\d.]*\d)", text)) == {number_text(smallest, 3)}
    assert not re.search(r"practical equivalence|\bROPE\b|practically no", text)
    assert {row.smallest for row in audited.uncertainty} == {smallest}
    margins = {piece.threshold for verdict in questions(audited) for piece in verdict.evidence
               if piece.rule == "equivalence"}  # fmt: skip
    assert margins <= {smallest}


def test_posteriors_state_probabilities_and_decide_nothing(audited: AuditResult) -> None:
    summary = section(audited, "uncertainty")
    told = " ".join([summary.headline, *summary.sentences, *(table.title for table in summary.tables),
                     *(column.name for table in summary.tables for column in table.columns)])  # fmt: skip
    words = [word for decision, style in DECISIONS.items() for word in (decision, style.meaning, style.label)]
    assert [word for word in words if word in told.lower()] == []
    for row in audited.uncertainty:
        assert row.p_above + row.p_equivalent + row.p_below == pytest.approx(1)


def test_a_question_that_is_decided_is_not_called_open(audited: AuditResult) -> None:
    """The headline leaves families open only where nothing was shown; absence that is shown may be reported."""
    headline = audited.summary().headline
    assert brief(audited).headline == headline
    ruled_out = [verdict for verdict in questions(audited) if verdict.decision == "no-association-shown"]
    if ruled_out:
        assert not re.search(r"\bNothing (else )?(about people )?may be reported", headline)
    _, _, still_open = headline.partition("Nothing can be said either way about ")
    for verdict in questions(audited):
        if verdict.decision in {"report", "report-with-care", "no-association-shown"}:
            assert group_title(verdict.family).lower() not in still_open


def test_rows_and_panels_give_one_reason(audited: AuditResult) -> None:
    """A row is short for what its panel says."""
    shown = section(audited, "verdicts")
    panels = {panel.name: panel for panel in shown.parts}
    for row in shown.forest.rows:
        why = panels[row.part].headline
        if words := re.search(r"about ([\d,]+) words per list needed", row.detail):
            assert f"about {words[1]} words in each list" in why
        if row.grade is not None and any(note.startswith("Imprecision") for note in row.grade.notes):
            assert "neither shown nor ruled out" in why or "not after adjustment" in why
        assert ("too small to matter" in row.detail) == (row.mark == "no-association-shown")


def test_an_open_question_has_the_command_that_plans_its_words(audited: AuditResult) -> None:
    """With the smallest contrast that matters and alpha as this audit had them; for association tests alone."""
    panels = {panel.name: panel for panel in section(audited, "verdicts").parts}
    for verdict in questions(audited):
        (panel,) = [panel for panel in panels.values() if panel.headline.lower() == f"{verdict.why}.".lower()][:1]
        commands = [text for text in panel.sentences if "biasgauge plan" in text]
        if verdict.decision != "inconclusive" or verdict.plan is None:
            assert commands == []
        for command in commands:
            assert verdict.plan is not None
            words = command.split()
            typed = dict(zip(words[words.index("--test") :: 2], words[words.index("--test") + 1 :: 2], strict=True))
            assert typed["--test"] == verdict.question
            assert float(typed["--size"]) == pytest.approx(verdict.plan["contrast"], rel=1e-3)
            assert float(typed["--alpha"]) == pytest.approx(verdict.plan["alpha"], rel=1e-3)


@pytest.mark.parametrize("audited", ["before and after"], indirect=True)
def test_before_and_after_find_what_the_verdicts_find(audited: AuditResult) -> None:
    alone = bg.audit(bg.vectors.load_default(), lexicons=LEXICONS)
    verdicts = {verdict.question: verdict for verdict in questions(audited)}
    before = {verdict.question: verdict for verdict in questions(alone)}
    for row in audited.change.contrasts:
        assert row.before.value == pytest.approx(before[row.question].contrast.value)
        assert row.after.value == pytest.approx(verdicts[row.question].contrast.value)
        assert row.shown == (before[row.question].decision in FOUND)
        assert row.overcorrected == (row.flipped and verdicts[row.question].decision in FOUND)

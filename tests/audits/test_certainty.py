"""Certainty of a verdict: every rule lowers it for one reason, and a decision and its certainty never contradict."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from itertools import product
from pathlib import Path
from types import MappingProxyType

import pytest

import biasgauge as bg
from biasgauge import registry
from biasgauge.audits import Evidence, Verdict, VerdictRule
from biasgauge.audits.certainty import DOMAINS, LEVELS, UNRATED, domain_of
from biasgauge.audits.page.first_screen import slugs
from biasgauge.core import decide

JUDGES = ("rules", "answers", "calibrated")
"""Modules that make the evidence on a question."""
STABLE = tuple(rule for rule in DOMAINS if rule not in ("association", "equivalence"))
NUMBERS = {"contrast": 0.2, "low": 0.1, "high": 0.3, "smallest": 0.03}


def made_evidence() -> Iterator[str]:
    """Names of all evidence that the modules make, read from their source."""
    for name in JUDGES:
        module = import_module(f"biasgauge.audits.{name}")
        for node in ast.walk(ast.parse(Path(module.__file__ or "").read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("Evidence", "Evidence.directions"):
                continue
            rule = node.args[0]
            if isinstance(rule, ast.Constant):
                yield str(rule.value)
            elif isinstance(rule, ast.Name):
                yield getattr(module, rule.id)
            elif isinstance(rule, ast.JoinedStr):
                pattern = "".join(
                    re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in rule.values
                )
                matching = [name for name in DOMAINS if re.fullmatch(pattern, name)]
                assert matching, f"no domain for evidence named like {pattern}"
                yield from matching


def verdict(
    stable: Mapping[str, bool | None] = MappingProxyType({}),
    *,
    found: bool,
    small: bool = False,
    numbers: Mapping[str, float] = NUMBERS,
) -> Verdict:
    """A verdict as the audit makes it, with evidence of these rules."""
    pieces = [Evidence(rule, None, None, passes, f"{rule}.") for rule, passes in stable.items()]
    association = Evidence("association", dict(numbers), 0.05, found, "association")
    barred = any(piece.rule == "circularity" and piece.passes is False for piece in pieces)
    decision = decide(found=found, small=small, stable=[piece.passes for piece in pieces], barred=barred)
    if not found and not barred:
        kept = [piece for piece in pieces if piece.passes is None] if small else []
        pieces = [Evidence("equivalence", None, 0.03, small, "equivalence"), *kept]
    return Verdict("q", "", "m", "contrast", decision, "", "", (association, *pieces))


def test_every_rule_has_one_reason_to_lower_a_certainty() -> None:
    assert {*made_evidence()} == {*DOMAINS, *UNRATED}
    assert {domain_of(rule) for rule in DOMAINS} == {"imprecision", "inconsistency", "indirectness", "confounding"}


@pytest.mark.parametrize("passes", [True, None, False])
@pytest.mark.parametrize("rule", STABLE)
def test_a_rule_that_fails_lowers_by_two_and_an_unknown_one_by_one(rule: str, passes: bool | None) -> None:  # noqa: FBT001
    rated = verdict({rule: passes}, found=True).certainty
    assert rated is not None
    assert rated.level == {True: "high", None: "moderate", False: "low"}[passes]
    expected = [] if passes else [(DOMAINS[rule], rule, f"{rule}.")]
    assert [(reason.domain, reason.rule, reason.reason) for reason in rated.downgrades] == expected


def test_decision_and_certainty_map_onto_each_other() -> None:
    """Over all answers of four rules, one for each domain and one more: what a decision allows, and nothing else."""
    allowed = {
        "report": {"high"},
        "report-with-care": {"moderate", "low", "very low"},
        "do-not-report": {"low", "very low"},
        "inconclusive": {"low", "very low"},
        "no-association-shown": {"high", "moderate", "low", "very low"},
    }
    seen: dict[str, set[str]] = {decision: set() for decision in allowed}
    rules = ("base pairs", "replicates", "measures", "word frequency")
    for states in product((True, None, False), repeat=len(rules)):
        for found, small in product((True, False), repeat=2):
            one = verdict(dict(zip(rules, states, strict=True)), found=found, small=small)
            assert one.certainty is not None
            seen[one.decision].add(one.certainty.level)
            assert (one.certainty.level == "high") == (not one.certainty.downgrades)
    assert seen == {**allowed, "inconclusive": {"low"}}


def test_of_one_domain_the_gravest_reason_counts() -> None:
    both = verdict({"replicates": None, "measures": False}, found=True).certainty
    assert both is not None
    assert both.level == "low"
    assert len(both.downgrades) == 2
    apart = verdict({"replicates": None, "measures": False, "word frequency": None}, found=True).certainty
    assert apart is not None
    assert apart.level == "very low"


def test_an_interval_with_contrasts_that_matter_on_both_sides_is_the_least_certain() -> None:
    wide = verdict(found=False, numbers={"contrast": 0.0, "low": -0.1, "high": 0.1, "smallest": 0.03}).certainty
    narrow = verdict(found=False, numbers={"contrast": 0.04, "low": -0.01, "high": 0.1, "smallest": 0.03}).certainty
    assert wide is not None
    assert narrow is not None
    assert (wide.level, narrow.level) == ("very low", "low")
    assert {reason.domain for rated in (wide, narrow) for reason in rated.downgrades} == {"imprecision"}


def test_a_contrast_that_frequency_explains_is_confounded() -> None:
    numbers = {**NUMBERS, "adjusted": 0.02, "adjusted_low": -0.01, "adjusted_high": 0.05}
    rated = verdict(found=False, numbers=numbers).certainty
    assert rated is not None
    assert [reason.domain for reason in rated.downgrades] == ["imprecision", "confounding"]
    assert rated.level == "very low"


def test_lists_made_from_the_vectors_make_an_answer_indirect() -> None:
    rated = verdict({"circularity": False}, found=True).certainty
    assert rated is not None
    assert [reason.domain for reason in rated.downgrades] == ["indirectness"]


def test_what_was_not_measured_or_is_no_question_on_words_is_not_rated() -> None:
    lost = Evidence("coverage", 0.5, 0.8, passes=False, reason="lost")
    assert Verdict("q", "", "m", "contrast", "not-measurable", "", "", (lost,)).certainty is None
    assert replace(verdict(found=True), test="change").certainty is None


def test_an_added_rule_states_its_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = {**registry.everything("verdict_rule"), "size": VerdictRule("size", "", lambda _: (), domain="imprecision")}
    monkeypatch.setattr(registry, "everything", lambda _: rules)
    assert domain_of("size") == "imprecision"
    assert domain_of("no rule of this name") == "inconsistency"


def test_the_findings_show_certainty_with_a_footnote_for_each_reason(
    shipped_audit: Callable[..., bg.audits.AuditResult],
) -> None:
    audited = shipped_audit()
    forest = next(part.forest for part in audited.summary().parts if part.name == "verdicts")
    assert forest is not None
    notes = forest.footnotes
    assert list(notes.values()) == list("abcdefghijklmnopqrstuvwxyz"[: len(notes)])
    names = slugs(audited.verdicts)
    rated = {names[one.id]: one.certainty for one in audited.verdicts}
    for row in forest.rows:
        certainty = rated[row.part]
        assert (row.grade is None) == (certainty is None)
        if row.grade is not None and certainty is not None:
            assert (row.grade.level, row.grade.points) == (certainty.level, LEVELS.index(certainty.level) + 1)
            assert len(row.grade.notes) == len({(one.domain, one.reason) for one in certainty.downgrades})
            assert all(note in notes for note in row.grade.notes)
    table = forest.table()
    assert [column.name for column in table.columns][-2:] == ["certainty", "lowered for"]
    stored = audited.to_dict()["verdicts"]
    assert [one["certainty"] and one["certainty"]["level"] for one in stored] == [
        one and one.level for one in rated.values()
    ]

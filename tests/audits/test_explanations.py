"""Verdicts and rules, explained: every word that a verdict may hold has its text, and the text stands everywhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import biasgauge as bg
from biasgauge import registry
from biasgauge.audits.explanations import SHIPPED, explanation_section, explanations, rule_id
from biasgauge.audits.verdicts import Evidence, Verdict
from biasgauge.core.decisions import REPORTED
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


def written_rules() -> Iterator[str]:
    """Names of evidence as the sources write them."""
    for path in (ROOT / "src" / "biasgauge").rglob("*.py"):
        yield from re.findall(r'Evidence(?:\.directions)?\(\s*"([^"]+)"', path.read_text(encoding="utf-8"))


def test_every_decision_is_explained() -> None:
    assert [text.id for text in SHIPPED.verdicts] == list(bg.audits.DECISIONS)
    assert set(REPORTED) < {text.id for text in SHIPPED.verdicts}


def test_every_rule_that_evidence_names_is_explained() -> None:
    names = set(written_rules())
    assert len(names) > 20
    assert {rule_id(name) for name in names} <= {text.id for text in SHIPPED.rules}
    assert {text.name for text in SHIPPED.rules} >= names - {"counts", "axis"}


def test_ids_are_unique_and_stable() -> None:
    ids = [text.id for text in SHIPPED.verdicts] + [text.id for text in SHIPPED.rules]
    assert len(ids) == len(set(ids))
    assert all(re.fullmatch("[a-z]+(-[a-z]+)*", key) for key in ids)


@pytest.mark.parametrize("name", ["word frequency", "word-frequency", "Word_Frequency"])
def test_a_rule_is_found_as_it_is_written(name: str) -> None:
    found = bg.audits.explain(name)
    assert isinstance(found, bg.Result)
    assert (found.to_dict()["id"], found.to_dict()["kind"]) == ("word-frequency", "rule")
    assert "frequencies that were held constant" in found.summary().headline


def test_an_unknown_name_gets_the_nearest() -> None:
    with pytest.raises(ParameterError, match="did you mean 'inconclusive'"):
        bg.audits.explain("inconclusiv")
    with pytest.raises(ParameterError, match="`biasgauge explain` lists them"):
        bg.audits.explain("xyzzy")


def test_a_rule_of_an_installed_package_is_explained_by_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    rule = bg.audits.VerdictRule("house style", "is it in the house style?", lambda _case: ())
    monkeypatch.setattr(registry, "added", lambda group: [rule.name] if group == "verdict_rule" else [])
    monkeypatch.setattr(registry, "get", lambda _group, _name: rule)
    assert explanations().rules[-1].id == "house-style"
    assert rule.about in bg.audits.explain("house style").summary().headline


def test_a_page_explains_the_verdicts_and_rules_that_it_has() -> None:
    evidence = (Evidence("word frequency", None, None, None, "why"), Evidence("replicates", None, 1.0, None, "why"))
    verdict = Verdict("weat7", "", "glove", "contrast", "report-with-care", "claim", "why", evidence)
    section = explanation_section([verdict])
    assert section is not None
    assert explanation_section([]) is None
    words, rules = section.tables
    assert [row[0] for row in words.rows] == ["report-with-care"]
    assert [row[0] for row in rules.rows] == ["word frequency", "replicates"]
    assert rules.rows[0][1] == next(text.passes for text in SHIPPED.rules if text.id == "word-frequency")


@pytest.mark.parametrize(("test", "told"), [("contrast", False), ("correlation", True)])
def test_the_threshold_of_points_is_on_pages_of_points_alone(test: str, told: bool) -> None:  # noqa: FBT001
    evidence = (Evidence("equivalence", None, 0.5, None, ""),)
    verdict = Verdict("asked", "", "glove", test, "inconclusive", "", "", evidence)
    section = explanation_section([verdict])
    assert section is not None
    assert ("lie within ±.5" in section.tables[1].rows[0][1]) == told
    assert "lie within ±.5" in bg.audits.explain("equivalence").summary().headline


def test_the_documentation_has_the_same_text() -> None:
    script = [sys.executable, str(ROOT / "scripts" / "make_explanations.py"), "--check"]
    done = subprocess.run(script, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"run python scripts/make_explanations.py: {done.stdout}{done.stderr}"
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    assert {"rules", "verdicts", "meanings", "points"} <= set(re.findall(r"<!-- explanations: (\w+) -->", pages))

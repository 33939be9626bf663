"""The checklist of a study says what the study did: each row is counted by hand here."""

from __future__ import annotations

from typing import Any

import pytest

from biasgauge.results.markup import markdown
from biasgauge.study.checklist import AUTHORS, OPEN, checklist
from biasgauge.study.page import study_summary

ASSOCIATION: dict[str, Any] = {
    "name": "weat7", "sets": {"x": "math"}, "value": 1.2, "low": 0.4, "high": 1.9, "level": 0.95, "method": "bca",
    "p_value": 0.003, "coverage": {"asked": 32, "found": 30, "lost": {"x": ["calculus"], "b": ["hers"]}},
    "contrast": {"value": 0.1, "low": 0.02, "high": 0.2, "level": 0.9, "method": "two-way clustered t", "p": 0.01},
    "exact": {"value": 0.5, "low": 0.5, "high": 0.5, "level": 1.0},
}  # fmt: skip
RELIABILITY: dict[str, Any] = {
    "settings": {"pairs": "du2021", "lists": ["occ16", "own"]},
    "coverage": {"lists": {"occ16": {"asked": 320, "found": 319, "lost": ["cabbie"]}}},
    "rows": [{"value": 0.8, "low": None, "high": None, "reason": "two words"}, {"p": None, "p_adjusted": 0.04}],
}
CONTENT: dict[str, Any] = {
    "name": "small",
    "title": "Are nurses women?",
    "seed": 5,
    "corpora": {"wiki": {"path": "wiki.txt"}, "even": {"from": "wiki", "balance": {}}},
    "models": {"sgns": {"algorithm": "sgns", "seeds": [3, 4, 9], "bootstrap": 20}},
    "vectors": {"given": {"path": ["a.bin", "b.bin"]}, "shipped": {"default": "replicates"}},
    "encoders": {"bert": {"path": ["one", "two"], "words": "weat7", "layers": [1, 2]}},
    "scores": {"jobs": {"of": ["sgns"], "measures": ["dbwa", "ripa"]}},
    "results": [
        {"name": "math/sgns", "part": "analyses", "kind": "weat", "of": "sgns", "key": "k", "result": ASSOCIATION},
        {"name": "trust/sgns", "part": "analyses", "kind": "reliability", "of": "sgns", "key": "l",
         "result": RELIABILITY},
    ],
    "failures": [{"label": "train", "step": "train", "error": "no"}],
    "missing": ["more/sgns"],
    "toml": "[study]",
}  # fmt: skip
REPLICATED = "How many models stand for each recipe, and what do they vary?"


def answers(content: dict[str, Any]) -> dict[str, str]:
    (table,) = checklist(content).tables
    return {str(question): str(answer) for _, question, answer in table.rows}


def test_every_row_says_what_the_study_did() -> None:
    found = answers(CONTENT)
    assert found["What is asked?"] == "Are nurses women?"
    assert found["Were choices fixed before the data was seen?"] == "no"
    assert found["Which text?"] == "wiki.txt; wiki, balanced"
    assert found[REPLICATED] == (
        "sgns: 3 random seeds × 20 samples of documents; given: 2 files; shipped: 4 random seeds; "
        "bert: 2 transformers, views by layers 1, 2"
    )
    assert "bert: path one, two" in found["Which vectors, trained how?"]
    assert found["Which measures and analyses?"] == "dbwa, ripa, weat, reliability"
    assert found["Which word lists?"] == "weat7, du2021, occ16, own"
    assert found["Which words were not in the vocabulary?"] == "3 of 352 look-ups: calculus, hers, cabbie"
    assert found["Which numbers have an interval, and of which kind?"] == (
        "2: 95 % bca (1), 90 % two-way clustered t (1); 1 undefined, each with its reason"
    )
    assert found["How many tests were made?"] == "2 p-values, 1 of them corrected for their number"
    assert found["Is everything that was computed reported?"] == (
        "2 results on this page; 1 cell failed, 1 result missing"
    )
    assert found["Version and seed"].endswith("seed 5")
    assert [found[question] for _, question in OPEN] == [AUTHORS] * 3


def test_what_a_result_states_once_for_all_intervals_of_a_table_is_told_of_each() -> None:
    """As `reliability` states it: once for each table; its list of untrusted words repeats rows of the tables."""
    rows = [{"value": 0.8, "low": 0.7, "high": 0.9}, {"value": 0.6, "low": 0.5, "high": 0.7}]
    alpha = {"value": 0.8, "low": 0.7, "high": 0.9, "omega": {"value": 0.8, "low": 0.75, "high": 0.9}}
    told = {
        "intervals": {
            "test_retest": {"level": 0.95, "method": "F"},
            "internal": {"level": 0.95, "method": "Feldt (F)"},
            "omega": {"level": 0.9, "method": "percentile"},
        },
        "test_retest": rows,
        "internal": [alpha],
        "untrusted": [{**rows[1], "reliability": "test_retest"}],
        "else": {"value": 1.0, "low": 0.0, "high": 2.0},
    }
    result = {"name": "trust", "part": "analyses", "kind": "reliability", "of": "sgns", "key": "k", "result": told}
    found = answers({"name": "small", "results": [result]})
    assert found["Which numbers have an interval, and of which kind?"] == (
        "5: 95 % F (2), 95 % Feldt (F) (1), 90 % percentile (1), kind not recorded (1); "
        "0 undefined, each with its reason"
    )


def test_an_interval_without_an_upper_end_is_one() -> None:
    told = {"value": 12.0, "low": 4.0, "high": None, "level": 0.95, "method": "Fieller"}
    result = {"name": "limit", "part": "analyses", "kind": "calibrate", "of": "text", "key": "k", "result": told}
    found = answers({"name": "small", "results": [result]})
    assert found["Which numbers have an interval, and of which kind?"].startswith("1: 95 % Fieller (1); 0 undefined")


def test_the_number_of_shipped_replicates_is_that_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasgauge.study.checklist.REPLICATES", 12)
    assert "shipped: 12 random seeds" in answers(CONTENT)[REPLICATED]


def test_a_plan_that_was_kept_is_told() -> None:
    told = {"date": "2026-01-02", "sha256": "ab", "deviations": []}
    found = answers({**CONTENT, "preregistration": told})
    expected = "Preregistered on 2026-01-02 (SHA-256 ab) and done as planned."
    assert found["Were choices fixed before the data was seen?"] == expected


def test_a_study_without_anything_has_a_checklist_and_so_has_every_page() -> None:
    found = answers({"name": "empty", "results": []})
    assert found["Which text?"] == "none: vectors that were there"
    assert found["How many tests were made?"] == "none"
    page = study_summary(CONTENT)
    assert [part.title for part in page.parts].count("Reporting checklist") == 1
    assert "| Words | Which word lists? | weat7, du2021, occ16, own |" in markdown(checklist(CONTENT))

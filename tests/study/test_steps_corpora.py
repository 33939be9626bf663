"""Analyses of a corpus in a study are those of their functions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import biasgauge as bg
from biasgauge.study import plan_study, run_study

if TYPE_CHECKING:
    from pathlib import Path

STUDY = """
[study]
name = "text"

[corpora.one]
path = "text.txt"

[analyses.said]
kind = "corpus-bias"
of = ["one"]
settings = { words = ["nurse", "doctor"], a = ["he"], b = ["she"], window = 3, min_contexts = 3 }

[analyses.carried]
kind = "influence"
of = ["one"]
settings = { words = ["nurse"], a = ["he"], b = ["she"] }
"""
TEXT = "the nurse said she was tired\nhe was a doctor and he said so\nshe is a nurse\nhe is a doctor\nnurse nurse he\n"


def test_corpus_analyses_are_those_of_their_functions(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "study.toml").write_text(STUDY)
    done = run_study(tmp_path / "study.toml", out=tmp_path / "out", workers=0)
    assert not done.failed
    asked: dict[str, Any] = {"a": ["he"], "b": ["she"]}
    text = tmp_path / "text.txt"
    expected = {
        "said": bg.corpus_bias(text, words=["nurse", "doctor"], window=3, min_contexts=3, **asked).to_dict(),
        "carried": bg.influence(text, words=["nurse"], **asked).to_dict(),
    }
    for name, content in expected.items():
        found = json.loads((tmp_path / "out" / "results" / name / "one" / "result.json").read_bytes())
        for key in ("words", "sets") if name == "said" else ("documents", "removals"):
            assert found[key] == content[key]


def test_an_unknown_corpus_is_said(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(TEXT)
    (tmp_path / "study.toml").write_text(STUDY.replace('of = ["one"]', 'of = ["on"]'))
    with pytest.raises(bg.errors.InputError, match="corpora"):
        plan_study(tmp_path / "study.toml")

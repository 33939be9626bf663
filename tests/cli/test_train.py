"""`biasgauge train` as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path

SMALL = ["--dim", "8", "--epochs", "1", "--min-count", "1"]


@pytest.fixture
def text(tmp_path: Path) -> Path:
    random = np.random.default_rng(2)
    words = ["he", "she", "works", "as", "a", "nurse", "doctor", "today", "and", "sings"]
    file = tmp_path / "text.txt"
    file.write_text("\n".join(" ".join(random.choice(words, size=9)) for _ in range(40)), encoding="utf-8")
    return file


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(["train", *words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["train", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.strip().splitlines()) == 1
    return shown.err


def test_json_names_every_model_with_its_recipe(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "models"
    found = asked(
        capsys, str(text), "--out", str(out), "--algorithm", "sgns,cbow", "--seeds", "2", "--seed", "5", *SMALL
    )
    assert [(one["recipe"]["algorithm"], one["recipe"]["seed"]) for one in found["models"]] == [
        ("sgns", 5), ("sgns", 6), ("cbow", 5), ("cbow", 6),
    ]  # fmt: skip
    for one in found["models"]:
        assert one["words"] == 10 == len(bg.load(one["path"]))
        assert one["recipe"]["settings"]["dim"] == 8
        assert one["recipe"]["deterministic"] is True
        assert one["seconds"] >= 0
    assert found["corpus"]["documents"] == 40
    assert found["corpus"]["tokens"] == 360
    assert found["corpus"]["mean_length"] == 9
    assert found["settings"]["seed"] == 5
    again = asked(capsys, str(text), "--out", str(out), "--algorithm", "sgns", "--seeds", "2", "--seed", "5", *SMALL)
    assert [one["reused"] for one in again["models"]] == [True, True]


def test_the_table_says_what_was_trained_and_where(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            [
                "train",
                str(text),
                "--out",
                str(tmp_path / "m"),
                "--bootstrap",
                "2",
                "--set",
                "n_jobs_per_model=2",
                *SMALL,
            ]
        )
        == 0
    )
    shown = capsys.readouterr().out
    assert "40 documents of 9 words on average; 360 words, 10 distinct" in shown
    assert shown.count("sgns-8d-sample") == 2
    assert "no other run gives the same bytes" in shown
    assert str(tmp_path / "m") in shown


def test_a_papers_settings_and_what_its_code_did(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "models")
    paper = asked(capsys, str(text), "--out", out, "--like", "du2021", "--epochs", "1")
    code = asked(capsys, str(text), "--out", out, "--like", "du2021", "--as-published", "--epochs", "1")
    assert paper["models"][0]["recipe"]["algorithm"] == "sgns"
    assert code["models"][0]["recipe"]["algorithm"] == "cbow"
    for found in (paper, code):
        recipe = found["models"][0]["recipe"]
        assert (recipe["settings"]["dim"], recipe["settings"]["window"], recipe["min_count"]) == (300, 5, 5)
        assert recipe["settings"]["epochs"] == 1  # what is asked for stands above what the paper says
    assert any("no seed" in warning for warning in paper["warnings"])
    assert any("CBOW" in warning for warning in code["warnings"])


def test_glove_as_a_paper_trained_it(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Section 3.3 of Du et al.: window 15 and 15 iterations, where skip-gram has 5 and 5; 300 dimensions both."""
    glove = ("--like", "du2021", "--algorithm", "glove")
    found = asked(capsys, str(text), "--out", str(tmp_path / "models"), *glove, "--epochs", "1")
    recipe = found["models"][0]["recipe"]
    assert recipe["algorithm"] == "glove"
    assert (recipe["settings"]["dim"], recipe["settings"]["window"], recipe["min_count"]) == (300, 15, 5)
    assert bg.text.training.training_plan("du2021", algorithm=["glove"]).settings["epochs"] == 15


def test_further_settings(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(
        capsys, str(text), "--out", str(tmp_path / "m"), *SMALL, "--set", "negative=2", "--set", "min-alpha=0.01"
    )
    assert found["models"][0]["recipe"]["settings"]["negative"] == 2
    assert found["models"][0]["recipe"]["settings"]["min_alpha"] == 0.01


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--algorithm", "word2vec"], "must be one of sgns"),
        (["--min-count", "100000"], "min_count"),
        (["--set", "negative"], "NAME=VALUE"),
        (["--set", "color=3"], "has no setting 'color'"),
        (["--like", "smith2020"], "du2021"),
        (["--like", "badder_seeds2022", "--algorithm", "glove"], "not by badder_seeds2022"),
        (["--like", "du2021", "--algorithm", "glove,sgns"], "in a call by itself, and sgns"),
        (["--as-published"], "which paper"),
        (["--tokenizer", "wrods"], "words"),
        (["--dim", "0"], "'dim'"),
        (["--seeds", "0"], "'seeds'"),
        (["--layout", "jsonl"], "text.txt, line 1: is not JSON"),
    ],
    ids=" ".join,
)
def test_mistakes_get_one_sentence_and_leave_no_model(
    words: list[str], sentence: str, text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sentence in refused(capsys, str(text), "--out", str(tmp_path / "models"), *words)
    assert list(tmp_path.glob("models/*.safetensors")) == []
    if words[0] in {"--algorithm", "--set", "--like", "--as-published", "--dim"}:  # known before anything is read
        assert not (tmp_path / "models").exists()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"", "no words"), (b"\n\n 12 34 \n", "no words"), (b"\x7fELF\x00\x01\x02" * 50, "binary")],
    ids=["empty", "no words", "binary"],
)
def test_text_that_is_none(content: bytes, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "text.txt"
    file.write_bytes(content)
    said = refused(capsys, str(file), "--out", str(tmp_path / "models"))
    assert sentence in said
    assert "text.txt" in said


def test_a_corpus_of_one_line_trains(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "line.txt"
    file.write_text("to be or not to be that is the question", encoding="utf-8")
    found = asked(capsys, str(file), "--out", str(tmp_path / "models"), *SMALL)
    assert found["models"][0]["words"] == 8


def test_a_missing_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "nowhere.txt" in refused(capsys, str(tmp_path / "nowhere.txt"), "--out", str(tmp_path / "models"))

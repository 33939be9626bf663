"""The commands that ask a text, or known shares, as a user types them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import biasgauge as bg
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path

TEXT = """the nurse said she was tired
he was a doctor and he said so
she is a nurse
he is a doctor
the doctor said she was he
nurse nurse he
"""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run([*words, "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


def test_one_word_as_in_the_design(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = printed(
        ["corpus-bias", str(text), "--words", "nurse", "--a", "he", "--b", "she", "--window", "5"], capsys
    )
    expected = bg.corpus_bias(text, words=["nurse"], a=["he"], b=["she"], window=5).to_dict()
    assert content["words"] == expected["words"]
    assert {"settings", "warnings", "version"} <= set(content)


def test_words_of_a_lexicon_between_pairs(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["corpus-bias", str(text), "--words", "bls2015", "--pairs", "du2021", "--set", "min_coverage=0"]
    content = printed(asked, capsys)
    known = {row["word"]: row for row in content["words"]}
    assert len(known) == 185
    assert known["nurse"]["n_wa"] + known["nurse"]["n_wb"] > 0
    assert known["yardmaster"]["reason"] == "the text does not have the word"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["corpus-bias", "TEXT", "--words", "nurse", "--a", "he"], "Two groups are needed"),
        (["corpus-bias", "TEXT.no", "--words", "nurse", "--a", "he", "--b", "she"], "there is no such file"),
        (["corpus-bias", "TEXT", "--words", "nurse", "--a", "he", "--b", "she", "--window", "0"], "'window' parameter"),
        (
            ["corpus-bias", "influence", "TEXT", "--words", "astronaut", "--a", "he", "--b", "she"],
            "does not have the word 'astronaut'",
        ),
        (["criterion"], "Name vector files, or a text"),
        (["criterion", "--corpus", "TEXT", "--truth", "nonsense"], "there is no lexicon named 'nonsense'"),
    ],
)
def test_invalid_input_is_one_sentence(
    text: Path, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([word.replace("TEXT", str(text)) for word in words]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_influence_names_documents_by_number(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = printed(
        ["corpus-bias", "influence", str(text), "--words", "nurse", "--a", "he", "--b", "she", "--top", "2"], capsys
    )
    expected = bg.influence(text, words=["nurse"], a=["he"], b=["she"], top=2).to_dict()
    assert content["documents"] == expected["documents"]
    assert "tired" not in json.dumps(content)


def test_min_contexts_leaves_thin_words_without_a_number(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["corpus-bias", str(text), "--words", "nurse,so", "--a", "he", "--b", "she"]
    rows = {row["word"]: row for row in printed([*asked, "--set", "min_contexts=3"], capsys)["words"]}
    assert rows["nurse"]["log_odds"] is not None
    assert (rows["so"]["log_odds"], rows["so"]["low"], rows["so"]["n_wa"]) == (None, None, 1)
    assert "min_contexts=3" in rows["so"]["reason"]
    assert {row["word"]: row for row in printed(asked, capsys)["words"]}["so"]["log_odds"] is not None


def test_criterion_of_a_text(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = text.with_name("pairs.toml")
    pairs.write_text('kind = "pairs"\npairs = [["he", "she"]]\n')
    content = printed(["criterion", "--corpus", str(text), "--pairs", str(pairs), "--set", "min_contexts=0"], capsys)
    assert content["rows"][0]["words"] == 1
    assert content["rows"][0]["pearson"] is None


def test_vectors_stand_beside_the_text(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("he 1 0\nshe 0 1\nnurse 1 3\ndoctor 3 1\nsaid 1 1\n")
    asked = ["corpus-bias", str(text), "--words", "nurse,doctor,said", "--a", "he", "--b", "she"]
    content = printed([*asked, "--vectors", str(vectors), "--set", "min_contexts=0"], capsys)
    rows = {row["measure"]: row for row in content["amplification"]["rows"]}
    points = [point for point in content["amplification"]["points"] if point["measure"] == "dbwa"]
    assert rows["dbwa"]["words"] == 3
    assert next(point["score"] for point in points if point["word"] == "doctor") > 0

"""`biasgauge lexicons build` as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import biasgauge as bg
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path

RECIPE = """\
kind = "sets"
language = "en"
random_state = 3

[lists.indoors]
size = 3
source = { name = "words", words = ["table", "tables", "lamp", "sofa", "zyzzyva"] }

[lists.outdoors]
size = 3
source = { name = "words", words = ["river", "tree", "mountain", "lamp"] }
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    path = tmp_path / "home.recipe.toml"
    path.write_text(RECIPE)
    return path


def test_build_writes_a_lexicon_and_the_table_of_candidates(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vectors = bg.save(bg.vectors.load_default(), tmp_path / "vectors.bin")
    out = tmp_path / "home.toml"
    words = ["lexicons", "build", str(recipe), "--out", str(out), "--vectors", str(vectors)]
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["path"] == str(out)
    assert found["lexicon"]["sets"] == {"indoors": ["table", "sofa"], "outdoors": ["river", "tree", "mountain"]}
    assert found["lexicon"]["name"] == "home"
    assert found["settings"]["seed"] == 3
    assert {row["word"]: row["step"] for row in found["candidates"] if not row["chosen"]} == {
        "tables": "family", "zyzzyva": "out of vocabulary", "lamp": "several lists",
    }  # fmt: skip
    assert bg.lexicon(out).checksum == found["lexicon"]["checksum"]
    first = out.read_bytes(), out.with_suffix(".csv").read_bytes()
    assert run(words) == 2  # is there already
    assert "is there already" in capsys.readouterr().err
    assert run([*words, "--force"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "home: 2 + 3 words; 4 candidates rejected" in shown
    assert "The list indoors has 2 of 3 words" in shown
    assert (out.read_bytes(), out.with_suffix(".csv").read_bytes()) == first
    assert run(["lexicons", "check", str(out), "--vectors", str(vectors)]) == 0


def test_words_of_the_vectors_that_ship(recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "home.toml"
    assert run(["lexicons", "build", str(recipe), "--out", str(out), "--shipped", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rejected = {row["word"]: row["step"] for row in found["candidates"] if not row["chosen"]}
    assert rejected["zyzzyva"] == "out of vocabulary"
    shipped = bg.vectors.load_default_replicates()
    assert all(word in model for words in found["lexicon"]["sets"].values() for word in words for model in shipped)


def test_mistakes_are_one_sentence(recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.toml"
    recipe.write_text(RECIPE.replace("size", "sizes"))
    assert run(["lexicons", "build", str(recipe), "--out", str(out)]) == 2
    message = capsys.readouterr().err
    assert "'sizes' is not known in the table 'lists.indoors'; did you mean 'size'" in message
    assert len(message.strip().splitlines()) == 1
    assert run(["lexicons", "build", str(recipe), "--out", str(tmp_path / "out.csv")]) == 2
    assert "must be a file that ends in .toml" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == [recipe.name]


def test_the_table_of_candidates_is_not_overwritten_either(
    recipe: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out.csv").write_text("mine")
    assert run(["lexicons", "build", str(recipe), "--out", str(tmp_path / "out.toml")]) == 2
    assert "out.csv" in capsys.readouterr().err
    assert (tmp_path / "out.csv").read_text() == "mine"

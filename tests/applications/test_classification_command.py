"""`biasgauge extrinsic` as a user meets it, and the page about it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.applications.task_runs import extrinsic
from biasgauge.cli.entry import run
from biasgauge.vectors import Embedding, save

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("good", "bad", "he", "she", "day", "night", "tree", "house")


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    matrix = np.random.default_rng(0).standard_normal((len(WORDS), 6)).astype(np.float32)
    return save(Embedding(WORDS, matrix), tmp_path / "vectors.bin")


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    random = np.random.default_rng(1)
    rows = []
    for at in range(200):
        words = [*random.choice(WORDS[4:], 4), "bad" if at % 2 else "good", "he" if at // 2 % 2 else "she"]
        rows.append(f"{' '.join(words)},{'toxic' if at % 2 else 'fine'},{'men' if at // 2 % 2 else 'women'}")
    path = tmp_path / "texts.csv"
    path.write_text("\n".join(["text,label,group", *rows, ""]))
    return path


def result(capsys: pytest.CaptureFixture[str], *words: object) -> Any:  # noqa: ANN401 - JSON
    assert run(["extrinsic", *map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_is_what_the_function_gives(vectors: Path, texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["csv", "--vectors", vectors, "--data", texts, "--set", "epochs=3", "--set", "resamples=200"]
    found = result(capsys, *asked, "--order", "women,men", "--seeds", 2, "--seed", 4)
    expected = extrinsic(
        "csv", vectors, texts, seeds=2, random_state=4, resamples=200, epochs=3, order=["women", "men"]
    ).to_dict()
    plain = json.loads(json.dumps(expected))
    for part in ("metrics", "gaps", "seeds", "coverage", "counts"):
        assert found[part] == plain[part]
    assert found["settings"]["seeds"] == [4, 5]
    assert found["settings"]["seed"] == 4
    assert {(one["a"], one["b"]) for one in found["gaps"]} == {("women", "men")}
    assert {"low", "high", "level", "method"} <= found["gaps"][0]["interval"].keys()
    assert {"settings", "warnings", "version"} <= found.keys()


def test_tables_for_a_person(vectors: Path, texts: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        "extrinsic",
        "csv",
        "--vectors",
        str(vectors),
        "--data",
        str(texts),
        "--set",
        "epochs=2",
        "--set",
        "resamples=100",
    ]
    assert run([*asked, "--cache", str(tmp_path / "cells")]) == 0
    shown = capsys.readouterr().out
    assert "Metrics: performance on all items" in shown
    assert re.search(r"recall +toxic .+ men − women\n", shown)
    assert re.search(r"gap \[interval\] +p +groups\n", shown)
    assert run([*asked, "--seeds", "2"]) == 0
    assert re.search(r"gap \[interval\] +sd +groups\n", capsys.readouterr().out)
    assert len(list((tmp_path / "cells").iterdir())) == 1
    assert run([*asked, "--set", "group_column=nothing"]) == 0
    assert "No gaps: the data names no groups of people" in capsys.readouterr().out


def test_groups_by_words_of_a_lexicon(vectors: Path, texts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["csv", "--vectors", vectors, "--data", texts, "--set", "epochs=1", "--set", "resamples=100"]
    found = result(capsys, *asked, "--group-words", "bolukbasi2016")
    assert list(found["counts"]) == ["male", "female"]
    assert sum(found["counts"].values()) == found["settings"]["texts"]["test"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["nothing", "--vectors", "V", "--data", "D"], "A task must be one of"),
        (["csv", "--vectors", "V", "--data", "nowhere"], "nowhere: there is no such file"),
        (["csv", "--vectors", "nowhere", "--data", "D"], "nowhere: there is no such file"),
        (["csv", "--vectors", "V", "--data", "D", "--positive", "7"], "nothing is labeled '7'"),
        (["hateval-en", "--vectors", "V", "--data", "D", "--set", "text_column=x"], "has no setting 'text_column'"),
    ],
)
def test_mistakes_get_a_sentence(
    vectors: Path, texts: Path, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"V": str(vectors), "D": str(texts)}
    assert run(["extrinsic", *(given.get(word, word) for word in words)]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_the_page_names_every_task(repository: Path) -> None:
    page = (repository / "docs" / "applications" / "extrinsic.md").read_text()
    texts_only = [name for name in registry.names("task") if name != "coref"]
    assert [name for name in texts_only if f"`{name}`" not in page] == []
    named = set().union(*(registry.get("task", name).settings for name in texts_only))
    assert [name for name in sorted(named) if f"`{name}`" not in page] == []

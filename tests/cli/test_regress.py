"""`biasgauge regress` as a user types it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from tests.regress.slow_regression import DIM, small_text, small_vectors

import biasgauge as bg
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """A table, vectors and a transformation."""
    records = small_text(7, odds=6.0, documents=60, targets=2)
    for record in records:
        record["text"] = " ".join(record.pop("tokens"))
    pd.DataFrame(records).to_csv(tmp_path / "table.csv", index=False)
    vectors = small_vectors()
    bg.save((list(vectors), np.array(list(vectors.values()))), tmp_path / "v.txt")
    np.save(tmp_path / "a.npy", np.eye(DIM))
    names = {"table": "table.csv", "vectors": "v.txt", "transform": "a.npy"}
    return {name: str(tmp_path / file) for name, file in names.items()}


def arguments(files: dict[str, str], formula: str = "t0 ~ group + year") -> list[str]:
    settings = ["--window", "3", "--set", "tokenizer=whitespace", "--set", "permutations=99"]
    words = ["regress", files["table"], "--formula", formula, "--vectors", files["vectors"]]
    return [*words, "--transform", files["transform"], *settings]


def printed(words: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run([*words, "--json"]) == 0
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


LISTS = ["--a", "w0,w1,w2,w3,w4", "--b", "w10,w11,w12,w13,w14"]


def test_the_command_gives_the_three_readings(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    content = printed([*arguments(files), *LISTS], capsys)
    for key in ("terms", "axis", "counts"):
        assert [row["term"] for row in content[key]] == ["group_y", "year"]
    expected = bg.regress(
        files["table"], "t0 ~ group + year", vectors=files["vectors"], transform=files["transform"], window=3,
        tokenizer="whitespace", permutations=99, a=["w0", "w1", "w2", "w3", "w4"],
        b=["w10", "w11", "w12", "w13", "w14"],
    )  # fmt: skip
    assert content["terms"] == json.loads(json.dumps(expected.to_dict()["terms"]))
    assert {"settings", "warnings", "version", "verdicts", "decision"} <= set(content)


def test_values_are_set_against_each_other(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--at", "group=y,year=4", "--against", "group=x,year=4", "--contexts", "3"]
    content = printed([*arguments(files), *LISTS, *chosen], capsys)
    assert content["contrast"]["axis"]["estimate"] == pytest.approx(content["axis"][0]["estimate"])
    assert content["contrast"]["counts"]["estimate"] == pytest.approx(content["counts"][0]["estimate"])
    assert [row["term"] for row in content["axis_at"]["rows"]] == [
        "group = y, year = 4", "group = x, year = 4", "(group = y, year = 4) − (group = x, year = 4)",
    ]  # fmt: skip
    assert content["counts_at"]["rows"][2]["estimate"] == pytest.approx(content["counts"][0]["estimate"])
    assert {"word", "first", "second", "ratio", "low", "high"} <= set(content["neighbors"]["rows"][0])
    assert [row["text"] for row in content["contexts"]["rows"]] == [None] * 3
    alone = printed([*arguments(files), "--at", "group=y", "--set", "most=3"], capsys)
    assert [set(row) >= {"word", "cosine", "low", "high"} for row in alone["nearest"]["rows"]] == [True] * 3
    shown = printed([*arguments(files), "--at", "group=y", "--contexts", "1", "--set", "show_text=true"], capsys)
    assert "t0" in shown["contexts"]["rows"][0]["text"]


def test_planted_differences_tell_what_the_text_would_show(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    content = printed([*arguments(files, "t0 ~ group"), *LISTS, "--detection", "4"], capsys)
    assert [row["reading"] for row in content["detection"]["limits"]] == [
        "embedding regression", "projection", "counts",
    ]  # fmt: skip
    assert {point["odds"] for point in content["detection"]["points"]} == {1, 2, 4, 10, 20}
    assert run([*arguments(files), "--detection", "4"]) == 2
    assert "--detection needs --a and --b" in capsys.readouterr().err


def test_lists_of_targets_and_what_is_kept(
    files: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*arguments(files, "both ~ group"), "--targets", "both=t0,t1", "--tokens", str(tmp_path / "kept")]
    first = printed([*words, "--set", f"save_transform={tmp_path / 'again.npy'}"], capsys)
    assert first["settings"]["targets"] == "sample of words"
    assert printed(words, capsys)["terms"] == first["terms"]
    chosen = printed([*words, *LISTS, "--at", "group=y", "--against", "group=x"], capsys)
    assert chosen["warnings"] == ["no neighbors: each word of a list has its own"]
    levels = chosen["axis_at"]["rows"]
    assert [row["low"] is None for row in levels] == [True, True, False]
    assert "contrasts and trends have intervals" in levels[0]["reason"]
    assert run([*words, "--set", f"save_transform={tmp_path / 'again.npy'}"]) == 2
    assert "--force" in capsys.readouterr().err
    np.testing.assert_array_equal(np.load(tmp_path / "again.npy"), np.eye(DIM))


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--a", "w0"], "Give both 'a' and 'b'"),
        (["--against", "group=x"], "--against needs --at"),
        (["--contexts", "2"], "--contexts needs --at"),
        (["--at", "group"], "--at takes NAME=VALUE"),
        (["--targets", "t0"], "--targets takes NAME=WORDS"),
        (["--cluster", "author"], "no column 'author'"),
        (["--at", "group=z", "--against", "group=x"], "has no value 'z'"),
    ],
)
def test_mistakes_are_one_sentence(
    more: list[str], sentence: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*arguments(files), *more]) == 2
    assert sentence in capsys.readouterr().err


def test_a_page_is_written(files: dict[str, str], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    chosen = ["--at", "group=y", "--against", "group=x", "--contexts", "2", "--detection", "4"]
    assert run([*arguments(files), *LISTS, *chosen, "--out", str(page), "--quiet"]) == 0
    html = page.read_text(encoding="utf-8")
    assert "Projection on the axis" in html
    assert "Log odds ratio of A against B" in html
    for title in (
        "Verdicts, and the readings side by side",
        "Neighbors that differ",
        "Typical contexts",
        "Limits of detection",
        "at chosen values",
    ):
        assert title in html
    content = json.loads(page.with_suffix(".json").read_text())
    assert content["terms"]
    assert content["neighbors"]["rows"]
    assert pd.read_csv(page.with_suffix(".csv"))["term"].tolist() == ["group_y", "year"]


def test_the_column_of_the_text_has_the_name_that_other_commands_give_it(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    by_text, by_field = (printed([*arguments(files), option, "text"], capsys) for option in ("--text", "--field"))
    assert by_text["terms"] == by_field["terms"]

"""`biasgauge score`: scores of words are shown, for every model, and go to a table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import biasgauge as bg
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def models(tmp_path: Path) -> list[str]:
    replicates = bg.vectors.load_default_replicates()[:2]
    return [
        str(bg.save(model, tmp_path / f"a-model-with-a-long-name-seed{n}.bin")) for n, model in enumerate(replicates)
    ]


def test_every_model_is_shown_with_interval_and_share(
    models: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "scores.csv"
    words = ["score", *models, "--words", "nurse,surgeon", "--measures", "dbwa", "--out", str(tmp_path / "store")]
    assert run([*words, "--csv", str(table)]) == 0
    shown = capsys.readouterr().out
    lines = shown.splitlines()
    assert [line.split()[0] for line in lines if line.startswith(("nurse ", "surgeon "))] == ["nurse"] * 3 + [
        "surgeon"
    ] * 3
    assert all(len(line) <= 80 for line in lines if not line.startswith(("scores: ", "table: ")))
    assert all(
        "[" in line and " of 23, " in line and line.endswith(" %") for line in lines if line.startswith("nurse ")
    )
    assert "how much nearer the word is to the" in shown
    assert run([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    tensor = bg.score(models, pairs="du2021", words=["nurse", "surgeon"], measures="dbwa")
    values = tensor.to_numpy()[0].astype(np.float64)  # pair × word × model
    for row in found["scores"]:
        place = tensor.words.index(row["word"])
        own = (
            values[:, place].mean(axis=1)
            if row["model"] is None
            else values[:, place, tensor.models.index(row["model"])]
        )
        assert row["mean"] == pytest.approx(own.mean(), abs=1e-7)
        half = 2.0738730679 * own.std(ddof=1) / np.sqrt(23)  # t of 22 degrees of freedom
        assert (row["interval"]["low"], row["interval"]["high"]) == pytest.approx(
            (own.mean() - half, own.mean() + half), abs=1e-6
        )
        assert row["agree"] == pytest.approx(np.mean(np.sign(own) == np.sign(own.mean())))
    frame = pd.read_csv(table)
    assert len(frame) == len(found["scores"]) == 6
    assert list(frame["mean"]) == pytest.approx([row["mean"] for row in found["scores"]])
    assert {"word", "measure", "model", "mean", "low", "high", "agree", "pairs"} <= set(frame.columns)


def test_one_model_has_no_second_row(models: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["score", models[0], "--words", "nurse,surgeon", "--measures", "dbwa", "--out", str(tmp_path / "store")]
    assert run([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["scores"]
    assert [(row["word"], row["model"]) for row in rows] == [
        (word, "a-model-with-a-long-name-seed0") for word in ("nurse", "surgeon")
    ]


def test_a_table_that_is_there_stays(models: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "scores.csv"
    table.write_text("valuable")
    words = ["score", models[0], "--words", "nurse,surgeon", "--csv", str(table), "--out", str(tmp_path / "store")]
    assert run(words) == 2
    assert "is there already" in capsys.readouterr().err
    assert not (tmp_path / "store").exists()
    assert table.read_text() == "valuable"


def test_one_word_gets_a_hint_about_the_comma(
    models: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["score", models[0], "--words", "nurse", "--out", str(tmp_path / "store")]) == 2
    assert "with a comma" in capsys.readouterr().err
    assert run(["score", models[0], "--words", "nurse,", "--measures", "dbwa", "--out", str(tmp_path / "store")]) == 0

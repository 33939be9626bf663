"""`biasgauge compare`, as it is typed."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.vectors.loading import replicate_path

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three folders of replicates, with the files that training leaves beside them."""
    place = tmp_path_factory.mktemp("groups")
    for name, seeds in {"a": (0, 1), "b": (2,), "c": (3,)}.items():
        (place / name).mkdir()
        (place / name / "models.json").write_text("{}")
        for seed in seeds:
            shutil.copyfile(replicate_path(seed), place / name / f"seed{seed}.safetensors")
    (place / "empty").mkdir()
    return place


def test_json_is_that_of_the_function(folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["compare", "--group", f"1950s={folders}/a", "--group", f"1990s={folders}/b", "--test", "weat7", "--json"]
    assert run(words) == 0
    told = json.loads(capsys.readouterr().out)
    replicates = bg.vectors.load_default_replicates()
    found = bg.compare({"1950s": replicates[:2], "1990s": replicates[2:3]}, "weat7")
    assert told["differences"][0]["difference"] == found.differences[0].value
    assert told["differences"][0]["interval"]["low"] == found.differences[0].low
    assert told["headline"] == found.summary().headline
    assert {"groups", "contrasts", "trends", "words", "coverage", "settings", "warnings", "version"} <= told.keys()
    assert [group["models"] for group in told["groups"]][1][0] == "seed2"


def test_positions_files_and_patterns(folders: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    typed = f"--group a={folders}/a/seed0.safetensors,{folders}/a/seed1.safetensors --group b={folders}/b/*.safetensors"
    page = tmp_path / "trend.html"
    words = f"compare {typed} --group c={folders}/c --at 1950,1970,1990 --test weat7 --test weat6b --out {page}".split()
    assert run(words) == 0
    shown = capsys.readouterr().out
    assert "trends" in shown
    assert "WEAT 7" in shown
    assert page.is_file()
    again = json.loads(page.with_suffix(".json").read_text())
    assert [group["position"] for group in again["groups"]] == [1950, 1970, 1990]
    assert len(again["trends"]) == 2


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("--group a={0}/a --group a={0}/b --test weat7", "Two groups are called 'a'"),
        ("--group a={0}/a --test weat7", "at least two named groups of models"),
        ("--test weat7", "at least two named groups of models"),
        ("--group {0}/a --group b={0}/b --test weat7", "--group takes NAME=FILES"),
        ("--group a={0}/a --group b={0}/empty --test weat7", "holds no vector files"),
        ("--group a={0}/a --group b= --test weat7", "The group 'b' has no models"),
        ("--group a={0}/a --group b={0}/none*.bin --test weat7", "matches no files"),
        ("--group a={0}/a --group b={0}/missing.bin --test weat7", "missing.bin"),
        ("--group a={0}/a --group b={0}/a --test weat7", "have the same vectors"),
        ("--group a={0}/a --group b={0}/b --test weat7 --at 1950,later", "--at takes numbers"),
        ("--group a={0}/a --group b={0}/b --test weat_es_gender", "another language than 'es'"),
        ("--group a={0}/a --group b={0}/b", "needs a lexicon that asks a question"),
    ],
)
def test_bad_input_gets_one_sentence(
    typed: str, sentence: str, folders: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *typed.format(folders).split()]) == 2
    told = capsys.readouterr().err
    assert sentence in told
    assert told.count("\n") == 1

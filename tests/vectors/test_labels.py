"""Models are called by their recipe or by their file, never by a path."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from biasgauge.errors import ParameterError
from biasgauge.vectors import load
from biasgauge.vectors.loading import model_label, model_labels, named_models


@pytest.mark.parametrize(
    ("file", "label"),
    [
        ("GoogleNews-vectors-negative300.bin.gz", "GoogleNews-vectors-negative300"),
        ("glove.6B.100d.txt", "glove.6B.100d"),
        ("wiki.en.vec", "wiki.en"),
        ("runs/a/own.safetensors", "own"),
        (".txt", ".txt"),
        ("no_ending", "no_ending"),
    ],
)
def test_a_file_without_a_recipe_is_its_stem(file: str, label: str) -> None:
    assert model_label(Path(file)) == label


def recipe(path: Path, **more: object) -> Path:
    content = {"algorithm": "sgns", "corpus": "ab", "settings": {"dim": 64}, "seed": 3, "sample": None, **more}
    path.with_suffix(".json").write_text(json.dumps({"recipe": content}))
    return path


def test_a_recipe_says_what_a_model_is(tmp_path: Path) -> None:
    assert model_label(recipe(tmp_path / "x1.bin")) == "SGNS 64d, seed 3"
    assert model_label(recipe(tmp_path / "x2.bin", algorithm="glove", sample=2)) == "GloVe 64d, seed 3, sample 2"
    assert model_label(recipe(tmp_path / "x3.bin", algorithm="own")) == "own 64d, seed 3"
    assert model_label(recipe(tmp_path / "x4.bin", settings="odd")) == "x4"


def test_two_that_would_be_called_alike_are_told_apart(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    paths = [tmp_path / "a" / "v.txt", tmp_path / "b" / "v.txt", tmp_path / "a" / "w.txt", tmp_path / "a" / "w.vec"]
    labels = model_labels(paths)
    assert len(set(labels)) == 4
    assert labels[:2] == ["v (a)", "v (b)"]
    assert not any("/" in label for label in labels)
    deep = [tmp_path / side / "same" / "v.txt" for side in "ab"]
    assert model_labels(deep) == ["v (same) (v.txt)", "v (same) (v.txt) (2)"]
    same = [recipe(tmp_path / "a" / "one.bin"), recipe(tmp_path / "a" / "two.bin")]
    assert model_labels(same) == ["SGNS 64d, seed 3 (one)", "SGNS 64d, seed 3 (two)"]


def test_one_file_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    with pytest.raises(ParameterError, match="Got 'v"):
        named_models([path, path])


def test_loading_names_a_model_so(tmp_path: Path) -> None:
    file = tmp_path / "own.txt"
    file.write_text("he 1 0\nshe 0 1\n")
    assert load(file).name == "own"
    assert load(file, name="mine").name == "mine"

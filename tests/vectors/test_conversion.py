"""Conversion: every format that is read into every format that is written, with the same words and numbers."""

from __future__ import annotations

import json
import pickle
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st

import biasgauge as bg
from biasgauge.cli.entry import run
from biasgauge.errors import InputError, ParameterError
from biasgauge.vectors import Embedding, convert, list_formats, load, save
from biasgauge.vectors.saving import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = ("the", "naïve", "日本", "1e5")
MATRIX = np.array([[0.5, -1.25], [3, 1024], [-7, 0.25], [2.5, 1e-3]], np.float32)
MODEL = Embedding(WORDS, MATRIX)


def write_gensim(path: Path) -> None:
    keyed = KeyedVectors(2)
    keyed.add_vectors(list(WORDS), MATRIX)
    keyed.save(str(path))


OTHERS: dict[str, Callable[[Path], object]] = {
    "kv": write_gensim,
    "pkl": lambda path: path.write_bytes(pickle.dumps(dict(zip(WORDS, MATRIX, strict=True)))),
    "glove": lambda path: path.write_text(
        "".join(f"{word} {x!r} {y!r}\n" for word, (x, y) in zip(WORDS, MATRIX.tolist(), strict=True))
    ),
}
"""Formats that are read and not written."""


def write(ending: str, folder: Path) -> Path:
    """Write the same vectors in a format."""
    path = folder / f"source.{ending}"
    if ending in OTHERS:
        OTHERS[ending](path)
    else:
        save(MODEL, path)
    return path


@pytest.mark.parametrize("target", [*FORMATS, ".npy.gz", ".parquet.gz", ".safetensors.gz"])
@pytest.mark.parametrize("source", [*OTHERS, *(ending[1:] for ending in FORMATS)])
def test_every_pair(source: str, target: str, tmp_path: Path) -> None:
    path = write(source, tmp_path)
    result = convert(path, tmp_path / f"target{target}")
    found = load(tmp_path / f"target{target}")
    assert found.words == WORDS
    np.testing.assert_array_equal(found.vectors, MATRIX)
    assert (result.words, result.dim, result.source_format) == (4, 2, load(path).format)
    assert result.format == found.format
    assert list_formats().to_frame().name.isin([result.format, result.source_format]).any()


def test_fasttext_is_converted(tmp_path: Path) -> None:
    source = Path(__file__).with_name("fasttext") / "skipgram.bin"
    convert(source, tmp_path / "v.bin", limit=3)
    np.testing.assert_array_equal(load(tmp_path / "v.bin").vectors, load(source).vectors[:3])


words = st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=5, unique=True)


@given(words=words, dtype=st.sampled_from(["f2", "f4", "f8"]), target=st.sampled_from(sorted(FORMATS)))
def test_there_and_back_or_one_sentence(
    words: list[str], dtype: str, target: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    matrix = np.random.default_rng(len(words)).standard_normal((len(words), 3)).astype(np.float32).astype(dtype)
    path = tmp_path_factory.mktemp("there") / f"v{target}"
    try:
        save(Embedding(tuple(words), matrix), path)
    except ParameterError as problem:
        assert "cannot hold the word" in str(problem)  # noqa: PT017 - either outcome is one
        assert not path.exists()
        return
    found = load(path)
    assert found.words == tuple(words)
    np.testing.assert_array_equal(found.vectors, matrix)


@pytest.mark.parametrize("target", [".npz", ".npy", ".parquet", ".arrow"])
def test_the_same_vectors_give_the_same_bytes(target: str, tmp_path: Path) -> None:
    first, second = (save(MODEL, tmp_path / f"{name}{target}").read_bytes() for name in "ab")
    assert first == second


def test_an_input_is_never_overwritten(tmp_path: Path) -> None:
    path = write("npy", tmp_path)
    with pytest.raises(InputError, match="is an input"):
        convert(path, path)
    shutil.copyfile(path.with_suffix(".vocab"), tmp_path / "words.txt")
    assert (tmp_path / "source.vocab").read_text().split() == list(WORDS)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = write("kv", tmp_path), tmp_path / "v.npz"
    assert run(["convert", str(source), str(target), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["words"], told["dim"], told["source_format"], told["format"]) == (4, 2, "gensim", "npz")
    assert run(["convert", str(source), str(target), "--quiet"]) == 2  # it is there
    assert run(["convert", str(source), str(target), "--force", "--words", "the,日本", "--quiet"]) == 0
    assert load(target).words == ("the", "日本")
    assert run(["convert", str(source), str(tmp_path / "v.h5"), "--quiet"]) == 2
    capsys.readouterr()


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["formats", "--json"]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["formats"]
    assert {row["name"] for row in rows} == set(bg.registry.names("vector_format"))
    assert {row["name"] for row in rows if row["endings"]} == set(FORMATS.values())


def test_every_format_is_in_the_docs(repository: Path) -> None:
    page = (repository / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
    for name in bg.registry.names("vector_format"):
        assert f"`{name}`" in page, name

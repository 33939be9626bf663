"""Data frames of pandas and polars in the place of files, and out again; the page of a result in a browser."""

from __future__ import annotations

import webbrowser
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import biasgauge as bg
from biasgauge.core.optional import as_pandas
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def vectors() -> bg.Embedding:
    matrix = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    return bg.Embedding(("he", "she", "nurse", "surgeon", "math", "1984"), matrix)


def test_vectors_go_to_frames_and_come_back(vectors: bg.Embedding) -> None:
    pandas = vectors.to_frame()
    polars = pl.DataFrame({"word": list(vectors.words), **{f"d{at}": vectors.vectors[:, at] for at in range(4)}})
    for frame in (pandas, pandas.reset_index(), polars):
        back = bg.load(frame)
        assert back.words == vectors.words
        assert back.vectors.tobytes() == vectors.vectors.tobytes()


def test_a_frame_with_two_columns_of_text_is_no_vectors(vectors: bg.Embedding) -> None:
    frame = vectors.to_frame().reset_index()
    with pytest.raises(ParameterError, match=r"Got text in word, tag"):
        bg.load(frame.assign(tag="noun"))


def test_gensim_gets_the_same_vectors_and_gives_them_back(vectors: bg.Embedding) -> None:
    pytest.importorskip("gensim")
    keyed = vectors.to_gensim()
    assert keyed["nurse"].tobytes() == vectors["nurse"].tobytes()
    unit = vectors.vectors / np.linalg.norm(vectors.vectors, axis=1, keepdims=True)
    assert keyed.similarity("he", "nurse") == pytest.approx(unit[0] @ unit[2], rel=1e-5)
    assert bg.load(keyed).checksum == vectors.checksum


def test_points_of_polars_say_what_those_of_pandas_say() -> None:
    random = np.random.default_rng(1)
    rows = {"name": [f"e{at}" for at in range(12)], "weat": random.normal(size=12), "gap": random.normal(size=12)}
    frames = (pd.DataFrame(rows), pl.DataFrame(rows))
    results = [bg.correlate(frame, "weat", "gap", random_state=0).to_dict() for frame in frames]
    assert results[0] == results[1]


def test_what_is_no_frame_is_none() -> None:
    things: list[Any] = [None, 3, "text", {"a": [1]}, [1, 2], np.eye(2)]
    assert [as_pandas(one) for one in things] == [None] * len(things)


def test_show_writes_the_page_and_opens_it(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    result = bg.weat(bg.vectors.load_default(), "weat7")
    page: Path = bg.show(result)
    assert opened == [page.as_uri()]
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert (page.parent / "page.json").is_file()
    assert bg.show(result, browser=False) != page
    assert len(opened) == 1


def test_a_frame_of_half_precision_is_shown_without_warnings() -> None:
    vectors = bg.vectors.load_default(50)
    assert vectors.vectors.dtype == np.float16  # as it ships
    frame = vectors.to_frame()
    assert frame.to_numpy().dtype == np.float32
    assert np.array_equal(frame.to_numpy(), vectors.vectors)
    assert "the" in repr(frame.head())

"""Word frequencies come with a model that has them, and stay with its words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.errors import ParameterError
from biasgauge.text import planted_corpus, read_corpus
from biasgauge.vectors import Embedding, Frequencies, save

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def counted() -> Embedding:
    words = ("the", "nurse", "doctor", "apple")
    return Embedding(words, np.eye(4, 3) + 1, frequencies=Frequencies(np.array([9, 5, 5, 1])))


def values(model: Embedding) -> list[int]:
    assert model.frequencies is not None
    return [int(value) for value in model.frequencies.values]


def test_a_trained_model_has_the_counts_of_its_text(tmp_path: Path) -> None:
    planted_corpus([0.5, -0.5], lines=300).write(tmp_path / "text")
    corpus = read_corpus(tmp_path / "text", out=tmp_path / "corpus")
    model = bg.train(corpus, out=tmp_path / "models", dim=4, epochs=1).load()[0]
    count_of = dict(zip(corpus.words, corpus.counts.tolist(), strict=True))
    assert values(model) == [count_of[word] for word in model.words]
    assert model.frequencies is not None
    assert (model.frequencies.kind, model.frequencies.source) == ("counts", model.source)


def test_frequencies_stay_with_their_words(counted: Embedding) -> None:
    assert values(counted.subset(["apple", "nurse"])) == [5, 1]
    assert values(bg.load(counted, limit=2)) == [9, 5]
    assert values(bg.load(counted, words=["apple"])) == [1]
    assert values(counted.take(np.array([3, 0]))) == [1, 9]


@pytest.mark.parametrize("kind", ["counts", "ranks"])
def test_safetensors_keeps_them(counted: Embedding, kind: str, tmp_path: Path) -> None:
    given = Frequencies(np.array([1, 2, 3, 4]), kind)  # type: ignore[arg-type]
    save(replace(counted, frequencies=given), tmp_path / "a.safetensors")
    loaded = bg.load(tmp_path / "a.safetensors", words=["apple", "nurse"])
    assert values(loaded) == [2, 4]
    assert loaded.frequencies is not None
    assert loaded.frequencies.kind == kind


def test_other_formats_and_other_files_have_none(counted: Embedding, tmp_path: Path) -> None:
    save(counted, tmp_path / "a.txt")
    assert bg.load(tmp_path / "a.txt").frequencies is None
    save(replace(counted, frequencies=None), tmp_path / "a.safetensors")
    assert bg.load(tmp_path / "a.safetensors").frequencies is None


@pytest.mark.parametrize("wrong", [[1.5, 2, 3, 4], [1, 2, 3], [-1, 2, 3, 4], [[1, 2, 3, 4]]])
def test_one_whole_number_per_word(counted: Embedding, wrong: list[float]) -> None:
    with pytest.raises(ParameterError, match="one"):
        replace(counted, frequencies=Frequencies(np.array(wrong)))

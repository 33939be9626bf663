"""The shipped vectors are what their script makes of the source."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.embeddings.default import DEFAULT_PATH

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.shared
def test_the_script_makes_the_shipped_file_byte_for_byte(shared_data: Path, repository: Path, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("script", repository / "scripts" / "make_default_vectors.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    script.make(shared_data / "glove_6b_100d_subset" / "glove6B100d_subset.npz", tmp_path / "made.safetensors")
    assert (tmp_path / "made.safetensors").read_bytes() == DEFAULT_PATH.read_bytes()


@pytest.mark.shared
def test_every_english_lexicon_word_of_the_source_ships_at_half_precision(shared_data: Path) -> None:
    with np.load(shared_data / "glove_6b_100d_subset" / "glove6B100d_subset.npz") as source:
        rows = {word: row for row, word in enumerate(source["words"].tolist())}
        vectors = source["vectors"]
    shipped = bg.load_default()
    for name in bg.lexicon_names():
        lexicon = bg.lexicon(name)
        if lexicon.language == "en":
            assert [word for word in lexicon.words if word in rows and word not in shipped] == [], name
    expected = np.array([vectors[rows[word]] for word in shipped.words])
    assert np.abs(expected - shipped.vectors).max() < 2**-9  # half precision: 11 bits, all numbers below 8


def test_the_shipped_file_stays_small() -> None:
    assert DEFAULT_PATH.stat().st_size < 6_000_000

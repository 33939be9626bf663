"""The shipped vectors are what their script makes of the source."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.core import ENOUGH
from biasgauge.vectors.loading import DEFAULT_PATH, REPLICATES, replicate_path

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e


def script_named(name: str, repository: Path) -> Any:  # noqa: ANN401 - a module that is no part of the package
    sys.path.insert(0, str(repository / "scripts"))
    try:
        return import_module(name)
    finally:
        sys.path.pop(0)


@pytest.mark.shared
def test_the_script_makes_the_shipped_file_byte_for_byte(shared_data: Path, repository: Path, tmp_path: Path) -> None:
    script = script_named("make_default_vectors", repository)
    script.make(shared_data / "glove_6b_100d_subset" / "glove6B100d_subset.npz", tmp_path / "made.safetensors")
    assert (tmp_path / "made.safetensors").read_bytes() == DEFAULT_PATH.read_bytes()


@pytest.mark.shared
def test_every_english_lexicon_word_of_the_source_ships_at_half_precision(shared_data: Path) -> None:
    with np.load(shared_data / "glove_6b_100d_subset" / "glove6B100d_subset.npz") as source:
        rows = {word: row for row, word in enumerate(source["words"].tolist())}
        vectors = source["vectors"]
    shipped = bg.vectors.load_default()
    for name in bg.registry.names("lexicon"):
        lexicon = bg.lexicon(name)
        if lexicon.language == "en":
            assert [word for word in lexicon.words if word in rows and word not in shipped] == [], name
    expected = np.array([vectors[rows[word]] for word in shipped.words])
    assert np.abs(expected - shipped.vectors).max() < 2**-9  # half precision: 11 bits, all numbers below 8


def test_the_shipped_files_stay_small() -> None:
    files = [DEFAULT_PATH, *(replicate_path(seed) for seed in range(REPLICATES))]
    assert sum(file.stat().st_size for file in files) < 24_000_000


@pytest.mark.slow
@pytest.mark.shared
def test_training_again_gives_a_shipped_replicate_byte_for_byte(
    shared_data: Path, repository: Path, tmp_path: Path
) -> None:
    script = script_named("make_default_replicates", repository)
    assert [path.parent.parent for path in script.default_source()] == [shared_data] * 4
    script.make(tmp_path / "models", tmp_path / "cut", seeds=[3])
    assert (tmp_path / "cut" / replicate_path(3).name).read_bytes() == replicate_path(3).read_bytes()


def test_shipped_replicates_are_one_vocabulary_and_four_trainings() -> None:
    models = bg.vectors.load_default_replicates()
    assert len(models) == 4
    assert {model.words for model in models} == {models[0].words}
    assert {model.vectors.shape for model in models} == {(25_000, 64)}
    assert {model.vectors.dtype for model in models} == {np.dtype(np.float16)}
    counts = [model.frequencies for model in models]
    assert all(count is not None and count.kind == "counts" and count.values.min() >= 5 for count in counts)
    # Different trainings: no common axes (the same word points elsewhere), but the same language (its neighbors stay).
    first, second = (model.vectors.astype(np.float64) for model in models[:2])
    units = [one / np.linalg.norm(one, axis=1, keepdims=True) for one in (first, second)]
    assert abs(np.mean(np.sum(units[0] * units[1], axis=1))) < 0.3
    likeness = [np.triu(one[:500] @ one[:500].T, 1)[np.triu_indices(500, 1)] for one in units]
    assert np.corrcoef(*likeness)[0, 1] > 0.9


def test_shipped_replicates_know_the_words_of_the_lexicons() -> None:
    model = bg.vectors.load_default_replicates()[0]
    for name in ("du2021", "occ18", "weat7", "weat8", "du2021_queries", "gender"):
        words = bg.lexicon(name).words
        assert len([word for word in words if word.lower() in model]) >= 0.95 * len(words), name


def test_shipped_replicates_have_enough_words_of_every_list_of_the_battery() -> None:
    model = bg.vectors.load_default_replicates()[0]
    for lexicon in bg.registry.everything("lexicon").values():
        if lexicon.language == "en" and lexicon.battery:
            for key, words in lexicon.sets.items():
                found = [word for word in words if word in model or word.lower() in model]
                assert len(found) >= min(len(words), max(ENOUGH, 0.7 * len(words))), (lexicon.name, key)


def test_half_precision_changes_no_contrast_at_the_third_decimal() -> None:
    """Single against half precision: of cosines of the same words, and of the contrasts that verdicts rest on."""
    random = np.random.default_rng(0)
    for size in (8, 50):
        single = random.standard_normal((4 * size, 64)).astype(np.float32)
        values = []
        for vectors in (single, single.astype(np.float16).astype(np.float32)):
            units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
            x, y, a, b = np.split(units, 4)
            values.append(np.mean(x @ a.T) - np.mean(x @ b.T) - np.mean(y @ a.T) + np.mean(y @ b.T))
        assert abs(values[0] - values[1]) < 5e-5

"""Bolukbasi's pairs: a slow double loop, the published code's rule of uniqueness, planted pairs, blocks, ties."""

from __future__ import annotations

import json
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.analyses.robustness import pair_generator
from biasgauge.analyses.robustness.pair_generator import best_differences, generate_pairs
from biasgauge.core.geometry import unit_rows
from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding, load, load_default

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from biasgauge.analyses.robustness.pair_generator import Unique


def slow_pairs(
    model: Embedding, pair: tuple[str, str], delta: float, top: int, unique: Unique | None
) -> list[tuple[str, str, float]]:
    """Every ordered pair by itself, in double precision, as the paper writes it; equals by their rows."""
    units = {
        word: row / np.linalg.norm(row) for word, row in zip(model.words, model.vectors.astype(float), strict=True)
    }
    gap = units[pair[0]] - units[pair[1]]
    found = []
    for x, y in permutations(model.words, 2):
        apart = units[x] - units[y]
        size = float(np.linalg.norm(apart))
        if 1e-6 < size <= delta + 1e-12:
            score = round(float(gap @ apart / np.linalg.norm(gap) / size), 12)
            if score > 0:
                found.append((x, y, score))
    found.sort(key=lambda one: (-one[2], model.index[one[0]], model.index[one[1]]))
    kept: list[tuple[str, str, float]] = []
    for x, y, score in found:
        left, right = {one[0] for one in kept}, {one[1] for one in kept}
        if unique == "side" and (x in left or y in right):
            continue
        if unique == "word" and {x, y} & (left | right):
            continue
        kept.append((x, y, score))
    return kept[:top]


def world(kind: str, seed: int) -> NDArray[np.floating[Any]]:
    random = np.random.default_rng(seed)
    vectors = random.normal(size=(45, 4))
    if kind == "duplicates":
        vectors = vectors[random.integers(0, 15, 45)] * random.uniform(0.5, 2, (45, 1))
    elif kind == "near duplicates":
        vectors = vectors[random.integers(0, 9, 45)] + 1e-3 * random.normal(size=(45, 4))
    elif kind == "grid":
        vectors = random.integers(1, 4, size=(45, 4)).astype(float)
    elif kind == "half precision":
        return vectors.astype(np.float16)
    return vectors


@pytest.mark.parametrize("unique", [None, "side", "word"])
@pytest.mark.parametrize("delta", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("kind", ["random", "duplicates", "near duplicates", "grid", "half precision"])
def test_pairs_are_those_of_a_slow_double_loop(
    kind: str, delta: float, unique: Unique | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_generator, "ROWS", 13)
    monkeypatch.setattr(pair_generator, "SPARE", 2)
    for seed in range(4):
        model = Embedding(tuple(f"w{row}" for row in range(45)), world(kind, seed))
        pair = ("w0", "w1") if not np.allclose(*unit_rows(model.vectors[:2].astype(float))) else ("w0", "w2")
        expected = slow_pairs(model, pair, delta, 12, unique)
        found = generate_pairs(model, pair, delta=delta, top=12, unique=unique)
        assert [(one.first, one.second) for one in found.pairs] == [one[:2] for one in expected]
        assert [one.score for one in found.pairs] == pytest.approx([one[2] for one in expected], abs=1e-9)
        assert all(one.cosine >= 1 - delta**2 / 2 - 1e-9 for one in found.pairs)


@pytest.mark.parametrize("kind", ["random", "duplicates", "near duplicates", "grid"])
@pytest.mark.parametrize("block", [1, 200, 5_000])
def test_block_size_does_not_matter(block: int, kind: str) -> None:
    vectors, direction = world(kind, 0), np.array([0.6, 0.8, 0.0, 0.0])
    whole, parts = (best_differences(vectors, np.arange(45), direction, 1.0, 60, block=size) for size in (2**22, block))
    for of_whole, of_parts in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(of_parts, of_whole)


def test_turning_the_space_changes_nothing() -> None:
    model = load_default(1_200)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(model.dim, model.dim)))[0]
    turned = generate_pairs(Embedding(model.words, model.vectors.astype(np.float64) @ turn), top=60)
    plain = generate_pairs(model, top=60)
    assert [(one.first, one.second) for one in turned.pairs] == [(one.first, one.second) for one in plain.pairs]
    assert [one.score for one in turned.pairs] == pytest.approx([one.score for one in plain.pairs], abs=1e-9)


def test_swapping_the_pair_swaps_what_is_found() -> None:
    model = load_default(1_200)
    one, other = (
        generate_pairs(model, ("he", "she"), unique="word"),
        generate_pairs(model, ("she", "he"), unique="word"),
    )
    assert [(a.first, a.second, a.score) for a in one.pairs] == [(b.second, b.first, b.score) for b in other.pairs]
    assert (one.pairs[0].first, one.pairs[0].second, one.pairs[0].score) == ("he", "she", 1)


def planted() -> Embedding:
    random = np.random.default_rng(3)
    middle = random.normal(size=(12, 30)) * np.r_[0, np.ones(29)]
    twins = np.concatenate([middle + np.eye(30)[0], middle - np.eye(30)[0]])
    names = [f"{side}{number}" for side in "mf" for number in range(12)]
    return Embedding(
        (*names, *(f"o{number}" for number in range(30))), np.concatenate([twins, random.normal(size=(30, 30))])
    )


def test_planted_pairs_are_found_first() -> None:
    found = generate_pairs(planted(), ("m0", "f0"), top=12, unique="word")
    assert {(one.first, one.second) for one in found.pairs} == {(f"m{n}", f"f{n}") for n in range(12)}
    assert min(one.score for one in found.pairs) > 0.99


def test_words_can_be_chosen_and_lost_ones_are_named() -> None:
    model = planted()
    found = generate_pairs(model, ("m0", "f0"), words=["f2", "m1", "f1", "m2", "gone", "m1"], unique="word")
    assert [(one.first, one.second) for one in found.pairs][:2] in (
        [("m1", "f1"), ("m2", "f2")],
        [("m2", "f2"), ("m1", "f1")],
    )
    assert (found.words, found.lost) == (4, {"gone": "not in the vocabulary"})
    assert generate_pairs(model, ("m0", "f0"), restrict=3).words == 3


def test_where_there_are_no_pairs_there_is_a_reason() -> None:
    model = Embedding(("a", "b", "b2", "nil"), np.array([[1.0, 0], [0, 1], [0, 2], [0, 0]]))
    lost = generate_pairs(model, ("a", "nil"))
    assert (lost.pairs, lost.reason, lost.pair_cosine) == ((), "nil: its vector is zero", None)
    assert lost.similarity.reason == "there is no such word"
    assert generate_pairs(model, ("b", "b2")).reason == "the two words have the same direction"
    far = generate_pairs(model, ("a", "b"), delta=0.5)
    assert (far.pairs, far.reason) == ((), "no two words are that near each other")
    assert "undefined: no two words" in repr(far)
    assert json.loads(json.dumps(far.to_dict()))["reason"] == far.reason


def test_tables_and_json_say_the_same() -> None:
    found = generate_pairs(planted(), ("m0", "f0"), top=5)
    assert found.to_frame()["score"].tolist() == [one["score"] for one in found.to_dict()["pairs"]]
    assert found.similarity.value == pytest.approx(np.mean([one.cosine for one in found.pairs]))
    assert found.similarity.over == "pairs"
    assert "<td>m0</td><td>f0</td>" in found._repr_html_()


def test_arguments_that_cannot_be_used() -> None:
    model = planted()
    for bad in (("m0",), ("m0", "m0"), ("m0", "f0", "m1")):
        with pytest.raises(ParameterError, match="'pair'"):
            generate_pairs(model, bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'delta'"):
        generate_pairs(model, ("m0", "f0"), delta=0)
    with pytest.raises(ParameterError, match=r"'top' parameter .*Got 0"):
        generate_pairs(model, ("m0", "f0"), top=0)
    with pytest.raises(ParameterError, match="'unique'"):
        generate_pairs(model, ("m0", "f0"), unique="both")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'restrict'"):
        generate_pairs(model, ("m0", "f0"), restrict=0)
    with pytest.raises(ParameterError, match="'words'"):
        generate_pairs(model, ("m0", "f0"), words="m0")


@pytest.mark.shared
def test_she_and_he_in_google_news(shared_data: Path) -> None:
    """Zhang et al., section 7: the cosine of "she" and "he" is .61. Pairs as in figure 1 of Bolukbasi et al."""
    model = load(next((shared_data / "googlenews_subset_union").glob("*.npz")), limit=12_000)
    found = generate_pairs(model, ("she", "he"), top=60)
    assert found.pair_cosine == pytest.approx(0.61, abs=0.005)
    pairs = {(one.first, one.second) for one in found.pairs}
    assert {("herself", "himself"), ("her", "his"), ("woman", "man"), ("daughter", "son")} <= pairs
    assert {("mother", "father"), ("girl", "boy")} <= pairs

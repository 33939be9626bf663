"""Coherence: known values, slow references, and leaving out by brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

import biasgauge as bg
from biasgauge.analyses.seeds import seeds
from biasgauge.analyses.seeds.coherence import (
    direction_of,
    directions_of,
    leave_one_out,
    published_coherences,
    rank_gaps,
)
from biasgauge.analyses.seeds.subspaces import Method
from biasgauge.analyses.seeds.word_pairs import PairRows, SeedPair, locate

MEN = ("he", "man", "his", "boy", "father", "son")
WOMEN = ("she", "woman", "her", "girl", "mother", "daughter")


def rows_of(model: bg.Embedding, a: tuple[str, ...], b: tuple[str, ...]) -> PairRows:
    (found,) = locate([SeedPair("a", "b", a, b)], [model])
    return found.rows[0]


def slow_gap(vectors: np.ndarray, a: list[int], b: list[int]) -> float:
    """Mean rank of B less that of A along the difference of their means, by sorting."""
    direction = vectors[a].mean(axis=0) - vectors[b].mean(axis=0)
    cosines = vectors @ direction / np.linalg.norm(vectors, axis=1)
    ranks = rankdata(-np.round(cosines / np.linalg.norm(direction), 12)) - 1
    return float(ranks[b].mean() - ranks[a].mean()) / len(vectors)


def test_a_vocabulary_on_an_arc_has_known_ranks() -> None:
    # 101 words from one end to the other: A has ranks 0, 1, 2 and B 98, 99, 100.
    angles = np.linspace(0.01, np.pi - 0.01, 101)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    words = tuple(f"w{row}" for row in range(101))
    found = seeds((words, vectors), ["w0", "w1", "w2"], ["w98", "w99", "w100"], shuffles=0)[0]
    assert found.coherence.value == pytest.approx(98 / 101)
    swapped = seeds((words, vectors), ["w98", "w99", "w100"], ["w0", "w1", "w2"], shuffles=0)[0]
    assert swapped.coherence.value == found.coherence.value
    # Sets that interleave: w40 w60 against w50 w51 stand 50 and 50.5 on average.
    mixed = seeds((words, vectors), ["w40", "w60"], ["w50", "w51"], shuffles=0, method="mean-difference")[0]
    assert mixed.coherence.value == pytest.approx(abs(slow_gap(vectors, [40, 60], [50, 51])))


def test_coherence_is_that_of_sorting(model: bg.Embedding) -> None:
    rows = rows_of(model, MEN, WOMEN)
    for method in ("mean-difference", "pca"):
        direction = direction_of(model.vectors, rows, method, scaled=False)
        assert direction is not None
        none = np.full(model.dim, np.nan)
        found = rank_gaps(model.vectors, np.stack([direction, none]), [rows.a, rows.a], [rows.b, rows.b])
        cosines = model.vectors @ direction / np.linalg.norm(model.vectors, axis=1)
        ranks = rankdata(-cosines) - 1
        expected = (ranks[rows.b].mean() - ranks[rows.a].mean()) / len(model)
        assert found[0] == pytest.approx(expected, abs=1e-12)
        assert found[0] > 0.8
        assert np.isnan(found[1])
    assert np.isnan(rank_gaps(model.vectors, np.full((1, model.dim), np.nan), [rows.a], [rows.b])).all()


def test_coherence_does_not_change_with_a_rotation(model: bg.Embedding) -> None:
    turn = np.linalg.qr(np.random.default_rng(9).normal(size=(model.dim, model.dim)))[0]
    turned = bg.Embedding(model.words, model.vectors @ turn)
    one, other = (seeds(it, list(MEN), list(WOMEN), shuffles=0)[0] for it in (model, turned))
    assert one.coherence.value == other.coherence.value
    assert one.held_out.value == other.held_out.value
    assert one.similarity.value == pytest.approx(other.similarity.value, abs=1e-12)
    assert one.explained_variance == pytest.approx(other.explained_variance, abs=1e-12)


def slow_published(vectors: np.ndarray, words: tuple[str, ...], a: list[str], b: list[str]) -> float:
    """METHODS 3.4 word by word: ranks by reversed argsort, sums over the vocabulary, lengths with duplicates."""
    index = {word: row for row, word in enumerate(words)}
    subspace = np.mean([vectors[index[word]] for word in a], axis=0) - np.mean([vectors[index[w]] for w in b], axis=0)
    cosines = vectors @ subspace / (np.linalg.norm(vectors, axis=1) * np.linalg.norm(subspace))
    ranked = [words[row] for row in np.argsort(cosines, kind="stable")[::-1]]
    sums = [sum(rank for rank, word in enumerate(ranked) if word in chosen) / len(chosen) for chosen in (a, b)]
    return abs(sums[0] - sums[1])


def test_published_coherence_follows_the_published_code(model: bg.Embedding) -> None:
    pairs = [
        (list(MEN), list(WOMEN)),
        (["he", "man", "he", "his"], ["she", "her", "girl"]),  # a duplicate weighs double and deflates its set
        (["w1", "w2", "w3"], ["w4", "w5"]),
    ]
    expected = np.array([slow_published(np.asarray(model.vectors), model.words, a, b) for a, b in pairs])
    rows = {words: np.array([model.index[word] for word in words]) for pair in pairs for words in map(tuple, pair)}
    lists = [(rows[tuple(a)], rows[tuple(b)]) for a, b in pairs]
    found = published_coherences(model.vectors, lists, "mean-difference")
    np.testing.assert_allclose(found, expected / expected.max(), atol=1e-12)
    assert found.max() == 1
    result = seeds(model, pairs=pairs, shuffles=0)
    assert [card.coherence_published.value for card in result] == pytest.approx(found.tolist())
    assert result[1].coherence.value != pytest.approx(expected[1] / len(model), abs=1e-3)


def test_the_published_one_is_undefined_where_a_seed_is_lost(model: bg.Embedding) -> None:
    result = seeds(model, pairs=[([*MEN, "lost"], list(WOMEN)), (["w1"], ["w2"])], shuffles=0)
    assert result[0].coherence_published.value is None
    assert result[0].coherence_published.reason == "no model has every seed"
    assert result[1].coherence_published.value == 1  # the only pair that is left is the largest


def test_published_values_come_from_models_that_lack_nothing(replicates: list[bg.Embedding]) -> None:
    """However many of the seeds the others lack."""
    poor = [
        bg.Embedding(one.words[3:], one.vectors[3:], name=f"poor {one.name}") for one in replicates[1:]
    ]  # without he, she and man
    pairs = [(list(MEN), list(WOMEN)), (["w1", "w2"], ["w3", "w4"])]
    found = seeds([replicates[0], *poor], pairs=pairs, shuffles=0)
    alone = seeds(replicates[0], pairs=pairs, shuffles=0)
    assert found[0].coherence.reason == "fewer than 80 % of the words found: a 4 of 6"
    assert found[0].coherence_published.value == alone[0].coherence_published.value


@pytest.mark.parametrize("method", ["mean-difference", "pca"])
def test_leaving_out_is_what_brute_force_finds(model: bg.Embedding, method: str) -> None:
    a, b = MEN, (*WOMEN, "w7", "w8")
    rows = rows_of(model, a, b)
    (found,) = leave_one_out(model.vectors, [rows], method, scaled=False)  # type: ignore[arg-type]
    for place, word in enumerate((*a, *b)):
        if method == "mean-difference":
            fewer = rows_of(model, tuple(w for w in a if w != word), tuple(w for w in b if w != word))
        else:  # pairs stay as they are: the partner of a word that is left out has none
            kept = [(x, y) for x, y in zip(rows.first, rows.second, strict=True) if model.index[word] not in (x, y)]
            first, second = (np.array(ends) for ends in zip(*kept, strict=True))
            fewer = rows._replace(
                a=rows.a[rows.a != model.index[word]], b=rows.b[rows.b != model.index[word]], first=first, second=second
            )
        direction = direction_of(model.vectors, fewer, method, scaled=False)  # type: ignore[arg-type]
        assert direction is not None
        gap = rank_gaps(model.vectors, direction[None], [fewer.a], [fewer.b])[0]
        assert found.coherence[place] == pytest.approx(abs(gap), abs=1e-12)
        cosines = model.vectors @ direction / np.linalg.norm(model.vectors, axis=1)
        rank = (rankdata(-cosines) - 1)[model.index[word]] / len(model)
        assert found.rank[place] == pytest.approx(rank, abs=1e-12)


@pytest.mark.parametrize("method", ["mean-difference", "pca"])
def test_tenths_of_a_large_set_are_left_out_as_brute_force_finds(model: bg.Embedding, method: Method) -> None:
    a, b = tuple(f"w{index}" for index in range(10, 35)), (*WOMEN, "w7", "w8", "w12")
    rows = rows_of(model, a, b)
    (found,) = leave_one_out(model.vectors, [rows], method, scaled=False, most=12)
    assert (found.sizes, len(found.coherence), len(found.rank)) == ((10, len(b)), 10 + len(b), len(a) + len(b))
    parts = [a[part::10] for part in range(10)] + [(word,) for word in b]
    for index, part in enumerate(parts):
        lost = [model.index[word] for word in part]
        kept = ~np.isin(rows.first, lost) & ~np.isin(rows.second, lost)
        fewer = rows._replace(
            a=rows.a[~np.isin(rows.a, lost)], b=rows.b[~np.isin(rows.b, lost)],
            first=rows.first[kept], second=rows.second[kept],
        )  # fmt: skip
        direction = direction_of(model.vectors, fewer, method, scaled=False)
        assert direction is not None
        gap = rank_gaps(model.vectors, direction[None], [fewer.a], [fewer.b])[0]
        assert found.coherence[index] == pytest.approx(abs(gap), abs=1e-12)
        cosines = model.vectors @ direction / np.linalg.norm(model.vectors, axis=1)
        ranks = (rankdata(-cosines) - 1) / len(model)
        for word in part:
            seed = a.index(word) if index < 10 else len(a) + b.index(word)
            assert found.rank[seed] == pytest.approx(ranks[model.index[word]], abs=1e-12)


def test_single_seeds_of_a_large_set_have_no_influence(model: bg.Embedding) -> None:
    a, b = [f"w{index}" for index in range(10, 35)], list(WOMEN)
    card = seeds(model, a, b, shuffles=0, most_left_out=12)[0]
    exact = seeds(model, a, b, shuffles=0)[0]
    by_word = {(seed.set, seed.word): seed for seed in card.influence}
    assert all(by_word["a", word].change is None and by_word["a", word].rank is not None for word in a)
    expected = {seed.word: seed.change for seed in exact.influence if seed.set == "b"}
    assert {word: by_word["b", word].change for word in b} == expected
    assert card.coherence.value == exact.coherence.value
    assert card.held_out.value == pytest.approx(exact.held_out.value, abs=0.1)
    assert card.coherence.low is not None


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("method", ["mean-difference", "pca"])
def test_directions_of_many_pairs_are_those_of_each(model: bg.Embedding, method: str, *, scaled: bool) -> None:
    pairs = [(MEN, WOMEN), (("w1", "w2", "w3"), ("w4", "w5")), (MEN, MEN)]
    rows = [rows_of(model, *pair) for pair in pairs]
    found = directions_of(model.vectors, rows, method, scaled=scaled)  # type: ignore[arg-type]
    for one, direction in zip(rows, found, strict=True):
        slow = direction_of(model.vectors, one, method, scaled=scaled)  # type: ignore[arg-type]
        np.testing.assert_allclose(direction, np.full(model.dim, np.nan) if slow is None else slow, atol=1e-12)
    assert np.isnan(found[2]).all()


def test_nothing_is_left_of_a_set_of_one(model: bg.Embedding) -> None:
    rows = rows_of(model, ("he",), WOMEN)
    (found,) = leave_one_out(model.vectors, [rows], "mean-difference", scaled=False)
    assert np.isnan(found.coherence[0])
    assert np.isfinite(found.coherence[1:]).all()
    assert leave_one_out(model.vectors, [], "mean-difference", scaled=False) == []


def test_a_word_in_both_sets_is_left_out_of_both(model: bg.Embedding) -> None:
    found = seeds(model, [*MEN, "w1"], [*WOMEN, "w1"], shuffles=0)[0]
    expected = seeds(model, list(MEN), list(WOMEN), shuffles=0)[0].coherence.value
    assert expected is not None
    for one in found.influence:
        if one.word == "w1":
            assert one.without == pytest.approx(expected, abs=1e-12)
    assert sum(one.word == "w1" for one in found.influence) == 2

"""Attract-Repel: gradients against automatic differentiation, the descent against a dense one in plain loops."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, WordSet, lexicon
from biasgauge.mitigation import mitigate
from biasgauge.mitigation.methods.attract_repel import (
    AttractRepel,
    Batch,
    Descent,
    descend,
    find_constraints,
    gradient,
    lexicon_pairs,
    negative_examples,
)
from biasgauge.scores import weat

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats
    from biasgauge.vectors import Embedding

torch = pytest.importorskip("torch")

Places = np.ndarray[Any, np.dtype[np.intp]]

WORDS, DIMENSIONS = 23, 7


def torch_cost(matrix: Any, original: Floats, batch: Batch, settings: Descent) -> Any:  # noqa: ANN401 - a tensor
    """The cost as the paper writes it, one pair after the other."""
    units = matrix / matrix.norm(dim=1, keepdim=True)
    start = torch.tensor(original)
    total = torch.zeros((), dtype=torch.float64)
    pull = torch.zeros((), dtype=torch.float64)
    for (left, right), negatives in zip(batch.pairs.tolist(), batch.negatives.tolist(), strict=True):
        for end, negative in zip((left, right), negatives, strict=True):
            if negative >= 0:
                gap = units[end] @ units[negative] - units[left] @ units[right]
                total = total + torch.relu(batch.margin + batch.sign * gap)
            pull = pull + 0.5 * ((start[end] - units[end]) ** 2).sum()
    times = len(batch.pairs) if settings.as_published else 1
    return total + times * settings.regularization * pull


def drawn(seed: int, pairs: int = 30) -> tuple[Floats, Places, np.random.Generator]:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((WORDS, DIMENSIONS)) * random.uniform(0.5, 3, (WORDS, 1))
    ends = np.array([random.choice(WORDS, 2, replace=False) for _ in range(pairs)])
    return vectors, ends, random


@pytest.mark.parametrize("as_published", [False, True])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("seed", range(3))
def test_gradient_against_automatic_differentiation(seed: int, sign: float, as_published: bool) -> None:  # noqa: FBT001
    vectors, pairs, random = drawn(seed)
    negatives = random.integers(-1, WORDS, (len(pairs), 2))
    settings = Descent(regularization=0.3, as_published=as_published)
    batch = Batch(pairs, negatives, sign, 0.2)
    original = vectors + random.standard_normal(vectors.shape)
    matrix = torch.tensor(vectors, requires_grad=True)
    torch_cost(matrix, original, batch, settings).backward()
    np.testing.assert_allclose(gradient(vectors, original, batch, settings), matrix.grad.numpy(), atol=1e-12)


def slow_negatives(units: Floats, pairs: Places, sign: float, random: np.random.Generator, *, by_place: bool) -> Places:
    """Negative examples in plain loops, drawing the same random numbers."""
    count, ends = len(pairs), pairs.ravel().tolist()
    found = np.full((count, 2), -1)
    if by_place:
        coins, other, side = (
            random.random((count, 2)), random.integers(0, count - 1, (count, 2)), random.integers(0, 2, (count, 2)),
        )  # fmt: skip
    else:
        coins, numbers = random.random(2 * count).reshape(count, 2), random.random((2 * count, len(units)))
    for pair in range(count):
        for end in (0, 1):
            own, partner = pairs[pair, end], pairs[pair, 1 - end]
            if by_place:
                rivals = [ends[place] for place in range(2 * count) if place // 2 != pair]
            else:
                rivals = [word for word in range(len(units)) if word not in {own, partner}]
            if not rivals:
                continue
            if coins[pair, end] >= 0.5:
                similar = [sign * float(units[own] @ units[word]) for word in rivals]
                found[pair, end] = rivals[int(np.argmax(np.round(similar, 12)))]
            elif by_place:
                chosen = other[pair, end] + (other[pair, end] >= pair)
                found[pair, end] = pairs[chosen, side[pair, end]]
            else:
                found[pair, end] = max(rivals, key=lambda word: numbers[2 * pair + end, word])
    return found


@pytest.mark.parametrize("by_place", [False, True])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_negative_examples_against_plain_loops(sign: float, by_place: bool) -> None:  # noqa: FBT001 - a parameter
    for seed in range(5):
        vectors, pairs, _ = drawn(seed)
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found, expected = (
            one(units, pairs, sign, np.random.default_rng(seed), by_place=by_place)
            for one in (negative_examples, slow_negatives)
        )
        np.testing.assert_array_equal(found, expected)


def test_a_word_is_never_its_own_negative_except_as_published() -> None:
    vectors, _, random = drawn(1)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    pairs = np.array([(0, 1), (0, 2), (0, 3), (4, 1)])
    chosen = np.concatenate([negative_examples(units[:5], pairs, 1.0, random, by_place=False) for _ in range(50)])
    assert not (chosen == np.tile(pairs, (50, 1))).any()
    assert not (chosen == np.tile(pairs[:, ::-1], (50, 1))).any()
    published = negative_examples(units[:5], pairs, 1.0, random, by_place=True)
    for _ in range(20):
        published = np.concatenate([published, negative_examples(units[:5], pairs, 1.0, random, by_place=True)])
    assert (published == np.tile(pairs, (21, 1))).any()


def test_a_pair_alone_in_its_batch_has_no_negative_example() -> None:
    units = np.eye(2)
    found = negative_examples(units, np.array([(0, 1)]), 1.0, np.random.default_rng(0), by_place=False)
    np.testing.assert_array_equal(found, [[-1, -1]])


def slow_descent(
    vectors: Floats, attract: Places, repel: Places, settings: Descent, random: np.random.Generator, epochs: int
) -> Floats:
    """All of it on the dense matrix: automatic gradients, two dense Adagrads, loops over batches."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    original = vectors if settings.as_published else vectors / lengths
    current = original.copy()
    squares = {1.0: np.full_like(current, 0.1), -1.0: np.full_like(current, 0.1)}
    size = settings.batch_size
    for _ in range(epochs):
        queues = {}
        for sign, pairs in ((1.0, attract), (-1.0, repel)):
            order = random.permutation(len(pairs)).tolist()
            if settings.as_published:
                queues[sign] = [order[at * size : (at + 1) * size] for at in range(len(pairs) // size)]
            else:
                parts = -(-len(pairs) // size)
                small, larger = divmod(len(pairs), parts)
                queues[sign] = []
                for part in range(parts):
                    many = small + (part < larger)
                    queues[sign].append(order[:many])
                    order = order[many:]
        kinds = random.permutation([0] * len(queues[1.0]) + [1] * len(queues[-1.0])).tolist()
        for kind in kinds:
            sign, pairs, margin = (
                (1.0, attract, settings.attract_margin) if kind == 0 else (-1.0, repel, settings.repel_margin)
            )
            chosen = pairs[queues[sign].pop(0)]
            words = sorted(set(chosen.ravel().tolist()))
            places = np.array([[words.index(end) for end in pair] for pair in chosen.tolist()])
            units = current[words] / np.linalg.norm(current[words], axis=1, keepdims=True)
            negatives = slow_negatives(units, places, sign, random, by_place=settings.as_published)
            batch = Batch(chosen, np.where(negatives < 0, -1, np.array(words)[negatives]), sign, margin)
            matrix = torch.tensor(current, requires_grad=True)
            torch_cost(matrix, original, batch, settings).backward()
            slope = np.clip(matrix.grad.numpy(), -settings.clip, settings.clip)
            squares[sign] += slope**2
            current -= settings.learning_rate * slope / np.sqrt(squares[sign])
    return current


@pytest.mark.parametrize("as_published", [False, True])
def test_descent_against_a_dense_one(as_published: bool) -> None:  # noqa: FBT001 - a parameter
    vectors, attract, _ = drawn(2, pairs=23)
    _, repel, _ = drawn(3, pairs=17)
    settings = Descent(batch_size=6, regularization=1e-2, clip=0.3, as_published=as_published)
    found = list(islice(descend(vectors, attract, repel, settings, np.random.default_rng(9)), 3))
    expected = slow_descent(vectors, attract, repel, settings, np.random.default_rng(9), 3)
    np.testing.assert_allclose(found[-1], expected, atol=1e-9)
    assert not np.allclose(found[0], found[1])


def test_the_incomplete_batch_is_dropped_only_as_published() -> None:
    vectors, pairs, random = drawn(4, pairs=5)
    few = Descent(batch_size=6)
    nothing = np.empty((0, 2), np.intp)
    published = next(descend(vectors, pairs, nothing, replace(few, as_published=True), random))
    np.testing.assert_array_equal(published, vectors)
    ours = next(descend(vectors, pairs, nothing, few, random))
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert not np.allclose(ours, units)


def test_only_words_of_the_constraints_move(embedding: Embedding) -> None:
    method = AttractRepel(lexicon="weat7").fit(embedding)
    found = method.transform(embedding)
    moved = (found.vectors != embedding.vectors).any(axis=1)
    assert {embedding.words[row] for row in np.flatnonzero(moved)} == set(lexicon("weat7").words)
    assert set(method.moved_.tolist()) == set(np.flatnonzero(moved).tolist())


def test_constraints_of_a_single_test_and_of_the_whole_list() -> None:
    attract, repel = lexicon_pairs("weat7", "debias")
    assert (len(attract), len(repel)) == (128, 128)  # Goldfarb-Tarrant et al., single tests
    assert ("math", "female") in attract
    assert ("math", "male") in repel
    assert lexicon_pairs("weat7", "overbias") == (repel, attract)
    sets = lexicon("goldfarb2021_expansion").sets
    whole = {
        role: tuple(dict.fromkeys(word for name in names for word in (*sets[name], *sets[f"{name}_expansion"])))
        for role, names in {
            "x": ("career", "math_sci"),
            "y": ("family", "art"),
            "a": ("male",),
            "b": ("female",),
        }.items()
    }
    test = AssociationTest(
        name="all",
        **{role: WordSet(role, words) for role, words in whole.items()},  # type: ignore[arg-type]
    )
    attract, repel = lexicon_pairs(test, "debias")
    assert (len(attract), len(repel)) == (5330, 5174)  # their all-WEAT list


def test_constraints_of_stereotypes(embedding: Embedding) -> None:
    attract, repel = lexicon_pairs(["religion"], "overbias")
    assert len(attract) == 5 * (4 + 3 + 4)
    assert len(repel) == 5 * 2 * (4 + 3 + 4)
    assert ("rabbi", "greedy") in attract
    assert ("rabbi", "violent") in repel
    with pytest.raises(ParameterError, match="is of kind 'pairs'"):
        mitigate(embedding, "attract_repel", lexicon="bolukbasi2016")


def test_a_pair_to_attract_and_to_repel_is_repelled(embedding: Embedding) -> None:
    found = find_constraints(
        embedding,
        [("he", "math"), ("he", "math"), ("he", "he"), ("he", "xyzzy"), ("she", "math")],
        [("she", "math")],
        case_fallback=False,
    )
    words = [[embedding.words[row] for row in pair] for pair in found.attract.tolist()]
    assert words == [["he", "math"]]
    assert len(found.repel) == 1
    assert found.coverage.lost == {"attract": ("xyzzy",)}
    with pytest.raises(ParameterError, match="attract"):
        mitigate(embedding, "attract_repel", lexicon=None, attract=[("xyzzy", "he")])


@pytest.mark.parametrize("test", ["weat6b", "weat7"])
def test_weat_follows_strength_both_ways(embedding: Embedding, test: str) -> None:
    steps = [("debias", much) for much in (1.0, 0.6, 0.3, 0.1, 0.0)] + [("overbias", much) for much in (0.2, 0.5, 1.0)]
    sizes = [
        weat(
            mitigate(embedding, "attract_repel", lexicon=test, direction=way, strength=much), test, interval=None
        ).statistic
        for way, much in steps
    ]
    assert all(low < high for low, high in pairwise(sizes))


def test_published_results_reach_where_theirs_did() -> None:
    """Their targeted WEATs end between 1.85 and 1.99 either way (`coref_results_orig.csv`)."""
    from biasgauge.vectors import load_default

    vectors = load_default()
    for direction, sign in (("debias", -1), ("overbias", 1)):
        found = mitigate(vectors, "attract_repel", lexicon="weat7", direction=direction, as_published=True)
        size = weat(found, "weat7", interval=None).effect_size
        assert size is not None
        assert 1.85 < sign * size < 2
        np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 1, atol=1e-5)
        np.testing.assert_array_equal(found.vectors, np.round(found.vectors, 6))


def test_snapshots_lead_to_the_result(embedding: Embedding) -> None:
    method = AttractRepel(lexicon="weat7", epochs=4).fit(embedding)
    found = method.snapshots(embedding)
    assert len(found) == 4
    np.testing.assert_array_equal(found[-1].vectors, method.transform(embedding).vectors)
    shorter = mitigate(embedding, "attract_repel", lexicon="weat7", epochs=2)
    np.testing.assert_array_equal(found[1].vectors, shorter.vectors)
    assert found[1].name == "planted (attract_repel debias, epoch 2)"


def test_seeds_and_settings(embedding: Embedding) -> None:
    one, other = (mitigate(embedding, "attract_repel", random_state=seed) for seed in (0, 1))
    assert not np.array_equal(one.vectors, other.vectors)
    with pytest.raises(ParameterError, match="must be fitted"):
        AttractRepel().snapshots(embedding)
    method = AttractRepel().fit(embedding)
    with pytest.raises(ParameterError, match="transform"):
        method.transform(method.transform(embedding))
    impossible: dict[str, dict[str, Any]] = {
        "'epochs' parameter must be a whole number of at least 1. Got 0.": {"epochs": 0},
        "'batch_size' parameter must be a whole number of at least 2. Got 1.": {"descent": Descent(batch_size=1)},
        "'strength' parameter must be a number from 0 to 1. Got 1.5.": {"direction": "overbias", "strength": 1.5},
    }
    for sentence, wrong in impossible.items():
        with pytest.raises(ParameterError, match=sentence):
            mitigate(embedding, "attract_repel", **wrong)

"""Candidates, pruning, pairs, buckets and clusters: against slow loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.applications.coref.features import (
    BUCKETS,
    antecedent_pairs,
    candidate_spans,
    clusters_from_antecedents,
    distance_buckets,
    mention_limit,
    select_spans,
)


def room_of(lengths: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([left for length in lengths for left in range(length, 0, -1)])


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(1, 4))
@settings(deadline=None)
def test_candidates(lengths: list[int], widest: int) -> None:
    expected, start = [], 0
    for length in lengths:
        for a in range(start, start + length):
            expected += [(a, b) for b in range(a, min(a + widest, start + length))]
        start += length
    first, last = candidate_spans(room_of(lengths), widest)
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == expected


@given(
    st.lists(st.integers(1, 8), min_size=1, max_size=4),
    st.integers(1, 5),
    st.integers(0, 25),
    st.integers(0, 2**32 - 1),
    st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_pruning(lengths: list[int], widest: int, most: int, seed: int, ties: bool) -> None:  # noqa: FBT001 - drawn
    first, last = candidate_spans(room_of(lengths), widest)
    random = np.random.default_rng(seed)
    scores = random.integers(0, 3, len(first)).astype(float) if ties else random.standard_normal(len(first))
    taken: list[tuple[int, int]] = []
    for at in sorted(range(len(first)), key=lambda one: (-scores[one], one)):
        a, b = int(first[at]), int(last[at])
        crosses = any(a < c <= b < d or c < a <= d < b for c, d in taken)
        if len(taken) < most and not crosses:
            taken.append((a, b))
    kept = select_spans(first, last, scores, most)
    assert list(zip(first[kept].tolist(), last[kept].tolist(), strict=True)) == sorted(taken)


@given(st.lists(st.integers(0, 7), min_size=1, max_size=4), st.integers(1, 5))
@settings(deadline=None)
def test_pairs(kept: list[int], most: int) -> None:
    expected, start = [], 0
    for size in kept:
        for mention in range(size):
            expected += [(start + mention, back) for back in range(1, min(mention, most) + 1)]
        start += size
    found = [one.tolist() for one in antecedent_pairs(kept, most)]
    assert list(zip(*found, strict=True)) == expected


def test_buckets_are_those_of_lee() -> None:
    classes = [[1], [2], [3], [4], [5, 6, 7], [8, 15], [16, 31], [32, 63], [64, 1000]]
    assert len(classes) == BUCKETS
    for number, distances in enumerate(classes):
        assert distance_buckets(np.array(distances)).tolist() == [number] * len(distances)


@given(st.lists(st.integers(0, 6), max_size=12))
@settings(deadline=None)
def test_clusters_follow_links_back(wanted: list[int]) -> None:
    back = [min(one, at) for at, one in enumerate(wanted)]
    groups = [{at} for at in range(len(back))]
    for at, one in enumerate(back):
        if one:
            mine = next(group for group in groups if at in group)
            theirs = next(group for group in groups if at - one in group)
            groups.remove(mine)
            theirs |= mine
    expected = sorted(sorted(group) for group in groups if len(group) > 1)
    assert sorted(clusters_from_antecedents(np.array(back, np.int64))) == expected


@pytest.mark.parametrize(("words", "kept"), [(100, 29), (14, 4), (3, 0), (0, 0), (1000, 290)])
def test_how_many_are_kept(words: int, kept: int) -> None:
    assert mention_limit(words, 0.29) == kept

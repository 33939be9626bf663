"""Counting near words: against a dictionary and fractions, whatever the memory; kept and opened again."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.errors import InputError, ParameterError
from biasgauge.text.training import cooccurrence
from biasgauge.text.training.cooccurrence import MANIFEST, Cooccurrence, count_cooccurrences, whole_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray


def slowly(lines: Sequence[Sequence[int]], window: int) -> dict[tuple[int, int], Fraction]:
    """The official tool's rule, word for word: look back from each word, add to both cells."""
    cells: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for line in lines:
        history: list[int] = []
        for word in line:
            if word < 0:
                continue
            for distance, earlier in enumerate(history[: -window - 1 : -1], start=1):
                cells[earlier, word] += Fraction(1, distance)
                cells[word, earlier] += Fraction(1, distance)
            history.append(word)
    return dict(cells)


class Text:
    """Lines of places, as the arrays that a corpus has: token numbers are places turned around, with gaps."""

    def __init__(self, lines: Sequence[Sequence[int]], size: int) -> None:
        self.size = size
        self.tokens = np.array([size - word for line in lines for word in line], dtype=np.uint32)
        self.lines = np.cumsum([0, *map(len, lines)], dtype=np.int64)
        self.places = np.array([-1, *range(size - 1, -1, -1), -1], dtype=np.int32)
        self.order = np.arange(len(lines), dtype=np.int64)

    def count(self, **settings: Any) -> Cooccurrence:  # noqa: ANN401 - passed on
        order = settings.pop("order", self.order)
        return count_cooccurrences(self.tokens, self.lines, order, self.places, self.size, **settings)


def as_dictionary(cells: Cooccurrence) -> dict[tuple[int, int], float]:
    return {
        (int(row), int(column)): float(value)
        for row, column, value in zip(cells.rows, cells.columns, cells.values, strict=True)
    }


def random_lines(seed: int, size: int = 40, count: int = 60) -> list[list[int]]:
    """Lines of 0 to 40 words, frequent ones first; -1 stands for a word left out."""
    random = np.random.default_rng(seed)
    return [(np.minimum(random.zipf(1.5, random.integers(0, 41)), size + 1) - 2).tolist() for _ in range(count)]


def same_bytes(one: Cooccurrence, other: Cooccurrence) -> bool:
    return all(
        getattr(one, name).tobytes() == getattr(other, name).tobytes() for name in ("starts", "columns", "values")
    )


@pytest.mark.parametrize("window", [1, 2, 5, 15, 24, 40])
def test_against_a_dictionary(window: int) -> None:
    lines = random_lines(window)
    expected = slowly(lines, window)
    found = as_dictionary(Text(lines, 40).count(window=window))
    assert found.keys() == expected.keys()
    assert len(found) > 200
    for place, value in expected.items():
        assert found[place] == pytest.approx(float(value), rel=1e-7)


@settings(max_examples=60, deadline=None)
@given(
    lines=st.lists(st.lists(st.integers(-1, 5), max_size=9), max_size=6),
    window=st.integers(1, 7),
    memory=st.integers(1, 4000),
)
def test_any_small_text(lines: list[list[int]], window: int, memory: int) -> None:
    expected = slowly(lines, window)
    if not expected:
        with pytest.raises(ParameterError, match="vocabulary"):
            Text(lines, 6).count(window=window, memory=memory)
        return
    found = as_dictionary(Text(lines, 6).count(window=window, memory=memory))
    assert found == pytest.approx({place: float(value) for place, value in expected.items()}, rel=1e-7)


def test_by_hand() -> None:
    """`a x b a | b` with x left out: a-b at distance 1, b-a at 1, a-a at 2; the next line stands alone."""
    cells = Text([[0, -1, 1, 0], [1]], 2).count()
    assert as_dictionary(cells) == {(0, 0): 1.0, (0, 1): 2.0, (1, 0): 2.0}


def test_rows_and_columns_are_sorted_and_symmetric() -> None:
    cells = Text(random_lines(3), 40).count()
    keys = cells.rows.astype(np.int64) * 40 + cells.columns
    assert np.all(np.diff(keys) > 0)
    dense = np.zeros((40, 40))
    dense[cells.rows, cells.columns] = cells.values
    np.testing.assert_array_equal(dense, dense.T)


@pytest.mark.parametrize("window", [3, 15, 40])
def test_memory_does_not_matter(window: int) -> None:
    text = Text(random_lines(4, count=200), 40)
    ample = text.count(window=window)
    assert type(ample.columns) is np.ndarray
    for memory in (1, 300, 5_000, 40_000):
        tight = text.count(window=window, memory=memory)
        assert same_bytes(tight, ample)
        if memory < 8 * ample.columns.nbytes:
            assert isinstance(tight.columns, np.memmap)


def test_order_of_lines_does_not_matter_and_repeated_lines_count_again() -> None:
    lines = random_lines(5)
    text = Text(lines, 40)
    drawn = np.random.default_rng(0).integers(0, len(lines), len(lines))
    sample = text.count(order=drawn)
    assert same_bytes(sample, Text([lines[line] for line in drawn], 40).count())
    assert same_bytes(sample, text.count(order=np.sort(drawn)))
    assert not same_bytes(sample, text.count())


def test_tokens_on_disk(tmp_path: Path) -> None:
    text = Text(random_lines(6), 40)
    plain = text.count()
    np.save(tmp_path / "tokens.npy", text.tokens)
    text.tokens = np.load(tmp_path / "tokens.npy", mmap_mode="r")
    assert same_bytes(text.count(), plain)


def test_progress_rises_to_the_end() -> None:
    calls: list[tuple[int, int]] = []
    lines = random_lines(7)
    Text(lines, 40).count(memory=3_000, progress=lambda done, total: calls.append((done, total)))
    occurrences = sum(word >= 0 for line in lines for word in line)
    done = [one for one, _ in calls]
    assert len(calls) > 3
    assert done == sorted(done)
    assert calls[-1] == (occurrences, occurrences)
    assert {total for _, total in calls} == {occurrences}


@pytest.mark.parametrize("occurrences", [0, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("window", [1, 10, 15, 24, 30, 100, 5_000])
def test_whole_weights_hold_any_sum(window: int, occurrences: int) -> None:
    weights, unit = whole_weights(window, occurrences=occurrences)
    assert 2 * sum(weights.tolist()) * occurrences < 2**63
    shares = weights[1:].astype(np.float64) / unit
    if window <= 15:
        assert unit == {1: 1, 10: 2_520, 15: 360_360}[window]
    elif occurrences <= 10**9:
        np.testing.assert_allclose(shares, 1 / np.arange(1, window + 1), rtol=1e-7 * window / 24)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"window": 0}, "The 'window' parameter must be a whole number of at least 1. Got 0."),
        ({"window": 2.5}, "The 'window' parameter must be a whole number of at least 1. Got 2.5."),
        ({"memory": 0}, "The 'memory' parameter must be a whole number of at least 1. Got 0."),
        (
            {"order": np.array([], dtype=np.int64)},
            "There is nothing to count: no line holds two words of the vocabulary.",
        ),
        ({"order": np.array([1])}, "There is nothing to count: no line holds two words of the vocabulary."),
    ],
)
def test_impossible_settings(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        Text([[0, 1], [1, -1], [0, 2]], 3).count(**changes)
    assert str(refusal.value) == sentence


def test_what_is_saved_is_opened(tmp_path: Path) -> None:
    cells = Text(random_lines(8), 40).count()
    for _ in range(2):
        cells.save(tmp_path / "a" / "cells")
    shutil.move(tmp_path / "a" / "cells", tmp_path / "moved")
    opened = Cooccurrence.open(tmp_path / "moved")
    assert same_bytes(opened, cells)
    assert isinstance(opened.values, np.memmap)
    assert len(opened) == len(cells)
    assert opened.size == 40


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-2] ^= 0x20
    path.write_bytes(bytes(content))


@pytest.mark.parametrize("name", ["starts.npy", "columns.npy", "values.npy", MANIFEST])
@pytest.mark.parametrize("damage", [_cut, _flip, lambda path: path.unlink()])
def test_damage_is_told(name: str, damage: Callable[[Path], None], tmp_path: Path) -> None:
    Text(random_lines(9), 40).count().save(tmp_path / "cells")
    damage(tmp_path / "cells" / name)
    with pytest.raises(InputError, match=r"count again$"):
        Cooccurrence.open(tmp_path / "cells")


def test_another_format_is_told(tmp_path: Path) -> None:
    Text(random_lines(9), 40).count().save(tmp_path)
    (tmp_path / MANIFEST).write_text(json.dumps({"format": "cells 9", "sha256": {}}))
    with pytest.raises(InputError, match="cooccurrence"):
        Cooccurrence.open(tmp_path)


def test_a_write_that_fails_leaves_nothing_to_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cells = Text(random_lines(9), 40).count()
    cells.save(tmp_path)
    original = vars(cooccurrence)["write_array"]

    def failing(path: Path, table: NDArray[Any]) -> None:
        if table is cells.values:
            raise OSError(28, "No space left on device")
        original(path, table)

    monkeypatch.setattr(cooccurrence, "write_array", failing)
    with pytest.raises(OSError, match="No space left"):
        cells.save(tmp_path)
    with pytest.raises(InputError, match="co-occurrence"):
        Cooccurrence.open(tmp_path)


GOOD: dict[str, NDArray[Any]] = {
    "starts": np.array([0, 1, 2]),
    "columns": np.array([1, 0], np.int32),
    "values": np.array([2, 2], np.float32),
}


@pytest.mark.parametrize(
    "change",
    [
        {"starts": np.array([0, 1, 3])},
        {"starts": np.array([0, 3, 2])},
        {"starts": np.array([1, 1, 2])},
        {"starts": np.array([0.0, 1.0, 2.0])},
        {"columns": np.array([2, 0], np.int32)},
        {"columns": np.array([-1, 0], np.int32)},
        {"columns": np.array([1, 0])},
        {"values": np.array([0, 1], np.float32)},
        {"values": np.array([np.nan, 1], np.float32)},
        {"values": np.array([np.inf, 1], np.float32)},
        {"values": np.array([[1, 1]], np.float32)},
        {"values": np.array([1], np.float32)},
    ],
)
def test_cells_that_cannot_be(change: dict[str, NDArray[Any]]) -> None:
    assert len(Cooccurrence(**GOOD)) == 2
    with pytest.raises(ParameterError, match="of a Cooccurrence must"):
        Cooccurrence(**{**GOOD, **change})

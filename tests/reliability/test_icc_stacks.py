"""ICCs of stacks: gaps, layouts in memory, blocks and threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasgauge.errors import ParameterError
from biasgauge.stats import FORMS, Icc, Iccs, icc, icc_stack, mean_squares


def single(matrix: Any, form: Any = "2,1", **settings: Any) -> Icc:  # noqa: ANN401 - whatever a test tries
    found = icc(matrix, form, **settings)
    assert isinstance(found, Icc)
    return found


def stacked(matrices: Any, form: Any = "2,1", **settings: Any) -> Iccs:  # noqa: ANN401 - as above
    found = icc(matrices, form, **settings)
    assert isinstance(found, Iccs)
    return found


class TestGaps:
    def test_raters_without_scores_go_first_then_subjects(self, slow: Any) -> None:  # noqa: ANN401
        random = np.random.default_rng(5)
        stack = random.normal(size=(40, 7, 5)) + 2 * random.normal(size=(40, 7, 1))
        stack[random.random(stack.shape) < 0.03] = np.nan
        stack[::3, :, 2] = np.nan
        stack[1::3, 4, :] = np.nan
        found = stacked(stack)
        for place, matrix in enumerate(stack):
            kept = slow.complete(matrix.tolist())
            assert found.n[place] == len(kept)
            if len(kept) < 2:
                assert found.reason(place)
                continue
            assert found.k[place] == len(kept[0])
            assert found.value[place] == pytest.approx(slow.icc(kept, "2,1"), rel=1e-9)
            alone = single(kept)
            assert [found.low[place], found.high[place]] == pytest.approx([alone.low, alone.high], rel=1e-9)

    def test_mean_squares_are_in_the_units_of_the_scores(self, slow: Any) -> None:  # noqa: ANN401
        stack = 40 * np.random.default_rng(8).normal(size=(3, 6, 4))
        stack[1, 2, 3] = np.nan
        squares = stacked(stack).squares
        assert squares is not None
        rows, columns, error = (float(one) for one in slow.mean_squares(slow.complete(stack[1].tolist())))
        assert [squares.ms_rows[1], squares.ms_columns[1], squares.ms_error[1]] == pytest.approx([rows, columns, error])

    def test_nothing_left(self) -> None:
        found = single(np.full((3, 3), np.nan))
        assert (found.value, found.n, found.k, found.reason) == (None, 0, 0, "fewer than two raters have scores")

    def test_infinite_scores_are_refused(self) -> None:
        with pytest.raises(ParameterError, match="infinite"):
            icc([[1.0, np.inf], [2.0, 3.0]])


class TestStacks:
    def test_a_stack_is_its_matrices(self) -> None:
        random = np.random.default_rng(2)
        stack = (random.normal(size=(3, 4, 8, 5)) + random.normal(size=(3, 4, 8, 1))).astype(np.float32)
        for form in FORMS:
            found = stacked(stack, form)
            assert found.shape == (3, 4)
            for place in np.ndindex(3, 4):
                alone, here = single(stack[place], form), found[place]
                assert here == alone

    def test_any_layout_in_memory(self) -> None:
        """Scores of a tensor lie subjects × stack × raters; large matrices are taken in parts."""
        random = np.random.default_rng(4)
        plain = random.normal(size=(300, 23, 8)) + random.normal(size=(300, 23, 1))
        turned = np.ascontiguousarray(plain.transpose(1, 0, 2)).transpose(1, 0, 2)
        reversed_ = np.ascontiguousarray(plain[:, ::-1])[:, ::-1]
        for view in (turned, reversed_, np.asfortranarray(plain)):
            assert stacked(view).value == pytest.approx(stacked(plain).value, rel=1e-12)

    def test_threads_and_blocks_do_not_matter(self) -> None:
        random = np.random.default_rng(6)
        stack = random.normal(size=(500, 11, 7)) + random.normal(size=(500, 11, 1)) + 1e4
        stack[::7, 3, 2] = np.nan
        whole = mean_squares(stack, 1)
        parts = mean_squares(stack, 3, span=3000, block=200)
        tiny = mean_squares(stack, 2, span=3000, block=20)  # less than one matrix: subjects in parts
        for name in ("rows", "columns", "error", "n", "k"):
            assert np.array_equal(getattr(parts, name), getattr(whole, name))
            assert getattr(tiny, name) == pytest.approx(getattr(whole, name), rel=1e-9)

    def test_a_large_matrix_in_parts(self, slow: Any) -> None:  # noqa: ANN401
        random = np.random.default_rng(7)
        matrix = (random.normal(size=(40_000, 1)) + random.normal(size=(40_000, 8)) + 3).astype(np.float32)
        rows = 8 * np.var(matrix.astype(np.float64).mean(axis=1), ddof=1)
        error = np.var(matrix.astype(np.float64) - matrix.mean(axis=1, keepdims=True, dtype=np.float64)
                       - matrix.mean(axis=0, dtype=np.float64), ddof=0) * 8 / 7 * 40_000 / 39_999  # fmt: skip
        assert single(matrix, "3,1").value == pytest.approx((rows - error) / (rows + 7 * error), rel=1e-9)
        assert single(matrix[:300], "3,1").value == pytest.approx(slow.icc(matrix[:300].tolist(), "3,1"), rel=1e-9)

    def test_an_empty_stack(self) -> None:
        assert stacked(np.empty((0, 4, 3))).shape == (0,)

    def test_the_input_is_left_alone(self) -> None:
        stack = np.random.default_rng(0).normal(size=(5, 4, 3)) + 1e7
        stack[0, 0, 0] = np.nan
        before = stack.copy()
        icc(stack)
        assert np.array_equal(stack, before, equal_nan=True)

    def test_frame_names_the_reasons(self) -> None:
        frame = icc_stack(np.ones((2, 3, 3)), subjects="pairs", raters="models").to_frame()
        assert list(frame["reason"]) == ["all scores are equal"] * 2
        assert frame["value"].isna().all()

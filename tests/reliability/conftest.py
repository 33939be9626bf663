"""Textbook matrices, tensors of scores, and reliabilities computed the slow and obvious way."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from pathlib import Path
from statistics import mean, variance
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.lexicons import lexicon
from biasgauge.scores import ScoreTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

GOLDENS = Path(__file__).parent / "goldens"


class Slow:
    """Estimators by their formulas (METHODS of the papers): plain loops, exact fractions where it matters."""

    @staticmethod
    def mean_squares(matrix: Sequence[Sequence[float]]) -> tuple[Fraction, Fraction, Fraction]:
        """MS_R, MS_C and MS_E, exactly."""
        rows = [[Fraction(float(score)) for score in row] for row in matrix]
        n, k = len(rows), len(rows[0])
        columns = list(zip(*rows, strict=True))
        row_means, column_means = [sum(row) / k for row in rows], [sum(column) / n for column in columns]
        grand = sum(row_means) / n
        rows_square = k * sum((one - grand) ** 2 for one in row_means) / (n - 1)
        columns_square = n * sum((one - grand) ** 2 for one in column_means) / (k - 1)
        rest = sum((rows[i][j] - row_means[i] - column_means[j] + grand) ** 2 for i, j in product(range(n), range(k)))
        return Fraction(rows_square), Fraction(columns_square), Fraction(rest) / ((n - 1) * (k - 1))

    def icc(self, matrix: Sequence[Sequence[float]], form: str) -> float:
        """ICC(2,1) or ICC(3,1), by the equations of the paper."""
        rows, columns, error = self.mean_squares(matrix)
        n, k = len(matrix), len(matrix[0])
        below = rows + (k - 1) * error
        if form == "2,1":
            below += Fraction(k, n) * (columns - error)
        return float((rows - error) / below)

    @staticmethod
    def alpha(matrix: Sequence[Sequence[float]]) -> float:
        """Cronbach's alpha from variances of items and of their sum."""
        items = list(zip(*matrix, strict=True))
        k = len(items)
        total = variance([sum(row) for row in matrix])
        return float(k / (k - 1) * (1 - sum(variance(item) for item in items) / total))

    @staticmethod
    def complete(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
        """Leave out raters without any score, then subjects that lack one."""
        columns = [j for j in range(len(matrix[0])) if not all(np.isnan(row[j]) for row in matrix)]
        kept = [[float(row[j]) for j in columns] for row in matrix]
        return [row for row in kept if row and not any(np.isnan(score) for score in row)]

    @staticmethod
    def mean_of_defined(scores: Sequence[float]) -> float:
        """Mean of what is not NaN."""
        defined = [float(score) for score in scores if not np.isnan(score)]
        return mean(defined) if defined else float("nan")


@pytest.fixture(scope="session")
def slow() -> Slow:
    return Slow()


@pytest.fixture(scope="session")
def shrout_fleiss() -> NDArray[np.float64]:
    """Table 2 of Shrout & Fleiss 1979: six targets, four judges."""
    return np.array([(9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7)], np.float64)


@pytest.fixture(scope="session")
def golden() -> Callable[[str], NDArray[np.float64]]:
    """A table that R and irrCAC were asked about."""
    return lambda name: np.loadtxt(GOLDENS / f"{name}.csv", delimiter=",")


def make_tensor(
    words: Sequence[str],
    *,
    models: int = 6,
    measures: Sequence[str] = ("dbwa", "ripa", "nbm"),
    scales: Sequence[float] = (0.1, 0.3, 1.0),
    noise: float = 0.5,
    pairs: Sequence[tuple[str, str]] | None = None,
    seed: int = 0,
    lost: Sequence[str] = (),
) -> ScoreTensor:
    """Scores with a signal of pair and word, measures of different scale, noise over models; some words lost."""
    random = np.random.default_rng(seed)
    chosen = tuple(pairs or lexicon("du2021").pairs)  # type: ignore[attr-defined]  # a lexicon of pairs
    shape = (len(measures), len(chosen), len(words), models)
    signal = random.normal(size=(1, *shape[1:3], 1)) + random.normal(size=(1, 1, shape[2], 1))
    own = 0.5 * random.normal(size=(*shape[:3], 1))
    values = (signal + own + noise * random.normal(size=shape)) * np.array(scales[: shape[0]])[:, None, None, None]
    undefined = np.zeros(shape, np.uint8)
    undefined[:, :, [list(words).index(word) for word in lost]] = 1
    values[undefined > 0] = np.nan
    about: dict[str, Any] = {"pairs": {"name": "du2021"}}
    names = tuple(f"seed{number}" for number in range(models))
    return ScoreTensor(values.astype(np.float32), undefined, tuple(measures), chosen, tuple(words), names, about)


@pytest.fixture(scope="session")
def tensor() -> Callable[..., ScoreTensor]:
    return make_tensor

"""Small models of every awkward kind, and scores computed the slow and obvious way."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.scores.engine import ScoringTask
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

WORLDS = (
    "random",
    "clustered",
    "duplicates",
    "copies of one vector",
    "near duplicates",
    "between the ends",
    "tiny pool",
    "pool too small",
    "zero vectors",
    "half precision",
    "double precision",
    "memory-mapped",
    "lengths of all sizes",
)


class Slow:
    """Scores by the definitions of the measures: plain loops in double precision, full sorting, nothing shared."""

    @staticmethod
    def linear(name: str, word: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> float:
        """Score of one word."""
        w, a, b = (np.asarray(vector, np.float64) for vector in (word, first, second))
        lengths = [sqrt(float(vector @ vector)) for vector in (w, a, b)]
        if min(lengths) == 0:
            return np.nan
        if name == "dbwa":
            return float(w @ a) / (lengths[0] * lengths[1]) - float(w @ b) / (lengths[0] * lengths[2])
        along = float(w @ (a - b)) / sqrt(float((a - b) @ (a - b)))
        return {"ripa": along, "ripa_unit": along / lengths[0]}[name]

    @staticmethod
    def neighbors(task: ScoringTask, row: int, *, first_hit: bool, single: bool) -> list[int] | None:
        """Rows of the k nearest, the lower row first among equals; None where they are too few.

        `single`: similarities of unit vectors that were rounded to single precision, as the engine documents.
        """
        vectors = task.vectors.astype(np.float64)
        lengths = np.array([sqrt(float(vector @ vector)) for vector in vectors])
        if not lengths[row]:
            return None
        unit = np.array([vector / (size or 1) for vector, size in zip(vectors, lengths, strict=True)])
        if single:
            unit = unit.astype(np.float32).astype(np.float64)
        pool = sorted(set(range(len(vectors)) if task.pool is None else task.pool.tolist()))
        pool = [place for place in pool if lengths[place]]
        if len(pool) <= task.k:
            return None
        nearest = sorted(pool, key=lambda place: (-round(float(unit[row] @ unit[place]), 12), place))
        nearest = nearest[1:] if first_hit else [place for place in nearest if place != row]
        return nearest[: task.k]

    def scores(self, task: ScoringTask, *, single: bool = True) -> NDArray[np.float64]:
        """Measures × pairs × words."""
        found = np.full((len(task.measures), len(task.first), len(task.rows)), np.nan)
        for place, one in enumerate(task.measures):
            for number, row in enumerate(task.rows.tolist()):
                if not one.name.startswith("nbm"):
                    for pair, ends in enumerate(zip(task.first, task.second, strict=True)):
                        found[place, pair, number] = self.linear(
                            one.name, task.vectors[row], *(task.vectors[end] for end in ends)
                        )
                    continue
                nearest = self.neighbors(task, row, first_hit=one.name == "nbm_du2021", single=single)
                for pair, (first, second) in enumerate(zip(task.first, task.second, strict=True)):
                    if nearest is not None and task.vectors[first].any() and task.vectors[second].any():
                        biases = [
                            self.linear("dbwa", task.vectors[one], task.vectors[first], task.vectors[second])
                            for one in nearest
                        ]
                        between = 0 if one.name == "nbm" else 1
                        votes = [between if abs(bias) < 1e-12 else (1 if bias > 0 else -1) for bias in biases]
                        found[place, pair, number] = sum(votes) / task.k
        return found


def _vectors(kind: str, random: np.random.Generator, size: int, dimensions: int) -> NDArray[Any]:
    vectors = random.normal(size=(size, dimensions))
    if kind == "clustered":
        vectors = 5 * random.normal(size=(4, dimensions))[random.integers(0, 4, size)] + 0.3 * vectors
    elif kind == "duplicates":
        vectors = vectors[random.integers(0, size // 4, size)]
    elif kind == "copies of one vector":
        vectors[size // 3 :] = vectors[-1]
    elif kind == "near duplicates":
        vectors = vectors[random.integers(0, 6, size)] + 1e-7 * random.normal(size=(size, dimensions))
    elif kind == "between the ends":
        vectors[:2] = [[1, 2], [2, -1]]
    elif kind == "zero vectors":
        vectors[random.random(size) < 0.2] = 0
    elif kind == "lengths of all sizes":
        vectors *= 10.0 ** random.integers(-30, 30, size=(size, 1))
    return vectors


@pytest.fixture(scope="session")
def slow() -> Slow:
    return Slow()


class Worlds:
    """Makes tasks on small models."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, kind: str, seed: int = 0, names: Sequence[str] = registry.names("measure")) -> ScoringTask:
        """A task with all measures, five pairs and every word of a model of this kind."""
        random = np.random.default_rng([seed, WORLDS.index(kind)])
        size = int(random.integers(60, 90))
        dimensions = 2 if kind == "between the ends" else int(random.integers(3, 40))
        vectors = _vectors(kind, random, size, dimensions)
        ends = np.arange(10)
        if kind == "between the ends":
            # Multiples of the sum of the ends, and of other vectors, so that many neighbors have no bias at all.
            vectors[10:40] = random.integers(1, 9, size=(30, 1)) * np.array([[3, 1]])
        dtype = {"half precision": np.float16, "double precision": np.float64}.get(kind, np.float32)
        vectors = vectors.astype(dtype)
        if kind == "memory-mapped":
            path = self.folder / f"{seed}.npy"
            np.save(path, vectors)
            vectors = np.lib.format.open_memmap(path, mode="r")
        task = ScoringTask(
            vectors,
            random.permutation(size),
            ends[::2],
            ends[1::2],
            [registry.get("measure", name) for name in names],
            int(random.integers(1, 12)),
        )
        if kind in ("tiny pool", "pool too small"):
            pool = random.choice(size, task.k + (kind == "tiny pool"), replace=False)
            task = replace(task, pool=np.concatenate([pool, pool[:2]]))
        return task


@pytest.fixture(scope="session")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Worlds:
    return Worlds(tmp_path_factory.mktemp("worlds"))


@pytest.fixture(params=WORLDS)
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of model in turn."""
    return str(request.param)


def assert_same_scores(found: NDArray[np.float32], expected: NDArray[Any], task: ScoringTask) -> None:
    """Votes are counts, so they must be equal; products may differ in the last bits of single precision."""
    for place, one in enumerate(task.measures):
        if one.name.startswith("nbm"):
            np.testing.assert_array_equal(found[place], expected[place].astype(np.float32), err_msg=one.name)
        else:
            lengths = np.linalg.norm(task.vectors[task.rows].astype(np.float64), axis=1)
            scale = lengths if one.name == "ripa" else np.ones(len(task.rows))
            scale[scale == 0] = 1
            np.testing.assert_allclose(
                found[place] / scale, expected[place] / scale, rtol=0, atol=2e-6, err_msg=one.name
            )


@pytest.fixture(scope="session")
def same_scores() -> Any:  # noqa: ANN401 - a function
    return assert_same_scores


@pytest.fixture
def people() -> Embedding:
    """Eight words with two coordinates each; "nil" is a zero vector."""
    table = {
        "he": (1.0, 0.0),
        "she": (0.0, 1.0),
        "king": (2.0, 1.0),
        "queen": (1.0, 2.0),
        "doctor": (3.0, 2.0),
        "nurse": (2.0, 3.5),
        "Teacher": (1.0, 1.1),
        "nil": (0.0, 0.0),
    }
    return Embedding(tuple(table), np.array(list(table.values()), np.float32), name="people")

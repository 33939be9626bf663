"""A small embedding with a planted gender, and a planted religion, in known directions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from biasgauge.lexicons import lexicon
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMENSIONS = 30
TESTS = ("weat6b", "weat7", "weat8")


class Planted(NamedTuple):
    """The embedding, and the directions in which bias was planted."""

    embedding: Embedding
    gender: NDArray[np.float64]
    religion: NDArray[np.float64]


def planted(seed: int = 0, dtype: Any = np.float64, strength: float = 0.8) -> Planted:  # noqa: ANN401 - a dtype
    """Words of the gender lists, of three WEATs and of the religion lexicon, and 300 others without a lean.

    Axes 0 (gender), 1 and 2 (religion) carry what was planted; every word has noise along all axes and a length of
    its own.
    """
    random = np.random.default_rng(seed)
    leans: dict[str, NDArray[np.float64]] = {}

    def lean(words: tuple[str, ...], **parts: float) -> None:
        for word in words:
            old = leans.get(word, np.zeros(DIMENSIONS))
            leans[word] = old + np.array([parts.get(f"axis{place}", 0.0) for place in range(DIMENSIONS)])

    for name in ("bolukbasi2016", "equalize"):
        for first, second in lexicon(name).pairs:  # type: ignore[attr-defined]  # a lexicon of pairs
            if first not in leans and second not in leans:
                shared = random.standard_normal(DIMENSIONS) * 0.5
                shared[0] = 0
                leans[first], leans[second] = shared.copy(), shared.copy()
                leans[first][0], leans[second][0] = 2.0, -2.0
    for name in TESTS:
        sets = lexicon(name).sets
        stereotype = {"weat7": ("x", "y"), "weat8": ("x", "y"), "weat6b": ("a", "b")}[name]
        for role in sets:
            words = tuple(word for word in sets[role] if word not in leans)
            sign = 0.0 if role not in stereotype else (1.0 if role == stereotype[0] else -1.0)
            if role in stereotype:
                lean(words, axis0=sign * strength)
            else:
                lean(words, axis0=2.0 if role in {"x", "a"} else -2.0)
    religion = lexicon("religion")
    ends = {"jew": (1.5, 0.0), "christian": (-0.75, 1.3), "muslim": (-0.75, -1.3)}
    for group in religion.groups:  # type: ignore[attr-defined]  # a lexicon of stereotypes
        one, two = ends[group.name]
        lean(group.protected, axis1=one, axis2=two)
        lean(group.attributes, axis1=one / 3, axis2=two / 3)
    lean(tuple(f"other{number}" for number in range(300)))
    words = tuple(leans)
    vectors = np.array([leans[word] for word in words]) + random.standard_normal((len(words), DIMENSIONS)) * 0.4
    vectors *= random.uniform(0.5, 4.0, len(words))[:, None]
    axes = np.linalg.qr(random.standard_normal((DIMENSIONS, DIMENSIONS)))[0]
    turned = (vectors @ axes).astype(dtype)
    turned.flags.writeable = False
    return Planted(Embedding(words, turned, name="planted"), axes[0], axes[1:3])


@pytest.fixture(scope="session")
def world() -> Planted:
    return planted()


@pytest.fixture(scope="session")
def embedding(world: Planted) -> Embedding:
    return world.embedding

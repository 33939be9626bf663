"""Which single seed moves the conclusion, and whether seeds stand where they should when they have no say in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.seed_words.coherence import MOST_LEFT_OUT, LeftOut
from biasgauge.seed_words.located import Located


@dataclass(frozen=True)
class SeedInfluence:
    """What one seed does to the coherence of its pair of sets, mean over models.

    Attributes:
        word: the seed.
        set: "a" or "b".
        without: coherence of the sets without it; None when it is the only one of its set.
        change: that less the coherence with it; negative: the seed holds the sets apart.
        rank: where it stands along the subspace of the other seeds, as a share of the vocabulary: 0 is A's end, 1 B's.
    """

    word: str
    set: str
    without: float | None
    change: float | None
    rank: float | None

    def to_dict(self) -> dict[str, Any]:
        """As it stands in `--json`."""
        return asdict(self)


def influences(located: Located, left: Sequence[LeftOut], coherence: Floats) -> tuple[SeedInfluence, ...]:
    """Influence of every seed, the one whose absence changes most first; seeds without a value last."""
    without = np.mean([one.coherence for one in left], axis=0)
    change = np.mean([one.coherence - whole for one, whole in zip(left, coherence, strict=True)], axis=0)
    rank = np.mean([one.rank for one in left], axis=0)
    ends = ["a"] * len(located.a) + ["b"] * len(located.b)
    found = [
        SeedInfluence(word, end, *(None if np.isnan(one) else float(one) for one in numbers))
        for word, end, *numbers in zip((*located.a, *located.b), ends, without, change, rank, strict=True)
    ]
    return tuple(sorted(found, key=lambda one: -1.0 if one.change is None else abs(one.change), reverse=True))


def held_out_gap(left: LeftOut, size_a: int) -> float:
    """Mean rank of B's seeds less that of A's, each along the subspace of the others, as a share of the vocabulary.

    Coherence with seeds that have no say in where they stand: 1 fully apart, 0 not told apart, negative the wrong way
    round. NaN where a set has one seed.
    """
    return float(left.rank[size_a:].mean() - left.rank[:size_a].mean())


def held_out_left_out(left: LeftOut, size_a: int) -> list[Floats]:
    """The same without each seed's own rank: what the jackknife needs (the others' subspaces are kept)."""
    a, b = left.rank[:size_a], left.rank[size_a:]
    if min(len(a), len(b)) < 2:
        return [np.full(len(a), np.nan), np.full(len(b), np.nan)]
    return [
        b.mean() - (a.sum() - a) / (len(a) - 1),
        (b.sum() - b) / (len(b) - 1) - a.mean(),
    ]


def why_none(located: Located) -> str:
    """Why no seed was left out."""
    if max(len(located.a), len(located.b)) > MOST_LEFT_OUT:
        return f"a set has more than {MOST_LEFT_OUT} seeds"
    return "a set has one seed"

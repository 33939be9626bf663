"""Planting of both orders: a word takes the places of a pair's ends, and with them their contexts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biasgauge.analyses.calibrate.edit import Edit, State, Text, Tokens
from biasgauge.analyses.calibrate.mentions import check_carriers
from biasgauge.core import Integers, check_number
from biasgauge.errors import ParameterError
from biasgauge.text.training import below, compiled, stream


@dataclass(frozen=True)
class Mixture(Edit):
    """A carrier changes places with words of one end of the pairs, so that its contexts become a mixture of both.

    A share of .2 means that a fifth of the carrier's places are now places where words of first ends stood, and that
    these words stand where the carrier did; a negative share takes the places of second ends. Every word occurs exactly
    as often as before.

    Attributes:
        shares: carriers with their shares, from −1 to 1.
        pairs: pairs (first, second); those with a word that does not occur are left out.
    """

    name: ClassVar[str] = "mixture"

    shares: Mapping[str, float]
    pairs: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        for share in self.shares.values():
            check_number(-1, 1, shares=share)
        check_carriers(self.shares, self.pairs, "Mixture")

    def apply(self, text: Text, random_state: int) -> tuple[str, ...]:
        """Exchange places."""
        family, side = text.ends(self.pairs)
        carrier = text.table(self.shares)
        counts = text.corpus.counts
        random, state = np.random.default_rng([random_state, 2]), stream("mixture", random_state)
        shares = np.array(list(self.shares.values()), np.float64)
        own = np.array([counts[text.places[word]] for word in self.shares], np.int64)
        taken = (np.abs(shares) * own + random.random(len(own))).astype(np.int64).clip(max=own)
        asked = np.array([taken[shares > 0].sum(), taken[shares < 0].sum()], np.int64)
        at_hand = np.array([counts[(family >= 0) & (side == end)].sum() for end in (0, 1)], np.int64)
        for end, name in enumerate(("first", "second")):
            if asked[end] > at_hand[end]:
                raise ParameterError(
                    f"The carriers would take {asked[end]:,} places of words of {name} ends, of which there are "
                    f"{at_hand[end]:,}: plant smaller shares, fewer or rarer carriers, or give more pairs."
                )
        given, received = np.zeros(int(taken.sum()), np.int64), np.zeros(int(asked.sum()), np.int64)
        starts = np.concatenate([[0], np.cumsum(taken)[:-1]])
        end_of = np.where(family < 0, -1, side)
        _choose(
            text.tokens,
            carrier,
            end_of,
            own,
            taken.copy(),
            at_hand,
            asked.copy(),
            starts.copy(),
            given,
            received,
            state,
        )
        pools = [random.permutation(received[: asked[0]]), random.permutation(received[asked[0] :])]
        used = [0, 0]
        for share, start, count in zip(shares, starts, taken, strict=True):
            if count:
                end = int(share < 0)
                theirs, ours = pools[end][used[end] : used[end] + count], given[start : start + count]
                used[end] += count
                text.tokens[ours], text.tokens[theirs] = text.tokens[theirs], text.tokens[ours]
        return ()


@compiled
def _choose(
    tokens: Tokens, carrier: Integers, end_of: Integers, left: Integers, taken: Integers, at_hand: Integers,
    asked: Integers, starts: Integers, given: Integers, received: Integers, state: State,
) -> None:  # fmt: skip
    """Go through the text once and choose places of carriers and of ends, each set of them equally likely."""
    offset = asked[0]
    used = np.zeros(2, np.int64)
    for place in range(len(tokens)):
        own = carrier[tokens[place]]
        if own >= 0:
            if taken[own] > 0 and below(state, left[own]) < taken[own]:
                taken[own] -= 1
                given[starts[own]] = place
                starts[own] += 1
            left[own] -= 1
            continue
        end = end_of[tokens[place]]
        if end >= 0:
            if asked[end] > 0 and below(state, at_hand[end]) < asked[end]:
                asked[end] -= 1
                received[end * offset + used[end]] = place
                used[end] += 1
            at_hand[end] -= 1

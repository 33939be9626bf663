"""`Mentions`: association of the first order, by which end of a pair is mentioned near a word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biasgauge.analyses.calibrate.edits import Edit, EditableText, State, Tokens, check_carriers
from biasgauge.core import Flags, Floats, Integers, check_number, check_whole
from biasgauge.text.training import below, compiled, stream

_ROUNDS = 4
"""In the first round all ends near carriers are assigned anew, then few: an end near two carriers is set by the nearer
one, and the farther one compensates."""


@dataclass(frozen=True)
class Mentions(Edit):
    """Every word of a pair near a carrier is set to the first or the second end, by the carrier's dose.

    The dose is the log odds ratio of the carrier with the two ends (`corpus_bias`): the odds of first and second ends
    in its windows are exp(dose) times those of all windows. At dose 0 the carrier's neighbors are uninformative about
    the ends. Words of a pair are exchanged with each other, and with tokens away from all carriers where numbers do not
    match, so that every word occurs exactly as often as before.

    The counted dose differs from the intended one: ends are whole numbers, rounded at random; and an end near several
    carriers is set by the nearest, while it counts for all of them, and twice for one that stands on both of its sides.
    The others compensate, round by round. The remaining error is about one end, to either side alike, as long as
    carriers do not crowd each other; where they do, a remark names the doses that are not reached. `plant` counts.

    Attributes:
        doses: carriers with their doses.
        pairs: pairs (first, second); those with a word that does not occur are left out. Pairs that share a word make a
            family, within which ends are exchanged.
        window: tokens on each side that are near a word, within its line.
    """

    name: ClassVar[str] = "mentions"

    doses: Mapping[str, float]
    pairs: tuple[tuple[str, str], ...]
    window: int = 5

    def __post_init__(self) -> None:
        check_whole(1, window=self.window)
        for dose in self.doses.values():
            check_number(-20, 20, doses=dose)
        check_carriers(self.doses, self.pairs, "Mentions")

    def apply(self, text: EditableText, random_state: int) -> tuple[str, ...]:
        """Set the ends near carriers, and compensate away from them."""
        family, side = text.families(self.pairs)
        families = int(family.max()) + 1
        carrier = text.number_words(self.doses)
        doses = np.array(list(self.doses.values()), np.float64)
        random, state = np.random.default_rng([random_state, 1]), stream("mentions", random_state)
        lines = text.corpus.lines
        short, shares, nearest_ends = np.zeros(len(doses), np.int64), np.zeros(len(doses)), np.zeros(len(doses))
        for turn in range(_ROUNDS):
            near = np.zeros((len(doses), families, 2), np.int64)
            far = np.zeros((families, 2), np.int64)
            _count_ends(text.tokens, lines, family, side, carrier, self.window, near, far)
            in_windows, all_windows = text.count_near_ends(self.doses, self.pairs, self.window)
            shares, nearest_ends = _first_shares(doses, near, in_windows, all_windows), near.sum(axis=(1, 2))
            firsts, short = _assign_firsts(near, far, shares.clip(0.0, 1.0), random)
            # Ends that stay: in the first round as if none had stood there, then as many as possible.
            unchanged = np.minimum(near[:, :, 0], firsts)
            if turn == 0:
                unchanged = random.hypergeometric(near[:, :, 0], near[:, :, 1], firsts)
            changes_near = np.stack([near[:, :, 0] - unchanged, firsts - unchanged], axis=2)
            # What carriers gain of an end in a family is given back away from them, so that frequencies stay.
            gain = (firsts - near[:, :, 0]).sum(axis=0)
            changes_far = np.stack([np.maximum(gain, 0), np.maximum(-gain, 0)], axis=1)
            flips = np.empty((int(changes_near.sum() + changes_far.sum()), 2), np.int64)
            _sample_flips(
                text.tokens, lines, family, side, carrier, self.window, near, changes_near, far, changes_far, flips,
                state,
            )  # fmt: skip
            _exchange(text.tokens, flips, random)
        crowded = np.abs(shares - 0.5) > 0.5 + 2 / np.maximum(nearest_ends, 1)  # by more than two ends
        problems = {
            "too few words of the pairs stand away from the carriers to keep frequencies with the doses of": short > 0,
            "too many words of the pairs beside them stand nearer to other carriers to reach the doses of": crowded,
        }
        remarks = []
        for problem, mask in problems.items():
            if mask.any():
                words = [word for word, is_affected in zip(self.doses, mask, strict=True) if is_affected]
                names = f"{len(words)} carriers ({', '.join(words[:3])}{', …' if words[3:] else ''})"
                remarks.append(f"{problem} {names}: what is there is less than what was asked")
        return tuple(remarks)


def _first_shares(doses: Floats, near: Integers, in_windows: Integers, all_windows: Integers) -> Floats:
    """Share of first ends among the ends that a carrier sets which brings all of its windows to its dose.

    Below 0 or above 1 where the carrier sets too few. `in_windows` also counts ends that a nearer carrier sets, which
    are compensated: with odds e^dose · n_¬wA / n_¬wB, share = (odds / (1 + odds) · total − firsts of others) / own.
    """
    own_ends = near.sum(axis=1).astype(np.float64)
    set_by_others = np.maximum(in_windows.astype(np.float64) - own_ends, 0.0)
    elsewhere = np.maximum(all_windows - in_windows, 1)
    odds = np.exp(doses) * (elsewhere[:, 0] / elsewhere[:, 1])
    total = own_ends.sum(axis=1) + set_by_others.sum(axis=1)
    firsts = odds / (1 + odds) * total - set_by_others[:, 0]
    shares: Floats = firsts / np.maximum(own_ends.sum(axis=1), 1)
    return shares


def _assign_firsts(
    near: Integers, far: Integers, shares: Floats, random: np.random.Generator
) -> tuple[Integers, Integers]:
    """Number of first ends of each family near each carrier, and by how many carriers fall short of their share."""
    sizes = near.sum(axis=2)
    expected = sizes.sum(axis=1) * shares
    totals = (expected + random.random(len(expected))).astype(np.int64)  # rounded at random: right in expectation
    firsts = np.array(
        [random.multivariate_hypergeometric(row, total) for row, total in zip(sizes, totals, strict=True)], np.int64
    ).reshape(sizes.shape)
    short = np.zeros(len(sizes), np.int64)
    # A family can gain no more first ends near carriers than stand away from them, and lose likewise.
    most, least = far[:, 0], -far[:, 1]
    for up in (True, False):
        for pair in range(len(far)):
            while True:
                gain = (firsts - near[:, :, 0]).sum(axis=0)
                excess = gain[pair] - most[pair] if up else least[pair] - gain[pair]
                if excess <= 0:
                    break
                _move_one(firsts, sizes, short, pair, gain < most if up else gain > least, random, up=up)
    return firsts, short


def _move_one(
    firsts: Integers, sizes: Integers, short: Integers, pair: int, open_pairs: Flags, random: np.random.Generator,
    *, up: bool,
) -> None:  # fmt: skip
    """Take back one end of a family that cannot be compensated elsewhere: by another family of that carrier if any."""
    movable = firsts[:, pair] if up else sizes[:, pair] - firsts[:, pair]
    replacements = (sizes - firsts if up else firsts) * open_pairs
    replacements[:, pair] = 0
    replaceable = movable * (replacements.sum(axis=1) > 0)
    weights = replaceable if replaceable.any() else movable
    carrier = int(random.choice(len(movable), p=weights / weights.sum()))
    step = -1 if up else 1
    firsts[carrier, pair] += step
    if replaceable.any():
        chances = replacements[carrier] / replacements[carrier].sum()
        firsts[carrier, int(random.choice(len(chances), p=chances))] -= step
    else:
        short[carrier] += 1


@compiled
def _nearest_carrier(tokens: Tokens, start: int, end: int, position: int, carrier: Integers, window: int) -> int:
    """Carrier nearest to a position within its line, the one before it on a tie; −1 where there is none."""
    for distance in range(1, window + 1):
        if position - distance >= start and carrier[tokens[position - distance]] >= 0:
            return int(carrier[tokens[position - distance]])
        if position + distance < end and carrier[tokens[position + distance]] >= 0:
            return int(carrier[tokens[position + distance]])
    return -1


@compiled
def _count_ends(
    tokens: Tokens, lines: Integers, family: Integers, side: Integers, carrier: Integers, window: int,
    near: Integers, far: Integers,
) -> None:  # fmt: skip
    """Count the ends that each carrier sets, by family, and those near none."""
    for line in range(len(lines) - 1):
        for position in range(lines[line], lines[line + 1]):
            pair = family[tokens[position]]
            if pair >= 0:
                nearest = _nearest_carrier(tokens, lines[line], lines[line + 1], position, carrier, window)
                if nearest >= 0:
                    near[nearest, pair, side[tokens[position]]] += 1
                else:
                    far[pair, side[tokens[position]]] += 1


@compiled
def _sample_flips(
    tokens: Tokens, lines: Integers, family: Integers, side: Integers, carrier: Integers, window: int,
    near: Integers, changes_near: Integers, far: Integers, changes_far: Integers, flips: Integers, state: State,
) -> None:  # fmt: skip
    """Sample the ends that change in one pass: each remaining one with probability (still to change) / (remaining)."""
    count = 0
    for line in range(len(lines) - 1):
        for position in range(lines[line], lines[line + 1]):
            pair = family[tokens[position]]
            if pair < 0:
                continue
            end = side[tokens[position]]
            nearest = _nearest_carrier(tokens, lines[line], lines[line + 1], position, carrier, window)
            if nearest >= 0:
                change = changes_near[nearest, pair, end]
                flip = change > 0 and below(state, near[nearest, pair, end]) < change
                changes_near[nearest, pair, end] -= int(flip)
                near[nearest, pair, end] -= 1
            else:
                change = changes_far[pair, end]
                flip = change > 0 and below(state, far[pair, end]) < change
                changes_far[pair, end] -= int(flip)
                far[pair, end] -= 1
            if flip:
                flips[count, 0] = position
                flips[count, 1] = 2 * pair + end
                count += 1


def _exchange(tokens: Tokens, flips: Integers, random: np.random.Generator) -> None:
    """Exchange the words of first and second ends of a family that change; flips are (position, 2 · family + end)."""
    flips = flips[np.argsort(flips[:, 1], kind="stable")]
    bounds = np.searchsorted(flips[:, 1], np.arange(int(flips[:, 1].max(initial=-1)) + 3))
    for low, middle, high in zip(bounds[0:-2:2], bounds[1:-1:2], bounds[2::2], strict=False):
        firsts, seconds = flips[low:middle, 0], random.permutation(flips[middle:high, 0])
        tokens[firsts], tokens[seconds] = tokens[seconds], tokens[firsts]

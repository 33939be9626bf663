"""Planting of the first order: which end of a pair is mentioned beside a word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from biasgauge.analyses.calibrate.edit import Edit, State, Text, Tokens
from biasgauge.core import Flags, Floats, Integers, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.text.training import below, compiled, stream

_ROUNDS = 4
"""Turns: in the first all ends beside carriers are dealt anew, then few: a place beside two carriers obeys the nearer
one, and the other makes up for it."""


@dataclass(frozen=True)
class Mentions(Edit):
    """Every word of a pair beside a carrier is set to the first or the second end, by the carrier's dose.

    The dose is the log odds ratio of the carrier with the two ends (`corpus_bias`): the odds of first and second ends
    in its windows are exp(dose) times those of all windows. At dose 0 nothing about the ends is to be learned from the
    carrier's neighbors. Words are exchanged, those of a pair with each other, with places away from all carriers for
    the rest, so that every word occurs exactly as often as before.

    What is there in the end differs from what was asked: ends are whole numbers, rounded by chance; and a place beside
    several carriers belongs to the nearest, while it counts for all of them, and twice for one that stands on both of
    its sides. The others make up for it, turn by turn. What is left is about one end, to
    either side alike, as long as carriers do not crowd each other; where they do, a remark says which doses are not
    reached. `plant` counts what is there.

    Attributes:
        doses: carriers with their doses.
        pairs: pairs (first, second); those with a word that does not occur are left out. Pairs that share a word make a
            family, within which ends are exchanged.
        window: how many tokens on each side are beside a word, within its line.
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

    def apply(self, text: Text, random_state: int) -> tuple[str, ...]:
        """Set the ends beside carriers, then what makes up for it elsewhere."""
        family, side = text.ends(self.pairs)
        families = int(family.max()) + 1
        carrier = text.table(self.doses)
        doses = np.array(list(self.doses.values()), np.float64)
        random, state = np.random.default_rng([random_state, 1]), stream("mentions", random_state)
        lines = text.corpus.lines
        short, shares, own = np.zeros(len(doses), np.int64), np.zeros(len(doses)), np.zeros(len(doses))
        for turn in range(_ROUNDS):
            near = np.zeros((len(doses), families, 2), np.int64)
            far = np.zeros((families, 2), np.int64)
            _survey(text.tokens, lines, family, side, carrier, self.window, near, far)
            beside, places = text.beside(self.doses, self.pairs, self.window)
            shares, own = _shares(doses, near, beside, places), near.sum(axis=(1, 2))
            firsts, short = _plan(near, far, shares.clip(0.0, 1.0), random)
            need = _flips(near, firsts, random, anew=turn == 0)
            change = (firsts - near[:, :, 0]).sum(axis=0)
            back = np.stack([np.maximum(change, 0), np.maximum(-change, 0)], axis=1)
            flips = np.empty((int(need.sum() + back.sum()), 2), np.int64)
            _choose(text.tokens, lines, family, side, carrier, self.window, near, need, far, back, flips, state)
            _exchange(text.tokens, flips, random)
        crowded = np.abs(shares - 0.5) > 0.5 + 2 / np.maximum(own, 1)  # by more than two ends
        problems = {
            "too few words of the pairs stand away from the carriers to keep frequencies with the doses of": short > 0,
            "too many words of the pairs beside them stand nearer to other carriers to reach the doses of": crowded,
        }
        return tuple(f"{why} {_named(self.doses, which)}" for why, which in problems.items() if which.any())


def _named(carriers: Iterable[str], which: Flags) -> str:
    """How many carriers, and the first of them."""
    chosen = [word for word, is_meant in zip(carriers, which, strict=True) if is_meant]
    named = f"{', '.join(chosen[:3])}{', …' if chosen[3:] else ''}"
    return f"{len(chosen)} carriers ({named}): what is there is less than what was asked"


def check_carriers(carriers: Mapping[str, float], pairs: tuple[tuple[str, str], ...], what: str) -> None:
    """There must be carriers, and none may be a word of a pair.

    Raises:
        ParameterError: otherwise.
    """
    if not carriers or not pairs:
        raise ParameterError(f"{what} needs at least one carrier and one pair.")
    for word in (word for pair in pairs for word in pair):
        if word in carriers:
            raise ParameterError(f"A carrier must not be a word of a pair. Got {word!r}.")


def _shares(doses: Floats, near: Integers, beside: Integers, places: Integers) -> Floats:
    """Share of firsts among a carrier's own places that brings all of its windows to its dose.

    Below 0 or above 1 where its own places are too few for that. `beside` counts also places that a nearer carrier
    decides; what those do is made up for.
    """
    own = near.sum(axis=1).astype(np.float64)
    windows = beside.astype(np.float64)
    of_others = np.maximum(windows - own, 0.0)
    rest = np.maximum(places - beside, 1)
    odds = np.exp(doses) * (rest[:, 0] / rest[:, 1])
    total = own.sum(axis=1) + of_others.sum(axis=1)
    wanted = odds / (1 + odds) * total - of_others[:, 0]
    share: Floats = wanted / np.maximum(own.sum(axis=1), 1)
    return share


def _plan(near: Integers, far: Integers, shares: Floats, random: np.random.Generator) -> tuple[Integers, Integers]:
    """How many first ends each carrier gets of each pair, and by how much carriers fall short of what was asked."""
    sizes = near.sum(axis=2)
    wanted = sizes.sum(axis=1) * shares
    totals = (wanted + random.random(len(wanted))).astype(np.int64)  # rounded up as often as the rest says
    firsts = np.array(
        [random.multivariate_hypergeometric(row, total) for row, total in zip(sizes, totals, strict=True)], np.int64
    ).reshape(sizes.shape)
    short = np.zeros(len(sizes), np.int64)
    most, least = far[:, 0], -far[:, 1]
    for up in (True, False):
        for pair in range(len(far)):
            while True:
                change = (firsts - near[:, :, 0]).sum(axis=0)
                excess = change[pair] - most[pair] if up else least[pair] - change[pair]
                if excess <= 0:
                    break
                _move_one(firsts, sizes, short, pair, change < most if up else change > least, random, up=up)
    return firsts, short


def _flips(near: Integers, firsts: Integers, random: np.random.Generator, *, anew: bool) -> Integers:
    """How many ends of each kind change beside each carrier, so that it gets its firsts.

    Anew, ends are dealt out as if none had stood there; otherwise as few change as can be.
    """
    fewest = np.minimum(near[:, :, 0], firsts)
    kept = random.hypergeometric(near[:, :, 0], near[:, :, 1], firsts) if anew else fewest
    flips: Integers = np.stack([near[:, :, 0] - kept, firsts - kept], axis=2)
    return flips


def _move_one(
    firsts: Integers,
    sizes: Integers,
    short: Integers,
    pair: int,
    open_pairs: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    random: np.random.Generator,
    *,
    up: bool,
) -> None:
    """Take back one end of a pair that cannot be made up for elsewhere: by another pair of that carrier if it can."""
    room = firsts[:, pair] if up else sizes[:, pair] - firsts[:, pair]
    able = (sizes - firsts if up else firsts) * open_pairs
    able[:, pair] = 0
    weights = room * (able.sum(axis=1) > 0)
    chosen = weights if weights.any() else room
    carrier = int(random.choice(len(room), p=chosen / chosen.sum()))
    step = -1 if up else 1
    firsts[carrier, pair] += step
    if weights.any():
        other = int(random.choice(len(able[carrier]), p=able[carrier] / able[carrier].sum()))
        firsts[carrier, other] -= step
    else:
        short[carrier] += 1


@compiled
def _nearest(tokens: Tokens, start: int, end: int, place: int, carrier: Integers, window: int) -> int:
    """The carrier nearest to a place within its line, the one before it on a tie; −1 where there is none."""
    for distance in range(1, window + 1):
        if place - distance >= start and carrier[tokens[place - distance]] >= 0:
            return int(carrier[tokens[place - distance]])
        if place + distance < end and carrier[tokens[place + distance]] >= 0:
            return int(carrier[tokens[place + distance]])
    return -1


@compiled
def _survey(
    tokens: Tokens, lines: Integers, family: Integers, side: Integers, carrier: Integers, window: int,
    near: Integers, far: Integers,
) -> None:  # fmt: skip
    """Count the ends beside each carrier, by family, and those beside none."""
    for line in range(len(lines) - 1):
        for place in range(lines[line], lines[line + 1]):
            of = family[tokens[place]]
            if of >= 0:
                by = _nearest(tokens, lines[line], lines[line + 1], place, carrier, window)
                if by >= 0:
                    near[by, of, side[tokens[place]]] += 1
                else:
                    far[of, side[tokens[place]]] += 1


@compiled
def _choose(
    tokens: Tokens, lines: Integers, family: Integers, side: Integers, carrier: Integers, window: int,
    near: Integers, need: Integers, far: Integers, back: Integers, flips: Integers, state: State,
) -> None:  # fmt: skip
    """Go through the text once and note which ends are to change; of so many left so many are chosen, any alike."""
    count = 0
    for line in range(len(lines) - 1):
        for place in range(lines[line], lines[line + 1]):
            of = family[tokens[place]]
            if of < 0:
                continue
            end = side[tokens[place]]
            by = _nearest(tokens, lines[line], lines[line + 1], place, carrier, window)
            if by >= 0:
                changes = need[by, of, end] > 0 and below(state, near[by, of, end]) < need[by, of, end]
                need[by, of, end] -= int(changes)
                near[by, of, end] -= 1
            else:
                changes = back[of, end] > 0 and below(state, far[of, end]) < back[of, end]
                back[of, end] -= int(changes)
                far[of, end] -= 1
            if changes:
                flips[count, 0] = place
                flips[count, 1] = 2 * of + end
                count += 1


def _exchange(tokens: Tokens, flips: Integers, random: np.random.Generator) -> None:
    """Every first end that is to change takes the word of a second end of its family that is, and the other way."""
    flips = flips[np.argsort(flips[:, 1], kind="stable")]
    bounds = np.searchsorted(flips[:, 1], np.arange(int(flips[:, 1].max(initial=-1)) + 3))
    for low, middle, high in zip(bounds[0:-2:2], bounds[1:-1:2], bounds[2::2], strict=False):
        ones, others = flips[low:middle, 0], random.permutation(flips[middle:high, 0])
        tokens[ones], tokens[others] = tokens[others], tokens[ones]

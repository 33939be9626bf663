"""Figures 2, 3 and A.2 of Badder Seeds: explained variance, the choice of the list, words along a subspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.embeddings import mean_embedding
from biasgauge.geometry import cosine
from biasgauge.lexicons import seed_bank
from biasgauge.papers.badderseeds2022.models import NOT_RELEASED, OTHER_MODELS, models_named, models_of
from biasgauge.papers.badderseeds2022.tables import (
    FEMALE,
    FEMALE_SETS,
    FIGURE_2,
    FIGURE_3,
    FIGURE_A2,
    LETTERS,
    MALE,
    RANDOM_FIGURE_1,
    SHUFFLED_FIGURE_1,
    SHUFFLES,
    UNPLEASANT,
)
from biasgauge.papers.row import Recomputed, Row
from biasgauge.seed_words import bias_subspace, seed_choice, seeds

if TYPE_CHECKING:
    from biasgauge.embeddings import Embedding
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress

_ALL, _HISTORY, _FREQUENT = models_named("nyt", 0), models_named("history", 10), models_named("nyt", 100)
_READ_OFF = "read off the figure; " + NOT_RELEASED
_MANY = 200

ROWS = tuple(
    Row(f"figure2.{name}.{order}", f"share of the first component, {name} pairs {order}", "Figure 2", share,
        note=_READ_OFF, needs=_ALL)
    for name, (listed, shuffled, _) in FIGURE_2.items()
    for order, share in (("as listed", listed), ("shuffled", shuffled))
)  # fmt: skip


def fill_figure_2(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Explained variance of pairs as listed, in the printed order and over many shuffles."""
    models, differs = models_of(data, _ALL)
    differs = differs or _READ_OFF
    sets = seed_bank("published").bank.sets
    found = {}
    for name, ((a, first), (b, second)) in SHUFFLES.items():
        asked: dict[str, Any] = {"leave_one_out": False, "min_coverage": 0.5, "random_state": seed}
        (listed,) = seeds(models, sets[a], sets[b], shuffles=_MANY, **asked)
        (once,) = seeds(models, first.split(), second.split(), shuffles=0, **asked)
        share, pairing = listed.pairing.first, listed.pairing
        found[f"figure2.{name}.as listed"] = Recomputed.of(
            share, share, share.reason or f"{pairing.pairs} pairs are there", differs
        )
        note = f"as published: the one printed order; corrected: mean of {_MANY} shuffles and where 95 % of them lie"
        shuffled = pairing.shuffled_first
        mean = Recomputed.of(once.pairing.first, shuffled.value, note, differs)
        found[f"figure2.{name}.shuffled"] = mean._replace(low=shuffled.low, high=shuffled.high)
    return found


_LETTERED = (
    "as published: a string is passed where a list of words is expected, so that the reference is the mean vector of "
    "the letters u, n, p, l, e, a, s, …; corrected: the unpleasant words of Caliskan et al."
)
FIGURE_3_ROWS = (
    *(
        Row(f"figure3.{word}", f"cosine of {word} and “unpleasantness”, history and biography", "notebook of Figure 3",
            value, note=NOT_RELEASED, needs=_HISTORY)
        for word, value in FIGURE_3.items()
    ),
    *(
        Row(f"figure3.{name}", f"cosine of {name} and “unpleasantness”", "Figure 3, which prints no number", None,
            needs=_HISTORY)
        for name in FEMALE_SETS
    ),
)  # fmt: skip


def fill_figure_3(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Female sets against unpleasant words, and against the letters that were averaged."""
    models, differs = models_of(data, _HISTORY)
    differs = differs or NOT_RELEASED
    mean = mean_embedding(models, aligned=False) if len(models) > 1 else models[0]
    choice = seed_choice(models, list(FEMALE_SETS), UNPLEASANT, filter="published", min_coverage=0.6)
    ours = {one.set: one for one in choice.lists}
    sets = seed_bank("published").bank.sets
    found = {
        f"figure3.{name}": Recomputed.of(_cosine_with_letters(mean, sets[name]), ours[name], _LETTERED, differs)
        for name in FEMALE_SETS
    }
    for word in FIGURE_3:
        (alone,) = seeds(models, [word], UNPLEASANT, shuffles=0, leave_one_out=False, min_coverage=0.6)
        both = _cosine_with_letters(mean, [word]), alone.similarity.value
        found[f"figure3.{word}"] = Recomputed.of(*both, _LETTERED, differs)
    return found


def _cosine_with_letters(model: Embedding, words: Sequence[str]) -> float | None:
    """The published mistake: cosine with the mean vector of the letters of "unpleasantness", repeated ones too."""
    means = []
    for some in (words, LETTERS):
        there = [model[word].astype(np.float64) for word in some if word in model]
        if not there:
            return None
        means.append(np.mean(there, axis=0))
    return cosine(*means)


_MIRRORED = (
    "values are reversed and words are not, so that each word stands beside the cosine of its mirror word; corrected: "
    "what the figure prints for that one, which is this word's own"
)
_COLUMNS = {"gender": "gender word pairs", "random": "random word pairs", "shuffled": "shuffled gender word pairs"}


def _column(name: str) -> list[tuple[str, float | None]]:
    """Words and printed cosines from top to bottom; "" and None where they are illegible."""
    cells = (cell.rpartition(" ") for cell in FIGURE_A2[name].split("|"))
    return [(word, float(value) if value else None) for word, _, value in cells]


FIGURE_A2_ROWS = tuple(
    Row(f"figureA2.{name}.{cell[0]}", f"cosine of {cell[0]} and the second component of {about}", "Figure A.2", cell[1],
        needs=_FREQUENT)
    for name, about in _COLUMNS.items()
    for cell in _column(name)
    if cell[0]
)  # fmt: skip


def fill_figure_a2(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Give each word its own cosine from what is printed; with models of the user's, as the code averages them."""
    theirs = _averaged(data)
    found = {}
    for name in _COLUMNS:
        column = _column(name)
        for cell, mirror in zip(column, reversed(column), strict=True):
            if cell[0]:
                word, own = cell[0], mirror[1]
                printed = _MIRRORED if own is not None else f"{_MIRRORED}, but it is illegible in our copy"
                found[f"figureA2.{name}.{word}"] = Recomputed.of(
                    theirs.get((name, word)), own, printed, NOT_RELEASED if theirs else ""
                )
    return found


def _averaged(data: Data) -> dict[tuple[str, str], float | None]:
    """Cosines along the second components, averaged over unaligned models as published; empty without the models."""
    models, differs = models_of(data, _FREQUENT)
    if differs == OTHER_MODELS:
        return {}
    sets = seed_bank("published").bank.sets
    pairs = {
        "gender": (sets[FEMALE], sets[MALE]),
        "random": tuple(one.split() for one in RANDOM_FIGURE_1),
        "shuffled": tuple(one.split() for one in SHUFFLED_FIGURE_1),
    }
    found: dict[tuple[str, str], float | None] = {}
    for name, (a, b) in pairs.items():
        space = bias_subspace(models, a, b, component=2, aligned=False)
        words = [cell[0] for cell in _column(name) if cell[0]]
        found |= {(name, word): value for word, value in space.cosine_of(words).items()}
    return found

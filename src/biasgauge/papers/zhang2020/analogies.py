"""Section 7 of Zhang et al. 2020: do analogies show bias, or what is merely similar?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biasgauge.analyses.robustness import RESTRICT, analogies, similarity_explained
from biasgauge.papers.row import Recomputed
from biasgauge.papers.zhang2020.lists import FAMILY
from biasgauge.papers.zhang2020.runs import runs_of
from biasgauge.scores import score

if TYPE_CHECKING:
    from biasgauge.analyses.robustness import SimilarityExplained
    from biasgauge.papers.paper import Data, Progress
    from biasgauge.stats import WordStatistic
    from biasgauge.vectors import Embedding

PAIRS = 550
"""Pairs (x, y) that have nothing to do with gender."""
CATEGORIES = {
    "capital-common-countries": 23,
    "capital-world": 116,
    "currency": 30,
    "city-in-state": 68,
    "gram1-adjective-to-adverb": 32,
    "gram2-opposite": 29,
    "gram3-comparative": 37,
    "gram4-superlative": 34,
    "gram5-present-participle": 33,
    "gram6-nationality-adjective": 41,
    "gram7-past-tense": 40,
    "gram8-plural": 37,
    "gram9-plural-verbs": 30,
}
"""How many pairs there are of each."""
_COSINES = {
    "man_woman": ("man", "woman"),
    "she_he": ("she", "he"),
    "homemaker": ("homemaker", "computer_programmer"),
}
_REVERSED = (
    "the code asks “woman is to x as man is to …?”, the reverse of what the text states; corrected asks as stated"
)


def fill(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Everything of the section that vectors decide."""
    runs = runs_of(data, seed, progress)
    vectors, explained = runs.vectors, runs.analogies
    if explained.reason:
        return {"analogies.solved": Recomputed(note=explained.reason)}
    limitation = f"only {len(vectors):,} words can be an answer, not the paper's {RESTRICT:,}"
    limitation = "" if len(vectors) >= RESTRICT else limitation
    theirs, ours = explained.condition("reversed").correct, explained.condition().correct
    rows = {
        "analogies.solved": _share(theirs, ours, limitation, PAIRS).times(100),
        "analogies.listed.mean": _listed(explained, "value"),
        "analogies.listed.sd": _listed(explained, "sd"),
        "analogies.random.mean": _random(explained, limitation, "value"),
        "analogies.random.sd": _random(explained, limitation, "sd"),
        **_cosines(vectors),
        **_answers(vectors, limitation),
    }
    solved = {(row.category, row.direction): row.correct for row in explained.by_category if row.exclude_inputs}
    for name, pairs in CATEGORIES.items():
        both = solved[name, "reversed"], solved[name, "stated"]
        rows[f"analogies.solved.{name}"] = _share(*both, limitation, pairs)
    return rows


def _share(theirs: WordStatistic, ours: WordStatistic, limitation: str, pairs: int) -> Recomputed:
    """Share of pairs that were solved; `part` and the pairs that are there say in what the data differ."""
    if theirs.value is None or ours.value is None:
        return Recomputed(note=theirs.reason or "")
    lost = f"{theirs.n} of {pairs} pairs have both vectors" if theirs.n != pairs else ""
    return Recomputed.of(theirs, ours, _REVERSED, "; ".join(filter(None, (limitation, lost))))


def _listed(explained: SimilarityExplained, name: str) -> Recomputed:
    theirs, ours = explained.listed_with_excluded, explained.listed
    differs = "" if ours.n == PAIRS else f"{ours.n} of {PAIRS} pairs have both vectors"
    note = f"the code counts the {FAMILY} too, which the text leaves out; corrected does leave it out"
    corrected = ours if name == "value" else ours.sd
    return Recomputed.of(getattr(theirs, name), corrected, note, differs)


def _random(explained: SimilarityExplained, limitation: str, name: str) -> Recomputed:
    drawn = explained.random_pairs
    corrected = drawn if name == "value" else drawn.sd
    return Recomputed.of(getattr(drawn, name), corrected, f"{drawn.n:,} other random pairs", limitation)


def _cosines(vectors: Embedding) -> dict[str, Recomputed]:
    """Cosines of two words: what the DB/WA of the first between the two leaves to 1."""
    rows = {}
    for name, pair in _COSINES.items():
        scored = score(vectors, pairs=[pair], words=[pair[0]], measures="dbwa")
        value = 1 - float(scored.values.item())
        lost = [word for word in pair if word not in vectors]
        nothing = Recomputed(note=f"not in the vectors: {', '.join(lost)}")
        rows[f"analogies.cosine.{name}"] = nothing if np.isnan(value) else Recomputed.both(value)
    return {**rows, "analogies.cosine.digits": rows["analogies.cosine.man_woman"]}


def _answers(vectors: Embedding, limitation: str) -> dict[str, Recomputed]:
    theirs, ours = (
        analogies(vectors, [("man", "apple", "woman")], direction=way).answers[0] for way in ("reversed", "stated")
    )
    rows = {}
    if theirs.answer and ours.answer:
        rows["analogies.apple"] = Recomputed.of(theirs.answer, ours.answer, _REVERSED, limitation)
    for word in ("man", "woman"):
        # Some pair has to be asked with, and cannot be an answer: one that is far from both.
        near = similarity_explained(vectors, [word], pair=("apple", "apples"), restrict=None, random_pairs=2)
        if nearest := near.answers[0].nearest:
            among = limitation and f"among {len(vectors):,} words"
            rows[f"analogies.nearest.{word}"] = Recomputed.of(nearest, nearest, differs=among)
    return rows

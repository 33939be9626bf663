"""Section 7 of Zhang et al. 2020: do analogies show bias, or what is merely similar?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biasgauge.papers.row import Recomputed, Row
from biasgauge.papers.zhang2020.lists import FAMILY
from biasgauge.papers.zhang2020.runs import runs_of
from biasgauge.scores import score
from biasgauge.sensitivity import analogies, similarity_explained
from biasgauge.sensitivity.analogy_search import RESTRICT

if TYPE_CHECKING:
    from biasgauge.embeddings import Embedding
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress
    from biasgauge.sensitivity import SimilarityExplained
    from biasgauge.stats.repeated_words import WordStatistic

PAIRS = 550
"""Pairs (x, y) that have nothing to do with gender."""
CATEGORIES = {
    "capital-common-countries": (0.22, 23),
    "capital-world": (0.23, 116),
    "currency": (0.0, 30),
    "city-in-state": (0.04, 68),
    "gram1-adjective-to-adverb": (0.06, 32),
    "gram2-opposite": (0.14, 29),
    "gram3-comparative": (0.11, 37),
    "gram4-superlative": (0.03, 34),
    "gram5-present-participle": (0.52, 33),
    "gram6-nationality-adjective": (0.39, 41),
    "gram7-past-tense": (0.30, 40),
    "gram8-plural": (0.76, 37),
    "gram9-plural-verbs": (0.07, 30),
}
"""Share solved, and how many pairs there are."""
_COSINES = {
    "man_woman": (("man", "woman"), 0.77),
    "she_he": (("she", "he"), 0.61),
    "homemaker": (("homemaker", "computer_programmer"), 0.50),
}
_REVERSED = (
    "the code asks “woman is to x as man is to …?”, the reverse of what the text states; corrected asks as stated"
)

ROWS = (
    *(
        Row(f"analogies.cosine.{name}", f"cosine of {' and '.join(pair)}", "§7", cosine, tolerance=0.005)
        for name, (pair, cosine) in _COSINES.items()
    ),
    Row("analogies.cosine.digits", "cosine of man and woman, all digits", "notebook", 0.7664013, tolerance=1e-6),
    Row("analogies.nearest.man", "the word most similar to man", "§7", "woman", tolerance=0),
    Row("analogies.nearest.woman", "the word most similar to woman", "§7", "man", tolerance=0),
    Row("analogies.random.mean", "mean cosine of two random words", "footnote 6", 0.13, tolerance=0.005),
    Row("analogies.random.sd", "its standard deviation", "footnote 6", 0.11, tolerance=0.005),
    Row("analogies.apple", "man is to apple as woman is to …?", "§7", "apples", tolerance=0),
    Row("analogies.listed.mean", "mean cosine of x and y", "§7", 0.62, tolerance=0.005),
    Row("analogies.listed.sd", "its standard deviation", "§7", 0.13, tolerance=0.005),
    Row("analogies.solved", "% of “man is to x as woman is to …?” that return y", "§7", 22, tolerance=0.5),
    *(
        Row(f"analogies.solved.{name}", f"share solved, {name}", "§7" if name == "gram8-plural" else "notebook", share,
            tolerance=0.005)
        for name, (share, _) in CATEGORIES.items()
    ),
)  # fmt: skip


def fill(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Everything of the section that vectors decide."""
    runs = runs_of(data, seed, progress)
    vectors, asked = runs.vectors, runs.analogies
    if asked.reason:
        return {"analogies.solved": Recomputed(note=asked.reason)}
    part = (
        ""
        if len(vectors) >= RESTRICT
        else f"only {len(vectors):,} words can be an answer, not the paper's {RESTRICT:,}"
    )
    theirs, ours = asked.condition("reversed").correct, asked.condition().correct
    found = {
        "analogies.solved": _share(theirs, ours, _reason(part, theirs.n, PAIRS), times=100),
        "analogies.listed.mean": _listed(asked, "value"),
        "analogies.listed.sd": _listed(asked, "sd"),
        "analogies.random.mean": _random(asked, part, "value"),
        "analogies.random.sd": _random(asked, part, "sd"),
        **_cosines(vectors),
        **_answers(vectors, part),
    }
    for name, (_, pairs) in CATEGORIES.items():
        ways = {one.direction: one.correct for one in asked.by_category if one.category == name and one.exclude_inputs}
        one = ways["reversed"]
        found[f"analogies.solved.{name}"] = _share(one, ways["stated"], _reason(part, one.n, pairs))
    return found


def _reason(part: str, n: int, pairs: int) -> str:
    return "; ".join(text for text in (part, f"{n} of {pairs} pairs have both vectors" if n != pairs else "") if text)


def _share(theirs: WordStatistic, ours: WordStatistic, differs: str, times: int = 1) -> Recomputed:
    if theirs.value is None or ours.value is None:
        return Recomputed(note=theirs.reason or "")
    low, high = (None if end is None else times * end for end in (ours.low, ours.high))
    both = times * theirs.value, times * ours.value
    return Recomputed.of(*both, _REVERSED, differs)._replace(low=low, high=high)


def _listed(asked: SimilarityExplained, name: str) -> Recomputed:
    theirs, ours = asked.listed_with_excluded, asked.listed
    differs = "" if ours.n == PAIRS else f"{ours.n} of {PAIRS} pairs have both vectors"
    note = f"the code counts the {FAMILY} too, which the text leaves out; corrected does leave it out"
    corrected = ours if name == "value" else ours.sd
    return Recomputed.of(getattr(theirs, name), corrected, note, differs)


def _random(asked: SimilarityExplained, part: str, name: str) -> Recomputed:
    drawn = asked.random_pairs
    corrected = drawn if name == "value" else drawn.sd
    return Recomputed.of(getattr(drawn, name), corrected, f"{drawn.n:,} other random pairs", part)


def _cosines(vectors: Embedding) -> dict[str, Recomputed]:
    """Cosines of two words: what the DB/WA of the first between the two leaves to 1."""
    found = {}
    for name, (pair, _) in _COSINES.items():
        scored = score(vectors, pairs=[pair], words=[pair[0]], measures="dbwa")
        value = 1 - float(scored.values.item())
        lost = [word for word in pair if word not in vectors]
        nothing = Recomputed(note=f"not in the vectors: {', '.join(lost)}")
        found[f"analogies.cosine.{name}"] = nothing if np.isnan(value) else Recomputed.both(value)
    return {**found, "analogies.cosine.digits": found["analogies.cosine.man_woman"]}


def _answers(vectors: Embedding, part: str) -> dict[str, Recomputed]:
    theirs, ours = (
        analogies(vectors, [("man", "apple", "woman")], direction=way).answers[0] for way in ("reversed", "stated")
    )
    found = {}
    if theirs.answer and ours.answer:
        found["analogies.apple"] = Recomputed.of(theirs.answer, ours.answer, _REVERSED, part)
    for word in ("man", "woman"):
        # Some pair has to be asked with, and cannot be an answer: one that is far from both.
        near = similarity_explained(vectors, [word], pair=("apple", "apples"), restrict=None, random_pairs=2)
        if nearest := near.answers[0].nearest:
            among = part and f"among {len(vectors):,} words"
            found[f"analogies.nearest.{word}"] = Recomputed.of(nearest, nearest, differs=among)
    return found

"""The runs that Zhang et al. 2020 rest on, made when first asked for, and section 7, which rests on analogies.

Section 7: do analogies show bias, or what is merely similar?
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge.analyses import robustness
from biasgauge.core import WordPolicy
from biasgauge.io import read_npz
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.papers.zhang2020 import FAMILY, NEUTRAL
from biasgauge.scores import score
from biasgauge.stats import WordStatistic
from biasgauge.vectors import Embedding, load

FORMS = ("plural", "capitalized", "upper")
ANY_COVERAGE = WordPolicy(0, "exact")
"""Words as written, however few of them the vectors hold."""
ENOUGH = 30
"""Words with all three forms below which each form counts by itself: as published, nothing would be left of a part."""
_FEW = 500
"""Frequent words where their standard deviation is not asked for."""
_BARE: dict[str, Any] = {"truths": {}, "pair_forms": ()}
RANDOM_PAIRS = 100_000
VOCABULARY = 3_000_000
"""Words of the whole of GoogleNews."""
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
_WITH_FAMILY = f"the code counts the {FAMILY} too, which the text leaves out; corrected does leave it out"


class Runs:
    """One file of vectors by the rules of the paper and by ours.

    `seed` is that of the draws that intervals of means rest on; `progress` is of the runs over all frequent words.
    """

    def __init__(self, path: Path, seed: int, progress: Progress | None) -> None:
        self.path, self.seed, self.progress = path, seed, progress

    @cached_property
    def vectors(self) -> Embedding:
        """The vectors."""
        return load(self.path)

    @cached_property
    def published(self) -> robustness.RobustnessResult:
        """By the rules of the released code."""
        return self._run(as_published=True, forms=FORMS)

    @cached_property
    def corrected(self) -> robustness.RobustnessResult:
        """By the rules of biasgauge."""
        return self._run(as_published=False, forms=FORMS)

    @cached_property
    def each_form(self) -> tuple[robustness.RobustnessResult, ...]:
        """By the rules of the released code, with the forms of words together where enough words have all of them."""
        if len(self.published.forms[0].found) >= ENOUGH:
            return (self.published,)
        pool = robustness.neutral(self.vectors, self.published.pairs, as_published=True)
        settings = {**_BARE, "as_published": True, "pool": pool, "frequent": _FEW}
        return tuple(self._run(forms=[form], **settings) for form in FORMS)

    @cached_property
    def with_lengths(self) -> dict[bool, robustness.RobustnessResult]:
        """RIPA over the words whose vectors have the length that they were published with, by rule."""
        lengths = words_with_lengths(self.path)
        if lengths is None:
            return {True: self.published, False: self.corrected}
        vectors, settings = self.vectors.subset(lengths), {**_BARE, "measures": "ripa", "forms": ()}
        settings["policy"] = ANY_COVERAGE
        return {rule: robustness.robustness(vectors, as_published=rule, **settings) for rule in (True, False)}

    @cached_property
    def royal(self) -> robustness.RobustnessResult:
        """From (woman, man) to (queen, king) under RIPA."""
        pairs = [("man", "woman"), ("king", "queen")]
        settings = {**_BARE, "measures": "ripa", "forms": (), "frequent": _FEW}
        return robustness.robustness(self.vectors, pairs=pairs, as_published=True, **settings)

    @property
    def other_pool(self) -> str:
        """In what the neighbors of NBM are not the paper's; empty where they are."""
        pool = self.published.settings["pool_words"]
        return "" if pool == NEUTRAL else f"neighbors are {pool:,} neutral words, not the paper's {NEUTRAL:,}"

    def _run(self, **settings: Any) -> robustness.RobustnessResult:  # noqa: ANN401 - settings of robustness
        settings |= {"policy": ANY_COVERAGE, "random_state": self.seed, "progress": self.progress}
        return robustness.robustness(self.vectors, **settings)


def words_with_lengths(path: Path) -> list[str] | None:
    """Words of a part of GoogleNews that have kept their length; None where all have, or the file does not say."""
    if path.suffix != ".npz":
        return None
    arrays = read_npz(path, ("words", "raw_norm"))
    if len(arrays) < 2 or len(arrays["words"]) != len(arrays["raw_norm"]):
        return None
    words: list[str] = arrays["words"][arrays["raw_norm"].astype(bool)].tolist()
    return words


def runs_of(data: Data, seed: int, progress: Progress | None) -> Runs:
    """The runs on these data, shared by all parts."""
    runs = data.once(("runs", seed), lambda: Runs(data.path("googlenews"), seed, progress))
    runs.progress = progress
    return runs


def fill_analogies(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Everything of section 7 that vectors decide: man is to x as woman is to …?"""
    vectors = runs_of(data, seed, progress).vectors
    explained = robustness.similarity_explained(vectors, random_state=seed)
    if explained.reason:
        return {"analogies.solved": Recomputed(note=explained.reason)}
    limitation = f"only {len(vectors):,} words can be an answer, not the paper's {robustness.RESTRICT:,}"
    limitation = "" if len(vectors) >= robustness.RESTRICT else limitation
    theirs, ours = explained.condition("reversed").correct, explained.condition().correct
    rows = {
        "analogies.solved": _share(theirs, ours, limitation, PAIRS).times(100),
        **_similarities(explained),
        **_random_pairs(vectors, seed),
        **_cosines(vectors),
        **_answers(vectors, limitation),
    }
    solved = {(row.category, row.direction): row.correct for row in explained.by_category if row.exclude_inputs}
    for name, pairs in CATEGORIES.items():
        both = solved[name, "reversed"], solved[name, "stated"]
        rows[f"analogies.solved.{name}"] = _share(*both, limitation, pairs)
    return rows


def _share(theirs: WordStatistic, ours: WordStatistic, limitation: str, pairs: int) -> Recomputed:
    """Share of pairs that were solved; `limitation` and the pairs that are there say in what the data differ."""
    if theirs.value is None or ours.value is None:
        return Recomputed(note=theirs.reason or "")
    lost = f"{theirs.n} of {pairs} pairs have both vectors" if theirs.n != pairs else ""
    return Recomputed.of(theirs, ours, _REVERSED, "; ".join(filter(None, (limitation, lost))))


def _similarities(explained: robustness.SimilarityExplained) -> Recomputations:
    """Mean and standard deviation of similarities of listed pairs."""
    published, listed = explained.listed_with_excluded, explained.listed
    lost = "" if listed.n == PAIRS else f"{listed.n} of {PAIRS} pairs have both vectors"
    return {
        "analogies.listed.mean": Recomputed.of(published.value, listed, _WITH_FAMILY, lost),
        "analogies.listed.sd": Recomputed.of(published.sd, listed.sd, _WITH_FAMILY, lost),
    }


def _random_pairs(vectors: Embedding, seed: int) -> Recomputations:
    """Mean and standard deviation of cosines of random pairs of all words, as the notebook draws them."""
    settings: dict[str, Any] = {"pair": ("apple", "apples"), "restrict": None, "random_state": seed}
    drawn = robustness.similarity_explained(vectors, ["man"], random_pairs=RANDOM_PAIRS, **settings).random_pairs
    if drawn.value is None:
        return {}
    note, differs = random_pairs_note(vectors, drawn.n), vocabulary_differs(vectors)
    return {
        "analogies.random.mean": Recomputed.of(drawn.value, drawn, note, differs),
        "analogies.random.sd": Recomputed.of(drawn.sd, drawn.sd, note, differs),
    }


def random_pairs_note(vectors: Embedding, count: int) -> str:
    """Pool that random pairs are drawn from."""
    return f"{count:,} other random pairs of all {len(vectors):,} words of the vectors, as in the notebook"


def vocabulary_differs(vectors: Embedding) -> str:
    """In what the vocabulary is not that of the paper; empty where it is."""
    return (
        "" if len(vectors) == VOCABULARY else f"the paper's are drawn from the whole {VOCABULARY:,} words of GoogleNews"
    )


def _cosines(vectors: Embedding) -> Recomputations:
    """Cosines of two words: what the DB/WA of the first between the two leaves to 1."""
    rows = {}
    for name, pair in _COSINES.items():
        scored = score(vectors, pairs=[pair], words=[pair[0]], measures="dbwa")
        value = 1 - float(scored.values.item())
        lost = [word for word in pair if word not in vectors]
        nothing = Recomputed(note=f"not in the vectors: {', '.join(lost)}")
        rows[f"analogies.cosine.{name}"] = nothing if np.isnan(value) else Recomputed.both(value)
    return {**rows, "analogies.cosine.digits": rows["analogies.cosine.man_woman"]}


def _answers(vectors: Embedding, limitation: str) -> Recomputations:
    theirs, ours = (
        robustness.analogies(vectors, [("man", "apple", "woman")], direction=way).answers[0]
        for way in ("reversed", "stated")
    )
    rows = {}
    if theirs.answer and ours.answer:
        rows["analogies.apple"] = Recomputed.of(theirs.answer, ours.answer, _REVERSED, limitation)
    for word in ("man", "woman"):
        # some pair has to be asked with, and cannot be an answer: one that is far from both
        near = robustness.similarity_explained(vectors, [word], pair=("apple", "apples"), restrict=None, random_pairs=2)
        if nearest := near.answers[0].nearest:
            among = limitation and f"among {len(vectors):,} words"
            rows[f"analogies.nearest.{word}"] = Recomputed.of(nearest, nearest, differs=among)
    return rows

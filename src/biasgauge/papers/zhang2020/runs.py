"""The runs that Zhang et al. 2020 rest on: made when first asked for, once for all parts."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.analyses.robustness import neutral, robustness, similarity_explained
from biasgauge.io import read_npz
from biasgauge.papers.zhang2020.lists import NEUTRAL
from biasgauge.vectors import load

if TYPE_CHECKING:
    from biasgauge.analyses.robustness import RobustnessResult, SimilarityExplained
    from biasgauge.papers.paper import Data, Progress
    from biasgauge.vectors import Embedding

VECTORS = "googlenews"
FORMS = ("plural", "capitalized", "upper")
ENOUGH = 30
"""Words with all three forms below which each form counts by itself: as published, nothing would be left of a part."""
_FEW = 500
"""Frequent words where their standard deviation is not asked for."""


class Runs:
    """One file of vectors by the rules of the paper and by ours.

    Attributes:
        path: the file.
        seed: of the draws that intervals of means rest on.
        progress: of the runs over all frequent words.
    """

    def __init__(self, path: Path, seed: int, progress: Progress | None) -> None:
        self.path = path
        self.seed = seed
        self.progress = progress

    @cached_property
    def vectors(self) -> Embedding:
        """The vectors."""
        return load(self.path)

    @cached_property
    def published(self) -> RobustnessResult:
        """By the rules of the released code."""
        return self._run(as_published=True, forms=FORMS)

    @cached_property
    def corrected(self) -> RobustnessResult:
        """By the rules of biasgauge."""
        return self._run(as_published=False, forms=FORMS)

    @cached_property
    def each_form(self) -> tuple[RobustnessResult, ...]:
        """By the rules of the released code, with the forms of words together where enough words have all of them."""
        if len(self.published.forms[0].found) >= ENOUGH:
            return (self.published,)
        pool = neutral(self.vectors, self.published.pairs, as_published=True)
        return tuple(
            self._run(as_published=True, forms=[form], truths={}, pair_forms=(), pool=pool, frequent=_FEW)
            for form in FORMS
        )

    @cached_property
    def with_lengths(self) -> dict[bool, RobustnessResult]:
        """RIPA over the words whose vectors have the length that they were published with, by rule."""
        lengths = words_with_lengths(self.path)
        if lengths is None:
            return {True: self.published, False: self.corrected}
        settings: dict[str, Any] = {"measures": "ripa", "truths": {}, "forms": (), "pair_forms": (), "min_coverage": 0}
        vectors = self.vectors.subset(lengths)
        return {rule: robustness(vectors, as_published=rule, **settings) for rule in (True, False)}

    @cached_property
    def royal(self) -> RobustnessResult:
        """From (woman, man) to (queen, king) under RIPA."""
        pairs = [("man", "woman"), ("king", "queen")]
        settings: dict[str, Any] = {"measures": "ripa", "truths": {}, "forms": (), "pair_forms": (), "frequent": _FEW}
        return robustness(self.vectors, pairs=pairs, as_published=True, **settings)

    @cached_property
    def analogies(self) -> SimilarityExplained:
        """Man is to x as woman is to …?"""
        return similarity_explained(self.vectors, random_state=self.seed)

    @property
    def other_pool(self) -> str:
        """In what the neighbors of NBM are not the paper's; empty where they are."""
        pool = self.published.settings["pool_words"]
        return "" if pool == NEUTRAL else f"neighbors are {pool:,} neutral words, not the paper's {NEUTRAL:,}"

    def _run(self, **settings: Any) -> RobustnessResult:  # noqa: ANN401 - settings of robustness
        return robustness(self.vectors, min_coverage=0, random_state=self.seed, progress=self.progress, **settings)


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
    runs = data.once(("runs", seed), lambda: Runs(data.path(VECTORS), seed, progress))
    runs.progress = progress
    return runs

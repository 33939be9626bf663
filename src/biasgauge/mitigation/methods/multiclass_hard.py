"""`multiclass_hard`: neutralize and equalize in the subspace of several classes (Manzini et al. 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from biasgauge.core import LexiconLike, Vectors, WordsLike, row_lengths, unit_rows
from biasgauge.lexicons import words_of
from biasgauge.mitigation.methods.hard import equal_vectors, fitted, without
from biasgauge.mitigation.mitigation import Mitigation, OwnVectors
from biasgauge.mitigation.subspace import Subspace, bias_subspace, equalized
from biasgauge.mitigation.word_groups import ClassSets, class_sets, defining_sets, found_sets, mask, merged
from biasgauge.vectors import Embedding


@dataclass(kw_only=True, eq=False)
class Multiclass(Mitigation):
    """What the methods for several classes share: the subspace of the defining sets.

    Attributes:
        lexicon: stereotypes, pairs, or sets of words: one word a class in each set.
        components: directions of the subspace; one fewer than the classes by default.
        specific: words to leave alone besides those that name a class.
        as_published: what the released code does.
        subspace_: after `fit`.
    """

    lexicon: LexiconLike | Sequence[WordsLike] = "religion"
    components: int | None = None
    specific: WordsLike | None = None
    as_published: bool = False
    subspace_: Subspace | None = field(default=None, init=False, repr=False)
    _classes: ClassSets = field(default=ClassSets("", (), (), ()), init=False, repr=False)

    def _fit(self, model: Embedding) -> None:
        classes = class_sets(self.lexicon)
        more = () if self.specific is None else words_of(self.specific).words
        self._classes = classes._replace(specific=(*classes.specific, *more))
        defining = defining_sets(model, classes)
        usual = 1 if self.as_published else max(len(rows) for rows in defining.rows) - 1
        self.subspace_ = bias_subspace(
            [model.vectors[rows] for rows in defining.rows], self.components or usual, lengths=self.as_published
        )
        self.coverage_ = defining.coverage

    @property
    def unit_norms(self) -> bool:
        """Also as published."""
        return super().unit_norms or self.as_published


@dataclass(kw_only=True, eq=False)
class MulticlassHard(Multiclass):
    """Take the subspace of the classes out of every word that names none of them; make their words equidistant.

    Neutral words lose `strength` of their part in the subspace; the words of a defining set become equidistant, by
    cosine, from every neutral word; sets that share a word are equalized as one. Overbias adds to neutral words and
    leaves the defining sets alone.

    `as_published`: the subspace comes from vectors at their own length and has one direction unless `components` says
    otherwise; only the attributes of the stereotypes are neutralized; sets are equalized one after the other, so that
    a later one undoes an earlier one with which it shares a word; every vector gets length 1.
    """

    name: ClassVar[str] = "multiclass_hard"
    summary: ClassVar[str] = "Projects the subspace of several classes out of neutral words; equalizes the classes."
    source: ClassVar[str] = "Manzini et al. 2019, §3.2, hard debiasing"
    inverse: ClassVar[bool] = True
    rotation_equivariant: ClassVar[bool] = True
    idempotent: ClassVar[bool] = False  # with three classes, the mean of the equalized words moves in the subspace

    _spared: Any = field(default=None, init=False, repr=False)

    def _prepare(self, model: Embedding) -> None:
        classes = self._classes
        self._spared = ~mask(model, classes.attributes) if self.as_published else mask(model, classes.specific)

    def _block(self, block: Vectors, part: slice) -> Vectors:
        return without(block, fitted(self.subspace_), self.step, self._spared[part])

    def _own(self, model: Embedding) -> OwnVectors:
        if self.direction == "overbias":
            return super()._own(model)
        sets = found_sets(model, "sets", self._classes.sets).rows
        subspace = fitted(self.subspace_)
        if self.as_published:
            return self._one_after_the_other(model, sets, subspace)
        groups = merged(sets)
        return equal_vectors(groups, [model.vectors[rows] for rows in groups], subspace)

    def _one_after_the_other(self, model: Embedding, sets: list[list[int]], subspace: Subspace) -> OwnVectors:
        rows = np.array(sorted({row for words in sets for row in words}), np.intp)
        old = model.vectors[rows].astype(np.float64)
        current = np.nan_to_num(
            unit_rows(np.asarray(without(old, subspace, 1.0, self._spared[rows]), np.float64), rescale=True)
        )
        for words in sets:
            places = np.searchsorted(rows, words)
            equal = equalized(current[places], subspace)
            if equal is not None:
                current[places] = equal
        return OwnVectors(rows, current * row_lengths(old, rescale=True)[:, None])


METHOD = MulticlassHard

"""What the methods for several classes share: the subspace of the defining sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from biasgauge.embeddings import Embedding
from biasgauge.inputs import LexiconLike, WordsLike
from biasgauge.lexicons import words_of
from biasgauge.mitigation.mitigation import Mitigation
from biasgauge.mitigation.subspace import Subspace, bias_subspace
from biasgauge.mitigation.word_groups import ClassSets, class_sets, defining_sets


@dataclass(kw_only=True, eq=False)
class Multiclass(Mitigation):
    """A method for several classes.

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
        found = defining_sets(model, classes)
        usual = 1 if self.as_published else max(len(rows) for rows in found.rows) - 1
        self.subspace_ = bias_subspace(
            [model.vectors[rows] for rows in found.rows], self.components or usual, lengths=self.as_published
        )
        self.coverage_ = found.coverage

    @property
    def unit_norms(self) -> bool:
        """Also as published."""
        return super().unit_norms or self.as_published

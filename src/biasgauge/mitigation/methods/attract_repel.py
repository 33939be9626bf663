"""`attract_repel`: draw some pairs of words together and push others apart (Mrkšić et al. 2017)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from biasgauge.embeddings import Embedding
from biasgauge.errors import ParameterError
from biasgauge.geometry import row_lengths, unit_rows
from biasgauge.inputs import LexiconLike, VectorsLike
from biasgauge.mitigation.attract_repel import Descent, descend
from biasgauge.mitigation.constraints import Constraints, found_constraints, lexicon_pairs
from biasgauge.mitigation.mitigation import Mitigation, OwnVectors

_DECIMALS = 6


@dataclass(kw_only=True, eq=False)
class AttractRepel(Mitigation):
    """Move the words of a test so that targets lie closer to the other attributes (debias) or to their own (overbias).

    Only words of the constraints move; cost grows with the constraints, not with the vocabulary. Between strength 0
    and 1 each of them stands on the way from its old to its new direction. `snapshots` gives every epoch.

    Attributes:
        lexicon: tests or stereotypes to debias, one or a list of them.
        attract: further pairs of words to draw together, whatever the direction.
        repel: further pairs to push apart; a pair in both is pushed apart.
        epochs: how often to go through the constraints.
        descent: margins, batch size, learning rate and the like.
        case_fallback: look a lost word up in lower case, then capitalized.
        as_published: what the released code does (`Descent`), with every vector of the vocabulary scaled to length 1
            and rounded to six decimals; lost words are tried in lower case.
        random_state: seed.
        constraints_: after `fit`: pairs of rows.
        moved_: after `fit`: rows of the words that moved.
    """

    name: ClassVar[str] = "attract_repel"
    summary: ClassVar[str] = "Draws words to attributes that stereotypes keep from them, pushes them from their own."
    source: ClassVar[str] = "Mrkšić et al. 2017, §3; constraints of Goldfarb-Tarrant et al. 2021, §4"
    inverse: ClassVar[bool] = True
    rotation_equivariant: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    most: ClassVar[float] = 1.0

    lexicon: LexiconLike | Sequence[LexiconLike] | None = "weat7"
    attract: Sequence[tuple[str, str]] = ()
    repel: Sequence[tuple[str, str]] = ()
    epochs: int = 5
    descent: Descent = field(default_factory=Descent)
    case_fallback: bool = False
    as_published: bool = False
    random_state: int = 0
    constraints_: Constraints | None = field(default=None, init=False, repr=False)
    moved_: NDArray[np.intp] = field(default_factory=lambda: np.empty(0, np.intp), init=False, repr=False)
    _words: tuple[str, ...] = field(default=(), init=False, repr=False)
    _original: Any = field(default=None, init=False, repr=False)
    _epochs: list[Any] = field(default_factory=list, init=False, repr=False)

    @property
    def step(self) -> float:
        """Strength in either direction: the constraints say which way."""
        return self.strength

    def snapshots(self, vectors: VectorsLike) -> list[Embedding]:
        """The embedding after each epoch, the last one as `transform` gives it."""
        model = self._checked(vectors)
        return [
            replace(
                self._changed(model, self._after(model, epoch)), name=f"{model.name} ({self.label}, epoch {number})"
            )
            for number, epoch in enumerate(self._epochs, 1)
        ]

    def _fit(self, model: Embedding) -> None:
        attract, repel = lexicon_pairs(self.lexicon, self.direction) if self.lexicon is not None else ([], [])
        self.constraints_ = found_constraints(
            model,
            [*attract, *self.attract],
            [*repel, *self.repel],
            case_fallback=self.case_fallback or self.as_published,
        )
        pairs = np.concatenate([self.constraints_.attract, self.constraints_.repel])
        self.moved_, places = np.unique(pairs, return_inverse=True)
        places = places.reshape(-1, 2)
        split = len(self.constraints_.attract)
        self._words = tuple(model.words[row] for row in self.moved_)
        self._original = model.vectors[self.moved_].astype(np.float64)
        settings = replace(self.descent, as_published=self.as_published or self.descent.as_published)
        epochs = descend(
            self._original, places[:split], places[split:], settings, np.random.default_rng(self.random_state)
        )
        self._epochs = [unit_rows(vectors, rescale=True) for vectors in islice(epochs, self.epochs)]
        self.coverage_ = self.constraints_.coverage

    def _own(self, model: Embedding) -> OwnVectors:
        return self._after(model, self._epochs[-1])

    def _after(self, model: Embedding, units: NDArray[np.float64]) -> OwnVectors:
        """Some directions at the lengths of the original vectors."""
        found = model.lookup(self._words)
        same = len(found.words) == len(self._words)
        if not same or not np.array_equal(model.vectors[found.rows].astype(np.float64), self._original):
            raise ParameterError(
                "Attract-Repel finds new vectors for the words of one embedding: transform the one that it was "
                "fitted on."
            )
        return OwnVectors(found.rows, units * row_lengths(self._original, rescale=True)[:, None])

    def _finished(self, moved: NDArray[Any]) -> NDArray[Any]:
        return np.round(moved, _DECIMALS) if self.as_published else moved

    def _check_settings(self) -> None:
        super()._check_settings()
        if not isinstance(self.epochs, int) or self.epochs < 1:
            raise ParameterError(
                f"The 'epochs' of AttractRepel must be a whole number of at least 1. Got {self.epochs!r}."
            )
        if self.descent.batch_size < 2:
            raise ParameterError(f"A batch of AttractRepel needs at least two pairs. Got {self.descent.batch_size!r}.")

    @property
    def unit_norms(self) -> bool:
        """Also as published."""
        return super().unit_norms or self.as_published


METHOD = AttractRepel

"""`attract_repel`: draw some pairs of words together and push others apart (Mrkšić et al. 2017).

To debias a test, X is drawn to B and Y to A, and pushed from A and B; to overbias, the other way round. Source:
Goldfarb-Tarrant et al. 2021, §4; the constraints are all pairs of a target and an attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar, cast

import numpy as np

from biasgauge.core import Floats, LexiconLike, Places, Vectors, VectorsLike, check_whole, row_lengths, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Lexicon, Stereotypes, lexicon
from biasgauge.mitigation.attract_repel import Descent, descend
from biasgauge.mitigation.mitigation import Direction, Mitigation, OwnVectors
from biasgauge.vectors import Coverage, Embedding

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Rows of the pairs to draw together and of those to push apart, pairs × 2, and what was found of their words."""

    attract: Places
    repel: Places
    coverage: Coverage


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
    moved_: Places = field(default_factory=lambda: np.empty(0, np.intp), init=False, repr=False)
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
        changed = [self._changed(model, self._after(model, epoch)) for epoch in self._epochs]
        label = f"{model.name} ({self.label}, epoch"
        return [replace(after, name=f"{label} {number})") for number, after in enumerate(changed, 1)]

    def _fit(self, model: Embedding) -> None:
        attract, repel = lexicon_pairs(self.lexicon, self.direction) if self.lexicon is not None else ([], [])
        fallback = self.case_fallback or self.as_published
        self.constraints_ = found_constraints(
            model, [*attract, *self.attract], [*repel, *self.repel], case_fallback=fallback
        )
        pairs = np.concatenate([self.constraints_.attract, self.constraints_.repel])
        self.moved_, places = np.unique(pairs, return_inverse=True)
        places = places.reshape(-1, 2)
        split = len(self.constraints_.attract)
        self._words = tuple(model.words[row] for row in self.moved_)
        self._original = model.vectors[self.moved_].astype(np.float64)
        settings = replace(self.descent, as_published=self.as_published or self.descent.as_published)
        random = np.random.default_rng(self.random_state)
        epochs = descend(self._original, places[:split], places[split:], settings, random)
        self._epochs = [unit_rows(vectors, rescale=True) for vectors in islice(epochs, self.epochs)]
        self.coverage_ = self.constraints_.coverage

    def _own(self, model: Embedding) -> OwnVectors:
        return self._after(model, self._epochs[-1])

    def _after(self, model: Embedding, units: Floats) -> OwnVectors:
        """Some directions at the lengths of the original vectors."""
        found = model.lookup(self._words)
        same = len(found.words) == len(self._words)
        if not same or not np.array_equal(model.vectors[found.rows].astype(np.float64), self._original):
            raise ParameterError(
                "Attract-Repel moves the words of one embedding: transform the one that it was fitted on."
            )
        return OwnVectors(found.rows, units * row_lengths(self._original, rescale=True)[:, None])

    def _finished(self, moved: Vectors) -> Vectors:
        return np.round(moved, 6) if self.as_published else moved

    def _check_settings(self) -> None:
        super()._check_settings()
        check_whole(1, epochs=self.epochs)
        check_whole(2, batch_size=self.descent.batch_size)

    @property
    def unit_norms(self) -> bool:
        """Also as published."""
        return super().unit_norms or self.as_published


def lexicon_pairs(given: LexiconLike | Sequence[LexiconLike], direction: Direction) -> tuple[Pairs, Pairs]:
    """Pairs to attract and to repel for one lexicon or several, of kind "test" or "stereotypes".

    Raises:
        ParameterError: a lexicon is of another kind.
    """
    attract: Pairs = []
    repel: Pairs = []
    for reference in cast("Sequence[LexiconLike]", given if isinstance(given, (list, tuple)) else [given]):
        stereotype, other = _leanings(lexicon(reference))
        together, apart = (other, stereotype) if direction == "debias" else (stereotype, other)
        attract += together
        repel += apart
    return attract, repel


def _leanings(named: Lexicon) -> tuple[Pairs, Pairs]:
    """Pairs that the stereotype puts together, and those that it keeps apart."""
    match named:
        case AssociationTest(x=x, y=y, a=a, b=b):
            return crossed([(x.words, a.words), (y.words, b.words)]), crossed([(x.words, b.words), (y.words, a.words)])
        case Stereotypes(groups=groups):
            own = [(group.protected, group.attributes) for group in groups]
            others = [(group.protected, other.attributes) for group in groups for other in groups if other is not group]
            return crossed(own), crossed(others)
    raise ParameterError(
        f"The lexicon {named.name!r} is of kind {named.kind!r}; Attract-Repel needs kind 'test' or 'stereotypes', or "
        "pairs to attract and to repel."
    )


def crossed(sets: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Pairs:
    """Every pair of a word of the first with a word of the second set."""
    return [(left, right) for first, second in sets for left in first for right in second]


def found_constraints(model: Embedding, attract: Pairs, repel: Pairs, *, case_fallback: bool) -> Constraints:
    """The pairs of which both words were found, each once; a pair to attract and to repel is repelled.

    Raises:
        ParameterError: no pair is left.
    """
    words = {"attract": [word for pair in attract for word in pair], "repel": [word for pair in repel for word in pair]}
    coverage = model.coverage(words, case_fallback=case_fallback, directions=True)
    lookups = coverage.sets.values()
    known = {word: row for found in lookups for word, row in zip(found.words, found.rows.tolist(), strict=True)}
    pushed = _rows(repel, known)
    drawn = {pair: None for pair in _rows(attract, known) if pair not in pushed}
    if not drawn and not pushed:
        raise ParameterError(f"No pair to attract or to repel has both words in {model.name}.")
    attracted, repelled = (np.array(list(pairs), np.intp).reshape(-1, 2) for pairs in (drawn, pushed))
    return Constraints(attracted, repelled, coverage)


def _rows(pairs: Pairs, known: dict[str, int]) -> dict[tuple[int, int], None]:
    """Each pair once, in the order given; a word has no pair with itself."""
    rows = ((known[left], known[right]) for left, right in pairs if left in known and right in known)
    return dict.fromkeys(pair for pair in rows if pair[0] != pair[1])


METHOD = AttractRepel

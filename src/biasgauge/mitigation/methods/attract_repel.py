"""`attract_repel`: draw some pairs of words together and push others apart (Mrkšić et al. 2017).

To debias a test, X is drawn to B and Y to A, and pushed from A and B; to overbias, the other way round. Source:
Goldfarb-Tarrant et al. 2021, §4; the constraints are all pairs of a target and an attribute.

The descent follows Mrkšić et al., "Semantic Specialization of Distributional Word Vector Spaces using Monolingual and
Cross-Lingual Constraints", TACL 5 (2017), §3. For a pair (l, r) with negative examples t, all scaled to length 1, the
cost of attracting is relu(margin + l·t_l − l·r) + relu(margin + r·t_r − l·r), and of repelling the same with both
products negated. The gradient with respect to the scaled vectors is a sum of other scaled vectors, so a batch's
gradient is one product of a small matrix of coefficients with the batch's vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, permutations
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np

from biasgauge.core import Floats, LexiconLike, Places, Vectors, VectorsLike, check_whole, row_lengths, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Stereotypes, treatment
from biasgauge.mitigation.mitigation import AnchorVectors, Direction, Mitigation
from biasgauge.vectors import Coverage, Embedding

Pairs = list[tuple[str, str]]
_INITIAL_SQUARES = 0.1
"""Initial sums of squared gradients of Adagrad, as in TensorFlow."""


@dataclass(frozen=True, kw_only=True)
class Descent:
    """Settings of the descent.

    Attributes:
        attract_margin, repel_margin: by how much a pair must be closer (farther apart) than its negative examples.
        regularization: pull back to the original vectors.
        batch_size: pairs in a step.
        learning_rate: of Adagrad.
        clip: gradients are cut at so much either way.
        as_published: the pull is multiplied by the batch size and goes to the original vectors at their own length;
            the pairs beyond the last whole batch are left out; a negative example may be the same word from another
            pair; descent starts from vectors at their own length. By default none of that holds: batches are of even
            size, and vectors start at length 1.
    """

    attract_margin: float = 0.6
    repel_margin: float = 0.0
    regularization: float = 1e-9
    batch_size: int = 50
    learning_rate: float = 0.05
    clip: float = 2.0
    as_published: bool = False


class Batch(NamedTuple):
    """One step: pairs of places among the words of the batch (pairs × 2), with a negative example for either end.

    A negative is −1 where there is none; the sign is 1 to attract, −1 to repel; the margin is that of the cost.
    """

    pairs: Places
    negatives: Places
    sign: float
    margin: float


def descend(
    vectors: Floats, attract: Places, repel: Places, settings: Descent, random: np.random.Generator
) -> Iterator[Floats]:
    """Vectors after each epoch, without end. `attract` and `repel` hold pairs of places among the vectors."""
    original = np.array(vectors) if settings.as_published else unit_rows(np.asarray(vectors, np.float64), rescale=True)
    current = original.copy()
    kinds = (attract, 1.0, settings.attract_margin), (repel, -1.0, settings.repel_margin)
    squares = [np.full_like(current, _INITIAL_SQUARES) for _ in kinds]
    while True:
        batches = [_batches(len(pairs), settings, random) for pairs, _, _ in kinds]
        order = random.permutation([0] * len(batches[0]) + [1] * len(batches[1]))
        queues = [iter(batch) for batch in batches]
        for kind in order.tolist():
            pairs, sign, margin = kinds[kind]
            words, pair_rows = np.unique(pairs[next(queues[kind])], return_inverse=True)
            pair_rows = pair_rows.reshape(-1, 2)
            units = unit_rows(current[words], rescale=True)
            negatives = negative_examples(units, pair_rows, sign, random, by_place=settings.as_published)
            batch = Batch(pair_rows, negatives, sign, margin)
            slope = gradient(current[words], original[words], batch, settings)
            step(current, squares[kind], words, np.clip(slope, -settings.clip, settings.clip), settings.learning_rate)
        yield current.copy()


def _batches(pairs: int, settings: Descent, random: np.random.Generator) -> list[Places]:
    """Places of the pairs of each batch of an epoch."""
    order = random.permutation(pairs)
    size = settings.batch_size
    if settings.as_published:
        return [order[start : start + size] for start in range(0, pairs - size + 1, size)]
    return np.array_split(order, -(-pairs // size)) if pairs else []


def negative_examples(
    units: Floats, pairs: Places, sign: float, random: np.random.Generator, *, by_place: bool
) -> Places:
    """For each end of each pair, the most similar other word of the batch to attract, the least similar to repel.

    With probability ½ a random other word stands in for it. The word itself and its partner are none, wherever in the
    batch they stand; `by_place` leaves out only the pair itself, as published, so that a word may be its own negative.
    −1 where there is no other word.
    """
    similarity = sign * (units @ units.T)
    if by_place:
        return _negatives_as_published(similarity, pairs, random)
    ends, partners = pairs.ravel(), pairs[:, ::-1].ravel()
    allowed = np.ones((len(ends), len(units)), bool)
    allowed[np.arange(len(ends)), ends] = allowed[np.arange(len(ends)), partners] = False
    best = np.where(allowed, similarity[ends], -np.inf).argmax(axis=1)
    is_random = random.random(len(ends)) < 0.5
    random_word = np.where(allowed, random.random(allowed.shape), -1).argmax(axis=1)
    chosen = np.where(is_random, random_word, best)
    return np.where(allowed.any(axis=1), chosen, -1).reshape(-1, 2)


def _negatives_as_published(similarity: Floats, pairs: Places, random: np.random.Generator) -> Places:
    """As published: over places in the batch, so that words of several pairs stand there several times."""
    ends, count = pairs.ravel(), len(pairs)
    table = similarity[np.ix_(ends, ends)]
    row = np.arange(len(ends))
    table[row, row] = table[row, row ^ 1] = -np.inf
    chosen = ends[table.argmax(axis=1)].reshape(-1, 2)
    is_random = random.random((count, 2)) < 0.5
    pair = random.integers(0, count - 1, (count, 2))
    pair += pair >= np.arange(count)[:, None]
    side = random.integers(0, 2, (count, 2))
    return np.where(is_random, pairs[pair, side], chosen)


def gradient(current: Floats, original: Floats, batch: Batch, settings: Descent) -> Floats:
    """Gradient of the batch's cost with respect to the vectors of its words, one row per word."""
    lengths = row_lengths(current)[:, None]
    units = current / lengths
    similarity = units @ units.T
    coefficients = np.zeros((len(units), len(units)))
    left, right = batch.pairs.T
    for end, negative in ((left, batch.negatives[:, 0]), (right, batch.negatives[:, 1])):
        cost = batch.margin + batch.sign * (similarity[end, negative] - similarity[left, right])
        active = (cost > 0) & (negative >= 0)
        # d(a·b)/da = b and d(a·b)/db = a: each product adds its sign at both places of the matrix
        for word, partner, amount in ((end, negative, batch.sign), (left, right, -batch.sign)):
            np.add.at(coefficients, (word[active], partner[active]), amount)
            np.add.at(coefficients, (partner[active], word[active]), amount)
    slope = coefficients @ units
    occurrences = np.bincount(batch.pairs.ravel(), minlength=len(units))[:, None]
    weight = settings.regularization * (len(batch.pairs) if settings.as_published else 1)
    slope += weight * occurrences * (units - original)
    # chain rule through u = v / |v|: the part of the slope across u, divided by |v|
    tangent: Floats = (slope - np.einsum("ij,ij->i", slope, units)[:, None] * units) / lengths
    return tangent


def step(current: Floats, squares: Floats, words: Places, slope: Floats, rate: float) -> None:
    """One step of Adagrad on the rows of some words, in place."""
    squares[words] += slope**2
    current[words] -= rate * slope / np.sqrt(squares[words])


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
        model = self._check_model(vectors)
        changed = [self._apply(model, self._after(model, epoch)) for epoch in self._epochs]
        label = f"{model.name} ({self.label}, epoch"
        return [replace(after, name=f"{label} {number})") for number, after in enumerate(changed, 1)]

    def _fit(self, model: Embedding) -> None:
        attract, repel = lexicon_pairs(self.lexicon, self.direction) if self.lexicon is not None else ([], [])
        fallback = self.case_fallback or self.as_published
        self.constraints_ = find_constraints(
            model, [*attract, *self.attract], [*repel, *self.repel], case_fallback=fallback
        )
        pairs = np.concatenate([self.constraints_.attract, self.constraints_.repel])
        self.moved_, pair_rows = np.unique(pairs, return_inverse=True)
        pair_rows = pair_rows.reshape(-1, 2)
        split = len(self.constraints_.attract)
        self._words = tuple(model.words[row] for row in self.moved_)
        self._original = model.vectors[self.moved_].astype(np.float64)
        settings = replace(self.descent, as_published=self.as_published or self.descent.as_published)
        random = np.random.default_rng(self.random_state)
        epochs = descend(self._original, pair_rows[:split], pair_rows[split:], settings, random)
        self._epochs = [unit_rows(vectors, rescale=True) for vectors in islice(epochs, self.epochs)]
        self.coverage_ = self.constraints_.coverage

    def _anchor_vectors(self, model: Embedding) -> AnchorVectors:
        return self._after(model, self._epochs[-1])

    def _after(self, model: Embedding, units: Floats) -> AnchorVectors:
        """Some directions at the lengths of the original vectors."""
        lookup = model.lookup(self._words)
        same = len(lookup.words) == len(self._words)
        if not same or not np.array_equal(model.vectors[lookup.rows].astype(np.float64), self._original):
            raise ParameterError(
                "Attract-Repel moves the words of one embedding: transform the one that it was fitted on."
            )
        return AnchorVectors(lookup.rows, units * row_lengths(self._original, rescale=True)[:, None])

    def _finish(self, moved: Vectors) -> Vectors:
        return np.round(moved, 6) if self.as_published else moved

    def _check_settings(self) -> None:
        super()._check_settings()
        check_whole(1, epochs=self.epochs)
        check_whole(2, batch_size=self.descent.batch_size)

    @property
    def unit_norms(self) -> bool:
        """Also as published."""
        return super().unit_norms or self.as_published


def lexicon_pairs(lexicons: LexiconLike | Sequence[LexiconLike], direction: Direction) -> tuple[Pairs, Pairs]:
    """Pairs to attract and to repel for one lexicon or several: tests, stereotypes, or treatments of a lexicon of sets.

    Raises:
        ParameterError: a lexicon is of another kind.
    """
    together: Pairs = []
    apart: Pairs = []
    for reference in cast("Sequence[LexiconLike]", lexicons if isinstance(lexicons, (list, tuple)) else [lexicons]):
        match treatment(reference):
            case AssociationTest(x=x, y=y, a=a, b=b):
                groups = [(x.words, a.words), (y.words, b.words)]
            case Stereotypes(groups=stereotypes):
                groups = [(group.protected, group.attributes) for group in stereotypes]
            case named:
                raise ParameterError(
                    f"The lexicon {named.name!r} is of kind {named.kind!r}; Attract-Repel needs kind 'test' or "
                    "'stereotypes', sets with treatments, or pairs to attract and to repel."
                )
        # a stereotype puts words together with the attributes of their own group, and keeps them from the others'
        together += cross_pairs(groups)
        apart += cross_pairs((groups[i][0], groups[j][1]) for i, j in permutations(range(len(groups)), 2))
    return (apart, together) if direction == "debias" else (together, apart)


def cross_pairs(sets: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Pairs:
    """Every pair of a word of the first with a word of the second set."""
    return [(left, right) for first, second in sets for left in first for right in second]


def find_constraints(model: Embedding, attract: Pairs, repel: Pairs, *, case_fallback: bool) -> Constraints:
    """The pairs of which both words were found, each once; a pair to attract and to repel is repelled."""
    words = {"attract": [word for pair in attract for word in pair], "repel": [word for pair in repel for word in pair]}
    coverage = model.coverage(words, case_fallback=case_fallback, directions=True)
    lookups = coverage.sets.values()
    row_of = {word: row for lookup in lookups for word, row in zip(lookup.words, lookup.rows.tolist(), strict=True)}
    repel_rows = _rows(repel, row_of)
    attract_rows = {pair: None for pair in _rows(attract, row_of) if pair not in repel_rows}
    if not attract_rows and not repel_rows:
        raise ParameterError(f"No pair to attract or to repel has both words in {model.name}.")
    attracted, repelled = (np.array(list(pairs), np.intp).reshape(-1, 2) for pairs in (attract_rows, repel_rows))
    return Constraints(attracted, repelled, coverage)


def _rows(pairs: Pairs, row_of: dict[str, int]) -> dict[tuple[int, int], None]:
    """Each pair once, in the order given; a word has no pair with itself."""
    rows = ((row_of[left], row_of[right]) for left, right in pairs if left in row_of and right in row_of)
    return dict.fromkeys(pair for pair in rows if pair[0] != pair[1])


METHOD = AttractRepel

"""Which words Attract-Repel is to draw together and which to push apart.

To debias a test, X is drawn to B and Y to A, and pushed from A and B; to overbias, the other way round. Source:
Goldfarb-Tarrant et al. 2021, §4; the constraints are all pairs of a target and an attribute.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from biasgauge.embeddings import Coverage, Embedding
from biasgauge.errors import ParameterError
from biasgauge.inputs import LexiconLike
from biasgauge.lexicons import AssociationTest, Lexicon, Stereotypes, lexicon
from biasgauge.mitigation.mitigation import Direction

Pairs = list[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class Constraints:
    """Pairs of rows.

    Attributes:
        attract: pairs to draw together, pairs × 2.
        repel: pairs to push apart, pairs × 2.
        coverage: words found and lost.
    """

    attract: NDArray[np.intp]
    repel: NDArray[np.intp]
    coverage: Coverage


def lexicon_pairs(given: LexiconLike | Sequence[LexiconLike], direction: Direction) -> tuple[Pairs, Pairs]:
    """Pairs to attract and to repel for one lexicon or several, of kind "test" or "stereotypes".

    Raises:
        ParameterError: a lexicon is of another kind.
    """
    attract: Pairs = []
    repel: Pairs = []
    for one in cast("Sequence[LexiconLike]", given if isinstance(given, (list, tuple)) else [given]):
        stereotype, other = _leanings(lexicon(one))
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
    known = {
        word: row for one in coverage.sets.values() for word, row in zip(one.words, one.rows.tolist(), strict=True)
    }
    pushed = _rows(repel, known)
    drawn = {pair: None for pair in _rows(attract, known) if pair not in pushed}
    if not drawn and not pushed:
        raise ParameterError(f"No pair to attract or to repel has both words in {model.name}.")
    return Constraints(_array(drawn), _array(pushed), coverage)


def _rows(pairs: Pairs, known: dict[str, int]) -> dict[tuple[int, int], None]:
    """Each pair once, in the order given; a word has no pair with itself."""
    rows = ((known[left], known[right]) for left, right in pairs if left in known and right in known)
    return dict.fromkeys(pair for pair in rows if pair[0] != pair[1])


def _array(pairs: dict[tuple[int, int], None]) -> NDArray[np.intp]:
    return np.array(list(pairs), np.intp).reshape(-1, 2)

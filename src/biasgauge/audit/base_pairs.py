"""Does a test's direction depend on which attribute words, or on which measure, is used?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.errors import InputError
from biasgauge.lexicons import Pairs, lexicon
from biasgauge.scores import score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from biasgauge.embeddings import Embedding
    from biasgauge.lexicons import AssociationTest
    from biasgauge.scores import Association

Array = np.ndarray[Any, np.dtype[np.float64]]

GENDER = "du2021"
MEASURES = ("dbwa", "ripa", "nbm")
HALVES = 500
_MOSTLY = 0.5


@dataclass(frozen=True)
class DirectionAgreement:
    """How often other attribute words, and other measures, put X and Y on the sides that the whole test puts them on.

    Attributes:
        unit: what was exchanged: "base pairs", or "halves of the attributes" where attributes form no pairs.
        count: how many of them there are.
        agree: how many agree with the whole test.
        against: base pairs that do not.
        measures: for each measure, whether the mean over its pairs agrees.
        reason: why nothing could be compared.
    """

    unit: str
    count: int = 0
    agree: int = 0
    against: tuple[tuple[str, str], ...] = ()
    measures: tuple[tuple[str, bool], ...] = ()
    reason: str | None = None

    @property
    def share(self) -> float | None:
        """Share that agrees; None when nothing could be compared."""
        return self.agree / self.count if self.count else None


def direction_agreement(
    model: Embedding, test: AssociationTest, whole: Association, *, case_fallback: bool, random_state: int
) -> DirectionAgreement:
    """See whether the direction of a whole test holds for parts of its attributes and for other measures.

    Gender attributes are exchanged for each base pair of Du et al. 2021; others, which form no pairs, for random halves
    of A and of B. Measures score the targets along those pairs, or along A and B word by word.
    """
    side = np.sign(whole.value or 0.0)
    gender = _gender_pairs(test)
    pairs = gender or [(one, other) for one, other in zip(test.a.words, test.b.words, strict=False) if one != other]
    unit = "base pairs" if gender else "halves of the attributes"
    try:
        kept, differences = _differences(model, test, pairs, case_fallback=case_fallback)
    except InputError as problem:
        return DirectionAgreement(unit, reason=str(problem))
    if not kept:
        return DirectionAgreement(unit, reason="no pair has both of its words in the vocabulary")
    measures = tuple((name, bool(np.sign(row.mean()) == side)) for name, row in zip(MEASURES, differences, strict=True))
    if gender:
        same = np.sign(differences[0]) == side
        against = tuple(pair for pair, good in zip(kept, same, strict=True) if not good)
        return DirectionAgreement(unit, len(kept), int(same.sum()), against, measures)
    halves = _halves(model, whole, random_state)
    return DirectionAgreement(unit, len(halves), int((np.sign(halves) == side).sum()), (), measures)


def _gender_pairs(test: AssociationTest) -> list[tuple[str, str]]:
    """The base pairs of Du et al. where A and B are mostly their words; none otherwise."""
    gender = lexicon(GENDER)
    if not isinstance(gender, Pairs) or test.language != gender.language:
        return []
    ends = [{pair[end] for pair in gender.pairs} for end in (0, 1)]
    shares = [
        sum(word in known for word in members.words) / len(members.words)
        for members, known in zip((test.a, test.b), ends, strict=True)
    ]
    return list(gender.pairs) if min(shares) >= _MOSTLY else []


def _differences(
    model: Embedding, test: AssociationTest, pairs: Sequence[tuple[str, str]], *, case_fallback: bool
) -> tuple[list[tuple[str, str]], Array]:
    """Pairs that are defined; mean(X) − mean(Y) for each measure and pair."""
    words = list(dict.fromkeys((*test.x.words, *test.y.words)))
    found = score(model, pairs=list(pairs), words=words, measures=list(MEASURES), case_fallback=case_fallback)
    place = {word: at for at, word in enumerate(found.words)}
    values = found.values[..., 0].astype(np.float64)
    x, y = (values[:, :, [place[word] for word in members.words]] for members in (test.x, test.y))
    usable = ~np.any(np.isnan(x).all(axis=2) | np.isnan(y).all(axis=2), axis=0)
    kept = [pair for pair, good in zip(found.pairs, usable, strict=True) if good]
    return kept, np.nanmean(x[:, usable], axis=2) - np.nanmean(y[:, usable], axis=2)


def _halves(model: Embedding, whole: Association, random_state: int) -> Array:
    """The difference of the whole test from random halves of A and of B."""
    unit = {}
    for role, members in whole.coverage.sets.items():
        rows = np.asarray(model.vectors[np.asarray(members.rows, np.intp)], np.float64)
        unit[role] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    targets = unit["x"].mean(axis=0) - unit["y"].mean(axis=0)
    random = np.random.default_rng(random_state)
    sides = []
    for role in ("a", "b"):
        leaning = unit[role] @ targets
        order = random.random((HALVES, len(leaning))).argsort(axis=1)[:, : -(-len(leaning) // 2)]
        sides.append(leaning[order].mean(axis=1))
    difference: Array = sides[0] - sides[1]
    return difference

"""Does a test's direction depend on which attribute words, or on which measure, is used?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from biasgauge import registry
from biasgauge.arrays import Floats
from biasgauge.auditing.shared_scores import MEASURES, PAIRS, SharedScores
from biasgauge.embeddings import Embedding
from biasgauge.errors import InputError
from biasgauge.geometry import unit_rows
from biasgauge.lexicons import AssociationTest, Pairs, lexicon
from biasgauge.scores import Association

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


def direction_agreement(
    model: Embedding, test: AssociationTest, whole: Association, *, scores: SharedScores, random_state: int
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
        kept, differences = _differences(model, test, () if gender else pairs, scores)
    except InputError as problem:
        return DirectionAgreement(unit, reason=str(problem))
    if not kept:
        return DirectionAgreement(unit, reason="no pair has both of its words in the vocabulary")
    names = [*MEASURES, *registry.added("measure")]
    rows = {name: row[~np.isnan(row)] for name, row in zip(names, differences, strict=True)}
    measures = tuple((name, bool(np.sign(row.mean()) == side)) for name, row in rows.items() if len(row))
    if gender:
        same = np.sign(differences[0]) == side
        against = tuple(pair for pair, good in zip(kept, same, strict=True) if not good)
        return DirectionAgreement(unit, len(kept), int(same.sum()), against, measures)
    halves = _halves(model, whole, random_state)
    return DirectionAgreement(unit, len(halves), int((np.sign(halves) == side).sum()), (), measures)


def _gender_pairs(test: AssociationTest) -> list[tuple[str, str]]:
    """The base pairs of Du et al. where A and B are mostly their words; none otherwise."""
    gender = lexicon(PAIRS)
    if not isinstance(gender, Pairs) or test.language != gender.language:
        return []
    ends = [{pair[end] for pair in gender.pairs} for end in (0, 1)]
    shares = [
        sum(word in known for word in members.words) / len(members.words)
        for members, known in zip((test.a, test.b), ends, strict=True)
    ]
    return list(gender.pairs) if min(shares) >= _MOSTLY else []


def _differences(
    model: Embedding, test: AssociationTest, own: Sequence[tuple[str, str]], scores: SharedScores
) -> tuple[list[tuple[str, str]], Floats]:
    """Pairs that are defined, of its own or else the gender pairs; mean(X) − mean(Y) for each measure and pair.

    Measures of strangers come last: NaN where one has no score; their gaps take no pair from the others.
    """
    found = scores.of_pairs(model, test, own) if own else scores.of_targets(model, test)
    tables = [found.values[..., 0].astype(np.float64)]
    if added := registry.added("measure"):
        others = scores.of_pairs(model, test, found.pairs, added)
        tables.append(others.values[..., 0].astype(np.float64))
    values = np.concatenate(tables)
    index = {word: row for row, word in enumerate(found.words)}
    x, y = (values[:, :, [index[word] for word in members.words]] for members in (test.x, test.y))
    undefined = np.asarray(np.isnan(x).all(axis=2) | np.isnan(y).all(axis=2))
    usable = ~np.any(undefined[: len(MEASURES)], axis=0)
    kept = [pair for pair, good in zip(found.pairs, usable, strict=True) if good]
    x[undefined] = y[undefined] = 0.0  # a mean of nothing would warn
    differences = np.nanmean(x[:, usable], axis=2) - np.nanmean(y[:, usable], axis=2)
    differences[undefined[:, usable]] = np.nan
    return kept, differences


def _halves(model: Embedding, whole: Association, random_state: int) -> Floats:
    """The difference of the whole test from random halves of A and of B."""
    unit = {}
    for role, members in whole.coverage.sets.items():
        rows = np.asarray(model.vectors[np.asarray(members.rows, np.intp)], np.float64)
        unit[role] = unit_rows(rows, pairwise=True)
    targets = unit["x"].mean(axis=0) - unit["y"].mean(axis=0)
    random = np.random.default_rng(random_state)
    sides = []
    for role in ("a", "b"):
        leaning = unit[role] @ targets
        order = random.random((HALVES, len(leaning))).argsort(axis=1)[:, : -(-len(leaning) // 2)]
        sides.append(leaning[order].mean(axis=1))
    difference: Floats = sides[0] - sides[1]
    return difference

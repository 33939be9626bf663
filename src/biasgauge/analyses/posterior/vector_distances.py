"""Vectors and a lexicon of stereotypes to a table of cosine distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from biasgauge import lexicons
from biasgauge.analyses.posterior.table import (
    ASSOCIATED,
    DIFFERENT,
    HUMAN,
    NEUTRAL,
    DistanceTable,
    Duplicates,
    distance_table,
)
from biasgauge.core import Floats, check_number, unit_rows
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Group, Stereotypes, language_of, words_of

if TYPE_CHECKING:
    from biasgauge.core import LexiconLike, VectorsLike, WordsLike
    from biasgauge.vectors import Coverage

DEFAULT = "default"
"""Control words: those that the lexicon names; for an association test, those of its language, if it has any."""


@dataclass(frozen=True)
class ComparedWords:
    """Which words are to be compared with which.

    Attributes:
        name: of the lexicon.
        groups: protected words, and the attributes of the stereotype about them.
        slots: (group, protected word), as often as the published data repeat it.
        controls: lists of control words, by connection ("human", "neutral").
    """

    name: str
    groups: tuple[Group, ...]
    slots: tuple[tuple[str, str], ...]
    controls: Mapping[str, tuple[str, ...]]

    @property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """Every set of words by name, for coverage."""
        parts = {
            f"{group.name}.{part}": words
            for group in self.groups
            for part, words in (("protected", group.protected), ("attributes", group.attributes))
        }
        return parts | dict(self.controls)

    @property
    def words(self) -> tuple[str, ...]:
        """Every word once."""
        return tuple(dict.fromkeys(word for words in self.sets.values() for word in words))


def compared_words(
    lexicon: LexiconLike, *, human: WordsLike | None = DEFAULT, neutral: WordsLike | None = DEFAULT
) -> ComparedWords:
    """Find what to compare: a lexicon of kind "stereotypes", or of kind "test" (X goes with A, Y with B).

    Args:
        lexicon: the lexicon.
        human: control words about people: a lexicon or words; None for none.
        neutral: control words about nothing in particular; None for none.

    Raises:
        ParameterError: the lexicon is of another kind.
    """
    found = lexicons.lexicon(lexicon)
    if isinstance(found, Stereotypes):
        groups, slots = found.groups, found.slots
        named = {HUMAN: found.human, NEUTRAL: found.neutral}
    elif isinstance(found, AssociationTest):
        groups = (Group(found.x.name, found.x.words, found.a.words), Group(found.y.name, found.y.words, found.b.words))
        slots = tuple((group.name, word) for group in groups for word in group.protected)
        spoken = language_of(found.language)
        named = {name: next(iter(spoken.named(name)), None) for name in (HUMAN, NEUTRAL)}
    else:
        raise ParameterError(
            f"The lexicon {found.name!r} is of kind {found.kind!r}; distances need kind 'stereotypes' or 'test'."
        )
    asked = {
        name: named[name] if isinstance(given, str) and given == DEFAULT else given
        for name, given in ((HUMAN, human), (NEUTRAL, neutral))
    }
    controls = {name: words_of(given).words for name, given in asked.items() if given is not None}
    return ComparedWords(found.name, groups, slots, controls)


def distances(
    vectors: VectorsLike,
    lexicon: LexiconLike | ComparedWords,
    *,
    human: WordsLike | None = DEFAULT,
    neutral: WordsLike | None = DEFAULT,
    duplicates: Duplicates = "drop",
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    name: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> DistanceTable:
    """Cosine distance of every protected word from every attribute and every control word.

    Args:
        vectors: an `Embedding` or anything `load` takes; of a file only the words needed are read.
        lexicon: a lexicon of stereotypes or an association test.
        human: control words about people; those of the lexicon by default, None for none.
        neutral: control words about nothing in particular; as `human`.
        duplicates: "drop" compares every protected word once; "keep" as often as it stands in the defining sets, as
            in the published race data.
        min_coverage: share of each set that must be found; connections that need a set with less are undefined.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.
        name: what tables call the result; lexicon and model by default.
        progress: called with (done, total) as the vectors are read.

    A word is not compared with itself: that distance is 0 whatever the vectors.
    """
    from biasgauge.vectors import Embedding, load

    asked = lexicon if isinstance(lexicon, ComparedWords) else compared_words(lexicon, human=human, neutral=neutral)
    model = load(vectors, words=asked.words, case_fallback=case_fallback, progress=progress)
    coverage = model.coverage(asked.sets, case_fallback=case_fallback, directions=True)
    undefined = _undefined(asked, coverage, min_coverage)
    places = {
        word: row for counts in coverage.sets.values() for word, row in zip(counts.words, counts.rows, strict=True)
    }
    taken = np.asarray(model.vectors[np.fromiter(places.values(), np.intp, len(places))], np.float64)
    unit = dict(zip(places, unit_rows(taken, pairwise=True), strict=True))
    return distance_table(
        name or f"{asked.name}, {vectors.name if isinstance(vectors, Embedding) else model.name}",
        [row for row in _rows(asked, unit, duplicates) if row[3] not in undefined],
        duplicates=duplicates,
        lost=coverage.lost,
        coverage=coverage,
        undefined=undefined,
    )


def _undefined(asked: ComparedWords, coverage: Coverage, min_coverage: float) -> dict[str, str]:
    """Connections for which too few words were found."""
    check_number(0, 1, min_coverage=min_coverage)
    protected = [f"{group.name}.protected" for group in asked.groups]
    attributes = [f"{group.name}.attributes" for group in asked.groups]
    needs = {ASSOCIATED: attributes, DIFFERENT: attributes, **{name: [name] for name in asked.controls}}
    reasons = {}
    for connection, sets in needs.items():
        part = type(coverage)({name: coverage.sets[name] for name in (*protected, *sets)})
        if reason := part.shortfall(min_coverage):
            reasons[connection] = reason
    return reasons


def _rows(
    asked: ComparedWords, unit: Mapping[str, Floats], duplicates: Duplicates
) -> Iterator[tuple[str, str, str, str, float]]:
    lists = [(group.name, group.attributes) for group in asked.groups] + list(asked.controls.items())
    once = tuple((group.name, word) for group in asked.groups for word in group.protected)
    for group, word in asked.slots if duplicates == "keep" else once:
        if word not in unit:
            continue
        for name, words in lists:
            own = ASSOCIATED if name == group else DIFFERENT
            connection = name if name in asked.controls else own
            compared = [other for other in dict.fromkeys(words) if other in unit and other != word]
            if compared:
                cosines = np.stack([unit[other] for other in compared]) @ unit[word]
                for other, cosine in zip(compared, cosines, strict=True):
                    yield word, other, name, connection, 1 - float(cosine)

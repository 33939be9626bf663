"""Sources of tables of distances: vectors with a lexicon, data frames, and the authors' files.

Columns of files and frames, in any order: protected_word, word_to_compare, word_class, cosine_distance,
cosine_similarity, connection (associated, different, human, none). Other columns, such as the unnamed row number, are
ignored. A word that the model lacked has -100 in both numbers. Source: Dobrzeniecka & Urbaniak,
`datasets/macWeatDatasets`.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from biasgauge import lexicons
from biasgauge.analyses.posterior.table import (
    ASSOCIATED,
    CONNECTIONS,
    DIFFERENT,
    HUMAN,
    NEUTRAL,
    DistancesLike,
    DistanceTable,
    Duplicates,
    distance_table,
)
from biasgauge.core import EXACT_POLICY, Floats, WordPolicy, as_pandas, resolve_sets, unit_rows
from biasgauge.errors import CorpusError, InputError, ParameterError
from biasgauge.io import ByteSource, csv_records
from biasgauge.lexicons import AssociationTest, StereotypeGroup, Stereotypes, language_of, words_of

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.core import LexiconLike, VectorsLike, WordsLike

DEFAULT = "default"
"""Control words: those that the lexicon names; for an association test, those of its language, if it has any."""
TEXT = ("protected_word", "word_to_compare", "word_class", "connection")
NUMBERS = ("cosine_distance", "cosine_similarity")

_LABELS = {name: name for name in CONNECTIONS} | {"none": NEUTRAL}
_LONGEST_LINE = 2**16
_MOST_ROWS = 20_000_000
_FARTHEST = 2 + 1e-5
"""A cosine distance in single precision can lie a little beyond 2, or below 0."""


def table_of(source: DistancesLike, lexicon: LexiconLike | None, **settings: Any) -> DistanceTable:  # noqa: ANN401
    """Table of distances: a table as it is, a frame by its columns, vectors through a lexicon as `distances` does."""
    frame = None if isinstance(source, DistanceTable) else as_pandas(source)
    if isinstance(source, DistanceTable) or frame is not None:
        if lexicon is not None:
            raise ParameterError("A table of distances needs no lexicon: its rows say how words are connected.")
        if frame is None:
            return cast("DistanceTable", source)
        return distances_from_frame(frame, duplicates=settings.get("duplicates", "drop"))
    if lexicon is None:
        raise ParameterError(
            "Vectors need a lexicon that says which words to compare, as in bayes(vectors, 'religion'); a file of "
            "distances is read by read_distances."
        )
    return distances(source, lexicon, **settings)


@dataclass(frozen=True)
class ComparedWords:
    """Protected words and the words that they are compared with.

    Attributes:
        name: of the lexicon.
        groups: protected words, and the attributes of the stereotype about them.
        slots: (group, protected word), as often as the published data repeat it.
        controls: lists of control words, by connection ("human", "neutral").
    """

    name: str
    groups: tuple[StereotypeGroup, ...]
    slots: tuple[tuple[str, str], ...]
    controls: Mapping[str, tuple[str, ...]]

    @property
    def sets(self) -> dict[str, tuple[str, ...]]:
        """Every set of words by name, for coverage."""
        sets = dict(self.controls)
        for group in reversed(self.groups):
            sets = {f"{group.name}.protected": group.protected, f"{group.name}.attributes": group.attributes, **sets}
        return sets

    @property
    def words(self) -> tuple[str, ...]:
        """Every word once."""
        return tuple(dict.fromkeys(word for words in self.sets.values() for word in words))


def compared_words(
    lexicon: LexiconLike, *, human: WordsLike | None = DEFAULT, neutral: WordsLike | None = DEFAULT
) -> ComparedWords:
    """Select the words to compare: a lexicon of kind "stereotypes", or of kind "test" (X goes with A, Y with B).

    Args:
        lexicon: the lexicon.
        human: control words about people: a lexicon or words; None for none.
        neutral: control words about nothing in particular; None for none.

    Raises:
        ParameterError: the lexicon is of another kind.
    """
    content = lexicons.lexicon(lexicon)
    if isinstance(content, Stereotypes):
        groups, slots = content.groups, content.slots
        defaults = {HUMAN: content.human, NEUTRAL: content.neutral}
    elif isinstance(content, AssociationTest):
        pairs = ((content.x, content.a), (content.y, content.b))
        groups = tuple(StereotypeGroup(targets.name, targets.words, attributes.words) for targets, attributes in pairs)
        slots = tuple((group.name, word) for group in groups for word in group.protected)
        language = language_of(content.language)
        defaults = {name: next(iter(language.named(name)), None) for name in (HUMAN, NEUTRAL)}
    else:
        raise ParameterError(
            f"The lexicon {content.name!r} is of kind {content.kind!r}; distances need kind 'stereotypes' or 'test'."
        )
    chosen = {
        name: defaults[name] if isinstance(words, str) and words == DEFAULT else words
        for name, words in ((HUMAN, human), (NEUTRAL, neutral))
    }
    controls = {name: words_of(words).words for name, words in chosen.items() if words is not None}
    return ComparedWords(content.name, groups, slots, controls)


def distances(
    vectors: VectorsLike,
    lexicon: LexiconLike | ComparedWords,
    *,
    human: WordsLike | None = DEFAULT,
    neutral: WordsLike | None = DEFAULT,
    duplicates: Duplicates = "drop",
    policy: WordPolicy = EXACT_POLICY,
    name: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> DistanceTable:
    """Cosine distance (1 − cosine) of every protected word from every attribute and every control word.

    Args:
        vectors: an `Embedding` or anything `load` takes; of a file only the words needed are read, unless the policy
            has to see the vocabulary.
        lexicon: a lexicon of stereotypes or an association test.
        human: control words about people; those of the lexicon by default, None for none.
        neutral: control words about nothing in particular; as `human`.
        duplicates: "drop" compares every protected word once; "keep" as often as it stands in the defining sets, as
            in the published race data.
        policy: how words are looked up, and how many of each set must be found; connections that need a set with
            fewer are undefined.
        name: what tables call the result; lexicon and model by default.
        progress: called with (done, total) as the vectors are read.

    A word is not compared with itself: that distance is 0 whatever the vectors.
    """
    from biasgauge.vectors import Coverage, Embedding, load

    query = lexicon if isinstance(lexicon, ComparedWords) else compared_words(lexicon, human=human, neutral=neutral)
    words = None if policy.case == "auto" else query.words
    model = load(vectors, words=words, case_fallback=policy.case == "fallback", progress=progress)
    coverage = Coverage.from_resolved(resolve_sets(query.sets, [model], policy))
    protected = [f"{group.name}.protected" for group in query.groups]
    attributes = [f"{group.name}.attributes" for group in query.groups]
    undefined = {}
    for connection in (ASSOCIATED, DIFFERENT, *query.controls):
        needed = [*protected, *([connection] if connection in query.controls else attributes)]
        if reason := Coverage.of({key: coverage.sets[key] for key in needed}).shortfall(policy.min_coverage):
            undefined[connection] = reason
    row_of = {word: row for lookup in coverage.sets.values() for word, row in lookup.row_of.items()}
    matrix = np.asarray(model.vectors[np.fromiter(row_of.values(), np.intp, len(row_of))], np.float64)
    unit = dict(zip(row_of, unit_rows(matrix, pairwise=True), strict=True))
    return distance_table(
        name or f"{query.name}, {vectors.name if isinstance(vectors, Embedding) else model.name}",
        [row for row in _distance_rows(query, unit, duplicates) if row[3] not in undefined],
        duplicates=duplicates,
        lost=coverage.lost,
        coverage=coverage,
        undefined=undefined,
        lookup=policy.settings([model]),
    )


def _distance_rows(
    query: ComparedWords, unit: Mapping[str, Floats], duplicates: Duplicates
) -> Iterator[tuple[str, str, str, str, float]]:
    lists = [(group.name, group.attributes) for group in query.groups] + list(query.controls.items())
    once = tuple((group.name, word) for group in query.groups for word in group.protected)
    for group, word in query.slots if duplicates == "keep" else once:
        if word not in unit:
            continue
        for name, words in lists:
            connection = name if name in query.controls else ASSOCIATED if name == group else DIFFERENT
            attributes = [attribute for attribute in dict.fromkeys(words) if attribute in unit and attribute != word]
            if attributes:
                cosines = np.stack([unit[attribute] for attribute in attributes]) @ unit[word]
                for attribute, cosine in zip(attributes, cosines, strict=True):
                    yield word, attribute, name, connection, 1 - float(cosine)


_TypedRow = tuple[str, str, str, str, float | None]
"""Word, attribute, list, connection and distance; None where the file marks a word that the model lacked."""


def read_distances(
    path: str | os.PathLike[str], *, duplicates: Duplicates = "drop", name: str | None = None
) -> DistanceTable:
    """Read a CSV file of distances, plain or gzipped.

    Rows in which both numbers lie below -1 are the authors' mark of a word that the model lacked: they are dropped and
    counted, and words without any other row are listed as lost. Where only one number is given, the other follows.

    Raises:
        InputError: the file cannot be read or does not say what it should; names the file and the line.
    """
    file = Path(path)
    with ByteSource(path, error=CorpusError) as source:
        text = io.TextIOWrapper(io.BufferedReader(source.stream()), encoding="utf-8-sig", newline="")
        records = csv_records(_guarded_lines(text, file), file, needed=(*TEXT, *NUMBERS))
        try:
            rows = [_typed_row(record, f"{file}, line {line}") for record, line in records]
        except UnicodeDecodeError as problem:
            raise InputError(f"{file}: is not UTF-8 text ({problem.reason})") from problem
    return _table_of_rows(name or file.name.removesuffix(".gz").removesuffix(".csv"), rows, duplicates)


def distances_from_frame(
    frame: pd.DataFrame, *, duplicates: Duplicates = "drop", name: str = "distances"
) -> DistanceTable:
    """Take distances from a data frame with the columns of the authors' files; `cosine_similarity` may be missing.

    Raises:
        InputError: a column is missing, or a row does not say what it should.
    """
    missing = [column for column in (*TEXT, NUMBERS[0]) if column not in frame.columns]
    if missing:
        raise InputError(f"a frame of distances needs the column {missing[0]!r}; found: {', '.join(map(str, frame))}")
    columns = [column for column in (*TEXT, *NUMBERS) if column in frame.columns]
    records = enumerate(zip(*(frame[column].tolist() for column in columns), strict=True), 1)
    rows = [_typed_row(dict(zip(columns, values, strict=True)), f"row {row} of the frame") for row, values in records]
    return _table_of_rows(name, rows, duplicates)


def _guarded_lines(text: io.TextIOWrapper, path: Path) -> Iterator[str]:
    """Lines of a file, none of them endless."""
    number = 0
    while line := text.readline(_LONGEST_LINE):
        number += 1
        if len(line) == _LONGEST_LINE:
            raise InputError(f"{path}, line {number}: is longer than {_LONGEST_LINE:,} characters")
        if number > _MOST_ROWS:
            raise InputError(f"{path}: has more than {_MOST_ROWS:,} rows")
        yield line


def _typed_row(fields: Mapping[str, Any], where: str) -> _TypedRow:
    for column in TEXT:
        if not isinstance(fields[column], str) or not fields[column].strip():
            raise InputError(f"{where}: {column} must be text; found {fields[column]!r}")
    word, attribute, source, label = (fields[column].strip() for column in TEXT)
    connection = _LABELS.get(label)
    if connection is None:
        raise InputError(f"{where}: the connection must be one of {', '.join(_LABELS)}; found {label!r}")
    distance, similarity = (_number(fields.get(column), column, where) for column in NUMBERS)
    if distance is None and similarity is None:
        raise InputError(f"{where}: has neither a cosine_distance nor a cosine_similarity")
    if all(value is None or value < -1 for value in (distance, similarity)):
        return word, attribute, source, connection, None
    if distance is None or distance < -1:
        distance = 1 - cast("float", similarity)
    if not 2 - _FARTHEST <= distance <= _FARTHEST:
        raise InputError(f"{where}: a cosine distance lies between 0 and 2; found {distance!r}")
    return word, attribute, source, connection, distance


def _number(value: object, column: str, where: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(cast("str", value))
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{where}: {column} must be a number; found {value!r}")
    return number


def _table_of_rows(name: str, rows: Sequence[_TypedRow], duplicates: Duplicates) -> DistanceTable:
    """Build a table of the rows that have a distance; words that have rows but no distance at all are lost."""
    usable = [row for row in rows if row[-1] is not None]
    if not usable:
        raise InputError(f"{name}: holds no distance" + (" but those of lost words" if rows else ""))
    protected, attributes = {row[0] for row in usable}, {(row[2], row[1]) for row in usable}
    lost: dict[str, dict[str, None]] = {}
    for word, attribute, source, _, distance in rows:
        if distance is None and word not in protected:
            lost.setdefault("protected", {})[word] = None
        if distance is None and (source, attribute) not in attributes:
            lost.setdefault(source, {})[attribute] = None
    return distance_table(
        name,
        cast("list[tuple[str, str, str, str, float]]", usable),
        duplicates=duplicates,
        lost={source: tuple(words) for source, words in lost.items()},
        without_value=len(rows) - len(usable),
    )

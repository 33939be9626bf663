"""`DistanceTable`: distances between protected words and attributes; `Cells`: their sufficient statistics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Flags, Floats, JsonMapping, JsonObject, Places, check_choice
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.core import VectorsLike
    from biasgauge.vectors import Coverage

DistancesLike: TypeAlias = "DistanceTable | pd.DataFrame | VectorsLike"
"""Distances as they are, or vectors that a lexicon turns into distances."""

Duplicates = Literal["drop", "keep"]

ASSOCIATED, DIFFERENT, HUMAN, NEUTRAL = CONNECTIONS = ("associated", "different", "human", "neutral")
"""An attribute of the stereotype about the word's own group, of one about another group, a control word about people,
a control word about nothing in particular. The order of every table."""

NO_SPREAD = "all its distances are the same for each word, so there is no spread to measure"
_ROUNDING = 1e-10
"""Standard deviations below this are rounding."""

COLUMNS = ("protected_word", "word_to_compare", "word_class", "connection", "cosine_distance")


@dataclass(frozen=True, eq=False)
class DistanceTable:
    """Cosine distances in long form, one row each, sorted by connection, protected word and attribute.

    Attributes:
        name: in tables and figures.
        words: the protected words, in alphabetical order.
        attributes: the words they are compared with, in alphabetical order.
        lists: names of the lists that the attributes come from.
        connection: of each row, its index in `CONNECTIONS`.
        word: of each row, the index of its protected word in `words`.
        attribute: of each row, the index of its attribute in `attributes`.
        source: of each row, the index of its list in `lists`.
        distance: 1 − cosine, in [0, 2]; 1 means unrelated.
        lost: words that were asked for and have no distance, by set.
        without_value: rows of the input that had no distance (the word was not in the vocabulary).
        repeated: rows that repeat another one exactly, whether they were dropped or kept.
        duplicates: "drop": repeated rows count once; "keep": as often as they stand there, as published.
        coverage: how many words of each set the vectors had; None when the distances were given.
        undefined: connections that cannot be used, with the reason.
        lookup: settings by which words were looked up; empty when the distances were given.
    """

    name: str
    words: tuple[str, ...]
    attributes: tuple[str, ...]
    lists: tuple[str, ...]
    connection: NDArray[np.intp]
    word: NDArray[np.intp]
    attribute: NDArray[np.intp]
    source: NDArray[np.intp]
    distance: Floats
    lost: Mapping[str, tuple[str, ...]]
    without_value: int = 0
    repeated: int = 0
    duplicates: Duplicates = "drop"
    coverage: Coverage | None = None
    undefined: Mapping[str, str] = field(default_factory=dict)
    lookup: JsonMapping = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.distance)

    @property
    def connections(self) -> tuple[str, ...]:
        """The connections that have rows, in their order."""
        return tuple(name for index, name in enumerate(CONNECTIONS) if (self.connection == index).any())

    def rows_of(self, connections: Iterable[str]) -> NDArray[np.bool_]:
        """Mask of the rows of these connections."""
        return np.isin(self.connection, [CONNECTIONS.index(name) for name in connections])

    def select(self, rows: Places | Flags, *, relabel: bool = True) -> DistanceTable:
        """Keep some rows (a mask or indices); words that lose all their rows go, unless `relabel` is false."""
        names = ("connection", "word", "attribute", "source", "distance")
        columns: dict[str, Any] = {name: getattr(self, name)[rows] for name in names}
        for codes, labels in (("word", "words"), ("attribute", "attributes"), ("source", "lists")) if relabel else ():
            used, columns[codes] = np.unique(columns[codes], return_inverse=True)
            columns[labels] = tuple(getattr(self, labels)[index] for index in used)
        return replace(self, **columns)

    def of_word(self, word: str) -> DistanceTable:
        """Keep the rows of one protected word.

        Raises:
            ParameterError: there is no such word.
        """
        if word not in self.words:
            raise ParameterError(f"There is no protected word {word!r}; there are: {', '.join(self.words)}.")
        return self.select(self.word == self.words.index(word))

    def share_within(self, width: float) -> dict[str, float]:
        """Share of each connection's rows whose similarity is at most `width` either way from 0.

        With `width` = 1 − MAC these are the percentages of the paper's figures 3–5 and 15–17.
        """
        near = np.abs(1 - self.distance) <= width
        return {name: float(near[self.rows_of([name])].mean()) for name in self.connections}

    def similarities(self) -> tuple[Floats, ...]:
        """One matrix of cosine similarities for each list of stereotypes: protected words × attributes, for MAC.

        Raises:
            ParameterError: some protected word lacks a distance to some attribute.
        """
        blocks = []
        for index in np.unique(self.source[self.rows_of((ASSOCIATED, DIFFERENT))]):
            rows = self.source == index
            columns, column = np.unique(self.attribute[rows], return_inverse=True)
            block = np.full((len(self.words), len(columns)), np.nan)
            block[self.word[rows], column] = 1 - self.distance[rows]
            if np.isnan(block).any():
                raise ParameterError(
                    "Similarities need a distance from every protected word to every attribute; "
                    f"{self.lists[index]!r} lacks some."
                )
            blocks.append(block)
        return tuple(blocks)

    def columns(self) -> dict[str, list[Any]]:
        """The rows as columns of plain values, under the names of the authors' files; "neutral" stays "neutral"."""
        labels = (self.words, self.word), (self.attributes, self.attribute), (self.lists, self.source)
        coded = (*labels, (CONNECTIONS, self.connection))
        texts = [[names[code] for code in codes] for names, codes in coded]
        return dict(zip(COLUMNS, [*texts, self.distance.tolist()], strict=True))

    def to_frame(self) -> pd.DataFrame:
        """One row per distance."""
        import pandas as pd

        return pd.DataFrame(self.columns(), columns=list(COLUMNS))

    def summary(self) -> list[dict[str, Any]]:
        """Rows, protected words, attributes, mean and standard deviation (n − 1) of each connection."""
        summary = []
        for name in self.connections:
            rows = self.rows_of([name])
            values = self.distance[rows]
            sizes = {"words": len(np.unique(self.word[rows])), "attributes": len(np.unique(self.attribute[rows]))}
            sd = float(values.std(ddof=1)) if len(values) > 1 else None
            summary.append({"connection": name, "rows": len(values), **sizes, "mean": float(values.mean()), "sd": sd})
        return summary

    def to_dict(self) -> JsonObject:
        """Counts, means and lost words, without the rows."""
        return {
            "name": self.name,
            "rows": len(self),
            "connections": self.summary(),
            "rows_without_value": self.without_value,
            "repeated_rows": self.repeated,
            "duplicates": self.duplicates,
            "lost": {name: list(words) for name, words in self.lost.items()},
        }

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(max_rows=20))

    def __repr__(self) -> str:
        return f"<DistanceTable {self.name!r}: {len(self):,} rows, {len(self.words)} protected words>"


def distance_table(
    name: str,
    rows: Sequence[tuple[str, str, str, str, float]],
    *,
    duplicates: Duplicates = "drop",
    lost: Mapping[str, tuple[str, ...]] | None = None,
    **facts: Any,  # noqa: ANN401 - without_value, coverage, undefined, lookup
) -> DistanceTable:
    """Make a table of rows (protected word, attribute, list, connection, distance), in any order.

    Rows that say exactly the same count once, or as often as they are given with `duplicates="keep"`. `facts` are
    further attributes of the table.

    Raises:
        ParameterError: a connection is not known, or a distance is not a number in [0, 2], or two rows of the same
            words give different distances while duplicates are to be dropped.
    """
    check_choice(get_args(Duplicates), duplicates=duplicates)
    ordered = sorted((CONNECTIONS.index(row[3]), *row[:3], float(row[4])) for row in rows)
    distinct = list(dict.fromkeys(ordered))
    for row, following in pairwise(distinct if duplicates == "drop" else ()):
        if row[:4] == following[:4]:
            raise ParameterError(
                f"{row[1]!r} and {row[2]!r} ({CONNECTIONS[row[0]]}) have two distances, {row[4]:g} and "
                f'{following[4]:g}; keep one of them, or count both with duplicates="keep".'
            )
    counted = ordered if duplicates == "keep" else distinct
    (words, word), (attributes, attribute), (lists, source) = (
        _encode_labels([str(row[column]) for row in counted]) for column in (1, 2, 3)
    )
    connection = np.array([row[0] for row in counted], np.intp)
    distance = np.array([row[4] for row in counted], np.float64)
    return DistanceTable(
        name, words, attributes, lists, connection, word, attribute, source, distance, dict(lost or {}),
        repeated=len(ordered) - len(distinct), duplicates=duplicates, **facts,
    )  # fmt: skip


def _encode_labels(labels: Sequence[str]) -> tuple[tuple[str, ...], Places]:
    """Distinct labels in alphabetical order, and the index of each label among them."""
    distinct = tuple(sorted(set(labels)))
    index = {label: code for code, label in enumerate(distinct)}
    return distinct, np.array([index[label] for label in labels], np.intp)


NO_DISTANCES = distance_table("", ())
"""The table of a posterior that was read from JSON."""


@dataclass(frozen=True, eq=False)
class Cells:
    """The words of one connection: sufficient statistics of the Normal model.

    Attributes:
        connection: its name.
        words: indices of its words in the table's `words`.
        count: distances of each word.
        mean: their mean.
        within: sum of squares around the means, all words together.
    """

    connection: str
    words: NDArray[np.intp]
    count: Floats
    mean: Floats
    within: float

    @property
    def rows(self) -> int:
        """Distances in all."""
        return int(self.count.sum())

    @property
    def df_within(self) -> int:
        """Distances beyond the first of each word: what tells of the residual spread."""
        return self.rows - len(self.words)

    @property
    def spread(self) -> float:
        """Standard deviation of all distances around their mean."""
        center = (self.count * self.mean).sum() / self.rows
        return float(np.sqrt((self.within + (self.count * (self.mean - center) ** 2).sum()) / self.rows))

    @property
    def degenerate(self) -> bool:
        """True when the likelihood grows without bound as sigma goes to 0: there is no posterior."""
        if self.df_within:
            return self.within <= self.df_within * _ROUNDING**2
        return len(self.words) > 1 and float(np.ptp(self.mean)) <= _ROUNDING


def cell_labels(cells: Sequence[Cells]) -> dict[str, Any]:
    """Connection and word of each cell, as fields of `Draws`."""
    return {
        "connections": tuple(cell.connection for cell in cells),
        "cell_connection": np.concatenate([np.full(len(cell.words), at) for at, cell in enumerate(cells)]),
        "cell_word": np.concatenate([cell.words for cell in cells]),
    }


def cells_of(table: DistanceTable) -> list[Cells]:
    """The cells of each connection that has rows, in the order of `CONNECTIONS`."""
    cells = []
    for connection in table.connections:
        rows = table.rows_of([connection])
        words, word = np.unique(table.word[rows], return_inverse=True)
        values, count = table.distance[rows], np.bincount(word).astype(np.float64)
        mean = np.bincount(word, values) / count
        mean += np.bincount(word, values - mean[word]) / count  # a second pass takes the rounding out
        residual = values - mean[word]
        cells.append(Cells(connection, words, count, mean, float(residual @ residual)))
    return cells

"""Typical contexts: occurrences nearest to the embedding of the targets at chosen values of covariates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biasgauge.analyses.regress.model import RegressionModel, describe_values
from biasgauge.core import JsonMapping, Record, check_whole, unit_rows
from biasgauge.results import Column, RecordTable, Result, counted
from biasgauge.text import PADDING


@dataclass(frozen=True)
class TypicalContext(Record):
    """An occurrence of a target.

    Attributes:
        document: name of the document: its row in the table, from 1, or its file.
        position: number of the token in the document, from 0.
        word: the target.
        cosine: of its embedding with that of the targets at the chosen values.
        text: the words around it, where they were asked for.
    """

    document: str
    position: int
    word: str
    cosine: float
    text: str | None = None


_COLUMNS = ("document", Column("position", "count"), "word", Column("cosine", "number"), "text")


@dataclass(frozen=True, eq=False, repr=False)
class TypicalContexts(Result):
    """Occurrences of the targets that are nearest to their embedding at chosen values of covariates.

    Attributes:
        rows: one row per occurrence, the nearest first.
        values: the values of covariates.
    """

    tables: ClassVar[tuple[str, ...]] = ("rows",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("rows", "Typical contexts", _COLUMNS, drop_empty=True),
    )

    rows: tuple[TypicalContext, ...]
    values: JsonMapping

    def _title(self) -> str:
        return f"Typical contexts at {describe_values(self.values)}"

    def _headline(self) -> str:
        return f"{self._title()}: {counted(self.rows, 'occurrence')}"


def typical_contexts(
    model: RegressionModel, targets: Sequence[str], values: Mapping[str, Any], *, most: int, show_text: bool
) -> TypicalContexts:
    """Read the text again and keep the occurrences of the largest cosine; one block is in memory at a time."""
    check_whole(1, most=most)
    prediction = model.design.row(values) @ model.coefficients
    prediction /= np.linalg.norm(prediction)
    # Documents that have the chosen values of factors; numbers are rarely met exactly, and choose none.
    chosen = np.ones(len(model.documents), bool)
    for name, value in values.items():
        if name in model.design.levels:
            chosen &= (model.design.frame[name] == str(value)).to_numpy(bool)
    eligible = np.zeros(len(model.ids), bool)
    eligible[model.documents[chosen]] = True
    kept: list[tuple[float, int, int, int]] = []
    for block in model.reader.occurrences(targets):
        inside = np.flatnonzero(eligible[block.documents])
        cosines = unit_rows(block.means[inside] @ model.transform.matrix.T) @ prediction
        rows = zip(
            (-cosines).tolist(), block.documents[inside].tolist(), block.positions[inside].tolist(),
            block.words[inside].tolist(), strict=True,
        )  # fmt: skip
        kept = sorted([*kept, *rows])[:most]
    corpus, window = model.reader.corpus, model.reader.window
    contexts = []
    for cosine, document, position, word in kept:
        first = int(corpus.lines[corpus.documents[document]])
        text = None
        if show_text:
            line = int(np.searchsorted(corpus.lines, position, "right")) - 1
            start, end = int(corpus.lines[line]), int(corpus.lines[line + 1])
            tokens = corpus.tokens[max(start, position - window) : min(end, position + window + 1)].tolist()
            text = " ".join(corpus.words[token].replace(PADDING, "…") for token in tokens)
        contexts.append(TypicalContext(model.ids[document], position - first, targets[word], -cosine, text))
    return TypicalContexts(tuple(contexts), dict(values))

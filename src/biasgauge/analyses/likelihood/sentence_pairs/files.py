"""Pairs of sentences from a CSV file, a frame or a list; scores of pairs from a CSV file."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from biasgauge.analyses.likelihood.files import read_rows
from biasgauge.core import Floats
from biasgauge.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    import pandas as pd

PairsOfSentences: TypeAlias = "str | os.PathLike[str] | pd.DataFrame | Iterable[SentencePair | Sequence[str]]"
"""Pairs of sentences: a CSV file or a frame with columns first and second (or sent_more, sent_less), or a list."""
FIRST, SECOND = ("first", "sent_more"), ("second", "sent_less")
CLUSTER, GROUP = ("cluster", "anon_writer"), ("group", "bias_type")
DIRECTION = ("stereo_antistereo",)
IDS = ("id", "")
SCORES = (("first_score", "sent_more_score"), ("second_score", "sent_less_score"))


@dataclass(frozen=True)
class SentencePair:
    """Two sentences to be compared.

    Attributes:
        first: the one whose preference is counted, such as the more stereotypical.
        second: the other.
        identifier: by which it is known in results, which never show the sentences.
        cluster: pairs of one cluster are not independent: those of one template, of one writer.
        group: pairs of one group get numbers of their own.
        direction: of CrowS-Pairs: "stereo" where the first sentence shows a stereotype, "antistereo" where the second
            shows its opposite.
    """

    first: str
    second: str
    identifier: str = ""
    cluster: str = ""
    group: str = ""
    direction: str = ""

    def __repr__(self) -> str:
        return f"SentencePair({self.identifier!r})"


def read_pairs(pairs: PairsOfSentences, *, cluster: str | None = None, group: str | None = None) -> list[SentencePair]:
    """Pairs in whatever form, with distinct ids.

    Args:
        pairs: a file, a frame or a list.
        cluster: column that says which pairs belong together; "cluster" or "anon_writer" where there is one.
        group: column that says which pairs get numbers of their own; "group" or "bias_type" where there is one.

    Raises:
        CorpusError: a file is not what it should be.
        ParameterError: there are no pairs, or something else was given.
    """
    if isinstance(pairs, str | os.PathLike):
        rows: Sequence[Mapping[str, Any]] = read_rows(pairs, [FIRST, SECOND])
        listed = _from_rows(rows, cluster, group, pairs)
    elif hasattr(pairs, "to_dict") and hasattr(pairs, "columns"):
        records: Any = pairs.to_dict("records")
        listed = _from_rows(records, cluster, group, None)
    else:
        listed = [_from_sequence(pair) for pair in pairs]
    named = [_numbered(pair, place) for place, pair in enumerate(listed)]
    if not named:
        raise ParameterError("There must be at least one pair of sentences.")
    counts = Counter(pair.identifier for pair in named)
    twice = next((identifier for identifier, count in counts.items() if count > 1), None)
    if twice is not None:
        raise ParameterError(f"Every pair needs an id of its own. Got {twice!r} {counts[twice]} times.")
    return named


def _from_rows(
    rows: Sequence[Mapping[str, Any]], cluster: str | None, group: str | None, path: str | os.PathLike[str] | None
) -> list[SentencePair]:
    header = list(rows[0]) if rows else []
    columns = {
        "first": _column(header, None, FIRST, path),
        "second": _column(header, None, SECOND, path),
        "cluster": _column(header, cluster, CLUSTER, path, needed=False),
        "group": _column(header, group, GROUP, path, needed=False),
        "direction": _column(header, None, DIRECTION, path, needed=False),
        "identifier": _column(header, None, IDS, path, needed=False),
    }
    return [
        SentencePair(**{field: str(row[name]) for field, name in columns.items() if name is not None}) for row in rows
    ]


def _column(
    found: Sequence[str],
    asked: str | None,
    usual: Sequence[str],
    path: str | os.PathLike[str] | None,
    *,
    needed: bool = True,
) -> str | None:
    name = asked if asked is not None else next((name for name in usual if name in found), None)
    if (name is None and needed) or (asked is not None and asked not in found):
        raise CorpusError(f"has no column {asked or usual[0]!r}", path=path, line=None if path is None else 1)
    return name


def _from_sequence(pair: SentencePair | Sequence[str]) -> SentencePair:
    if isinstance(pair, SentencePair):
        return pair
    texts = list(pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else []
    if len(texts) != 2 or not all(isinstance(text, str) for text in texts):
        raise ParameterError("A pair must be two sentences, or a SentencePair.")
    return SentencePair(*texts)


def _numbered(pair: SentencePair, place: int) -> SentencePair:
    identifier = pair.identifier or str(place)
    return SentencePair(pair.first, pair.second, identifier, pair.cluster or identifier, pair.group, pair.direction)


def read_pair_scores(path: str | os.PathLike[str], ids: Sequence[str]) -> Floats:
    """Scores of pairs × 2 by their ids, from a CSV file; NaN where a pair or a score is missing.

    Columns: id (or none, as the first column of the authors' output), sent_more_score and sent_less_score or
    first_score and second_score.

    Raises:
        CorpusError: it is something else, a pair stands there twice, or it has no pair in common with the ids.
    """
    rows = read_rows(path, [IDS, *SCORES])
    names = [next(name for name in usual if name in rows[0]) for usual in (IDS, *SCORES)]
    known: dict[str, tuple[float, float]] = {}
    for line, row in enumerate(rows, start=2):
        identifier = row[names[0]]
        if identifier in known:
            raise CorpusError(f"the pair {identifier!r} has scores twice", path=path, line=line)
        known[identifier] = (_number(row[names[1]], path, line), _number(row[names[2]], path, line))
    if not known.keys() & set(ids):
        raise CorpusError("has no pair in common with the data; check the ids", path=path)
    return np.array([known.get(identifier, (nan, nan)) for identifier in ids])


def _number(text: str, path: str | os.PathLike[str], line: int) -> float:
    try:
        return float(text) if text.strip() else nan
    except ValueError as problem:
        raise CorpusError("a score must be a number, or empty where there is none", path=path, line=line) from problem

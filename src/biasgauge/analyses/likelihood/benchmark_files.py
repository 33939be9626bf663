"""Files of benchmarks: StereoSet's clusters and predictions, pairs of sentences and their scores; compressed or not.

Sentences of benchmarks are offensive by design: no message ever quotes one, only its id, line or column.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from biasgauge.core import Floats
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import ByteSource, CsvRow, JSONProblem, csv_rows, parse_json

if TYPE_CHECKING:
    import pandas as pd

SPLITS = ("intrasentence", "intersentence")
LABELS = ("stereotype", "anti-stereotype", "unrelated")
DOMAINS = ("gender", "profession", "race", "religion")
PairsOfSentences: TypeAlias = "str | os.PathLike[str] | pd.DataFrame | Iterable[SentencePair | Sequence[str]]"
"""Pairs of sentences: a CSV file or a frame with columns first and second (or sent_more, sent_less), or a list."""
FIRST, SECOND = ("first", "sent_more"), ("second", "sent_less")
CLUSTER, GROUP = ("cluster", "anon_writer"), ("group", "bias_type")
DIRECTION = ("stereo_antistereo",)
IDS = ("id", "")
SCORES = (("first_score", "sent_more_score"), ("second_score", "sent_less_score"))
_BLOCK = 2**22


def read_text(path: str | os.PathLike[str]) -> str:
    """A text file in UTF-8, whole."""
    with ByteSource(path, error=CorpusError) as source:
        content = b"".join(iter(lambda: source.read(_BLOCK), b""))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise CorpusError("is not UTF-8; convert it first", path=path, offset=problem.start) from problem


def read_json(path: str | os.PathLike[str]) -> Any:  # noqa: ANN401 - whatever the file holds
    """The content of a JSON file; `CorpusError` where it is something else."""
    try:
        return parse_json(read_text(path))
    except JSONProblem as problem:
        raise CorpusError(f"is not JSON: {problem}", path=path) from problem


def read_rows(path: str | os.PathLike[str], needed: Sequence[Sequence[str]]) -> list[dict[str, str]]:
    """Rows of a CSV file with a header, by column; comma, semicolon or tab.

    Args:
        path: the file.
        needed: columns that must be there, each as the names that it may have.
    """
    text = read_text(path)
    head = text.partition("\n")[0]
    separator = max(",;\t", key=head.count)
    rows = (row for row in csv_rows(io.StringIO(text), path, error=CorpusError, separator=separator) if row.cells)
    header, _ = next(rows, CsvRow([], 1))
    for names in needed:
        if not any(name in header for name in names):
            wanted = " or ".join(repr(name) for name in names)
            raise CorpusError(f"has no column {wanted}; its header has {len(header)} columns", path=path, line=1)
    content = []
    for cells, line in rows:
        if len(cells) != len(header):
            problem = f"has another number of columns than the header ({len(header)})"
            raise CorpusError(problem, path=path, line=line)
        content.append(dict(zip(header, cells, strict=True)))
    if not content:
        raise CorpusError("has no rows below its header", path=path)
    return content


@dataclass(frozen=True)
class Cluster:
    """Three sentences about one target: a stereotype, an anti-stereotype, and an unrelated one.

    Attributes:
        identifier: of the cluster.
        split: "intrasentence" (three sentences) or "intersentence" (three continuations of a context).
        target: the term that they are about.
        domain: gender, profession, race or religion.
        sentences: their ids, in the order of `LABELS`.
        texts: their texts, in the same order; never shown.
        context: what an intersentence cluster continues; never shown.
    """

    identifier: str
    split: str
    target: str
    domain: str
    sentences: tuple[str, str, str]
    texts: tuple[str, str, str]
    context: str = ""

    def __repr__(self) -> str:
        return f"Cluster({self.identifier!r}, {self.split!r}, {self.domain!r})"


def read_clusters(path: str | os.PathLike[str]) -> tuple[Cluster, ...]:
    """Clusters of StereoSet's `dev.json`, compressed or not, intrasentence first.

    Raises:
        CorpusError: the file is something else, or a cluster lacks one of the three sentences.
    """
    content = read_json(path)
    data = content.get("data") if isinstance(content, dict) else None
    lists: list[Any] = [data.get(split, []) for split in SPLITS] if isinstance(data, dict) else [None]
    if not any(lists) or not all(isinstance(items, list) for items in lists):
        raise CorpusError(
            "is not StereoSet: expected an object 'data' with lists 'intrasentence' and 'intersentence'", path=path
        )
    clusters = [_cluster(item, split, path) for split, items in zip(SPLITS, lists, strict=True) for item in items]
    seen: dict[str, str] = {}
    for cluster in clusters:
        for sentence in cluster.sentences:
            if sentence in seen:
                raise CorpusError(
                    f"the sentence {sentence!r} stands in the clusters {seen[sentence]!r} and {cluster.identifier!r}",
                    path=path,
                )
            seen[sentence] = cluster.identifier
    return tuple(clusters)


def _cluster(item: object, split: str, path: str | os.PathLike[str]) -> Cluster:
    fields = item if isinstance(item, dict) else {}
    identifier = fields.get("id")
    if not isinstance(identifier, str):
        raise CorpusError(f"a cluster of {split} has no 'id'", path=path)
    texts = {name: fields.get(name) for name in ("target", "bias_type", "context")}
    sentences = fields.get("sentences")
    if not all(isinstance(text, str) for text in texts.values()) or not isinstance(sentences, list):
        raise CorpusError(f"the cluster {identifier!r} must have target, bias_type, context and sentences", path=path)
    by_label = {str(part.get("gold_label")): part for part in sentences if isinstance(part, dict)}
    if sorted(by_label) != sorted(LABELS) or len(sentences) != len(LABELS):
        raise CorpusError(
            f"the cluster {identifier!r} must have one sentence for each gold_label of {', '.join(LABELS)}", path=path
        )
    parts = [by_label[label] for label in LABELS]
    if not all(isinstance(part.get(key), str) for part in parts for key in ("id", "sentence")):
        raise CorpusError(f"a sentence of the cluster {identifier!r} has no id or no text", path=path)
    ids, words = (tuple(part[key] for part in parts) for key in ("id", "sentence"))
    return Cluster(identifier, split, texts["target"], texts["bias_type"], ids, words, texts["context"])  # type: ignore[arg-type]  # three each, checked above


def read_scores(predictions: str | os.PathLike[str] | Mapping[str, float | None]) -> dict[str, float]:
    """Scores of sentences by id; NaN where a score is null.

    Args:
        predictions: a file in the layout of the authors' own predictions, {"intrasentence": [{"id", "score"}, …],
            "intersentence": […]}, or a mapping from the id of a sentence to its score.

    Raises:
        CorpusError: the file is something else, or a sentence has two scores.
        ParameterError: the mapping holds something else.
    """
    if isinstance(predictions, Mapping):
        for identifier, score in predictions.items():
            if not isinstance(identifier, str) or not _is_score(score):
                raise ParameterError(f"Predictions must map ids to numbers. Got {score!r} for {identifier!r}.")
        return {identifier: nan if score is None else float(score) for identifier, score in predictions.items()}
    content = read_json(predictions)
    lists = [content.get(split) for split in SPLITS] if isinstance(content, dict) else []
    if not any(isinstance(rows, list) for rows in lists):
        raise CorpusError(
            "is not a file of predictions: expected lists 'intrasentence' and 'intersentence' of {id, score}",
            path=predictions,
        )
    scores: dict[str, float] = {}
    for row in (row for rows in lists if isinstance(rows, list) for row in rows):
        name: Any = row.get("id") if isinstance(row, dict) else None
        if not isinstance(name, str) or "score" not in row or not _is_score(row["score"]):
            raise CorpusError(
                f"a prediction must be an id and a number or null; one is not (id {name!r})", path=predictions
            )
        score = nan if row["score"] is None else float(row["score"])
        earlier = scores.get(name, nan)
        if not isnan(earlier) and earlier != score:
            raise CorpusError(f"the sentence {name!r} has two scores", path=predictions)
        scores[name] = score
    return scores


def _is_score(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


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
        listed = _from_rows(read_rows(pairs, [FIRST, SECOND]), cluster, group, pairs)
    elif hasattr(pairs, "to_dict") and hasattr(pairs, "columns"):
        records: Any = pairs.to_dict("records")
        listed = _from_rows(records, cluster, group, None)
    else:
        listed = [_from_sequence(pair) for pair in pairs]
    if not listed:
        raise ParameterError("There must be at least one pair of sentences.")
    numbered = []
    for index, pair in enumerate(listed):
        identifier = pair.identifier or str(index)
        numbered.append(replace(pair, identifier=identifier, cluster=pair.cluster or identifier))
    identifier, count = Counter(pair.identifier for pair in numbered).most_common(1)[0]
    if count > 1:
        raise ParameterError(f"Every pair needs an id of its own. Got {identifier!r} {count} times.")
    return numbered


def _from_rows(
    rows: Sequence[Mapping[str, Any]], cluster: str | None, group: str | None, path: str | os.PathLike[str] | None
) -> list[SentencePair]:
    """Pairs of rows by column: a column that the user names must be there, and so must those of the sentences."""
    header = list(rows[0]) if rows else []
    named = {"cluster": cluster, "group": group}
    usual = {"first": FIRST, "second": SECOND, "cluster": CLUSTER, "group": GROUP, "direction": DIRECTION,
             "identifier": IDS}  # fmt: skip
    columns = {}
    for field, names in usual.items():
        requested = named.get(field)
        column = next((name for name in ([requested] if requested is not None else names) if name in header), None)
        if column is None and (requested is not None or field in {"first", "second"}):
            raise CorpusError(f"has no column {requested or names[0]!r}", path=path, line=None if path is None else 1)
        if column is not None:
            columns[field] = column
    return [SentencePair(**{field: str(row[name]) for field, name in columns.items()}) for row in rows]


def _from_sequence(pair: SentencePair | Sequence[str]) -> SentencePair:
    if isinstance(pair, SentencePair):
        return pair
    texts = list(pair) if isinstance(pair, Sequence) and not isinstance(pair, str) else []
    if len(texts) != 2 or not all(isinstance(text, str) for text in texts):
        raise ParameterError("A pair must be two sentences, or a SentencePair.")
    return SentencePair(*texts)


def read_pair_scores(path: str | os.PathLike[str], ids: Sequence[str]) -> Floats:
    """Scores of pairs × 2 by their ids, from a CSV file; NaN where a pair or a score is missing.

    Columns: id (or none, as the first column of the authors' output), sent_more_score and sent_less_score or
    first_score and second_score.

    Raises:
        CorpusError: it is something else, a pair stands there twice, or it has no pair in common with the ids.
    """
    rows = read_rows(path, [IDS, *SCORES])
    names = [next(name for name in usual if name in rows[0]) for usual in (IDS, *SCORES)]
    scores: dict[str, tuple[float, float]] = {}
    for line, row in enumerate(rows, start=2):
        identifier = row[names[0]]
        if identifier in scores:
            raise CorpusError(f"the pair {identifier!r} has scores twice", path=path, line=line)
        try:
            first, second = (float(row[name]) if row[name].strip() else nan for name in names[1:])
        except ValueError as problem:
            sentence = "a score must be a number, or empty where there is none"
            raise CorpusError(sentence, path=path, line=line) from problem
        scores[identifier] = first, second
    if not scores.keys() & set(ids):
        raise CorpusError("has no pair in common with the data; check the ids", path=path)
    return np.array([scores.get(identifier, (nan, nan)) for identifier in ids])

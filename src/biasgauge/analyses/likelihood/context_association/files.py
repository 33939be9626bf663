"""StereoSet from its own files: clusters of three sentences, and scores of sentences by id."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

from biasgauge.analyses.likelihood.files import read_json
from biasgauge.errors import CorpusError, ParameterError

SPLITS = ("intrasentence", "intersentence")
LABELS = ("stereotype", "anti-stereotype", "unrelated")
DOMAINS = ("gender", "profession", "race", "religion")


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
    own = item if isinstance(item, dict) else {}
    identifier = own.get("id")
    if not isinstance(identifier, str):
        raise CorpusError(f"a cluster of {split} has no 'id'", path=path)
    texts = {name: own.get(name) for name in ("target", "bias_type", "context")}
    sentences = own.get("sentences")
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
        known = scores.get(name, nan)
        if not isnan(known) and known != score:
            raise CorpusError(f"the sentence {name!r} has two scores", path=predictions)
        scores[name] = score
    return scores


def _is_score(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))

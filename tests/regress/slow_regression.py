"""Embedding regression over single occurrences in plain Python, to hold the fast one against; and small texts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from biasgauge.core import Floats

_SNOWBALL = """
    i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers
    herself it its itself they them their theirs themselves what which who whom this that these those am is
    are was were be been being have has had having do does did doing would should could ought a an the and but
    if or because as until while of at by for with about against between into through during before after
    above below up down in out on off over under again further then once here there when where why how all any
    both each few more most other some such no nor not only own same so than too very will cannot
"""
STOP_WORDS = frozenset(_SNOWBALL.split())
"""English stop words of the Snowball list that have no apostrophe."""
DIM = 5


@dataclass
class SlowOccurrences:
    """Single occurrences: embeddings, design, documents and words."""

    embeddings: Floats
    design: Floats
    documents: Any
    words: list[str]

    def fit(self) -> Floats:
        return np.asarray(np.linalg.lstsq(self.design, self.embeddings, rcond=None)[0], np.float64)

    def hc1_bias(self) -> Floats:
        n, k = self.design.shape
        residuals = self.embeddings - self.design @ self.fit()
        weights = (self.design @ np.linalg.inv(self.design.T @ self.design)) ** 2
        bias: Floats = (weights * (residuals**2).sum(axis=1)[:, None]).sum(axis=0) * n / (n - k)
        return bias


def slow_occurrences(
    records: list[dict[str, Any]], targets: list[str], vectors: dict[str, Floats], matrix: Floats, window: int,
    design: Any,  # noqa: ANN401 - a function from a record to a row
) -> SlowOccurrences:  # fmt: skip
    embeddings, rows, documents, words = [], [], [], []
    for number, record in enumerate(records):
        tokens = record["tokens"]
        for center, token in enumerate(tokens):
            around = tokens[max(0, center - window) : center] + tokens[center + 1 : center + window + 1]
            context = [vectors[word] for word in around if word in vectors]
            if token in targets and context:
                embeddings.append(matrix @ np.mean(context, axis=0))
                rows.append(design(record))
                documents.append(number)
                words.append(token)
    return SlowOccurrences(np.array(embeddings), np.array(rows, float), np.array(documents), words)


def small_vectors(seed: int = 0, types: int = 30) -> dict[str, Floats]:
    rng = np.random.default_rng(seed)
    return {f"w{number}": rng.normal(size=DIM) for number in range(types)}


def small_text(
    seed: int, *, documents: int = 60, length: int = 60, odds: float = 1.0, targets: int = 1, authors: int = 0
) -> list[dict[str, Any]]:
    """Random words; in documents of group "y" the words w0 to w4 are `odds` times as likely after a target."""
    rng = np.random.default_rng(seed)
    names = [f"t{number}" for number in range(targets)]
    records = []
    for number in range(documents):
        group = "y" if number % 2 else "x"
        shares = np.ones(30)
        shares[:5] *= odds if group == "y" else 1.0
        tokens: list[str] = []
        for _ in range(length // 6):
            near, far = rng.choice(30, 3, p=shares / shares.sum()), rng.choice(30, 8)
            tokens += [names[rng.integers(targets)], *(f"w{word}" for word in (*near, *far))]
        record = {"tokens": tokens, "group": group, "year": float(rng.integers(0, 10))}
        if authors:
            record["author"] = f"a{number % authors}"
        records.append(record)
    return records

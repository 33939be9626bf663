"""The rows of vectors that a task needs: one for each of its words that has a vector, and two zero rows."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from biasgauge.applications.classification.texts import Tokenized
from biasgauge.core import JsonObject, Singles, VectorsLike, check_choice
from biasgauge.errors import ParameterError
from biasgauge.results import share_text
from biasgauge.vectors import load, load_subwords

Unknown = Literal["zero", "subwords"]
LOW_COVERAGE = 0.5
"""Share of running words with a vector below which results say little about the vectors."""


@dataclass(frozen=True)
class TaskVectors:
    """Vectors for the words of a task, which have the rows from 1 on in the order of the alphabet.

    The first row is zero and stands for words without a vector, the last for what is beyond the end of a text.
    """

    name: str
    numbers: Mapping[str, int]
    table: Singles
    coverage: JsonObject
    warnings: tuple[str, ...]

    @property
    def checksum(self) -> str:
        """SHA-256 of words and rows."""
        digest = hashlib.sha256(f"{self.table.shape}\n".encode())
        for word in self.numbers:
            raw = word.encode("utf-8", "surrogatepass")
            digest.update(len(raw).to_bytes(8, "little") + raw)
        digest.update(np.ascontiguousarray(self.table, "<f4").data)
        return digest.hexdigest()


def task_vectors(
    vectors: VectorsLike,
    parts: Iterable[Tokenized],
    task: str,
    unknown: Unknown = "zero",
    progress: Callable[[int, int], None] | None = None,
) -> TaskVectors:
    """Read the vectors of the words of a task's texts; at least one must have one.

    A word without a vector gets "zero", as published, or for a fastText model with n-grams the vector that its
    "subwords" compose.
    """
    check_choice(get_args(Unknown), unknown=unknown)
    counts = Counter(token for split in parts for text in split.tokens for token in text)
    embedding = load(vectors, words=list(counts), progress=progress)
    if unknown == "subwords":
        if not isinstance(vectors, (str, os.PathLike)):
            raise ParameterError("The 'unknown' setting can be subwords for a file of vectors with n-grams only.")
        embedding = load_subwords(vectors).extend(embedding, list(counts))
    words = sorted(word for word in counts if word in embedding)
    tokens, tokens_found = sum(counts.values()), sum(counts[word] for word in words)
    if not words:
        raise ParameterError(
            f"The vectors {embedding.name!r} have none of the {len(counts):,} different words of {task}; are they of "
            "another language, or cased where the texts are not?"
        )
    table = np.zeros((len(words) + 2, embedding.dim), np.float32)
    table[1:-1] = embedding.vectors[embedding.lookup(words).rows]
    warnings = [f"{embedding.name}: {notice.message}" for notice in embedding.notices if notice.code != "composed"]
    if tokens_found < LOW_COVERAGE * tokens:
        warnings.append(
            f"only {share_text(tokens_found / tokens)} of the running words of {task} have a vector, so results say "
            "little about the vectors"
        )
    coverage = {"asked": len(counts), "found": len(words), "asked_tokens": tokens, "found_tokens": tokens_found}
    numbers = {word: row for row, word in enumerate(words, 1)}
    return TaskVectors(embedding.name, numbers, table, coverage, tuple(warnings))

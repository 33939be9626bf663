"""Folders of static embeddings: model2vec's, and the `StaticEmbedding` of sentence-transformers.

Such a folder holds a matrix in `model.safetensors` with a row for each token of `tokenizer.json`. The words are the
tokens that can stand at the beginning of a word; a piece that only continues words is called `##piece`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from biasgauge.errors import EmbeddingFormatError
from biasgauge.io import read_json_object

_INNER = ("", "0_StaticEmbedding", "1_StaticEmbedding")
WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"
_MOST_TOKENS = 2**24
_MARKS = ("▁", "Ġ")
"""Signs before a token that begins a word: of SentencePiece, and of byte-level tokenizers."""


def static_weights(folder: Path) -> Path | None:
    """File of the matrix in a folder of static embeddings; None where it is no such folder."""
    if not os.path.isdir(folder):  # noqa: PTH112 - never raises
        return None
    for inner in _INNER:
        if (folder / inner / WEIGHTS).is_file() and (folder / inner / TOKENIZER).is_file():
            return folder / inner / WEIGHTS
    return None


def read_tokens(path: Path) -> list[str]:
    """Tokens of a `tokenizer.json`, in the order of their rows.

    Raises:
        EmbeddingFormatError: it is not a tokenizer's file.
    """
    content = read_json_object(path, error=EmbeddingFormatError)
    model = content.get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    rows: dict[Any, Any] = {}
    if isinstance(vocabulary, dict):
        rows = {row: token for token, row in vocabulary.items() if isinstance(row, int)}
    elif isinstance(vocabulary, list):  # tokens with their scores
        rows = {row: pair[0] for row, pair in enumerate(vocabulary) if isinstance(pair, list) and pair}
    added = content.get("added_tokens")
    for token in added if isinstance(added, list) else []:
        if isinstance(token, dict) and isinstance(token.get("id"), int):
            rows.setdefault(token["id"], token.get("content"))
    count = max(rows, default=-1) + 1
    if not 0 < count <= _MOST_TOKENS or not all(isinstance(token, str) and row >= 0 for row, token in rows.items()):
        raise EmbeddingFormatError("is not a tokenizer's file with a vocabulary of tokens and their rows", path=path)
    return _as_words([rows.get(row, "") for row in range(count)])


def _as_words(tokens: list[str]) -> list[str]:
    """Take the mark off tokens that begin a word, and mark those that do not, where a vocabulary has such marks."""
    mark = next((mark for mark in _MARKS if any(token.startswith(mark) for token in tokens)), None)
    if mark is None:
        return tokens
    if mark == "Ġ":
        tokens = [_decode_bytes(token) for token in tokens]
        mark = " "
    return [
        token.removeprefix(mark) if token.startswith(mark) and token != mark else f"##{token}" if token else ""
        for token in tokens
    ]


def _decode_bytes(token: str) -> str:
    """Text of a byte-level token, whose characters stand for bytes."""
    if not all(character in _BYTES for character in token):
        return token
    return bytes(_BYTES[character] for character in token).decode("utf-8", "backslashreplace")


def _byte_characters() -> dict[str, int]:
    """Byte of each character of byte-level tokens: printable Latin-1 is itself, other bytes follow from U+0100 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {chr(byte): byte for byte in printable} | {chr(256 + number): byte for number, byte in enumerate(others)}


_BYTES = _byte_characters()

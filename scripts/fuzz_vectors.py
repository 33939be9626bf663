"""Readers of vectors of other tools, for `scripts/fuzz.py`; those of our own and of word2vec are in `fuzz_files`."""

from __future__ import annotations

import io
import pickle
from typing import TYPE_CHECKING

import numpy as np
from fuzz_target import Target

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_WORDS = ("a", "über", "1e5")
_NUMBERS = np.array([[0.5, -1.25], [3, 1024], [0.0625, -2.5]], np.float32)
_TOKENIZERS = (
    b'{"model": {"type": "WordPiece", "vocab": {"a": 0, "##b": 1, "c": 2}}}',
    b'{"model": {"vocab": [["\xe2\x96\x81a", -1.5], ["b", -2.0]]}, "added_tokens": [{"id": 2, "content": "c"}]}',
    b'{"model": {"type": "BPE", "vocab": {"\xc4\xa0a": 0, "\xc3\xbc": 1, "c": 2}}}',
)


def _pickles() -> tuple[bytes, ...]:
    rows = _NUMBERS.tolist()
    values = (dict(zip(_WORDS, rows, strict=True)), (_WORDS, rows), (_WORDS, _NUMBERS))
    return tuple(pickle.dumps(value, protocol) for protocol in range(6) for value in values)


def _read_histwords(path: Path) -> object:
    """A decade of HistWords, of which the pickled vocabulary is the input."""
    from biasgauge.vectors import load

    stored = io.BytesIO()
    np.save(stored, _NUMBERS)
    path.with_name("1990-w.npy").write_bytes(stored.getvalue())
    return load(path.with_name("1990-w.npy"), vocabulary=path)


def _read_fasttext(path: Path) -> object:
    from biasgauge.vectors import load, load_subwords

    return load(path), load_subwords(path).extend(load(path), ["unseen"])


def _read_tokenizer(path: Path) -> object:
    """A folder of static embeddings, whose tokenizer is the input."""
    from safetensors.numpy import save

    from biasgauge.vectors import load

    inside = path.with_name("static")
    inside.mkdir(exist_ok=True)
    (inside / "model.safetensors").write_bytes(save({"embeddings": _NUMBERS}))
    (inside / "tokenizer.json").write_bytes(path.read_bytes())
    return load(inside)


def _read_variances(path: Path) -> object:
    """A folder of GloVe-V, whose variances are the input."""
    from safetensors.numpy import save

    from biasgauge.vectors import load_variances

    inside = path.with_name("glove-v")
    inside.mkdir(exist_ok=True)
    (inside / "vocab.txt").write_text("a 3\nb 2\nc 1\n")
    (inside / "vectors.safetensors").write_bytes(save({"center_vectors": _NUMBERS}))
    (inside / "ApproximationVariances.safetensors").write_bytes(path.read_bytes())
    stored = load_variances(inside)
    return [stored.covariance(word) for word in "abc"]


def _read_pytorch(path: Path) -> object:
    """An archive of PyTorch, or (after a letter w) the pickle in one whose numbers are sound."""
    import zipfile

    from biasgauge.vectors import load

    content = path.read_bytes()
    if content[:1] == b"w":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("m/data.pkl", content[1:])
            archive.writestr("m/data/0", _NUMBERS.tobytes())
    words = path.with_name("words")
    words.write_text("".join(f"{word}\n" for word in _WORDS), encoding="utf-8")
    return load(path, vocabulary=words)


def _weights() -> tuple[bytes, ...]:
    import zipfile

    import torch

    contents = []
    for value in ({"weight": torch.from_numpy(_NUMBERS)}, torch.nn.Embedding(3, 2), torch.from_numpy(_NUMBERS)):
        stored = io.BytesIO()
        torch.save(value, stored)
        with zipfile.ZipFile(stored) as archive:
            pickled = archive.read(next(name for name in archive.namelist() if name.endswith("data.pkl")))
        contents += [stored.getvalue(), b"w" + pickled]
    return tuple(contents)


def _covariances() -> bytes:
    from safetensors.numpy import save

    square = _NUMBERS[:2].copy()
    return save({"diag_0": _NUMBERS[0], "U_1": square, "s_1": _NUMBERS[0], "Vt_1": square, "complete_2": square})


def _target(name: str) -> Target:
    from biasgauge.vectors import load

    made: dict[str, Callable[[], Target]] = {
        "vectors-pickle": lambda: Target(load, _pickles()),
        "vectors-histwords": lambda: Target(_read_histwords, tuple(pickle.dumps([*_WORDS], p) for p in range(6))),
        "vectors-gensim": lambda: Target(load),
        "vectors-fasttext": lambda: Target(_read_fasttext),
        "vectors-parquet": lambda: Target(load),
        "vectors-arrow": lambda: Target(load),
        "vectors-r": lambda: Target(load),
        "vectors-pytorch": lambda: Target(_read_pytorch, _weights()),
        "vectors-tokenizer": lambda: Target(_read_tokenizer, _TOKENIZERS),
        "vectors-variances": lambda: Target(_read_variances, (_covariances(),)),
    }
    return made[name]()


NAMES = (
    *("vectors-pickle", "vectors-histwords", "vectors-gensim", "vectors-fasttext", "vectors-parquet", "vectors-arrow"),
    *("vectors-tokenizer", "vectors-variances", "vectors-r", "vectors-pytorch"),
)
GROUPS: dict[tuple[str, ...], Callable[[str], Target]] = {NAMES: _target}

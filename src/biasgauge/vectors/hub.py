"""Vectors from the Hugging Face hub: the one thing in biasgauge that opens a connection, and only where it is allowed.

What is fetched is data for our readers: a matrix in safetensors with its tokenizer, or the one file that is named.
Nothing of it is run.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from biasgauge.errors import InputError, ParameterError

PREFIX = "hub:"
_NAME = re.compile(r"hub:([\w.-]+/[\w.-]+)((?:/[\w.-]+)*)(?:@([\w.-]+))?")
_FILES = ("model.safetensors", "tokenizer.json")
_STATIC_EMBEDDING = tuple(f"{folder}{file}" for folder in ("", "*_StaticEmbedding/") for file in _FILES)


def is_hub_name(source: object) -> bool:
    """Return whether a source of vectors is written as a name on the hub."""
    return isinstance(source, str | os.PathLike) and str(source).startswith(PREFIX)


def download(name: str, *, allow_download: bool = False) -> Path:
    """Fetch static embeddings, or one file of vectors, from the Hugging Face hub into its cache on this machine.

    Args:
        name: `hub:ORGANIZATION/NAME`, for a folder of model2vec or of a `StaticEmbedding`; `hub:ORGANIZATION/NAME/FILE`
            for one file; `@REVISION` behind it for a branch, tag or commit.
        allow_download: whether a connection may be opened.

    Raises:
        InputError: the hub does not give it, or the library `huggingface_hub` is not installed.
        ParameterError: a connection is not allowed, or the name is not such a name.
    """
    match = _NAME.fullmatch(name)
    if match is None or ".." in name:
        wanted = "hub:ORGANIZATION/NAME, hub:ORGANIZATION/NAME/FILE, each also with @REVISION"
        raise ParameterError(f"A model on the Hugging Face hub is written {wanted}. Got {name!r}.")
    if not allow_download:
        raise ParameterError(
            f"{name!r} is on the Hugging Face hub, and biasgauge opens no connection unless it is told to. Fetch it "
            f"once: biasgauge convert {name} vectors.safetensors --allow-download"
        )
    try:
        from huggingface_hub import hf_hub_download, snapshot_download
    except ImportError as problem:
        raise InputError("The hub needs an extra: pip install huggingface_hub") from problem
    repository, file, revision = match[1], match[2].removeprefix("/"), match[3]
    try:
        if file:
            return Path(hf_hub_download(repository, file, revision=revision))
        return Path(snapshot_download(repository, revision=revision, allow_patterns=list(_STATIC_EMBEDDING)))
    except (OSError, ValueError) as problem:  # no connection, no such model, a name that it refuses
        reason = next(iter(str(problem).strip().splitlines()), type(problem).__name__)
        raise InputError(f"{name}: the hub does not give it ({reason[:150]})") from problem

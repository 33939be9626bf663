"""A corpus with some of its tokens changed, as a corpus of its own beside it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasgauge.io import header_bytes, manifest_text, map_array, usable_path, write_array
from biasgauge.text.folders import atomic_folder, exclusive_lock
from biasgauge.text.token_corpus import (
    COUNTS,
    DOCUMENTS,
    FORMAT,
    LINES,
    MANIFEST,
    TOKENS,
    WORDS,
    TokenCorpus,
    is_corpus,
    open_corpus,
)

Edit = Callable[[NDArray[np.uint32]], Mapping[str, Any]]
"""Changes the tokens of a text in place, each a place in the corpus's words; gives what is to be recorded about it."""
_BLOCK = 2**22


def edited_corpus(corpus: TokenCorpus, edit: Edit, out: str | os.PathLike[str]) -> TokenCorpus:
    """Write a corpus whose tokens were edited, with the same lines and documents; `out` appears whole or not at all.

    The text is copied block by block and edited in the file, through a memory map, so that memory does not grow with
    it. Words are numbered anew where their counts changed. What `out` holds already is opened, not made again.

    Args:
        corpus: the corpus to start from, which stays as it is.
        edit: called with the tokens; what it returns goes into the settings of the new corpus.
        out: folder for the new corpus.

    Raises:
        CorpusError: it cannot be written, or something else is there.
    """
    target = usable_path(out).absolute()
    corpus.check_numbers()  # edits are compiled loops, which look them up without asking
    with exclusive_lock(target):
        if is_corpus(target):
            return open_corpus(target)
        with atomic_folder(target) as folder:
            _write(corpus, edit, folder)
    return open_corpus(target, check=False)  # its checksum was made of what was written


def _write(corpus: TokenCorpus, edit: Edit, folder: Path) -> None:
    with (folder / TOKENS).open("wb") as file:
        file.write(header_bytes("<u4", corpus.tokens.shape))
        for start in range(0, len(corpus.tokens), _BLOCK):
            file.write(np.ascontiguousarray(corpus.tokens[start : start + _BLOCK], "<u4").data)
    mapped = map_array(folder / TOKENS, "<u4", corpus.tokens.shape, again="make the corpus again", writable=True)
    tokens = mapped.view(np.ndarray)
    about = edit(tokens)
    counts = np.zeros(len(corpus.words), np.int64)
    for start in range(0, len(tokens), _BLOCK):
        counts += np.bincount(tokens[start : start + _BLOCK], minlength=len(counts))
    words, counts = _numbered(corpus, counts, tokens)
    if isinstance(mapped, np.memmap):
        mapped.flush()
    changed = replace(corpus, words=words, counts=counts, tokens=tokens)
    sizes = {name: changed.to_dict()[name] for name in ("words", "tokens", "lines", "documents")}
    settings = {**corpus.settings, **about, "source": corpus.checksum}
    manifest = {"format": FORMAT, "sizes": sizes, "checksum": changed.content_checksum(), "settings": settings}
    del tokens, mapped, changed
    for name, text in ((WORDS, json.dumps(list(words), ensure_ascii=False)), (MANIFEST, manifest_text(manifest))):
        (folder / name).write_text(text, encoding="utf-8")
    for name, numbers in ((COUNTS, counts), (LINES, corpus.lines), (DOCUMENTS, corpus.documents)):
        write_array(folder / name, np.asarray(numbers, "<i8"))
    for path in folder.iterdir():
        with path.open("rb") as file:
            os.fsync(file.fileno())


def _numbered(
    corpus: TokenCorpus, counts: NDArray[np.int64], tokens: NDArray[np.uint32]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Words in the order of their counts, and the counts; tokens are numbered anew where that order changed."""
    if np.array_equal(counts, corpus.counts):
        return corpus.words, counts
    numbers = counts.tolist()
    order = sorted(np.flatnonzero(counts).tolist(), key=lambda place: (-numbers[place], corpus.words[place]))
    places = np.zeros(len(counts), np.uint32)
    places[order] = np.arange(len(order), dtype=np.uint32)
    for start in range(0, len(tokens), _BLOCK):
        tokens[start : start + _BLOCK] = places[tokens[start : start + _BLOCK]]
    return tuple(corpus.words[place] for place in order), counts[order]

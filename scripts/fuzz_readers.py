"""The readers that `scripts/fuzz.py` tries: whatever reads a file of a user's or of ours, by name.

A reader "X, signed" is given inputs whose checksum fits, as somebody would who wants to do harm: what lies behind the
comparison of checksums is reached too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import fuzz_files
import fuzz_models
import fuzz_results
import fuzz_stores
import fuzz_vectors
from fuzz_target import CORPUS

if TYPE_CHECKING:
    from fuzz_target import Target

_SOURCES = {
    "files that users bring": fuzz_files.GROUPS,
    "vectors of other tools": fuzz_vectors.GROUPS,
    "stores and records of ours": fuzz_stores.GROUPS,
    "results, read back and shown": fuzz_results.GROUPS,
    "transformers, GGUF, coreference models": fuzz_models.GROUPS,
}
_GROUPS = {names: make for groups in _SOURCES.values() for names, make in groups.items()}


def reader_names() -> list[str]:
    """All readers."""
    return [name for names in _GROUPS for name in names]


def group_of(name: str) -> str:
    """What kind of reader it is; those whose checksums are made to fit are of one kind."""
    if name.endswith(", signed"):
        return "any of these, signed"
    return next(kind for kind, groups in _SOURCES.items() if any(name in names for names in groups))


def target_of(name: str) -> Target:
    """A reader by its name, with its sound inputs: those of `tests/fuzz/corpus`, and those made on the spot."""
    target = next(make for names, make in _GROUPS.items() if name in names)(name)
    kept = sorted((CORPUS / name).glob("*"))
    return replace(target, seeds=(*(path.read_bytes() for path in kept), *target.seeds))

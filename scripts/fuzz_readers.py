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

_GROUPS = fuzz_files.GROUPS | fuzz_vectors.GROUPS | fuzz_stores.GROUPS | fuzz_results.GROUPS | fuzz_models.GROUPS


def reader_names() -> list[str]:
    """All readers."""
    return [name for names in _GROUPS for name in names]


def target_of(name: str) -> Target:
    """A reader by its name, with its sound inputs: those of `tests/fuzz/corpus`, and those made on the spot."""
    target = next(make for names, make in _GROUPS.items() if name in names)(name)
    kept = sorted((CORPUS / name).glob("*"))
    return replace(target, seeds=(*(path.read_bytes() for path in kept), *target.seeds))

"""Syntax trees of the package's modules, for tests that look for what no module may do."""

from __future__ import annotations

import ast
import gc
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file, parsed once in a process; looking for garbage meanwhile takes five times as long."""
    gc.disable()
    try:
        return ast.parse(path.read_text(encoding="utf-8"))
    finally:
        gc.enable()


def module_trees(source: Path, words: Iterable[str] = ("",)) -> Iterator[tuple[str, ast.Module]]:
    """Path below `source` and tree of every module, or of those whose text has one of the words."""
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(word in text for word in words):
            yield path.relative_to(source).as_posix(), tree_of(path)

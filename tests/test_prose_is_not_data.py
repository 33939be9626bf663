"""Sentences are made from values at the end and never read back: no code looks into one for what it needs to know."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.source_trees import module_trees

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROSE = frozenset(
    {"about", "advice", "caveat", "claim", "headline", "note", "reading", "reason", "remark", "sentence", "title"}
    | {"why", "warning"}
)
"""Fields that hold what a reader reads."""

READING = frozenset(
    {"endswith", "find", "index", "partition", "removeprefix", "removesuffix", "rpartition", "rsplit", "split"}
    | {"startswith"}
)

ALLOWED = {
    "lexicons/model.py title.partition": "the name of a list in front of its title",
    "papers/figures.py note.partition": "the first clause of a printed row's note, for a table of what is missing",
    "results/page/rendering.py remark.split": "lines of a remark are shown as paragraphs",
    "results/page/rendering.py title.endswith": "a full stop is not set twice",
    "results/result.py headline.split": "white space is folded, for one line",
}


def readers(source: Path) -> Iterator[str]:
    """Calls that take a sentence apart, or ask what it begins or ends with, and `"words" in sentence`."""
    for place, tree in module_trees(source, [f".{name}" for name in PROSE]):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in READING:
                name = _prose(node.func.value)
                if name:
                    yield f"{place} {name}.{node.func.attr}"
            elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Constant) and _is_in(node):
                name = _prose(node.comparators[0])
                if name and isinstance(node.left.value, str):
                    yield f"{place} {node.left.value!r} in {name}"


def _prose(node: ast.AST) -> str:
    """The name of a field with a sentence; empty for anything else."""
    return node.attr if isinstance(node, ast.Attribute) and node.attr in PROSE else ""


def _is_in(node: ast.Compare) -> bool:
    return isinstance(node.ops[0], ast.In | ast.NotIn)


def test_no_sentence_is_read_back(package: Path) -> None:
    assert sorted(set(readers(package))) == sorted(ALLOWED)


def test_a_reader_is_found(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text(
        "def f(row):\n    return row.reason.startswith('the word') or 'few' in row.why or row.name.startswith('x')\n"
    )
    assert sorted(readers(tmp_path)) == ["new.py 'few' in why", "new.py reason.startswith"]

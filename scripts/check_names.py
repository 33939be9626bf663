"""Check that names say what a thing is, and that docstrings open with a verb or a noun; part of `make lint`.

    python scripts/check_names.py            # exit code 1 and one line for each problem
    python scripts/check_names.py --list     # every catch-all name, too

A catch-all name (a pronoun, a participle, "place") is allowed where a contract has it, such as a key of JSON: at most
one name in a hundred. A docstring never opens with a question word.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"
CATCH_ALL = frozenset(
    [
        "own",
        "told",
        "said",
        "asked",
        "known",
        "found",
        "kept",
        "held",
        "settled",
        "given",
        "one",
        "other",
        "others",
        "rest",
        "there",
        "each",
        "several",
        "around",
        "beside",
        "about",
        "of",
        "part",
        "place",
        "places",
        "what",
        "whole",
        "made",
        "taken",
        "it",
        "them",
        "those",
        "such",
        "thing",
        "things",
    ]
)
QUESTION_WORDS = ("What ", "How ", "Whether ", "Which ", "Who ", "Whom ", "Why ", "Where ")
MOST = 0.01
"""Share of names that may be catch-all words."""


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield every name that is bound, with its line: variables, parameters, functions and classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def question_docstrings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and first words of every docstring that opens with a question word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            text = ast.get_docstring(node) or ""
            if text.startswith(QUESTION_WORDS):
                yield getattr(node, "lineno", 1), text.partition("\n")[0]


def main(arguments: list[str]) -> int:
    """Print the problems of the source; 1 where there are any."""
    total, problems = 0, []
    catch_all: list[str] = []
    for path in sorted(SOURCE.rglob("*.py")):
        tree, place = ast.parse(path.read_text(encoding="utf-8")), path.relative_to(SOURCE.parent)
        names = list(bound_names(tree))
        total += len(names)
        catch_all += [f"{place}:{line}: {name}" for name, line in names if name.strip("_") in CATCH_ALL]
        problems += [
            f"{place}:{line}: docstring opens with a question word: {text}" for line, text in question_docstrings(tree)
        ]
    if len(catch_all) > MOST * total:
        problems.append(
            f"{len(catch_all)} of {total:,} names are catch-all words, more than {MOST:.0%} (--list shows them)"
        )
    for line in [*(catch_all if "--list" in arguments else []), *problems]:
        print(line)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

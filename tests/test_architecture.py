"""Which room may import which: the table in docs/architecture.md, held against every import in the source."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "biasgauge"


def allowed_imports(page: str) -> dict[str, set[str]]:
    """The rows of the architecture page's table: room to the rooms it may import."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    ground = ground_floor(page)
    return {room: set(re.findall(r"`(\w+)`", cell)) | (set() if room in ground else ground) for room, cell in rows}


def ground_floor(page: str) -> set[str]:
    """Modules that every room may import."""
    line = next(line for line in page.splitlines() if line.startswith("The ground floor"))
    return set(re.findall(r"`(\w+)`", line))


def is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def runtime_imports(tree: ast.AST) -> list[str]:
    """Every module that the code imports when it runs, also inside functions."""
    found: list[str] = []
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            found += [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == PACKAGE:
            found += [f"{PACKAGE}.{name.name}" for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
        if is_for_type_checkers(node):
            assert isinstance(node, ast.If)
            pending += node.orelse
        else:
            pending += list(ast.iter_child_nodes(node))
    return found


def room_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else PACKAGE


def violations(source: Path, allowed: dict[str, set[str]]) -> list[str]:
    """Sentences about every import that the table does not allow."""
    problems = []
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        room = parts[0]
        if room in {"__init__", "__main__"}:
            continue
        if room not in allowed:
            problems.append(f"{room} is not in the table of docs/architecture.md")
            continue
        for module in runtime_imports(ast.parse(path.read_text())):
            if module.split(".")[0] != PACKAGE:
                continue
            if room_of(module) not in {room, *allowed[room]}:
                problems.append(f"{'/'.join(parts)} imports {module}: {room} may not import {room_of(module)}")
    return problems


@pytest.fixture
def allowed(repository: Path) -> dict[str, set[str]]:
    return allowed_imports((repository / "docs" / "architecture.md").read_text())


def test_every_import_is_allowed(package: Path, allowed: dict[str, set[str]]) -> None:
    assert violations(package, allowed) == []


def test_relative_imports_are_not_used(package: Path) -> None:
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if re.search(r"from\s*\.", text):  # in a sentence, too
            assert [node for node in ast.walk(ast.parse(text)) if getattr(node, "level", 0)] == [], path


def test_the_table_has_no_cycle(allowed: dict[str, set[str]]) -> None:
    order: list[str] = []
    remaining = {room: {one for one in rooms if one in allowed} for room, rooms in allowed.items()}
    while remaining:
        free = [room for room, rooms in remaining.items() if rooms <= set(order)]
        assert free, f"these import each other: {sorted(remaining)}"
        order += free
        remaining = {room: rooms for room, rooms in remaining.items() if room not in free}


def test_the_rules_of_the_design_are_in_the_table(repository: Path, allowed: dict[str, set[str]]) -> None:
    ground = ground_floor((repository / "docs" / "architecture.md").read_text())
    for room in ("stats", "measures", "association"):  # arrays only
        assert allowed[room] - ground <= {"results", "stats"}
    for analysis in ("agreement", "sensitivity", "seed_words", "uncertainty"):
        assert allowed[analysis].isdisjoint({"presentation", "cli"})  # never a plot
    for analysis in ("sensitivity", "seed_words"):
        assert "_io" not in allowed[analysis]  # never a file; the other two read counts and distances of the user's
    assert allowed["presentation"] - ground == {"_io"}  # result objects only
    assert not any("cli" in rooms for rooms in allowed.values())


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("measures/dbwa.py", "from biasgauge.embeddings import load", "measures may not import embeddings"),
        ("presentation/page.py", "def f():\n    import biasgauge.scores", "presentation may not import scores"),
        ("presentation/page.py", "import biasgauge", "presentation may not import biasgauge"),
        ("attic/page.py", "", "attic is not in the table"),
    ],
)
def test_a_planted_fault_is_found(
    tmp_path: Path, allowed: dict[str, set[str]], path: str, code: str, expected: str
) -> None:
    planted = tmp_path / path
    planted.parent.mkdir()
    planted.write_text(code)
    assert [expected in problem for problem in violations(tmp_path, allowed)] == [True]


def test_imports_for_type_checkers_do_not_count(tmp_path: Path, allowed: dict[str, set[str]]) -> None:
    (tmp_path / "presentation").mkdir()
    (tmp_path / "presentation" / "page.py").write_text(
        "if TYPE_CHECKING:\n    from biasgauge.auditing import AuditResult\n"
    )
    assert violations(tmp_path, allowed) == []


def drawn_arrows(page: str) -> set[tuple[str, str]]:
    """(from, to) for every arrow of the drawing that says no word: data go this way."""
    (drawing,) = re.findall(r"^```mermaid\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    arrows: set[tuple[str, str]] = set()
    for line in drawing.splitlines()[1:]:
        steps = [re.findall(r"\w+", step) for step in re.split(r"-->|-- results -->", line)]
        words = re.findall(r"-->|-- results -->", line)
        for before, arrow, after in zip(steps, words, steps[1:], strict=False):
            arrows |= {(one, other) for one in before for other in after} if arrow == "-->" else set()
    return arrows


def test_the_drawing_shows_every_room_and_no_way_that_is_not_allowed(
    allowed: dict[str, set[str]], repository: Path
) -> None:
    page = (repository / "docs" / "architecture.md").read_text()
    arrows = drawn_arrows(page)
    assert ("scores", "agreement") in arrows
    apart = {
        f"{first} --> {second}"  # data go to a room that imports the first, or that the first fills
        for first, second in arrows
        if first not in allowed[second] and second not in allowed[first]
    }
    assert apart == set()
    (drawing,) = re.findall(r"^```mermaid\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    beneath = {"results", "_io"}  # every room writes results, and files go through one place
    assert set(allowed) - ground_floor(page) - beneath - set(re.findall(r"\w+", drawing)) == set()

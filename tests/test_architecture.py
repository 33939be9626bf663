"""The table of allowed imports in docs/maintainers/architecture.md, checked against every import in the source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.source_trees import tree_of

ROOT = "biasgauge"
EVERYWHERE = {"errors", "registry", "_version", "core", "results"}
"""Packages and modules that every package may import."""
STATEMENTS = (ast.stmt, ast.ExceptHandler, ast.match_case)
"""Nodes that hold an import, or are one: no expression does."""


def allowed_imports(page: str) -> dict[str, set[str]]:
    """Rows of the table on the architecture page: package to the packages it may import."""
    rows = re.findall(r"^\| `([\w.]+)` \|[^|]*\|([^|]*)\|$", page, re.MULTILINE)
    packages = {package for package, _ in rows}
    everything = {package: packages | {"analyses"} for package, cell in rows if cell.strip() == "everything"}
    return {package: set(re.findall(r"`([\w.]+)`", cell)) for package, cell in rows} | everything


def is_for_type_checkers(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(tree: ast.AST, *, runtime_only: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(module, names) of every import of this package, also inside functions."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names if alias.name.split(".")[0] == ROOT)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == ROOT:
            yield node.module or "", tuple(alias.name for alias in node.names)
        if runtime_only and is_for_type_checkers(node):
            assert isinstance(node, ast.If)
            pending += node.orelse
        else:
            pending += [child for child in ast.iter_child_nodes(node) if isinstance(child, STATEMENTS)]


def package_of(module: str, packages: set[str]) -> str:
    """Longest row of the table that holds a module; its first part where no row does."""
    inside = module.removeprefix(ROOT).strip(".")
    holders = [package for package in packages if inside == package or inside.startswith(f"{package}.")]
    return max(holders, key=len) if holders else inside.split(".")[0]


def module_name(source: Path, path: Path) -> str:
    parts = (ROOT, *path.relative_to(source).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_package(source: Path, module: str) -> bool:
    return source.joinpath(*module.split(".")[1:], "__init__.py").exists()


def violations(source: Path, allowed: dict[str, set[str]]) -> list[str]:
    """One sentence for every import that the table does not allow, or that goes around an `__init__`."""
    problems = []
    namespaces = {"", "analyses", "__main__", *EVERYWHERE - {"core", "results"}}
    for path in sorted(source.rglob("*.py")):
        module = module_name(source, path)
        package = package_of(module, set(allowed))
        if package in namespaces:
            continue
        if package not in allowed:
            problems.append(f"{package} is not in the table of docs/maintainers/architecture.md")
            continue
        tree = tree_of(path)
        for imported, names in imports(tree, runtime_only=True):
            targets = {package_of(f"{imported}.{name}", set(allowed)) for name in names or ("",)}
            problems += [
                f"{module} imports {imported}: {package} may not import {target or ROOT}"
                for target in sorted(targets - {package} - allowed[package] - EVERYWHERE)
            ]
        for imported, _ in imports(tree, runtime_only=False):
            target = package_of(imported, set(allowed))
            is_module = imported.count(".") > 1 and not is_package(source, imported)
            if target != package and is_module:
                problems.append(f"{module} imports {imported}: import from the package's __init__ instead")
    return problems


@pytest.fixture
def allowed(repository: Path) -> dict[str, set[str]]:
    return allowed_imports((repository / "docs" / "maintainers" / "architecture.md").read_text())


def test_every_import_is_allowed_and_goes_through_an_init(package: Path, allowed: dict[str, set[str]]) -> None:
    assert violations(package, allowed) == []


def test_relative_imports_are_not_used(package: Path) -> None:
    for path in package.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if re.search(r"from\s*\.", text):  # in a sentence, too
            assert [node for node in ast.walk(tree_of(path)) if getattr(node, "level", 0)] == [], path


def test_the_table_has_no_cycle(allowed: dict[str, set[str]]) -> None:
    order: list[str] = []
    remaining = {package: {one for one in others if one in allowed} - {package} for package, others in allowed.items()}
    while remaining:
        free = [package for package, others in remaining.items() if others <= set(order)]
        assert free, f"these import each other: {sorted(remaining)}"
        order += free
        remaining = {package: others for package, others in remaining.items() if package not in free}


def test_the_rules_of_the_design_are_in_the_table(allowed: dict[str, set[str]]) -> None:
    assert allowed["core"] == allowed["stats"] == set()
    assert allowed["metrics"] == {"stats"}  # arrays only
    assert allowed["results"] == {"io"}  # result objects only
    for analysis in ("analyses.robustness", "analyses.seeds"):
        assert "io" not in allowed[analysis]  # never a file
    assert not any("cli" in others for package, others in allowed.items() if package != "cli")


@pytest.mark.parametrize(
    ("path", "code", "expected"),
    [
        ("metrics/dbwa.py", "from biasgauge.vectors import load", "metrics may not import vectors"),
        ("results/page.py", "def f():\n    import biasgauge.scores", "results may not import scores"),
        ("results/page.py", "from biasgauge.io.atomic import write", "from the package's __init__"),
        ("results/page.py", "if TYPE_CHECKING:\n    from biasgauge.audits.run import f", "from the package's __init__"),
        ("analyses/seeds/page.py", "from biasgauge.io import atomic", "analyses.seeds may not import io"),
        ("attic/page.py", "", "attic is not in the table"),
    ],
)
def test_a_planted_fault_is_found(
    tmp_path: Path, allowed: dict[str, set[str]], path: str, code: str, expected: str
) -> None:
    planted = tmp_path / path
    planted.parent.mkdir(parents=True)
    planted.write_text(code)
    assert [expected in problem for problem in violations(tmp_path, allowed)] == [True]


def test_imports_for_type_checkers_do_not_count(tmp_path: Path, allowed: dict[str, set[str]]) -> None:
    for folder in ("results", "audits"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").write_text("")
    (tmp_path / "results" / "page.py").write_text("if TYPE_CHECKING:\n    from biasgauge.audits import AuditResult\n")
    assert violations(tmp_path, allowed) == []


def test_the_drawing_shows_every_package(repository: Path, allowed: dict[str, set[str]]) -> None:
    page = (repository / "docs" / "maintainers" / "architecture.md").read_text()
    (drawing,) = re.findall(r"^```mermaid\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    shown = set(re.findall(r"\w+", drawing))
    assert {package.split(".")[0] for package in allowed} - {"results", "io"} <= shown

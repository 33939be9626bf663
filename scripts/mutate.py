"""Plant faults in a package, one at a time, and see whether its tests notice: the mutation score of a package.

Draws some mutants of every file at random: a comparison, an operator, a constant, a condition or a statement is changed
in the syntax tree. Each is tried in a process of its own that imports the changed module in the place of the true one,
so no file is touched. Fast tests of the package run until the first failure; a mutant that no test notices survives.

    python scripts/mutate.py measures
    python scripts/mutate.py association --per-file 10 --seed 3 --files weat mac
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.abc
import importlib.machinery
import importlib.util
import os
import signal
import sys
import tempfile
import time
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import CodeType

    import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "biasgauge"
FAST = "not slow and not fuzz and not crash and not e2e and not calibration"
TESTED_BY = {"stats": ("reliability", "metrics")}
"""Packages whose tests hold another package to account too, after its own."""
HEAVY = ("hypothesis", "hypothesis.extra.numpy", "pandas", "pytest", "scipy.stats", "scipy.optimize", "sklearn.metrics")
"""Imported once, before processes are made."""
TIMED_OUT = -signal.SIGALRM
UNNOTICED = (0, 5)
"""Exit statuses of pytest where nothing failed: all passed, or none was asked for."""

COMPARISONS = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OPERATORS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add, ast.MatMult: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any",
         "floor": "ceil", "ceil": "floor", "mean": "sum", "argmin": "argmax", "argmax": "argmin"}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: `after` in the place of `before`, which is a field of `parent`."""

    path: Path
    parent: ast.AST
    field: str
    place: int | None
    before: ast.AST
    after: ast.AST

    def __str__(self) -> str:
        line = getattr(self.before, "lineno", 0)
        before, after = (" ".join(ast.unparse(one).split())[:90] for one in (self.before, self.after))
        return f"{self.path.relative_to(ROOT)}:{line}: {before}  ->  {after}"

    def code(self, tree: ast.Module) -> CodeType:
        """The module with the change; the tree is as before when this returns."""
        self._put(self.after)
        try:
            return compile(ast.fix_missing_locations(copy.deepcopy(tree)), str(self.path), "exec")
        finally:
            self._put(self.before)

    def _put(self, node: ast.AST) -> None:
        if self.place is None:
            setattr(self.parent, self.field, node)
        else:
            getattr(self.parent, self.field)[self.place] = node


def other_value(value: bool | float) -> bool | int | float:  # noqa: FBT001 - a constant
    """A value that changes what is computed from it."""
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else 2 * value or 1.0


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """What could stand in the place of a node by mistake."""
    match node:
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield ast.Compare(node.left, [COMPARISONS[type(op)]()], node.comparators)
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(op)](), node.right)
        case ast.BoolOp(op=op):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), node.values)
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield node.operand
        case ast.Constant(value=bool() | int() | float() as value):
            yield ast.Constant(other_value(value))
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if name in NAMES:
            other = copy.copy(node.func)
            setattr(other, "id" if isinstance(other, ast.Name) else "attr", NAMES[name])
            yield ast.Call(other, node.args, node.keywords)
        case ast.IfExp():
            yield ast.IfExp(node.test, node.orelse, node.body)
        case ast.If(test=test):
            yield ast.If(ast.UnaryOp(ast.Not(), test), node.body, node.orelse)
        case ast.AugAssign() | ast.Expr(value=ast.Call()):
            yield ast.Pass()


def mutants(path: Path, tree: ast.Module) -> Iterator[Mutant]:
    """Every mutant of a file, but not of its types, its decorators and its sentences."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        parent = waiting.pop()
        for field, content in ast.iter_fields(parent):
            if field in {"annotation", "returns", "decorator_list", "type_params"}:
                continue
            for place, node in enumerate(content if isinstance(content, list) else [content]):
                if not isinstance(node, ast.AST) or isinstance(node, ast.Raise | ast.JoinedStr | ast.Import):
                    continue
                if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                    continue
                waiting.append(node)
                for after in changed(node):
                    yield Mutant(path, parent, field, place if isinstance(content, list) else None, node, after)


class Planted(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Gives the changed module to whoever imports it."""

    def __init__(self, name: str, path: Path, code: CodeType) -> None:
        self._name, self._path, self._code = name, path, code

    def find_spec(self, fullname: str, *_: object) -> importlib.machinery.ModuleSpec | None:
        """The module, where it is the changed one."""
        if fullname != self._name:
            return None
        inside = [str(self._path.parent)] if self._path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname, self._path, loader=self, submodule_search_locations=inside
        )

    def get_source(self, fullname: str) -> None:
        """None: what is on the disk is not what runs."""

    def get_code(self, fullname: str) -> CodeType:  # noqa: ARG002 - the one that was found
        """The changed code."""
        return self._code


def name_of(path: Path) -> str:
    """The module of a file."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def tests_of(package: str) -> list[str]:
    """Folders of tests, the package's own first."""
    folders = [ROOT / "tests" / name for name in (package, *TESTED_BY.get(package, ()))]
    return [str(folder) for folder in folders if folder.is_dir()]


def in_turn(path: Path, tests: Sequence[str]) -> list[list[str]]:
    """Files of tests: those of any package that import this very module, which notice soonest, then the others.

    Of the former, the one with the module's own name is first, then those of its package.
    """
    files = [
        file for test in map(Path, tests) for file in (sorted(test.rglob("test_*.py")) if test.is_dir() else [test])
    ]
    every = sorted((ROOT / "tests").rglob("test_*.py"))
    near = [file for file in every if f"{name_of(path)} import" in file.read_text(encoding="utf-8")]
    package = path.relative_to(SOURCE).parts[0]
    near.sort(key=lambda file: (file.stem != f"test_{path.stem}", package not in file.relative_to(ROOT).parts))
    return [[*map(str, part)] for part in (near, [file for file in files if file not in near]) if part]


class Witness:
    """Tells a pipe which test, or which file, failed."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test, or what it needs, failed."""
        if report.failed:
            os.write(self._pipe, f"{report.nodeid}\n".encode())

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file of tests could not be read."""
        if report.failed:
            os.write(self._pipe, f"{report.nodeid} (not imported)\n".encode())


def tried(planted: Planted | None, tests: Sequence[str], patience: int) -> tuple[int, str]:
    """Run the tests in a process of its own; return its exit status, negative where a signal ended it, and what failed.

    A mutant that is said to be killed by a test that has nothing to do with it was not: that test fails by itself.
    """
    end, start = os.pipe()
    child = os.fork()
    if child:
        os.close(start)
        with os.fdopen(end, encoding="utf-8") as told:
            failed = told.readline().strip()
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), failed
    import pytest

    os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = tempfile.mkdtemp()  # no example of one mutant is tried on another
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(patience)
    sys.path.insert(0, str(SOURCE.parent))
    if planted is not None:
        sys.meta_path.insert(0, planted)
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (1, 2):
            os.dup2(nowhere, stream)
    settings = ["-q", "-x", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", FAST]
    status = pytest.main([*settings, *tests], plugins=[Witness(start)])
    os._exit(int(status))


def drawn(package: str, files: Sequence[str], per_file: int, seed: int) -> Iterator[tuple[ast.Module, Mutant]]:
    """Some mutants of each file, in the order of the package."""
    for path in sorted((SOURCE / package).rglob("*.py")):
        if files and path.stem not in files:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        everything = list(mutants(path, tree))
        random = np.random.default_rng([seed, zlib.crc32(name_of(path).encode())])  # whatever the other files hold
        chosen = random.permutation(len(everything))[:per_file]
        yield from ((tree, everything[place]) for place in sorted(chosen))


def main() -> None:
    """Try the mutants and print the score."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", help="a folder of src/biasgauge")
    parser.add_argument("--files", nargs="*", default=(), help="only these modules of it")
    parser.add_argument("--per-file", type=int, default=6, help="mutants drawn from each file")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tests", nargs="*", help="files or folders of tests; by default those of the package")
    asked = parser.parse_args()
    if not (SOURCE / asked.package).is_dir():
        packages = ", ".join(sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()))
        sys.exit(f"There is no package {asked.package!r} to plant faults in; there are {packages}.")
    os.chdir(ROOT)
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    for name in HEAVY:
        importlib.import_module(name)
    tests = asked.tests or tests_of(asked.package)
    if not tests:
        sys.exit(
            f"The package {asked.package!r} has no tests in tests/{asked.package}; name some: --tests tests/FOLDER"
        )
    started = time.monotonic()
    status, failed = tried(None, tests, 3600)
    if status:
        sys.exit(
            f"The tests fail without any mutant (status {status}, {failed}): python -m pytest -x {' '.join(tests)}"
        )
    seconds = time.monotonic() - started
    print(f"{asked.package}: tests take {seconds:.0f} s without a mutant")
    survivors, count = [], 0
    for tree, mutant in drawn(asked.package, asked.files, asked.per_file, asked.seed):
        count += 1
        planted = Planted(name_of(mutant.path), mutant.path, mutant.code(tree))
        for part in in_turn(mutant.path, tests):
            status, failed = tried(planted, part, int(5 * seconds) + 60)
            if status not in UNNOTICED:
                break
        survived = status in UNNOTICED
        outcome = "SURVIVED" if survived else "killed (no end)" if status == TIMED_OUT else "killed"
        print(f"{outcome:9} {mutant}{f'  by {failed}' if failed else ''}", flush=True)
        if survived:
            survivors.append(mutant)
    killed = count - len(survivors)
    print(f"\n{asked.package}: {killed} of {count} mutants killed ({killed / max(count, 1):.0%}); seed {asked.seed}")
    for mutant in survivors:
        print(f"  survived: {mutant}")


if __name__ == "__main__":
    main()

"""Intervals are made in `stats` and nowhere else, so that the calibration suite sees every one of them.

Other packages may read the interval of an estimate, carry its ends over, or draw a posterior. Functions that take a
quantile, or name the ends of an interval, are counted in `ALLOWED` with the reason.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest
from tests.source_trees import module_trees

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QUANTILES = frozenset(
    {"arctanh", "betaincinv", "bootstrap", "btdtri", "chdtri", "fdtri", "gammaincinv", "isf", "nanpercentile"}
    | {"nanquantile", "ndtri", "percentile", "ppf", "quantile", "stdtrit"}
)
SPREAD = "says where values lie; claims nothing about a mean"
READ = "reads the ends of an estimate that was made elsewhere"
CARRIED = "carries the ends of an estimate over by a monotone function"
LEFT_OUT = "margins of `leave_one_out`, cut at the bounds of the number"

ALLOWED: dict[str, dict[str, int]] = {
    "analyses.calibrate": {CARRIED: 1},
    "analyses.compare": {"the difference of two independent intervals (MOVER); tests/compare/test_corpora.py": 1},
    "analyses.correlate": {READ: 1, CARRIED: 1, "the band of a drawn line; no number of it is printed": 1},
    "analyses.likelihood": {"covers, as tests/likelihood/test_stereoset.py measures": 1},
    "analyses.posterior": {
        SPREAD: 1,
        "widths and numbers of attributes over draws of the posterior; tests/posterior/test_planning.py": 3,
        "the tails whose draws are counted": 1,
    },
    "analyses.regress": {SPREAD: 1},
    "analyses.reliability": {SPREAD: 2, READ: 3, "numbers of levels over draws of variance components": 1},
    "analyses.robustness": {SPREAD: 1},
    "analyses.seeds": {SPREAD: 2},
    "audits": {READ: 4, SPREAD: 2},
    "papers": {READ: 1, CARRIED: 1, "R's generator of normal numbers": 1},
    "scores": {READ: 1, LEFT_OUT: 1},
    "study": {READ: 2},
    "vectors": {LEFT_OUT: 1},
}
"""Functions outside `stats`, by package, that name ends of intervals without making one, and why they do."""


def makers(source: Path) -> Iterator[str]:
    """Functions outside `stats` that take a quantile or give an object both ends of an interval."""
    for module, tree in module_trees(source, {*QUANTILES, "low="}):
        # `core` holds Estimate itself; metrics declare the range of a score as low and high.
        if module.partition("/")[0] not in {"stats", "core", "metrics"}:
            yield from _in(tree, module, ())


def _in(node: ast.AST, module: str, within: tuple[str, ...]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and _makes_ends(child):
            yield f"{module} {'.'.join(within)}"
        inner = (*within, child.name) if isinstance(child, ast.FunctionDef | ast.ClassDef) else within
        yield from _in(child, module, inner)


def package_of(maker: str) -> str:
    first, *others = maker.split("/")
    return f"{first}.{others[0]}" if first == "analyses" else first


def _makes_ends(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    ends = [keyword.value for keyword in call.keywords if keyword.arg in {"low", "high"}]
    copied = all(isinstance(end, ast.Attribute | ast.Constant) for end in ends)
    return name in QUANTILES or (len(ends) == 2 and not copied)


def test_no_other_package_makes_an_interval(package: Path) -> None:
    """Functions may move and be renamed within a package; one more than before must be justified in `ALLOWED`."""
    found: dict[str, list[str]] = {}
    for maker in sorted(set(makers(package))):
        found.setdefault(package_of(maker), []).append(maker)
    unexplained = {name: found[name] for name in found if len(found[name]) > sum(ALLOWED.get(name, {}).values())}
    assert unexplained == {}


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("def mean(x):\n    return Estimate(value=x, low=x - 1, high=x + 1)", "mean"),
        ("class Model:\n    def need(self):\n        return np.quantile(self.x, 0.5)", "Model.need"),
        ("from scipy.special import ndtri\nZ = ndtri(0.975)", ""),
    ],
)
def test_a_maker_is_found(tmp_path: Path, code: str, named: str) -> None:
    (tmp_path / "new.py").write_text(code)
    assert list(makers(tmp_path)) == [f"new.py {named}"]


def test_what_copies_an_interval_is_not_one(tmp_path: Path) -> None:
    (tmp_path / "new.py").write_text("def same(x):\n    return Estimate(value=x.value, low=x.low, high=x.high)")
    assert list(makers(tmp_path)) == []


def test_the_tests_that_are_named_exist(repository: Path) -> None:
    named = {word for reasons in ALLOWED.values() for word in " ".join(reasons).split() if word.startswith("tests/")}
    assert named
    for path in named:
        assert (repository / path).is_file(), path

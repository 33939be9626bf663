"""Intervals are made in `stats` and nowhere else, so that the calibration suite sees every one of them.

A room above may read the interval of another estimate, carry its ends over, or draw its posterior. Whatever takes a
quantile, or names the ends of an interval that it did not get from elsewhere, stands in `ALLOWED` with the reason.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

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

ALLOWED = {
    "agreement/decision/study.py Model.need": "quantiles of numbers of levels over draws of variance components",
    "agreement/distributions.py summarize": SPREAD,
    "agreement/distributions.py untrusted_rows": READ,
    "agreement/distributions.py whisker": SPREAD,
    "agreement/lists.py judged": READ,
    "agreement/result.py _each": READ,
    "applications/correlation/figures.py _lines": "the band of a drawn line; no number of it is printed",
    "applications/correlation/seeds.py _largest_r": CARRIED,
    "applications/point_tables/build.py _intrinsic": READ,
    "auditing/evidence_sections.py bias": READ,
    "auditing/evidence_sections.py uncertainty": READ,
    "auditing/first_screen.py _row": READ,
    "auditing/meaningless.py chance_band": SPREAD,
    "auditing/model_summary.py summarize": SPREAD,
    "calibration/equivalents.py Equivalent.odds_ratio": CARRIED,
    "embeddings/replicate_stability.py stability": LEFT_OUT,
    "likelihood/context_association/icat.py icat_estimate": "covers, as tests/likelihood/test_stereoset.py measures",
    "papers/dobrzeniecka2023/distances.py _mac_row": CARRIED,
    "papers/figures.py _panel": READ,
    "papers/r_random.py r_normal": "R's generator of normal numbers",
    "scores/overlap.py neighbor_overlap": LEFT_OUT,
    "scores/tests_in_context.py _estimate": READ,
    "scores/word_set_results.py Association.estimate": READ,
    "seed_words/generated.py _quantiles": SPREAD,
    "seed_words/pairing.py _spread": SPREAD,
    "sensitivity/base_pairs.py describe": SPREAD,
    "study/findings.py _plain": READ,
    "study/findings.py _with_ends": READ,
    "uncertainty/diagnostics.py ess_tail": "the tails whose draws are counted",
    "uncertainty/nulls/result.py Spread.quantiles": SPREAD,
    "uncertainty/planning.py _Variances.widths": "widths that intervals would have; tests/posterior/test_planning.py",
    "uncertainty/planning.py _row": "quantiles of a number of attributes over draws of the posterior",
    "uncertainty/planning.py plan_attributes": "quantiles of a number of attributes over draws of the posterior",
}
"""Where ends of intervals are named outside `stats`, and why it is no interval of its own."""


def makers(source: Path) -> Iterator[str]:
    """Functions outside `stats` that take a quantile or give an object both ends of an interval."""
    for path in sorted(source.rglob("*.py")):
        place = path.relative_to(source)
        if place.parts[0] not in {"stats", "measures"}:  # measures declare the range of a score as low and high
            yield from _in(ast.parse(path.read_text(encoding="utf-8")), place.as_posix(), ())


def _in(node: ast.AST, place: str, within: tuple[str, ...]) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Call) and _makes_ends(child):
            yield f"{place} {'.'.join(within)}"
        inner = (*within, child.name) if isinstance(child, ast.FunctionDef | ast.ClassDef) else within
        yield from _in(child, place, inner)


def _makes_ends(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    ends = [keyword.value for keyword in call.keywords if keyword.arg in {"low", "high"}]
    copied = all(isinstance(end, ast.Attribute | ast.Constant) for end in ends)
    return name in QUANTILES or (len(ends) == 2 and not copied)


def test_no_other_room_makes_an_interval(package: Path) -> None:
    assert sorted(set(makers(package))) == sorted(ALLOWED)


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
    named = {word for reason in ALLOWED.values() for word in reason.split() if word.startswith("tests/")}
    assert named
    for path in named:
        assert (repository / path).is_file(), path

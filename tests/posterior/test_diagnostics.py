"""R-hat and effective sample sizes are those of ArviZ, and a failure is told wherever numbers are shown."""

from __future__ import annotations

from dataclasses import replace
from html import unescape
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.analyses.posterior import bayes
from biasgauge.analyses.posterior.estimates import diagnose, ess_bulk, ess_tail, rhat

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable
    from biasgauge.core.arrays import Floats


def chains(kind: str, size: int = 600) -> Floats:
    """Four chains of two values."""
    noise = np.random.default_rng(5).standard_normal((4, size, 2))
    if kind == "independent":
        return noise
    memory = {"sticky": 0.7, "alternating": -0.5, "rounded": 0.7, "apart": 0.3, "stuck": 0.3}[kind]
    for step in range(1, size):
        noise[:, step] += memory * noise[:, step - 1]
    if kind == "rounded":
        return np.round(noise, 1)
    if kind == "apart":
        noise += 0.4 * np.arange(4)[:, None, None]
    if kind == "stuck":
        noise[0, size // 2 :] = noise[0, size // 2]
    return noise


@pytest.mark.parametrize("kind", ["independent", "sticky", "alternating", "rounded", "apart", "stuck"])
@pytest.mark.parametrize("size", [600, 601, 50])
def test_agreement_with_arviz(kind: str, size: int) -> None:
    statistics = pytest.importorskip("arviz_stats.base").array_stats
    draws = chains(kind, size)
    for column in range(2):
        one = draws[:, :, column]
        assert rhat(draws)[column] == pytest.approx(float(statistics.rhat(one)), rel=1e-12)
        assert ess_bulk(draws)[column] == pytest.approx(float(statistics.ess(one, method="bulk")), rel=1e-12)
        tail = float(statistics.ess(one, method="tail", prob=(0.05, 0.95)))
        assert ess_tail(draws)[column] == pytest.approx(tail, rel=1e-12)


def test_good_chains_pass() -> None:
    found = diagnose({"a": chains("independent"), "b": chains("alternating")}, acceptance=0.7)
    assert (found.ok, found.problems, found.acceptance) == (True, (), 0.7)
    assert found.rhat_max == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"parameters": {"theta": chains("apart")}}, "R-hat of theta is"),
        ({"parameters": {"theta": chains("sticky", 100)}}, "effective sample size of theta is"),
        ({"parameters": {"theta": chains("independent")}, "divergences": 3}, "3 transitions diverged"),
        ({"parameters": {"theta": chains("independent")}, "edge": 0.1}, "reaches the edge"),
        ({"parameters": {"theta": chains("independent", 4)}}, "too few draws"),
        ({"parameters": {}}, "too few draws"),
    ],
)
def test_what_is_wrong_is_said(asked: dict[str, Any], words: str) -> None:
    found = diagnose(**asked)
    assert not found.ok
    assert any(words in problem for problem in found.problems)
    assert found.to_dict()["ok"] is False


def test_chains_that_never_move_are_not_good() -> None:
    still = np.tile(np.arange(4.0)[:, None, None], (1, 100, 1))
    assert rhat(still)[0] > 1e6
    assert not diagnose({"theta": still}).ok


def test_a_failure_stands_on_every_table(table: DistanceTable) -> None:
    good = bayes(table)
    assert good.diagnostics.ok
    assert good.caution == ""
    assert "caution" not in good.to_frame()
    bad = replace(good, diagnostics=replace(good.diagnostics, problems=("3 transitions diverged",)))
    assert "3 transitions diverged" in bad.caution
    frames = [bad.to_frame(), bad.contrasts_frame(), bad.predictive_frame(), bad.density_frame()]
    assert all((frame["caution"] == bad.caution).all() for frame in frames)
    assert bad.caution in unescape(bad._repr_html_())
    assert bad.warnings[0] == bad.caution
    assert bad.to_dict()["diagnostics"]["problems"] == ["3 transitions diverged"]


def test_too_few_draws_are_a_failure(table: DistanceTable) -> None:
    few = bayes(table, draws=100)
    assert not few.diagnostics.ok
    assert "effective sample size" in few.caution

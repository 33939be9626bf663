"""How far does the answer depend on the priors? The same model under tighter and wider ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from biasgauge.errors import ParameterError
from biasgauge.results import Column, Record, Result, Summary, Table
from biasgauge.uncertainty.draws import Draws
from biasgauge.uncertainty.estimates import contrasts, posterior_means
from biasgauge.uncertainty.fit import fit
from biasgauge.uncertainty.model import VARIANTS, Exponential, HalfNormal, Priors, ScalePrior
from biasgauge.uncertainty.posterior import Posterior

NOTEWORTHY = 0.25
"""Shift, in posterior standard deviations, from which the prior matters."""


@dataclass(frozen=True)
class PriorShift(Record):
    """What one other prior does to one estimate.

    Attributes:
        prior: which prior was changed, and how.
        quantity: "group" or "contrast".
        name: the connection, or the two that are compared ("associated − different").
        mean: posterior mean under the other prior.
        low: lower end of its interval.
        high: upper end.
        shift: how far the mean moved, in posterior standard deviations of the original fit; 0 means not at all.
        matters: whether that is more than a quarter.
    """

    prior: str
    quantity: str
    name: str
    mean: float
    low: float
    high: float
    shift: float
    matters: bool


@dataclass(frozen=True, repr=False)
class PriorSensitivity(Result):
    """The answer under several priors: one shift for each prior and each estimate."""

    tables: ClassVar[tuple[str, ...]] = ("shifts",)

    shifts: tuple[PriorShift, ...]

    @property
    def largest(self) -> PriorShift:
        """The shift farthest from 0."""
        return max(self.shifts, key=lambda row: abs(row.shift))

    def derived(self) -> dict[str, PriorShift]:
        """The shift farthest from 0."""
        return {"largest": self.largest}

    def summary(self) -> Summary:
        """How far each estimate moves under each prior."""
        worst = self.largest
        headline = f"{worst.name} moves by {worst.shift:.2f} posterior standard deviations with {worst.prior}"
        numbers = [Column(name, "number", 3) for name in ("mean", "shift")]
        rows = [(row.prior, row.quantity, row.name, row.mean, row.shift, row.matters) for row in self.shifts]
        columns = ["prior", "quantity", "name", *numbers, "matters"]
        return Summary("Prior sensitivity", headline, tables=(Table.of("shifts", "Shifts", columns, rows),))


def prior_sensitivity(posterior: Posterior, priors: Mapping[str, Priors] | None = None) -> PriorSensitivity:
    """Fit the same model under other priors and say how far groups and contrasts move.

    `priors` are the others by name; by default each part of the prior with half and with twice its spread. The seed is
    that of the original, so that shifts are due to the prior.

    Raises:
        ParameterError: the posterior has no connection that could be fitted.
    """
    if posterior.variant not in VARIANTS:
        raise ParameterError(
            "Prior sensitivity needs one of the shipped variants: your own model states its own priors."
        )
    if not posterior.draws.connections:
        raise ParameterError("There is nothing to compare: no connection could be fitted.")
    others = tighter_and_wider(posterior.priors) if priors is None else dict(priors)
    asked = {name: posterior.settings[name] for name in ("sampler", "random_state")}
    original = _rows(posterior.draws, posterior)
    shifts = []
    for name, prior in others.items():
        fitted = fit(posterior.table, posterior.variant, prior, draws=len(posterior.draws), **asked)
        for (quantity, label), row in _rows(fitted.draws, posterior).items():
            before = original[quantity, label]
            shift = float((row["value"] - before["value"]) / before["sd"])
            numbers = (row["value"], row["low"], row["high"], shift, abs(shift) > NOTEWORTHY)
            shifts.append(PriorShift(name, quantity, label, *numbers))
    return PriorSensitivity(tuple(shifts))


def _rows(draws: Draws, posterior: Posterior) -> dict[tuple[str, str], dict[str, Any]]:
    """Mean, interval and sd of each group and each contrast of groups."""
    groups = zip(draws.connections, posterior_means(draws.group, posterior.credible), strict=True)
    rows = {("group", name): numbers for name, numbers in groups}
    differences = contrasts(draws, (), posterior.credible, posterior.rope)
    return rows | {("contrast", f"{row.a} − {row.b}"): vars(row) for row in differences}


def tighter_and_wider(priors: Priors) -> dict[str, Priors]:
    """Each part of the prior with half and with twice its spread, by name."""
    others = {}
    for word, factor in (("half as wide", 0.5), ("twice as wide", 2.0)):
        others[f"group {word}"] = replace(priors, group=replace(priors.group, sd=priors.group.sd * factor))
        others[f"between {word}"] = replace(priors, between=_scaled(priors.between, factor))
        others[f"residual {word}"] = replace(priors, residual=_scaled(priors.residual, factor))
    return others


def _scaled(prior: ScalePrior, factor: float) -> ScalePrior:
    if isinstance(prior, Exponential):
        return Exponential(prior.rate / factor)
    return HalfNormal(prior.scale * factor)

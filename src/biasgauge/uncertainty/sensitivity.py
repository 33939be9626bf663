"""How far does the answer depend on the priors? The same model under tighter and wider ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from biasgauge.errors import ParameterError
from biasgauge.uncertainty.estimates import contrasts
from biasgauge.uncertainty.fit import fit
from biasgauge.uncertainty.model import VARIANTS, Exponential, HalfNormal, Normal, Priors, ScalePrior
from biasgauge.uncertainty.posterior import Posterior

if TYPE_CHECKING:
    import pandas as pd

NOTEWORTHY = 0.25
"""Shift, in posterior standard deviations, from which the prior matters."""


@dataclass(frozen=True)
class PriorShift:
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


@dataclass(frozen=True)
class PriorSensitivity:
    """The answer under several priors.

    Attributes:
        shifts: one for each prior and each estimate.
        largest: the shift that is farthest from 0.
    """

    shifts: tuple[PriorShift, ...]

    @property
    def largest(self) -> PriorShift:
        """The shift farthest from 0."""
        return max(self.shifts, key=lambda one: abs(one.shift))

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {"shifts": [vars(one) for one in self.shifts], "largest": vars(self.largest)}

    def to_frame(self) -> pd.DataFrame:
        """One row for each prior and each estimate."""
        import pandas as pd

        return pd.DataFrame([vars(one) for one in self.shifts])

    def _repr_html_(self) -> str:
        return str(self.to_frame().to_html(index=False))


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
    original = {**{("group", one.connection): one for one in posterior.groups if one.mean is not None}}
    original |= {("contrast", f"{one.a} − {one.b}"): one for one in posterior.contrasts if one.word is None}  # type: ignore[misc]
    shifts = []
    for name, prior in others.items():
        found = fit(
            posterior.table,
            posterior.variant,
            prior,
            draws=len(posterior.draws),
            sampler=posterior.settings["sampler"],
            random_state=posterior.settings["random_state"],
        )
        low, high = posterior.credible.ends(found.draws.group)
        means = found.draws.group.mean(axis=0)
        rows = [("group", one, means[at], low[at], high[at]) for at, one in enumerate(found.draws.connections)]
        rows += [
            ("contrast", f"{one.a} − {one.b}", one.mean, one.low, one.high)
            for one in contrasts(found.draws, (), posterior.credible, posterior.rope)
        ]
        for quantity, label, mean, below, above in rows:
            before = original[quantity, label]
            shift = float((mean - before.mean) / before.sd)
            shifts.append(
                PriorShift(
                    name, quantity, label, float(mean), float(below), float(above), shift, abs(shift) > NOTEWORTHY
                )
            )
    return PriorSensitivity(tuple(shifts))


def tighter_and_wider(priors: Priors) -> dict[str, Priors]:
    """Each part of the prior with half and with twice its spread, by name."""
    found = {}
    for word, factor in (("half as wide", 0.5), ("twice as wide", 2.0)):
        group = Normal(priors.group.mean, priors.group.sd * factor)
        found[f"group {word}"] = replace(priors, group=group)
        found[f"between {word}"] = replace(priors, between=_scaled(priors.between, factor))
        found[f"residual {word}"] = replace(priors, residual=_scaled(priors.residual, factor))
    return found


def _scaled(prior: ScalePrior, factor: float) -> ScalePrior:
    if isinstance(prior, Exponential):
        return Exponential(prior.rate / factor)
    return HalfNormal(prior.scale * factor)

"""The model of cosine distances, its variants and its priors.

    distance ~ Normal(theta[connection, word], sigma[connection])
    theta[connection, word] ~ Normal(group mean[connection], tau[connection])

`per-connection` is the model behind the published figures. `single-sigma` has one sigma for all connections.
`intercept` adds a baseline to all distances, so that group means are deviations from it (a later version of the
authors' code). `student` has heavier tails. `crossed` adds an effect of each attribute: every attribute meets every
protected word, so distances that share one are not independent. Source: Dobrzeniecka & Urbaniak 2023, section 4, and
their code.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal, TypeVar, get_args

from biasgauge.core import Floats, Record, check_choice, check_number
from biasgauge.errors import ParameterError

Variant = Literal["per-connection", "single-sigma", "intercept", "student", "crossed"]
VARIANTS: tuple[str, ...] = get_args(Variant)


class Prior(Record):
    """A prior; its JSON names its family."""

    def derived(self) -> dict[str, str]:
        """The family."""
        return {"family": type(self).__name__.lower()}


@dataclass(frozen=True)
class Normal(Prior):
    """A normal prior of a mean."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        check_number(mean=self.mean)
        check_number(0, ends=False, sd=self.sd)


@dataclass(frozen=True)
class Exponential(Prior):
    """An exponential prior of a standard deviation; its mean is 1 / rate."""

    rate: float

    def __post_init__(self) -> None:
        check_number(0, ends=False, rate=self.rate)

    @property
    def mean(self) -> float:
        """Its mean."""
        return 1 / self.rate

    def scaled(self, factor: float) -> Exponential:
        """The prior of a standard deviation so many times as large."""
        return Exponential(self.rate / factor)

    def log_density(self, sd: Floats) -> Floats:
        """Log density up to a constant."""
        return -self.rate * sd


@dataclass(frozen=True)
class HalfNormal(Prior):
    """The positive half of a normal distribution around 0, as a prior of a standard deviation."""

    scale: float

    def __post_init__(self) -> None:
        check_number(0, ends=False, scale=self.scale)

    @property
    def mean(self) -> float:
        """Its mean."""
        return self.scale * math.sqrt(2 / math.pi)

    def scaled(self, factor: float) -> HalfNormal:
        """The prior of a standard deviation so many times as large."""
        return HalfNormal(self.scale * factor)

    def log_density(self, sd: Floats) -> Floats:
        """Log density up to a constant."""
        return -0.5 * (sd / self.scale) ** 2


ScalePrior = Exponential | HalfNormal


@dataclass(frozen=True)
class Priors(Record):
    """Prior distributions of all parameters.

    Attributes:
        group: mean distance of a connection; in the variant "intercept" its deviation from the baseline.
        between: standard deviation of word means around the group mean (tau).
        residual: standard deviation of distances around the word mean (sigma).
        attribute: standard deviation of the effects of attributes (variant "crossed").
        baseline: what all distances share (variant "intercept").
        tails: rate of the Gamma(2, rate) prior of the degrees of freedom less one (variant "student"); few degrees of
            freedom are heavy tails.
    """

    group: Normal = Normal(1.0, 0.3)
    between: ScalePrior = Exponential(2.0)
    residual: ScalePrior = Exponential(2.0)
    attribute: ScalePrior = Exponential(2.0)
    baseline: Normal = Normal(1.0, 0.5)
    tails: float = 0.1

    def __post_init__(self) -> None:
        check_number(0, ends=False, tails=self.tails)


@dataclass(frozen=True)
class ContrastPriors(Record):
    """Priors of the model of a contrast, in units of the cosine.

    Attributes:
        cell: mean similarity of a group of targets with a group of attributes; of WEAT's contrast Normal(0, 0.6).
        effects: standard deviations of effects of words: leans, pairings, their slopes on frequency, main effects.
        residual: standard deviation of single similarities.
        replicates: standard deviations of what belongs to one replicate.
    """

    cell: Normal = Normal(0.0, 0.3)
    effects: ScalePrior = Exponential(20.0)
    residual: ScalePrior = HalfNormal(0.3)
    replicates: ScalePrior = Exponential(40.0)

    def scaled(self, factor: float) -> ContrastPriors:
        """Return priors so many times as wide."""
        scales = {name: getattr(self, name).scaled(factor) for name in ("effects", "residual", "replicates")}
        return replace(self, cell=replace(self.cell, sd=self.cell.sd * factor), **scales)


PriorParts = Mapping[str, str | Normal | ScalePrior]
"""Some priors by name."""
PriorsLike = Priors | PriorParts | None
"""Priors as a whole, some of them by name, or None for those of the variant."""
ContrastPriorsLike = ContrastPriors | PriorParts | None
"""Priors of the model of a contrast, some of them by name, or None for the default."""
DEFAULT_CONTRAST_PRIORS = ContrastPriors()
PUBLISHED = Priors()
"""The priors of the paper; those of attributes and tails are ours."""

DEFAULT_PRIORS = MappingProxyType(
    dict.fromkeys(VARIANTS, PUBLISHED)
    | {"intercept": Priors(group=Normal(0.0, 0.2), between=Exponential(5.0), residual=Exponential(5.0))}
)
"""Priors of each variant by default."""


def priors_of(variant: str, chosen: PriorsLike) -> Priors:
    """The priors of a variant, as a whole or with some parts replaced.

    Raises:
        ParameterError: a part is not known, or of another family than it should.
    """
    return with_parts(DEFAULT_PRIORS.get(variant, PUBLISHED), chosen)


_P = TypeVar("_P", Priors, ContrastPriors)


def with_parts(defaults: _P, chosen: _P | PriorParts | None) -> _P:
    """Priors with some parts replaced, or those that were given as a whole.

    Raises:
        ParameterError: a part is not known, or of another family than it should.
    """
    if isinstance(chosen, type(defaults)):
        return chosen
    if not isinstance(chosen, Mapping | None):
        raise ParameterError(
            f"The 'priors' parameter must be {type(defaults).__name__} or a mapping. Got {chosen!r:.80}."
        )
    names = [field.name for field in fields(defaults) if isinstance(getattr(defaults, field.name), Prior)]
    parts: dict[str, Any] = {}
    for name, prior in (chosen or {}).items():
        check_choice(names, prior=name)
        parts[name] = prior_named(prior) if isinstance(prior, str) else prior
        of_a_mean = isinstance(getattr(defaults, name), Normal)
        if not isinstance(parts[name], Normal if of_a_mean else (Exponential, HalfNormal)):
            kind = "normal(MEAN, SD)" if of_a_mean else "exponential(RATE) or halfnormal(SCALE)"
            raise ParameterError(f"The prior of {name!r} must be {kind}. Got {prior!r}.")
    return replace(defaults, **parts)


def prior_named(text: str) -> Normal | ScalePrior:
    """Read a prior as it is typed: `normal(1, 0.3)`, `exponential(2)`, `halfnormal(0.5)`.

    Raises:
        ParameterError: it is none of them.
    """
    typed = re.fullmatch(r"\s*(\w+)\s*\(([^()]*)\)\s*", text)
    try:
        numbers = [float(part) for part in typed[2].split(",")] if typed else []
    except ValueError:
        numbers = []
    match typed and typed[1].lower(), numbers:
        case "normal", [mean, sd]:
            return Normal(mean, sd)
        case "exponential", [rate]:
            return Exponential(rate)
        case "halfnormal", [scale]:
            return HalfNormal(scale)
    raise ParameterError(f"A prior is typed as normal(MEAN, SD), exponential(RATE) or halfnormal(SCALE). Got {text!r}.")

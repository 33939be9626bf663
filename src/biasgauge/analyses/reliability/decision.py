"""`decision_study`: numbers of replicates, pairs and words that a wanted reliability needs.

From variance components alone: in the mean over a design with n_F levels of facet F, a component counts with its
variance divided by the product of n_F over its facets (Cronbach et al. 1972; Brennan, *Generalizability Theory*, 2001,
chapters 4 and 5). Intervals carry the draws of the components through, and a plan is the number that is enough in a
given share of the draws (`assurance`): planned at the estimates, it would fall short about every second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from biasgauge.analyses.reliability.components import PIVOTS, VarianceComponents
from biasgauge.core import Estimate, Floats, JsonMapping, Record, check_choice, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, level_text, number_text, records_frame, share_text
from biasgauge.stats import percentile_estimate

if TYPE_CHECKING:
    import pandas as pd

Target = Literal["word", "pair", "query"]
Coefficient = Literal["dependability", "generalizability"]

QUERY = "query"
"""Object whose score is the mean over all of its words: compared with 0, not with other queries."""
PLURAL = {
    "word": "words", "pair": "pairs", "model": "replicates", "checkpoint": "checkpoints", "layer": "layers",
    "pooling": "poolings", "template": "templates", "context": "contexts", "measure": "measures",
}  # fmt: skip
"""Names of the levels of each facet in tables."""
DEFAULT_SIZES = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 100)
COARSE_SIZES = (1, 2, 5, 10, 20, 50, 100)
"""Numbers of levels tried by default with one or two facets, and with more."""
CHOICES = ("measures", "layers", "poolings", "checkpoints")
"""Facets whose levels are choices rather than a sample of many: one of them, or those at hand."""
_LARGEST = 10_000


@dataclass(frozen=True)
class DesignReliability(Record):
    """Reliability of an object's mean score over one design.

    Attributes:
        levels: number of levels of each facet that are averaged over; infinite for the limit.
        generalizability: E rho², of the order of objects; None for a query, or where nothing varies.
        dependability: Φ, of the values themselves; at most the generalizability.
        standard_error: of an object's mean score, absolute, in the units of the scores.
        reaches: whether the coefficient that counts reaches the target, at the estimates.
        assurance: share of the draws of the components in which it does.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"levels"})

    levels: Mapping[str, float]
    generalizability: float | None
    generalizability_interval: Estimate | None
    dependability: float | None
    dependability_interval: Estimate
    standard_error: float
    reaches: bool
    assurance: float

    def derived(self) -> JsonMapping:
        """Add levels by their names in tables; an infinite number is null."""
        return {PLURAL[name]: int(size) if np.isfinite(size) else None for name, size in self.levels.items()}


@dataclass(frozen=True)
class LevelsNeeded(Record):
    """Number of levels of one facet that the target needs, at given levels of the others.

    Attributes:
        levels: of the other facets.
        facet: the facet solved for.
        number: the smallest that is enough in the share `assurance` of the draws of the components; None when none is.
        estimate: the smallest that is enough at the estimates, which falls short about every second time.
        low, high: interval of the number needed; None when no number is enough at that end.
        reason: why there is none.
    """

    hidden: ClassVar[frozenset[str]] = frozenset({"levels", "facet", "number"})

    levels: Mapping[str, float]
    facet: str
    number: int | None
    estimate: int | None
    low: int | None
    high: int | None
    level: float
    assurance: float
    method: str
    reason: str | None

    def derived(self) -> JsonMapping:
        """Add levels of all facets by their names in tables."""
        return {**{PLURAL[name]: int(size) for name, size in self.levels.items()}, PLURAL[self.facet]: self.number}

    @property
    def sizes(self) -> tuple[float, ...]:
        """Levels of all facets, the one solved for last."""
        return (*self.levels.values(), self.number or 0)

    def undercuts(self, need: LevelsNeeded) -> bool:
        """Test whether this needs no more levels of any facet than `need`, and fewer of one."""
        return self.sizes != need.sizes and all(a <= b for a, b in zip(self.sizes, need.sizes, strict=True))

    @property
    def interval_text(self) -> str:
        """Interval of the number needed; infinite where no number is enough."""
        low, high = ("∞" if end is None else f"{end:,}" for end in (self.low, self.high))
        return f"{level_text(self.level)} interval of {PLURAL[self.facet]} needed: {low} to {high}"


@dataclass(frozen=True, repr=False)
class DecisionStudy(Result):
    """Reliabilities of designs, and the smallest designs that are enough.

    Attributes:
        object: object of measurement: "word", "pair" or "query".
        target: the reliability wanted.
        assurance: share of the draws of the components in which a recommended design must reach it.
        coefficient: which reliability must reach it.
        measure: the measure that was analyzed; None when measures are a facet.
        fixed: facets whose levels at hand are all of interest.
        facets: facets averaged over.
        designs: every combination that was tried.
        solved: the facet whose number is solved for in `needs`.
        needs: for each combination of the other facets, how many levels of it are needed.
        today: the design at hand.
        single: one level of each facet (but of the fixed ones, all).
        limits: the design at hand with infinitely many levels of one facet.
        alone: how many levels of each facet would reach the target, the others as at hand.
        bottleneck: the facet of which more levels would reduce the error of the design at hand most.
        warnings: those of the components.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"sentences": tuple[str, ...]}
    tables: ClassVar[tuple[str, ...]] = ("designs",)
    hidden: ClassVar[frozenset[str]] = frozenset({"facets", "solved"})

    object: str
    target: float
    assurance: float
    coefficient: str
    measure: str | None
    fixed: tuple[str, ...]
    facets: tuple[str, ...]
    designs: tuple[DesignReliability, ...]
    solved: str
    needs: tuple[LevelsNeeded, ...]
    today: DesignReliability
    single: DesignReliability
    limits: Mapping[str, DesignReliability]
    alone: Mapping[str, LevelsNeeded]
    bottleneck: str
    warnings: tuple[str, ...]

    @property
    def smallest(self) -> tuple[LevelsNeeded, ...]:
        """Needs that can be met and that no other undercuts in every facet, those with fewest scores first."""
        possible = [need for need in self.needs if need.number is not None]
        minimal = [need for need in possible if not any(smaller.undercuts(need) for smaller in possible)]
        return tuple(sorted(minimal, key=lambda need: np.prod(need.sizes)))

    @property
    def reachable(self) -> bool:
        """True if some design that was tried, with any number of the solved facet, reaches the target."""
        return bool(self.smallest)

    def value(self, design: DesignReliability) -> float | None:
        """Coefficient of a design that counts."""
        return design.dependability if self.coefficient == "dependability" else design.generalizability

    def sentences(self) -> tuple[str, ...]:
        """Conclusions: reliability at hand, designs that reach the target, and the facet that limits it."""
        symbol = " (Φ)" if self.coefficient == "dependability" else ""
        at_hand, single = (
            f"{_sizes_text(design.levels)}{suffix}: {_value_text(self.value(design))}"
            for design, suffix in ((self.today, " at hand"), (self.single, ""))
        )
        sentences = [f"{self.coefficient}{symbol} of a {self.object}'s mean score with the {at_hand}; with {single}"]
        goal = f"{self.target:g} with an assurance of {share_text(self.assurance)}"
        if self.reachable:
            options = "; or ".join(
                f"{_sizes_text({**need.levels, self.solved: need.number or 0})} ({need.interval_text})"
                for need in self.smallest[:3]
            )
            sentences.append(f"{goal} requires {options}")
        else:
            plural = PLURAL[self.solved]
            sentences.append(f"{goal} is out of reach of the designs tried, however many {plural} there are")
        limit = _value_text(self.value(self.limits[self.bottleneck]))
        sentences.append(f"more {PLURAL[self.bottleneck]} would raise it most, to {limit} with infinitely many")
        for facet, need in self.alone.items():
            enough = need.reason
            if need.number is not None:
                verb = "is" if need.number == 1 else "are"
                enough = f"{_sizes_text({facet: need.number})} {verb} enough ({need.interval_text})"
            sentences.append(f"with the {_sizes_text(need.levels) or 'design'} at hand, {enough}")
        return tuple(sentences)

    def to_frame(self) -> pd.DataFrame:
        """One row per design, for a plot of reliability against replicates with one line per number of pairs."""
        return super().to_frame().set_index([PLURAL[name] for name in self.facets]).reset_index()

    def needs_frame(self) -> pd.DataFrame:
        """One row for each combination of the other facets: how many are needed, with its interval, or why none is."""
        frame = records_frame(self.needs)
        return frame.astype(dict.fromkeys((PLURAL[self.solved], "estimate", "low", "high"), "Int64"))

    def derived(self) -> JsonMapping:
        """Add facets by their names in tables, and conclusions."""
        return {
            "limits": {PLURAL[name]: design for name, design in self.limits.items()},
            "alone": {PLURAL[name]: need for name, need in self.alone.items()},
            "bottleneck": PLURAL[self.bottleneck],
            "smallest": self.smallest,
            "reachable": self.reachable,
            "sentences": self.sentences(),
        }

    def summary(self) -> Summary:
        """Reliability of the design at hand, and designs that are enough."""
        from biasgauge.analyses.reliability.figures import study_chart

        headline, *sentences = self.sentences()
        facets = list(self.needs[0].levels) if self.needs else []
        counts = [*(PLURAL[name] for name in (*facets, self.solved)), "at the estimates", "low", "high"]
        rows = [
            (*map(int, need.levels.values()), need.number, need.estimate, need.low, need.high, need.reason)
            for need in self.needs
        ]
        title = f"Designs that reach a reliability of {self.target:g} with an assurance of {share_text(self.assurance)}"
        needs = Table.of("needs", title, [*(Column(name, "count") for name in counts), "reason"], rows)
        tables, charts = (needs,), (study_chart(self),)
        return Summary("Sufficient designs", headline, tuple(sentences), tables, charts, warnings=self.warnings)


def _sizes_text(levels: Mapping[str, float]) -> str:
    return " × ".join(f"{int(size):,} {PLURAL[name].removesuffix('s' * (size == 1))}" for name, size in levels.items())


def _value_text(value: float | None, digits: int = 2) -> str:
    return "undefined" if value is None else number_text(value, digits)


def decision_study(
    components: VarianceComponents,
    *,
    target: float = 0.8,
    object: Target = "word",  # noqa: A002 - the word of the theory
    coefficient: Coefficient = "dependability",
    assurance: float = 0.8,
    replicates: Iterable[int] | None = None,
    pairs: Iterable[int] | None = None,
    words: Iterable[int] | None = None,
    measures: Iterable[int] | None = None,
    templates: Iterable[int] | None = None,
    contexts: Iterable[int] | None = None,
    fixed: Sequence[str] = (),
) -> DecisionStudy:
    """Estimate the reliability of an object's mean score in designs of other sizes, and the sizes that are enough.

    Generalizability E rho² = σ²(τ) / (σ²(τ) + σ²(δ)) and dependability Φ = σ²(τ) / (σ²(τ) + σ²(Δ)), where σ²(τ) is the
    variance of objects, σ²(δ) that of all interactions of the object with sampled facets, and σ²(Δ) also that of the
    sampled facets themselves, each component divided by its numbers of levels. Range [0, 1]; 0: the mean is all error.
    Undefined where nothing varies.

    Args:
        components: as `variance_components` estimates them.
        target: the reliability wanted, between 0 and 1.
        object: object of measurement. "word": a word's bias, averaged over pairs, replicates (and measures). "pair": a
            base pair's score, averaged over words, replicates (and measures); with words as items this generalizes
            Cronbach's alpha. "query": the mean bias of a set of words, against 0.
        coefficient: which reliability must reach the target. "dependability" (Φ): of the values themselves;
            "generalizability" (E rho²): of the order of objects.
        assurance: share of the draws of the components in which the number that is recommended must be enough.
        replicates: numbers of models to try; a usual range, and the number at hand, when None.
        pairs: numbers of pairs to try, likewise.
        words: numbers of words to try, likewise.
        measures: numbers of measures to try, likewise.
        templates: of views of a transformer, numbers of templates to try, likewise.
        contexts: likewise, numbers of contexts.
        fixed: facets whose levels at hand are all of interest, such as ("measure",).

    Raises:
        ParameterError: an argument cannot be used, or the object is no facet of the components.
    """
    check_number(0, 1, ends=False, target=target, assurance=assurance)
    check_choice(get_args(Target), object=object)
    check_choice(get_args(Coefficient), coefficient=coefficient)
    if object == QUERY and coefficient == "generalizability":
        raise ParameterError("A query is compared with 0, not with other queries: only its dependability is defined.")
    if object != QUERY and object not in components.facets:
        raise ParameterError(f"The components have no facet {object!r}; they have {', '.join(components.facets)}.")
    here = {name: size for name, size in components.facets.items() if name != object}
    if unknown := [name for name in fixed if name not in here]:
        raise ParameterError(
            "The 'fixed' parameter of decision_study must name facets other than the object. Got "
            f"{unknown[0]!r}; there are {', '.join(here)}."
        )
    sampled = [name for name in here if name not in fixed]
    if not sampled:
        raise ParameterError("A decision study needs a facet to average over that is not fixed. Got none.")
    requested = {
        "model": replicates, "pair": pairs, "word": words, "measure": measures, "template": templates,
        "context": contexts,
    }  # fmt: skip
    usual = DEFAULT_SIZES if len(sampled) <= 2 else COARSE_SIZES
    grids = {
        name: [size] if name in fixed else _sizes_to_try(PLURAL[name], requested.get(name), size, usual)
        for name, size in here.items()
    }
    # The first row holds the estimates, the others the draws.
    squared_means = np.concatenate([[components.mean**2 - components.mean_error], components.drawn_squared_mean])
    estimates = np.array([[component.variance for component in components.components]])
    model = GeneralizabilityModel(
        facets=tuple(component.facets for component in components.components),
        variances=np.concatenate([estimates, components.drawn]),
        squared_mean=np.maximum(squared_means, 0.0),
        object=object,
        fixed=frozenset(fixed),
        target=target,
        assurance=assurance,
        level=components.level,
        relative=coefficient == "generalizability",
    )
    solved = next((name for name in ("model", "template", "context") if name in sampled), sampled[-1])
    errors = {name: float(model.error({**here, name: np.inf})[0]) for name in sampled}
    return DecisionStudy(
        object=object,
        target=target,
        assurance=assurance,
        coefficient=coefficient,
        measure=components.measure,
        fixed=tuple(fixed),
        facets=tuple(here),
        designs=tuple(model.design(levels) for levels in _combinations(grids)),
        solved=solved,
        needs=tuple(model.levels_needed(solved, levels) for levels in _combinations({**grids, solved: [1]})),
        today=model.design(here),
        single=model.design({name: size if name in fixed else 1 for name, size in here.items()}),
        limits={name: model.design({**here, name: np.inf}) for name in sampled},
        alone={name: model.levels_needed(name, here) for name in sampled},
        bottleneck=min(sampled, key=lambda name: errors[name]),
        warnings=components.warnings,
    )


def _sizes_to_try(plural: str, requested: Iterable[int] | None, here: int, usual: tuple[int, ...]) -> list[int]:
    if requested is None:
        return sorted({1, here} if plural in CHOICES else {*usual, *([here] if here <= usual[-1] else [])})
    sizes = sorted(set(requested))
    if not sizes:
        raise ParameterError(f"The {plural!r} parameter must hold whole numbers of at least 1. Got none.")
    for size in sizes:
        check_whole(1, **{plural: size})
    return [int(size) for size in sizes]


def _combinations(grids: Mapping[str, Sequence[int]]) -> Iterable[dict[str, float]]:
    return (dict(zip(grids, sizes, strict=True)) for sizes in product(*grids.values()))


@dataclass(frozen=True)
class GeneralizabilityModel:
    """Components, one row per draw (the first row: the estimates), with the facets of each.

    `squared_mean` is that of all scores, net of its error, for queries; the generalizability must reach the target if
    `relative`, else the dependability, in the share `assurance` of the draws.
    """

    facets: tuple[tuple[str, ...], ...]
    variances: Floats
    squared_mean: Floats
    object: str
    fixed: frozenset[str]
    target: float = 0.8
    assurance: float = 0.8
    level: float = 0.95
    relative: bool = False

    def variance_parts(self, levels: Mapping[str, float]) -> tuple[Floats, Floats, Floats]:
        """Universe-score variance, relative and absolute error variance of each draw; levels may be infinite."""
        universe = self.squared_mean.copy() if self.object == QUERY else np.zeros(len(self.variances))
        relative, absolute = np.zeros(len(self.variances)), np.zeros(len(self.variances))
        for facets, variances in zip(self.facets, self.variances.T, strict=True):
            averaged = [name for name in facets if name != self.object]
            mean_variance = variances / float(np.prod([levels[name] for name in averaged]))
            sampled = any(name not in self.fixed for name in averaged)
            if self.object in facets and not sampled:
                universe += mean_variance  # the object itself, and its interactions with fixed facets
            elif sampled:
                absolute += mean_variance
                if self.object in facets:  # a main effect of other facets shifts all objects alike
                    relative += mean_variance
        return universe, relative, absolute

    def error(self, levels: Mapping[str, float]) -> Floats:
        """Error variance of the coefficient that counts."""
        return self.variance_parts(levels)[1 if self.relative else 2]

    def solve_levels(self, facet: str, levels: Mapping[str, float]) -> Floats:
        """Levels of a sampled facet at which the coefficient reaches the target; infinite where none do.

        The error falls as a + b / n with the number n of levels, and the universe-score variance u does not depend on
        it: u / (u + a + b / n) = target gives n = b / (u (1 − target) / target − a).
        """
        universe = self.variance_parts(levels)[0]
        constant = self.error({**levels, facet: np.inf})
        falling = self.error({**levels, facet: 1.0}) - constant
        tolerated = universe * (1 - self.target) / self.target - constant
        count: Floats = np.full(len(tolerated), np.inf)
        np.divide(falling, tolerated, out=count, where=tolerated > 0)
        count[(falling <= 0) & (tolerated >= 0)] = 1.0
        return np.maximum(count, 1.0)

    def design(self, levels: Mapping[str, float]) -> DesignReliability:
        """Generalizability (relative) and dependability (absolute) of the mean over a design."""
        universe, relative, absolute = self.variance_parts(levels)
        generalizability = None if self.object == QUERY else self._ratio(universe, relative)
        dependability = self._ratio(universe, absolute)
        coefficient = generalizability if generalizability is not None and self.relative else dependability
        error = (relative if self.relative else absolute)[1:]
        reaching = universe[1:] * (1 - self.target) >= error * self.target
        return DesignReliability(
            levels=dict(levels),
            generalizability=None if generalizability is None else generalizability.value,
            generalizability_interval=generalizability,
            dependability=dependability.value,
            dependability_interval=dependability,
            standard_error=float(np.sqrt(absolute)[0]),
            reaches=coefficient.value is not None and coefficient.value >= self.target,
            assurance=float(reaching.mean()) if len(reaching) else 1.0,
        )

    def levels_needed(self, facet: str, levels: Mapping[str, float]) -> LevelsNeeded:
        """Number of levels of a facet that reaches the target, at these levels of the others."""
        count = self.solve_levels(facet, levels)
        tails = [self.assurance, (1 - self.level) / 2, (1 + self.level) / 2]
        enough, *ends = np.quantile(count[1:], tails, method="inverted_cdf").tolist()
        number, estimate, low, high = (  # the next whole number, up to the largest considered
            int(np.ceil(size - 1e-9)) if size <= _LARGEST else None for size in (enough, float(count[0]), *ends)
        )
        reason, none = None, f"no number of {PLURAL[facet]} reaches {self.target:g}"
        if number is None and estimate is not None:
            reason = f"{none} in {share_text(self.assurance)} of the draws; at the estimates {estimate:,} would"
        elif number is None and np.isfinite(count[0]):
            reason = f"more than {_LARGEST:,} {PLURAL[facet]} would be needed"
        elif number is None:
            limit = self.design({**levels, facet: np.inf})
            most = limit.generalizability if self.relative else limit.dependability
            reason = f"{none}: with infinitely many it would be {_value_text(most, 3)}"
        other_levels = {name: size for name, size in levels.items() if name != facet}
        return LevelsNeeded(
            other_levels, facet, number, estimate, low, high, self.level, self.assurance, PIVOTS["method"], reason
        )

    def _ratio(self, universe: Floats, error: Floats) -> Estimate:
        """Universe-score variance divided by its sum with the error variance; undefined where there is no variance."""
        total = universe + error
        ratio = np.divide(universe, total, out=np.full(len(total), np.nan), where=total > 0)
        value, drawn = None if np.isnan(ratio[0]) else float(ratio[0]), ratio[1:][~np.isnan(ratio[1:])]
        if not len(drawn):
            return Estimate(value=value, level=self.level, reason="there is no variance", **PIVOTS)
        return percentile_estimate(value, drawn, self.level, **PIVOTS)

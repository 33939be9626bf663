"""`decision_study`: how many replicates, pairs and words are enough for the reliability one wants.

From variance components alone: with n levels of each facet, a component counts in the mean over a design by its
variance divided by the numbers of levels of its facets (Cronbach et al. 1972; Brennan, *Generalizability Theory*, 2001,
chapters 4 and 5). Intervals carry the draws of the components through, and a plan is the number that is enough in so
many of the draws (`assurance`): planned at the estimates, it would fall short about every second time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, get_args

import numpy as np

from biasgauge.analyses.reliability.components.analysis import PIVOTS, VarianceComponents
from biasgauge.analyses.reliability.decision.result import PLURAL, DecisionStudy, Design, Need
from biasgauge.core import Estimate, Floats, check_choice, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.results import number_text, share_text
from biasgauge.stats import percentile_estimate

Target = Literal["word", "pair", "query"]
Coefficient = Literal["dependability", "generalizability"]

QUERY = "query"
"""The object whose score is the mean over all of its words: compared with 0, not with others of its kind."""
DEFAULT = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 100)
COARSE = (1, 2, 5, 10, 20, 50, 100)
"""Numbers of levels that are tried when none are asked for: with one or two facets, and with more."""
CHOICES = ("measures", "layers", "poolings", "checkpoints")
"""Facets whose levels are choices rather than a sample of many: one of them, or those at hand."""
_LARGEST = 10_000


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
    """Say how reliable the mean score of an object would be in designs of other sizes, and which sizes are enough.

    Args:
        components: what `variance_components` found.
        target: the reliability wanted, between 0 and 1.
        object: what is to be measured. "word": a word's bias, averaged over pairs, replicates (and measures). "pair": a
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
        fixed: facets whose levels at hand are all one wants to speak about, such as ("measure",).

    Raises:
        ParameterError: an argument cannot be used, or the object is no facet of the components.
    """
    check_number(0, 1, ends=False, target=target, assurance=assurance)
    check_choice(get_args(Target), object=object)
    check_choice(get_args(Coefficient), coefficient=coefficient)
    _check_facets(components, object, coefficient, fixed)
    asked = {
        "model": replicates, "pair": pairs, "word": words, "measure": measures, "template": templates,
        "context": contexts,
    }  # fmt: skip
    facets = [name for name in components.facets if name != object]
    sampled = [name for name in facets if name not in fixed]
    if not sampled:
        raise ParameterError("A decision study needs a facet to average over that is not fixed. Got none.")
    usual = DEFAULT if len(sampled) <= 2 else COARSE
    here = {name: components.facets[name] for name in facets}
    grids = [
        [here[name]] if name in fixed else _grid(PLURAL[name], asked.get(name), here[name], usual) for name in facets
    ]
    means = np.concatenate([[components.mean**2 - components.mean_error], components.drawn_squared_mean])
    estimates = np.array([[component.variance for component in components.components]])
    model = Model(
        facets=tuple(component.facets for component in components.components),
        variances=np.concatenate([estimates, components.drawn]),
        squared_mean=np.maximum(means, 0.0),
        target=object,
        fixed=frozenset(fixed),
        goal=target,
        assurance=assurance,
        level=components.level,
        relative=coefficient == "generalizability",
    )
    solved = next((name for name in ("model", "template", "context") if name in sampled), sampled[-1])
    rest = [[1] if name == solved else grid for name, grid in zip(facets, grids, strict=True)]
    errors = {name: float(model.error({**here, name: np.inf})[0]) for name in sampled}
    return DecisionStudy(
        object=object,
        target=target,
        assurance=assurance,
        coefficient=coefficient,
        measure=components.measure,
        fixed=tuple(fixed),
        facets=tuple(facets),
        designs=tuple(model.design(dict(zip(facets, sizes, strict=True))) for sizes in product(*grids)),
        solved=solved,
        needs=tuple(model.need(solved, dict(zip(facets, sizes, strict=True))) for sizes in product(*rest)),
        today=model.design(here),
        single=model.design({name: here[name] if name in fixed else 1 for name in facets}),
        limits={name: model.design({**here, name: np.inf}) for name in sampled},
        alone={name: model.need(name, here) for name in sampled},
        bottleneck=min(sampled, key=lambda name: errors[name]),
        warnings=components.warnings,
    )


def _check_facets(components: VarianceComponents, measured: str, coefficient: str, fixed: Sequence[str]) -> None:
    if measured == QUERY and coefficient == "generalizability":
        raise ParameterError("A query is compared with 0, not with other queries: only its dependability is defined.")
    if measured != QUERY and measured not in components.facets:
        raise ParameterError(f"The components have no facet {measured!r}; they have {', '.join(components.facets)}.")
    others = [name for name in components.facets if name != measured]
    for name in fixed:
        if name not in others:
            raise ParameterError(
                f"The 'fixed' parameter of decision_study must name facets other than the object. Got {name!r}; there "
                f"are {', '.join(others)}."
            )


def _grid(plural: str, asked: Iterable[int] | None, here: int, usual: tuple[int, ...]) -> list[int]:
    if asked is None:
        return sorted({1, here} if plural in CHOICES else {*usual, *([here] if here <= usual[-1] else [])})
    sizes = sorted(set(asked))
    if not sizes:
        raise ParameterError(f"The {plural!r} parameter must hold whole numbers of at least 1. Got none.")
    for size in sizes:
        check_whole(1, **{plural: size})
    return [int(size) for size in sizes]


@dataclass(frozen=True)
class Model:
    """Components, one row a draw (the first row: the estimates), and what they are of.

    `squared_mean` is that of all scores, net of its error, for queries; `goal` the reliability wanted, which the
    generalizability must reach if `relative`, else the dependability, in the share `assurance` of the draws.
    """

    facets: tuple[tuple[str, ...], ...]
    variances: Floats
    squared_mean: Floats
    target: str
    fixed: frozenset[str]
    goal: float = 0.8
    assurance: float = 0.8
    level: float = 0.95
    relative: bool = False

    def parts(self, levels: Mapping[str, float]) -> tuple[Floats, Floats, Floats]:
        """Universe-score variance, relative and absolute error variance, for each draw; levels may be infinite."""
        universe = self.squared_mean.copy() if self.target == QUERY else np.zeros(len(self.variances))
        relative, absolute = np.zeros(len(self.variances)), np.zeros(len(self.variances))
        for place, facets in enumerate(self.facets):
            others = [name for name in facets if name != self.target]
            part = self.variances[:, place] / float(np.prod([levels[name] for name in others]))
            sampled = any(name not in self.fixed for name in others)
            if self.target in facets and not sampled:
                universe += part
            elif sampled:
                absolute += part
                if self.target in facets:
                    relative += part
        return universe, relative, absolute

    def error(self, levels: Mapping[str, float]) -> Floats:
        """The error variance that counts."""
        return self.parts(levels)[1 if self.relative else 2]

    def needed(self, facet: str, levels: Mapping[str, float]) -> Floats:
        """Levels of a facet that is not fixed at which the coefficient reaches the goal; infinite where none do.

        The error falls as a + b / n with the number n of levels; the universe score does not depend on it.
        """
        universe = self.parts(levels)[0]
        least = self.error({**levels, facet: np.inf})
        falling = self.error({**levels, facet: 1.0}) - least
        room = universe * (1 - self.goal) / self.goal - least
        count: Floats = np.full(len(room), np.inf)
        np.divide(falling, room, out=count, where=room > 0)
        count[(falling <= 0) & (room >= 0)] = 1.0
        return np.maximum(count, 1.0)

    def design(self, levels: Mapping[str, float]) -> Design:
        """Generalizability (relative) and dependability (absolute) of the mean over a design."""
        universe, relative, absolute = self.parts(levels)
        general = None if self.target == QUERY else self._estimate(universe, relative)
        depend = self._estimate(universe, absolute)
        counts = general if general is not None and self.relative else depend
        return Design(
            levels=dict(levels),
            generalizability=None if general is None else general.value,
            generalizability_interval=general,
            dependability=depend.value,
            dependability_interval=depend,
            standard_error=float(np.sqrt(absolute)[0]),
            reaches=counts.value is not None and counts.value >= self.goal,
            assurance=self._reaching(universe, relative if self.relative else absolute),
        )

    def need(self, facet: str, levels: Mapping[str, float]) -> Need:
        """How many levels of a facet reach the goal, beside so many of the others."""
        count = self.needed(facet, levels)
        tails = [self.assurance, (1 - self.level) / 2, (1 + self.level) / 2]
        enough, *ends = np.quantile(count[1:], tails, method="inverted_cdf").tolist()
        number, estimate, low, high = map(_whole, (enough, float(count[0]), *ends))
        reason = None
        if number is None and estimate is not None:
            share = f"in {share_text(self.assurance)} of the draws"
            reason = f"no number of {PLURAL[facet]} reaches {self.goal:g} {share}; at the estimates {estimate:,} would"
        elif number is None and np.isfinite(count[0]):
            reason = f"more than {_LARGEST:,} {PLURAL[facet]} would be needed"
        elif number is None:
            best = self.design({**levels, facet: np.inf})
            reached = best.generalizability if self.relative else best.dependability
            most = "undefined" if reached is None else number_text(reached, 3)
            reason = f"no number of {PLURAL[facet]} reaches {self.goal:g}: with infinitely many it would be {most}"
        others = {name: size for name, size in levels.items() if name != facet}
        return Need(
            levels=others, facet=facet, number=number, estimate=estimate, low=low, high=high, level=self.level,
            assurance=self.assurance, method=PIVOTS["method"], reason=reason,
        )  # fmt: skip

    def _reaching(self, universe: Floats, error: Floats) -> float:
        """Share of the draws in which the goal is reached."""
        return float((universe[1:] * (1 - self.goal) >= error[1:] * self.goal).mean()) if len(error) > 1 else 1.0

    def _estimate(self, universe: Floats, error: Floats) -> Estimate:
        """Universe-score variance by what is observed; undefined where there is no variance."""
        total = universe + error
        ratio = np.divide(universe, total, out=np.full(len(total), np.nan), where=total > 0)
        value, drawn = None if np.isnan(ratio[0]) else float(ratio[0]), ratio[1:][~np.isnan(ratio[1:])]
        if not len(drawn):
            return Estimate(value=value, level=self.level, reason="there is no variance", **PIVOTS)
        return percentile_estimate(value, drawn, self.level, **PIVOTS)


def _whole(count: float) -> int | None:
    """The next whole number; None where there is none, or none that could be afforded."""
    if not np.isfinite(count) or count > _LARGEST:
        return None
    return int(np.ceil(count - 1e-9))

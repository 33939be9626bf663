"""`decision_study`: how many replicates, pairs and words are enough for the reliability one wants.

From variance components alone: the reliability of the mean over any design follows without measuring it. Source:
Cronbach et al. 1972; Brennan, *Generalizability Theory* (2001), chapters 4 and 5. Intervals carry the draws of the
components through, so they hold for designs and components together.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Literal, get_args

import numpy as np

from biasgauge.agreement.components.analysis import VarianceComponents
from biasgauge.agreement.decision.errors import QUERY, Model
from biasgauge.agreement.decision.result import PLURAL, DecisionStudy, Design, Need
from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.stats.estimate import Estimate

Target = Literal["word", "pair", "query"]
Coefficient = Literal["dependability", "generalizability"]

DEFAULT = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 100)
COARSE = (1, 2, 5, 10, 20, 50, 100)
"""Numbers of levels that are tried when none are asked for: with one or two facets, and with more."""
_LARGEST = 10_000
_HOW = "generalized pivots"
_OVER = "words, pairs, models and measures like these"


def decision_study(
    components: VarianceComponents,
    *,
    target: float = 0.8,
    object: Target = "word",  # noqa: A002 - the word of the theory
    coefficient: Coefficient = "dependability",
    replicates: Iterable[int] | None = None,
    pairs: Iterable[int] | None = None,
    words: Iterable[int] | None = None,
    measures: Iterable[int] | None = None,
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
        replicates: numbers of models to try; a usual range, and the number at hand, when None.
        pairs: numbers of pairs to try, likewise.
        words: numbers of words to try, likewise.
        measures: numbers of measures to try, likewise.
        fixed: facets whose levels at hand are all one wants to speak about, such as ("measure",).

    Raises:
        ParameterError: an argument cannot be used, or the object is no facet of the components.
    """
    _check(components, target, object, coefficient, fixed)
    asked = {"model": replicates, "pair": pairs, "word": words, "measure": measures}
    facets = [name for name in components.facets if name != object]
    sampled = [name for name in facets if name not in fixed]
    if not sampled:
        raise ParameterError("A decision study needs a facet to average over that is not fixed. Got none.")
    usual = DEFAULT if len(sampled) <= 2 else COARSE
    grids = {
        name: [components.facets[name]] if name in fixed else _grid(name, asked[name], components.facets[name], usual)
        for name in facets
    }
    model = _model(components, object, fixed)
    today = {name: components.facets[name] for name in facets}
    single = {name: components.facets[name] if name in fixed else 1 for name in facets}
    look = _Look(model, target, components.level, relative=coefficient == "generalizability")
    designs = tuple(look.design(dict(zip(facets, sizes, strict=True))) for sizes in product(*grids.values()))
    solved = "model" if "model" in sampled else sampled[-1]
    rest = [dict(zip(facets, sizes, strict=True))
            for sizes in product(*([1] if name == solved else grids[name] for name in facets))]  # fmt: skip
    needs = tuple(look.need(solved, levels) for levels in rest)
    limits = {name: look.design({**today, name: np.inf}) for name in sampled}
    errors = {name: float(model.parts({**today, name: np.inf})[1 if look.relative else 2][0]) for name in sampled}
    return DecisionStudy(
        object=object,
        target=target,
        coefficient=coefficient,
        measure=components.measure,
        fixed=tuple(fixed),
        facets=tuple(facets),
        designs=designs,
        solved=solved,
        needs=needs,
        today=look.design(today),
        single=look.design(single),
        limits=limits,
        alone={name: look.need(name, today) for name in sampled},
        bottleneck=min(sampled, key=lambda name: errors[name]),
        warnings=components.warnings,
    )


def _check(
    components: VarianceComponents, target: float, measured: str, coefficient: str, fixed: Sequence[str]
) -> None:
    if not 0 < target < 1:
        raise ParameterError(f"The 'target' parameter of decision_study must lie between 0 and 1. Got {target!r}.")
    if measured not in get_args(Target):
        raise ParameterError(
            f"The 'object' parameter of decision_study must be one of {', '.join(get_args(Target))}. Got {measured!r}."
        )
    if coefficient not in get_args(Coefficient):
        raise ParameterError(
            f"The 'coefficient' parameter of decision_study must be one of {', '.join(get_args(Coefficient))}. "
            f"Got {coefficient!r}."
        )
    if measured == QUERY and coefficient == "generalizability":
        raise ParameterError("A query is compared with 0, not with other queries: only its dependability is defined.")
    if measured != QUERY and measured not in components.facets:
        raise ParameterError(f"The components have no facet {measured!r}; they have {', '.join(components.facets)}.")
    for name in fixed:
        if name not in components.facets or name == measured:
            raise ParameterError(
                f"The 'fixed' parameter of decision_study must name facets other than the object. Got {name!r}; there "
                f"are {', '.join(one for one in components.facets if one != measured)}."
            )


def _grid(name: str, asked: Iterable[int] | None, here: int, usual: tuple[int, ...]) -> list[int]:
    if asked is None:
        return sorted({1, here} if name == "measure" else {*usual, *([here] if here <= usual[-1] else [])})
    found = sorted(set(asked))
    if not found or not all(isinstance(one, (int, np.integer)) and one >= 1 for one in found):
        raise ParameterError(f"The {PLURAL[name]!r} parameter must hold whole numbers of at least 1. Got {found!r}.")
    return [int(one) for one in found]


def _model(components: VarianceComponents, measured: str, fixed: Sequence[str]) -> Model:
    estimates = np.array([[one.variance for one in components.components]])
    means = np.concatenate([[components.mean**2 - components.mean_error], components.drawn_mean**2])
    return Model(
        facets=tuple(one.facets for one in components.components),
        variances=np.concatenate([estimates, components.drawn]),
        squared_mean=np.maximum(means, 0.0),
        target=measured,
        fixed=frozenset(fixed),
    )


class _Look:
    """Looks at one design after the other."""

    def __init__(self, model: Model, target: float, level: float, *, relative: bool) -> None:
        self.model, self.target, self.level, self.relative = model, target, level, relative

    def design(self, levels: Mapping[str, float]) -> Design:
        general, depend = self.model.coefficients(levels)
        error = np.sqrt(self.model.parts(levels)[2])
        is_query = self.model.target == QUERY
        return Design(
            levels=dict(levels),
            generalizability=None if is_query else _number(general[0]),
            generalizability_interval=None if is_query else self._interval(general),
            dependability=_number(depend[0]),
            dependability_interval=self._interval(depend),
            standard_error=float(error[0]),
            reaches=bool((general if self.relative else depend)[0] >= self.target),
        )

    def need(self, facet: str, levels: Mapping[str, float]) -> Need:
        count = self.model.needed(facet, levels, self.target, relative=self.relative)
        low, high = np.quantile(count[1:], [(1 - self.level) / 2, (1 + self.level) / 2], method="inverted_cdf").tolist()
        best = self.design({**levels, facet: np.inf})
        number = _whole(float(count[0]))
        others = {name: size for name, size in levels.items() if name != facet}
        reason = None
        if number is None:
            reached = best.generalizability if self.relative else best.dependability
            most = "undefined" if reached is None else f"{reached:.3f}"
            plural = PLURAL[facet]
            reason = f"no number of {plural} reaches {self.target:g}: with infinitely many it would be {most}"
            if np.isfinite(count[0]):
                reason = f"more than {_LARGEST:,} {plural} would be needed"
        return Need(others, number, _whole(low), _whole(high), self.level, _HOW, reason)

    def _interval(self, drawn: Floats) -> Estimate:
        sound = drawn[1:][~np.isnan(drawn[1:])]
        if not len(sound):
            return Estimate(value=None, level=self.level, method=_HOW, over=_OVER, reason="there is no variance")
        low, high = np.quantile(sound, [(1 - self.level) / 2, (1 + self.level) / 2]).tolist()
        return Estimate(
            value=_number(drawn[0]), low=low, high=high, level=self.level, method=_HOW, over=_OVER, resamples=len(sound)
        )


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _whole(count: float) -> int | None:
    """The next whole number; None where there is none, or none that could be afforded."""
    if not np.isfinite(count) or count > _LARGEST:
        return None
    return int(np.ceil(count - 1e-9))

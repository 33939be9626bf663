"""`simulate_null`: distribution of a test's numbers on data sets without bias.

Dobrzeniecka & Urbaniak 2023 (section 3) draw 10,000 data sets without bias and print that about 38 % of them have a
WEAT at least as extreme as 1.27. Their script averages eight numbers by handing them to R's `mean` as eight arguments,
of which it uses the first. Averaged as WEAT is defined, the share is .0083 on the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import comb, sqrt
from typing import TYPE_CHECKING, Any, ClassVar, get_args

import numpy as np

from biasgauge.analyses.posterior.null_figures import null_charts
from biasgauge.analyses.posterior.null_tests import (
    AS_PUBLISHED,
    EFFECT_SIZE,
    STATISTIC,
    NullModel,
    Simulated,
    run_mac,
    run_on_vectors,
    run_weat,
)
from biasgauge.core import (
    Estimate,
    Flags,
    Floats,
    JsonMapping,
    JsonObject,
    Record,
    check_choice,
    check_number,
    check_whole,
    to_plain,
)
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, figures_text, number_text, share_text, test_name
from biasgauge.stats import Alternative, clopper_pearson

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.metrics import SetTest

PAPER_MODEL = NullModel()
PAPER_EFFECT, PAPER_STATISTIC = 1.267195, 0.386222
"""Effect size and statistic of the paper's example (section 3, figure 8)."""
PUBLISHED = {AS_PUBLISHED: 0.3845, EFFECT_SIZE: 0.0083, STATISTIC: 0.0148}
"""Two-sided shares on the paper's own random numbers (R, seed 123456); the paper prints "around 38 %"."""
FAULT = (
    "the published script passes the eight means of a set to R's mean() as eight arguments, and mean() uses the first "
    "alone: the numerator is s(first word of X) − s(first word of Y)"
)
CORRECTED = "means over all words of each set, as WEAT is defined; only with the fault of the script is it .3845"
SIMULATIONS, SIMULATIONS_OF_VECTORS = 50_000, 2_000
"""Data sets by default; the paper draws 10,000, with which a share of .008 is known to .002 either way."""
_ON_SIMILARITIES: dict[str, Callable[..., Simulated]] = {"weat": run_weat, "mac": run_mac}
"""Tests that are functions of similarities alone, and are computed for many data sets at once."""
QUANTILES = (0.005, 0.025, 0.05, 0.25, 0.5, 0.75, 0.95, 0.975, 0.995)

_ASSUMPTIONS = {
    "weat": "target words for independent, and these attributes for the only ones there are",
    "mac": "(target, set) pairs for independent, although they share words",
}
"""Assumption of each test's p."""


@dataclass(frozen=True, kw_only=True)
class SimulatedShare(Estimate):
    """Share of the simulated data sets with some property, with an exact interval over data sets.

    Attributes:
        hits: number of data sets with the property.
        theory: that share as a formula gives it; None where there is none.
    """

    hits: int
    theory: float | None = None

    @property
    def trials(self) -> int:
        """Data sets in all."""
        return self.n

    def to_dict(self) -> JsonObject:
        """The share with its counts, interval and theory."""
        shape = {"value": self.value, "hits": self.hits, "trials": self.n}
        return {**shape, "interval": self.interval(), "theory": self.theory}


@dataclass(frozen=True, eq=False)
class NullDistribution:
    """Distribution of a number over simulated data sets.

    Attributes:
        values: one for each data set; nan where it is undefined.
    """

    values: Floats = field(repr=False)

    @cached_property
    def defined(self) -> Floats:
        """The values without those that are undefined."""
        return self.values[np.isfinite(self.values)]

    @property
    def mean(self) -> float | None:
        """Mean; None when no value is defined."""
        return float(self.defined.mean()) if len(self.defined) else None

    @property
    def sd(self) -> float | None:
        """Standard deviation (n − 1); None with fewer than two values."""
        return float(self.defined.std(ddof=1)) if len(self.defined) > 1 else None

    @cached_property
    def quantiles(self) -> dict[str, float | None]:
        """Some quantiles by their probability."""
        values = np.quantile(self.defined, QUANTILES).tolist() if len(self.defined) else [None] * len(QUANTILES)
        return {f"{level:g}": value for level, value in zip(QUANTILES, values, strict=True)}

    def histogram(self, bins: int = 40, ends: tuple[float, float] | None = None) -> tuple[Floats, Floats]:
        """Counts, and the edges between which they lie."""
        counts, edges = np.histogram(self.defined, bins, ends)
        return counts.astype(np.float64), edges

    def to_dict(self, ends: tuple[float, float] | None = None) -> JsonObject:
        """Moments, quantiles and a histogram; no single values."""
        counts, edges = self.histogram(ends=ends)
        return {
            "mean": self.mean,
            "sd": self.sd,
            "count": len(self.defined),
            "undefined": len(self.values) - len(self.defined),
            "quantiles": self.quantiles,
            "histogram": {"edges": edges.tolist(), "counts": [int(count) for count in counts]},
        }


@dataclass(frozen=True)
class NullComparison(Record):
    """An observed number and its position among the simulated ones.

    Attributes:
        quantity: "statistic", "effect size" or "effect size as published".
        observed: the number.
        center: what the test gives where there is no bias, if it errs to either side of it alike; None where it has no
            such middle.
        two_sided: share of data sets at least as far from the center; None without one.
        greater: share with at least this much.
        less: share with at most this much.
        published: the two-sided share on the random numbers of the published script; None where there is none.
        reason: why ours or theirs differs.
    """

    renamed: ClassVar[Mapping[str, str]] = {"quantity": "of"}

    quantity: str
    observed: float
    center: float | None
    two_sided: SimulatedShare | None
    greater: SimulatedShare
    less: SimulatedShare
    published: float | None = None
    reason: str | None = None

    @property
    def question(self) -> str:
        """Condition that the share of data sets fulfills."""
        if self.center is None:
            return f"{self.quantity} ≥ {figures_text(self.observed, 4)}"
        if self.center == 0:
            return f"|{self.quantity}| ≥ {figures_text(abs(self.observed), 4)}"
        return f"|{self.quantity} − {self.center:g}| ≥ {figures_text(abs(self.observed - self.center), 4)}"


PAPER = 'paper: the share on the random numbers of its script; in print it is "around 38 %".'


@dataclass(frozen=True, eq=False, repr=False)
class NullSimulation(Result):
    """Distributions of a test's numbers on data sets without bias.

    Attributes:
        test: which association test.
        model: from which the data sets were drawn.
        statistic: the test statistic of each data set: WEAT's sum over X less sum over Y, another test's value.
        corrected: WEAT's effect size; None for other tests, which have one number alone.
        published: WEAT's effect size with the fault of the published script; None for other tests.
        as_published: whether `effect_size` is the one with the fault.
        p_values: the p that each data set would report; None when the test has none.
        p_method: method of p.
        p_reason: why there is no p; None when there is one.
        comparisons: observed numbers beside the simulated ones.
        rejection: share of data sets with p at or below `alpha`; an honest test keeps it there.
        alpha: level that p is compared with.
        settings: everything that decides the result.
        warnings: about sizes and undefined values.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {
        "statistic": JsonMapping,
        "effect_size": JsonMapping,
        "p_values": JsonMapping,
    }

    test: str
    model: NullModel
    statistic: NullDistribution
    corrected: NullDistribution | None
    published: NullDistribution | None
    as_published: bool
    p_values: NullDistribution | None
    p_method: str | None
    p_reason: str | None
    comparisons: tuple[NullComparison, ...]
    rejection: SimulatedShare | None
    alpha: float
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    @property
    def effect_size(self) -> NullDistribution | None:
        """The effect size asked for: the corrected one, or with `as_published` the one with the fault."""
        return self.published if self.as_published else self.corrected

    @property
    def reading(self) -> str:
        """Conclusion in words: how often an analyst who sees one such data set would report a finding."""
        if self.rejection is None:
            return f"{test_name(self.test)} reports no p, so nothing is rejected: {self.p_reason}."
        share = self.rejection
        rate = (
            f"There is nothing to find, and {share_text(share.value, 1)} of {share.trials:,} data sets "
            f"[{share_text(share.low, 1)}, {share_text(share.high, 1)}] report p ≤ {self.alpha:g}."
        )
        if not share.excludes(self.alpha):
            return (
                f"{rate} p promises {share_text(self.alpha, 1)}, which lies between: no false confidence is seen on "
                "such data sets."
            )
        times = (share.value or 0.0) / self.alpha
        if times < 1:
            return f"{rate} That is less often than p promises: the test is cautious here."
        assumption = _ASSUMPTIONS.get(self.test, "words for independent that are not")
        return (
            f"{rate} An analyst would believe in a finding {number_text(times, 1)} times as often as p promises: p "
            f"takes {assumption}."
        )

    def to_dict(self) -> JsonObject:
        """One JSON-ready object: distributions as quantiles and histograms."""
        effect: dict[str, Any] = {"mean": None, "reason": f"{test_name(self.test)} has one number, see statistic"}
        if self.effect_size is not None:
            effect = self.effect_size.to_dict()
        p: dict[str, Any] = {"mean": None, "rejection": None, "reason": self.p_reason}
        if self.p_values is not None:
            test = {"method": self.p_method, "alpha": self.alpha, "rejection": to_plain(self.rejection)}
            p = {**self.p_values.to_dict(ends=(0.0, 1.0)), **test}
        distributions = {"statistic": self.statistic.to_dict(), "effect_size": effect, "p_values": p}
        names = ("test", "model", "comparisons", "reading", "as_published")
        return {**{name: to_plain(getattr(self, name)) for name in names}, **distributions}

    def shares(self) -> list[tuple[str, SimulatedShare, float | None]]:
        """Condition, share and published share: of comparisons, then of rejections."""
        rows = [(row.question, row.two_sided or row.greater, row.published) for row in self.comparisons]
        return rows if self.rejection is None else [*rows, (f"p ≤ {self.alpha:g}", self.rejection, None)]

    def summary(self) -> Summary:
        """Distribution of the test's numbers without bias, and the rate of findings."""
        spreads = [
            (name, spread.mean, spread.sd, spread.quantiles["0.025"], spread.quantiles["0.975"])
            for name, spread in self._distributions().items()
        ]
        remarks = [
            f"{row.quantity}: {row.reason}." for row in self.comparisons if row.reason and row.quantity == AS_PUBLISHED
        ]
        if any(row.published is not None for row in self.comparisons):
            remarks.append(PAPER)
        numbers = [Column(name, "number", 4) for name in ("mean", "sd", "2.5 %", "97.5 %")]
        theory = [Column(name, "number", 4) for name in ("theory", "paper")]
        title = f"{test_name(self.test)} on {len(self.statistic.values):,} data sets without bias"
        columns = ["data sets with", Column("share [95 % interval]", "estimate", 4), *theory]
        shares = [(condition, share, share.theory, published) for condition, share, published in self.shares()]
        return Summary(
            title=f"{test_name(self.test)} on data sets without bias",
            headline=self.reading,
            sentences=tuple(remarks),
            tables=(
                Table.of("distributions", title, ["number", *numbers], spreads),
                Table.of("shares", "How often such data sets reach a number", columns, shares),
            ),
            charts=null_charts(self),
            warnings=self.warnings,
        )

    def to_frame(self) -> pd.DataFrame:
        """One row per simulated data set."""
        import pandas as pd

        values = {name.replace(" ", "_"): spread.values for name, spread in self._distributions().items()}  # noqa: PD011
        return pd.DataFrame(values).rename(columns={"p": "p_value"})

    def _distributions(self) -> dict[str, NullDistribution]:
        """The distributions that there are, by name."""
        named = {STATISTIC: self.statistic, EFFECT_SIZE: self.corrected, AS_PUBLISHED: self.published}
        return {name: spread for name, spread in {**named, "p": self.p_values}.items() if spread is not None}


def simulate_null(  # noqa: PLR0913 - settings, each with a name and a default
    test: str = "weat",
    *,
    n_x: int = 8,
    n_y: int = 8,
    n_a: int = 8,
    n_b: int = 8,
    sd: float = 0.08,
    word_sd: float = 0.0,
    attribute_sd: float = 0.0,
    family_sd: float = 0.0,
    family_size: int | None = None,
    dimensions: int | None = None,
    simulations: int | None = None,
    observed: float | None = None,
    observed_statistic: float | None = None,
    alternative: Alternative = "two-sided",
    ddof: int = 0,
    alpha: float = 0.05,
    permutations: int = 199,
    as_published: bool = False,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> NullSimulation:
    """Distribution of an association test's numbers, and of its p, on data sets without bias.

    WEAT and MAC are functions of similarities, which are drawn from Normal(0, `sd`) as in the paper, or are the cosines
    of random vectors when `dimensions` is given. Every other registered test gets random unit vectors, by default of so
    many dimensions that cosines have the standard deviation `sd`.

    p of WEAT is its permutation test, exact up to 20,000 splits. MAC has no test of its own; p is Manzini's paired t
    test against a second data set drawn alike, as if something had been done in between. Other tests get a permutation
    p: the words of X and Y are exchanged at random, or those of A and B where that makes no difference.

    Args:
        test: a registered association test.
        n_x: words in X; tests without a set Y or B ignore its size.
        n_y: words in Y.
        n_a: words in A.
        n_b: words in B.
        sd: standard deviation of similarities; .08 is that of neutral words in the paper.
        word_sd: of what a target word has with all attributes. WEAT cancels it.
        attribute_sd: of what an attribute has with all target words. WEAT cancels it; the t test of MAC does not.
        family_sd: of what target words of one family have in common with one attribute: the case in which WEAT's p is
            falsely confident.
        family_size: words in a family; None: each target set is one family, a topic.
        dimensions: of random vectors.
        simulations: number of data sets; by default 50,000 of similarities, 2,000 of vectors.
        observed: a number to compare with: an effect size of WEAT (1.267, the paper's example, by default), the value
            of another test.
        observed_statistic: a WEAT statistic to compare with; that of the paper's example for the paper's sizes.
        alternative: of the test.
        ddof: 0 divides WEAT's variance by the number of words, 1 by one less.
        alpha: p at or below it counts as a finding.
        permutations: random exchanges for each p that is not exact; 0 for no such p.
        as_published: take WEAT's effect size with the fault of the published script. Both are always in the result.
        random_state: seed.
        progress: called with (data sets done, data sets in all).

    Raises:
        ParameterError: an argument cannot be used.
    """
    from biasgauge import registry

    chosen = registry.get("association_test", test)
    if simulations is None:
        simulations = SIMULATIONS if test in _ON_SIMILARITIES else SIMULATIONS_OF_VECTORS
    check_whole(1, simulations=simulations)
    check_whole(0, permutations=permutations, random_state=random_state)
    check_number(0, 1, ends=False, alpha=alpha)
    check_choice((0, 1), ddof=ddof)
    check_choice(get_args(Alternative), alternative=alternative)
    check_number(observed=observed or 0.0, observed_statistic=observed_statistic or 0.0)
    if test != "weat" and (as_published or observed_statistic is not None):
        raise ParameterError("'as_published' and 'observed_statistic' are of weat alone.")
    model = NullModel(n_x, n_y, n_a, n_b, sd, word_sd, attribute_sd, family_sd, family_size, dimensions)
    settings: JsonObject = {
        "test": test, **model.to_dict(), "simulations": simulations, "alternative": alternative, "ddof": ddof,
        "alpha": alpha, "permutations": permutations, "as_published": as_published, "random_state": random_state,
    }  # fmt: skip
    on_similarities = _ON_SIMILARITIES.get(test)
    if dimensions is not None or on_similarities is None:
        settings |= {"dimensions": model.vector_dimensions, "sd": model.vector_dimensions**-0.5}
    if on_similarities is not None:
        values, method, reason = on_similarities(model, settings, progress)
    else:
        values, method, reason = run_on_vectors(chosen, model, settings, progress)
    draws = {name: NullDistribution(numbers) for name, numbers in values.items()}
    if not len(draws[STATISTIC].defined):
        raise ParameterError(f"No data set has a value of {test}: the sets are too small for it.")
    p = draws.get("p")
    if p is not None and not len(p.defined):
        p, method, reason = None, None, "it is undefined on every data set"
    compared = _comparisons(chosen, model, settings, draws, observed, observed_statistic)
    return NullSimulation(
        test=test, model=model, statistic=draws[STATISTIC], corrected=draws.get(EFFECT_SIZE),
        published=draws.get(AS_PUBLISHED), as_published=as_published, p_values=p, p_method=method, p_reason=reason,
        comparisons=compared, rejection=None if p is None else share_of(p.defined <= alpha), alpha=alpha,
        settings={**settings, "observed": {row.quantity: row.observed for row in compared}},
        warnings=_warnings(test, model, alternative, alpha, p),
    )  # fmt: skip


def _comparisons(
    test: SetTest,
    model: NullModel,
    settings: JsonObject,
    draws: dict[str, NullDistribution],
    observed: float | None,
    observed_statistic: float | None,
) -> tuple[NullComparison, ...]:
    """Compare observed numbers with the simulated ones."""
    if test.name != "weat":
        center = 1.0 if test.name == "mac" else 0.0 if "negates" in {test.swap_xy, test.swap_ab} else None
        return () if observed is None else (_comparison(STATISTIC, observed, draws[STATISTIC], center),)
    effect = PAPER_EFFECT if observed is None else observed
    rows = [_comparison(name, effect, draws[name], 0.0) for name in (EFFECT_SIZE, AS_PUBLISHED)]
    plain = replace(model, word_sd=0.0) == PAPER_MODEL
    if observed_statistic is None and observed is None and plain:
        observed_statistic = PAPER_STATISTIC
    if observed_statistic is not None:
        rows.append(_comparison(STATISTIC, observed_statistic, draws[STATISTIC], 0.0))
    reasons = {EFFECT_SIZE: CORRECTED, AS_PUBLISHED: FAULT}
    printed = PUBLISHED if plain and observed is None and settings["ddof"] == 0 else {}
    rows = [_with_theory(row, model, settings["ddof"]) for row in rows]
    return tuple(replace(row, published=printed.get(row.quantity), reason=reasons.get(row.quantity)) for row in rows)


def _comparison(quantity: str, observed: float, simulated: NullDistribution, center: float | None) -> NullComparison:
    values = simulated.defined
    far = None if center is None else share_of(np.abs(values - center) >= abs(observed - center))
    return NullComparison(quantity, observed, center, far, share_of(values >= observed), share_of(values <= observed))


def _with_theory(row: NullComparison, model: NullModel, ddof: int) -> NullComparison:
    """Add the two-sided share of WEAT that follows from independent Normal similarities.

    The squared correlation of any contrast of n independent Normal numbers is Beta(1/2, (n − 2)/2); an effect size is
    such a contrast in units of the spread of all of them.
    """
    from scipy.special import betainc, ndtr

    if row.two_sided is None or model.family_sd or model.dimensions or model.targets < 3:
        return row
    n = model.targets
    if row.quantity == STATISTIC:
        if model.attribute_sd and model.n_x != model.n_y:
            return row
        theory = 2 * float(ndtr(-abs(row.observed) / (model.sd * sqrt(n * (1 / model.n_a + 1 / model.n_b)))))
    else:
        faulty = row.quantity == AS_PUBLISHED
        length, squares = (2.0, n - 1) if faulty else (n / (model.n_x * model.n_y), n - ddof)
        share = min(1.0, row.observed**2 / (length * squares))
        theory = float(betainc((n - 2) / 2, 0.5, 1 - share))
    return replace(row, two_sided=replace(row.two_sided, theory=theory))


def share_of(hits: Flags) -> SimulatedShare:
    """Share of simulated data sets that are hits, with an exact interval."""
    count = int(np.count_nonzero(hits))
    return SimulatedShare(**vars(clopper_pearson(count, len(hits), over="simulated data sets")), hits=count)


def _warnings(
    test: str, model: NullModel, alternative: str, alpha: float, p: NullDistribution | None
) -> tuple[str, ...]:
    warnings = []
    splits = comb(model.targets, model.n_x)
    least = (2 if alternative == "two-sided" and model.n_x == model.n_y else 1) / splits
    if test == "weat" and least > alpha:
        warnings.append(
            f"{splits:,} splits allow no p below {figures_text(least, 3)}: the test cannot reject at {alpha:g}"
        )
    if p is not None and len(p.defined) < len(p.values):
        warnings.append(f"{len(p.values) - len(p.defined):,} data sets have no p and are left out")
    return tuple(warnings)

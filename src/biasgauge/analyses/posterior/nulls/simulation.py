"""`simulate_null`: what does a test report when there is nothing to find?

Dobrzeniecka & Urbaniak 2023 (section 3) draw 10,000 data sets without bias and print that about 38 % of them have a
WEAT at least as extreme as 1.27. Their script averages eight numbers by handing them to R's `mean` as eight arguments,
of which it uses the first. Averaged as WEAT is defined, the share is .0083 on the same random numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import comb, sqrt
from typing import TYPE_CHECKING, get_args

import numpy as np

from biasgauge.analyses.posterior.nulls.model import AS_PUBLISHED, EFFECT_SIZE, STATISTIC, NullModel
from biasgauge.analyses.posterior.nulls.result import Comparison, NullSimulation, Share, Spread
from biasgauge.analyses.posterior.nulls.runs import run_mac, run_on_vectors, run_weat
from biasgauge.core import Flags, JsonObject, check_choice, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.results import figures_text
from biasgauge.stats import Alternative, clopper_pearson

if TYPE_CHECKING:
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
OWN = ("weat", "mac")
"""Tests that are functions of similarities alone, and are computed for many data sets at once."""


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
    """Draw data sets without bias, and see what an association test reports.

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
        simulations: how many data sets; by default 50,000 of similarities, 2,000 of vectors.
        observed: a number to compare with: an effect size of WEAT (1.267, the paper's example, by default), the value
            of another test.
        observed_statistic: a WEAT statistic to compare with; that of the paper's example for the paper's sizes.
        alternative: which side p looks at.
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
        simulations = SIMULATIONS if test in OWN else SIMULATIONS_OF_VECTORS
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
    run = {"weat": run_weat, "mac": run_mac}.get(test, run_on_vectors)
    if dimensions is not None or run is run_on_vectors:
        settings |= {"dimensions": model.vector_dimensions, "sd": model.vector_dimensions**-0.5}
    values, method, reason = run(chosen, model, settings, progress)
    draws = {name: Spread(numbers) for name, numbers in values.items()}
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
        settings={**settings, "observed": {row.of: row.observed for row in compared}},
        warnings=_warnings(test, model, alternative, alpha, p),
    )  # fmt: skip


def _comparisons(
    test: SetTest,
    model: NullModel,
    settings: JsonObject,
    draws: dict[str, Spread],
    observed: float | None,
    observed_statistic: float | None,
) -> tuple[Comparison, ...]:
    """What was observed beside what was simulated."""
    if test.name != "weat":
        center = 1.0 if test.name == "mac" else 0.0 if "negates" in {test.swap_xy, test.swap_ab} else None
        return () if observed is None else (_comparison(STATISTIC, observed, draws[STATISTIC], center),)
    effect = PAPER_EFFECT if observed is None else observed
    found = [_comparison(name, effect, draws[name], 0.0) for name in (EFFECT_SIZE, AS_PUBLISHED)]
    plain = replace(model, word_sd=0.0) == PAPER_MODEL
    if observed_statistic is None and observed is None and plain:
        observed_statistic = PAPER_STATISTIC
    if observed_statistic is not None:
        found.append(_comparison(STATISTIC, observed_statistic, draws[STATISTIC], 0.0))
    reasons = {EFFECT_SIZE: CORRECTED, AS_PUBLISHED: FAULT}
    printed = PUBLISHED if plain and observed is None and settings["ddof"] == 0 else {}
    rows = [_with_theory(row, model, settings["ddof"]) for row in found]
    return tuple(replace(row, published=printed.get(row.of), reason=reasons.get(row.of)) for row in rows)


def _comparison(of: str, observed: float, spread: Spread, center: float | None) -> Comparison:
    values = spread.defined
    far = None if center is None else share_of(np.abs(values - center) >= abs(observed - center))
    return Comparison(of, observed, center, far, share_of(values >= observed), share_of(values <= observed))


def _with_theory(found: Comparison, model: NullModel, ddof: int) -> Comparison:
    """Add the two-sided share of WEAT that follows from independent Normal similarities.

    The squared correlation of any contrast of n independent Normal numbers is Beta(1/2, (n − 2)/2); an effect size is
    such a contrast in units of the spread of all of them.
    """
    from scipy.special import betainc, ndtr

    if found.two_sided is None or model.family_sd or model.dimensions or model.targets < 3:
        return found
    n = model.targets
    if found.of == STATISTIC:
        if model.attribute_sd and model.n_x != model.n_y:
            return found
        theory = 2 * float(ndtr(-abs(found.observed) / (model.sd * sqrt(n * (1 / model.n_a + 1 / model.n_b)))))
    else:
        faulty = found.of == AS_PUBLISHED
        length, squares = (2.0, n - 1) if faulty else (n / (model.n_x * model.n_y), n - ddof)
        share = min(1.0, found.observed**2 / (length * squares))
        theory = float(betainc((n - 2) / 2, 0.5, 1 - share))
    return replace(found, two_sided=replace(found.two_sided, theory=theory))


def share_of(hits: Flags) -> Share:
    """Share of simulated data sets that are hits, with an exact interval."""
    count = int(np.count_nonzero(hits))
    return Share(**vars(clopper_pearson(count, len(hits), over="simulated data sets")), hits=count)


def _warnings(test: str, model: NullModel, alternative: str, alpha: float, p: Spread | None) -> tuple[str, ...]:
    found = []
    splits = comb(model.targets, model.n_x)
    least = (2 if alternative == "two-sided" and model.n_x == model.n_y else 1) / splits
    if test == "weat" and least > alpha:
        found.append(
            f"{splits:,} splits allow no p below {figures_text(least, 3)}: the test cannot reject at {alpha:g}"
        )
    if p is not None and len(p.defined) < len(p.values):
        found.append(f"{len(p.values) - len(p.defined):,} data sets have no p and are left out")
    return tuple(found)

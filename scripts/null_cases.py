"""Every function of `stats` and `metrics` that gives a p: a world with nothing in it, and the p of one draw.

`givers_of_p` finds these functions by reading the source, so that a new one without a world is missed by no one
(tests/stats/test_error_rates_page.py).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

import numpy as np

from biasgauge import stats
from biasgauge.core.arrays import Floats, Integers
from biasgauge.metrics import (
    MacResult,
    contextual_weat,
    contrast_test,
    mac_change,
    mac_change_over_runs,
    published_ceat,
)
from biasgauge.metrics.weat import weat
from biasgauge.stats import (
    Alternative,
    Form,
    Icc,
    Kind,
    Resampling,
    coefficient,
    compare_effect_sizes,
    compare_groups,
    contrast_estimate,
    dose_response,
    effect_over_ways,
    exact_p,
    fit_clustered,
    fit_mixed,
    joint_permutation,
    levels,
    permutation_p,
    shift_between,
    shuffled_p,
    slope_over_groups,
    swapped_p,
    swapped_sums_p,
)

Random = np.random.Generator
HALF = np.repeat([0, 1], 8)


@dataclass(frozen=True)
class Null:
    """A test where there is nothing to find.

    Attributes:
        giver: the function that gives the p.
        what: which p, in which world.
        draw: from a generator to one p, or to none where it is undefined.
        worlds: how many draws; fewer where one takes long.
        published: why the p is known to be too small, where the function is there to reproduce what was published.
    """

    giver: str
    what: str
    draw: Callable[[Random], float | None]
    worlds: int = 2_000
    published: str = ""


def _two(random: Random) -> tuple[Floats, Floats]:
    return random.normal(size=9), random.normal(size=8)


def _split(way: Alternative, random: Random) -> float:
    return permutation_p(*_two(random), alternative=way).p_value


def _correlation(kind: Kind, random: Random) -> float | None:
    return coefficient(kind, *_points(random), None, HOW).p


def _leaning(random: Random, models: int | None = None) -> Floats:
    """Similarities of 8 + 8 targets and 8 + 8 attributes, both of which lean by themselves; the contrast is 0."""
    half = 1.0 - 2 * HALF
    lean = random.normal(0, 0.1, (16, 1)) * half + random.normal(0, 0.1, (1, 16)) * half[:, None]
    words = lean + random.normal(0, 0.1, (16, 16))
    if models is None:
        return np.asarray(words)
    own = random.normal(0, 0.03, (models, 1, 1)) * np.outer(half, half)
    return np.asarray(words + own + random.normal(0, 0.1, (models, 16, 16)))


def _groups(random: Random) -> tuple[Floats, Floats]:
    """Two groups of four models of the same words, which differ by noise alone."""
    words = _leaning(random)
    half = np.outer(1.0 - 2 * HALF, 1.0 - 2 * HALF)
    first, second = (
        words + random.normal(0, 0.03, (4, 1, 1)) * half + random.normal(0, 0.1, (4, 16, 16)) for _ in range(2)
    )
    return np.asarray(first), np.asarray(second)


def _of_authors(random: Random) -> float | None:
    """Documents of an author are alike; half of the authors are of one group, which makes no difference."""
    sizes = random.integers(1, 41, 20)
    authors = np.repeat(np.arange(20), sizes)
    outcomes = random.normal(size=20)[authors] + random.normal(size=len(authors))
    design = np.column_stack([np.ones(len(authors)), (authors % 2).astype(float)])
    fit = fit_clustered(design, np.ones(len(authors)), outcomes[:, None], authors)
    return effect_over_ways([fit], np.array([0.0, 1.0]), 0.95).p


def _points(random: Random, n: int = 30) -> tuple[Floats, Floats]:
    return random.normal(size=n), random.normal(size=n)


HOW = Resampling(resamples=50)
"""Intervals are counted elsewhere; here they are drawn because the function draws them."""


def _units(random: Random) -> float | None:
    """Sixty points of twenty units: three intrinsic numbers beside one extrinsic one."""
    units = np.repeat(np.arange(20), 3)
    x, y = random.normal(size=20)[units] + 0.5 * random.normal(size=60), random.normal(size=20)[units]
    return coefficient("pearson", x, y, units, HOW).p


def _strata(part: str, random: Random) -> float | None:
    """Eight strata of ten points, with means of their own and no slope."""
    strata = np.repeat(np.arange(8), 10)
    x, y = (random.normal(size=8)[strata] + random.normal(size=80) for _ in range(2))
    found = levels(x, y, strata, None, HOW)
    return found.q_p if part == "q_p" else getattr(found, part).p


def _icc(ratings: Floats, form: Form) -> float | None:
    found = stats.icc(ratings, form)
    assert isinstance(found, Icc)  # noqa: S101 - of one table
    return found.p_value


def _mixed(random: Random) -> float | None:
    """Sixty words in four models, and a property of words that does not matter."""
    words, models = np.repeat(np.arange(60), 4), np.tile(np.arange(4), 60)
    y = random.normal(size=60)[words] + 0.3 * random.normal(size=4)[models] + random.normal(size=240)
    x = np.column_stack([np.ones(240), random.normal(size=60)[words]])
    return fit_mixed(y, x, {"word": words, "model": models}, ("one", "property")).fixed[1].p


def _doses(random: Random, slope: float) -> tuple[Floats, Floats]:
    """Sixty carriers of five doses in two texts and two runs, on a line of this slope."""
    doses = np.stack([random.permutation(np.repeat([-2.0, -1.0, 0.0, 1.0, 2.0], 12)) for _ in range(2)], axis=1)
    scores = slope * doses + random.normal(0, 0.5, (60, 1)) + random.normal(0, 0.3, doses.shape)
    return scores[:, :, None] + random.normal(0, 0.2, (60, 2, 2)), doses


def _dose(part: str, slope: float, random: Random) -> float | None:
    scores, doses = _doses(random, slope)
    value: float | None = getattr(dose_response(scores, doses, doses, shape=part != "p"), part)
    return value


def _share(hits: Integers, trials: Integers) -> Floats:
    return np.asarray(hits / np.maximum(trials, 1))


def _exact(random: Random) -> float:
    trials = np.array([40, 60])
    hits = random.binomial(trials, 0.3)
    return exact_p((hits[0], trials[0]), (hits[1], trials[1]), _share)


def _accuracy(tables: Integers) -> Floats:
    """Share of items on the diagonal of tables of (…, truth, prediction)."""
    return np.asarray(np.trace(tables, axis1=-2, axis2=-1) / np.maximum(tables.sum(axis=(-2, -1)), 1))


def _shuffled(random: Random) -> float:
    first, second = (random.multinomial(80, [0.4, 0.1, 0.2, 0.3]).reshape(2, 2) for _ in range(2))
    return shuffled_p(first, second, _accuracy, 499, [int(random.integers(2**31))])


def _marks_differ(tables: Integers) -> Floats:
    """Second marks less first marks, of tables of (…, first mark, second mark)."""
    return np.asarray((tables[..., 0, 1] - tables[..., 1, 0]).reshape(len(tables), -1).sum(axis=1, keepdims=True))


def _swapped(random: Random) -> float:
    cells = random.multinomial(120, [0.5, 0.15, 0.15, 0.2]).reshape(1, 2, 2)
    return float(swapped_p(cells, _marks_differ, 499, int(random.integers(2**31)))[0])


def _swapped_sums(random: Random) -> float:
    sums = random.normal(size=(60, 1, 1)) + random.normal(size=(60, 2, 1))
    how = Resampling(resamples=499, random_state=int(random.integers(2**31)))
    return float(swapped_sums_p(sums, lambda both: both[:, 1] - both[:, 0], how)[0])


def _sets(random: Random, *contexts: int) -> list[Floats]:
    """X, Y, A, B, eight words each; A and B are two topics, X and Y are of one topic, which leans to A."""
    topics = 1.0 * random.normal(size=(2, 30))
    means = [topics[0], topics[0], topics[0], topics[1]]
    words = [mean + random.normal(size=(8, 30)) for mean in means]
    if not contexts:
        return words
    return [own[:, None] + random.normal(size=(8, *contexts, 30)) for own in words]


def _macs(random: Random, runs: int) -> list[MacResult]:
    """Distances of ten targets from two sets in some runs: words have places of their own, runs and cells noise."""
    table = random.normal(0, 0.02, (runs, 1, 1)) + random.normal(0, 0.02, (runs, 10, 2))
    return [MacResult(value=float(own.mean()), distances=tuple(map(tuple, own.tolist()))) for own in table]


def _joint(part: str, random: Random) -> float:
    """Twelve analyses of 16 words, which share what words have of their own."""
    table = random.normal(size=16) + 0.7 * random.normal(size=(12, 16))
    found = joint_permutation(table, 8, samples=499, random_state=int(random.integers(2**31)))
    return float(np.min(getattr(found, part)))


NULLS = [
    *(
        Null("permutation_p", f"{way}, all splits of 9 + 8 numbers", partial(_split, way))
        for way in get_args(Alternative)
    ),
    Null("permutation_p", "two-sided, 999 random splits", lambda random: permutation_p(
        *_two(random), alternative="two-sided", max_exact=0, samples=999,
        random_state=int(random.integers(2**31))).p_value),
    Null("shift_between", "9 + 8 numbers", lambda random: shift_between(*_two(random)).p),
    Null("joint_permutation", "median of 12 analyses", partial(_joint, "p_median"), 500),
    Null("joint_permutation", "any of 12 analyses, adjusted", partial(_joint, "p_adjusted"), 500),
    Null("joint_permutation", "number of clear analyses", partial(_joint, "p_clear"), 500),
    Null("contrast_estimate", "lists whose words lean alone", lambda random: contrast_estimate(
        _leaning(random), HALF, HALF).p),
    Null("contrast_estimate", "the same in 6 replicates", lambda random: contrast_estimate(
        _leaning(random, 6), HALF, HALF).p),
    Null("contrast_test", "largest of three p, lists whose words lean alone", lambda random: contrast_test(
        _leaning(random), HALF, HALF).p),
    Null("compare_groups", "other words, 4 against 4 models", lambda random: compare_groups(
        _groups(random), HALF, HALF).other_words.p),
    Null("compare_groups", "these words, 4 against 4 models", lambda random: compare_groups(
        _groups(random), HALF, HALF).these_words.p),
    Null("compare_effect_sizes", "other words, 4 against 4 models", lambda random: compare_effect_sizes(
        _groups(random), HALF, HALF).other_words.p, 500),
    Null("compare_effect_sizes", "these words, 4 against 4 models", lambda random: compare_effect_sizes(
        _groups(random), HALF, HALF).these_words.p, 500),
    Null("effect_over_ways", "a covariate of 20 authors of 1 to 40 documents", _of_authors),
    Null("slope_over_groups", "8 periods without a trend", lambda random: slope_over_groups(
        range(8), random.normal(size=8)).p),
    *(
        Null("coefficient", f"{kind}, 30 points", partial(_correlation, kind))
        for kind in get_args(Kind)
    ),
    Null("coefficient", "pearson, 60 points of 20 units", _units, 500),
    *(
        Null("levels", f"{what}, 8 strata of 10 points", partial(_strata, part), 500)
        for part, what in (
            ("within_slope", "slope within strata"), ("between_r", "correlation of means"),
            ("random_intercept", "slope with random intercepts"), ("random_slope", "slope with random slopes"),
            ("q_p", "Cochran's Q"),
        )
    ),
    Null("icc", "ICC(1,1) of 30 subjects by 4 raters", lambda random: _icc(random.normal(size=(30, 4)), "1,1")),
    Null("icc", "ICC(2,1) of 30 subjects by 4 raters who differ", lambda random: _icc(
        random.normal(size=(30, 4)) + random.normal(size=4), "2,1")),
    Null("fit_mixed", "a property of 60 words in 4 models", _mixed, 500),
    Null("dose_response", "no slope", partial(_dose, "p", 0.0), 1_000),
    *(
        Null("dose_response", f"{what}, on a line", partial(_dose, part, 0.5), 500)
        for part, what in (("p_bend", "a bend"), ("p_sides", "sides that differ"), ("p_lack_of_fit", "lack of fit"))
    ),
    Null("exact_p", "shares of 40 and of 60", _exact),
    Null("shuffled_p", "accuracy of 80 and of 80", _shuffled, 1_000),
    Null("swapped_p", "two marks of 120 items", _swapped, 1_000),
    Null("swapped_sums_p", "two sides of 60 pairs", _swapped_sums, 1_000),
    Null("weat", "targets of one topic, attributes of two", lambda random: weat(
        *_sets(random), interval=None).p_value),
    Null("contextual_weat", "the same in 5 sentences a word", lambda random: contextual_weat(
        *_sets(random, 5), interval=None).p_value),
    Null("published_ceat", "the same", lambda random: published_ceat(*_sets(random, 5), draws=200).p_value, 500,
         published="draws of the same words count as studies of their own"),
    Null("mac_change_over_runs", "4 against 4 runs", lambda random: mac_change_over_runs(
        _macs(random, 4), _macs(random, 4)).p_value),
    Null("mac_change", "one run against another", lambda random: mac_change(
        _macs(random, 1)[0], _macs(random, 1)[0]).p_value,
        published="pairs that share a run count as independent; the result says so"),
]  # fmt: skip
"""One row of the report each."""

SAME_AS = {
    "at_least": "compare_groups",
    "contrast_of": "contrast_test",
    "contrast_of_similarities": "contrast_test",
    "contrast_parts": "contrast_estimate",
    "fit_moments": "fit_mixed",
    "group_parts": "compare_groups",
    "monte_carlo_p": "shuffled_p, swapped_p",
    "t_p": "coefficient",
    "weat_from_similarities": "weat",
}
"""Givers of p that are a part of others, or the same for many at once."""


def givers_of_p(packages: Sequence[Path]) -> Iterator[str]:
    """Public functions of some packages that give a p: by their names, or by the class that they say they return."""
    trees = [
        ast.parse(path.read_text(encoding="utf-8")) for package in packages for path in sorted(package.rglob("*.py"))
    ]
    classes = {node.name: node for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)}
    with_p = {name for name, node in classes.items() if any(_is_p(field) for field in _fields(node))}
    more = True
    while more:  # a class with a field of such a class has a p, too; and so has one that is made of it
        holders = {name for name, node in classes.items() if name not in with_p and _names(node) & with_p}
        more, with_p = bool(holders), with_p | holders
    for node in (node for tree in trees for node in tree.body):
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and node.returns is not None:
            returned = {one.id for one in ast.walk(node.returns) if isinstance(one, ast.Name)}
            if returned & with_p or re.search(r"(^|_)p$", node.name):
                yield node.name


def _is_p(field: str) -> bool:
    return re.fullmatch(r"p|p_\w+|\w+_p", field) is not None


def _fields(node: ast.ClassDef) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
            yield part.target.id
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            yield part.attr


def _names(node: ast.ClassDef) -> set[str]:
    """Classes that a class is derived from, or has fields of."""
    annotated = [part.annotation for part in node.body if isinstance(part, ast.AnnAssign)]
    return {one.id for tree in [*node.bases, *annotated] for one in ast.walk(tree) if isinstance(one, ast.Name)}

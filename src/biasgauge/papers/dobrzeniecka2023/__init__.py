"""Dobrzeniecka & Urbaniak 2023: single numbers hide uncertainty; a Bayesian model of distances instead.

Here: numbers that need no data: its example, its word lists, its prior, data sets without bias.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import binomtest, ttest_ind

from biasgauge.analyses.posterior import PAPER_EFFECT, PAPER_STATISTIC, NullModel, Priors, weat_numbers
from biasgauge.core import Floats
from biasgauge.lexicons import AssociationTest, Stereotypes, lexicon
from biasgauge.metrics import effect_size, weat_from_similarities
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed

CALISKAN = (1.50, 1.53, 1.41, 1.50, 1.28, 1.81, 1.06, 1.24, 1.38, 1.21)
"""Effect sizes d of WEAT 1 to 10 that Caliskan, Bryson & Narayanan 2017 print in their Table 1."""
_MISPRINT = "Caliskan et al. print 1.06 for math and arts; 2.06 would be no least where the most is 1.81"
_SD = 0.08
_EXAMPLE_SEED, _SIMULATION_SEED = 10_232_169, 123_456
_DATA_SETS = 10_000
_SIDE = 8
_STATE, _SCRAMBLES, _TO_UNIT, _BIG = 624, 50, 2.3283064365386963e-10, 134_217_728
"""Of R's generator: words of its state, rounds of scrambling, 2⁻³², 2²⁷."""
_LIKE_FOR_LIKE = "on the numbers that R drew for the paper; corrected: Clopper–Pearson interval"


def example(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """The worked example of WEAT."""
    return {"example.weat": Recomputed.both(effect_size([0.5, 0.3], [-0.6, -0.3]))}


def lists(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Lengths of the word lists that ship with biasgauge."""
    religion = lexicon("religion")
    assert isinstance(religion, Stereotypes)  # noqa: S101 - for type checkers: it ships so
    sizes = {
        "religion.protected": len({word for group in religion.groups for word in group.protected}),
        "religion.attributes": len({word for group in religion.groups for word in group.attributes}),
        "religion.sets": len(religion.groups),
        "human": len(lexicon("human").words),
        "neutral": len(lexicon("neutral").words),
    }
    tests = [test for number in range(1, 11) if isinstance(test := lexicon(f"weat{number}"), AssociationTest)]
    topics = [topic for name in ("gender", "race", "religion") if isinstance(topic := lexicon(name), Stereotypes)]
    both = {
        "targets": [len(test.x) + len(test.y) for test in tests],
        "attributes": [len(test.a) + len(test.b) for test in tests],
    }
    one_set = {
        "targets": [len(members) for test in tests for members in (test.x, test.y)],
        "attributes": [len(members) for test in tests for members in (test.a, test.b)],
    }
    rows = {f"lists.{name}": Recomputed.both(size) for name, size in sizes.items()}
    for name, counts in both.items():
        note = f"words of both sets of a test; single sets have {min(one_set[name])} to {max(one_set[name])}"
        rows |= {f"lists.caliskan.{name}.least": Recomputed.both(min(counts), note)}
        rows |= {f"lists.caliskan.{name}.most": Recomputed.both(max(counts), note)}
    # as published: words that stand in several defining sets are counted as often; corrected: once
    protected = [(len(topic.slots), sum(len(group.protected) for group in topic.groups)) for topic in topics]
    attributes = [sum(len(group.attributes) for group in topic.groups) for topic in topics]
    for end, pick in (("least", min), ("most", max)):
        rows[f"lists.manzini.protected.{end}"] = Recomputed(*(pick(column) for column in zip(*protected, strict=True)))
        rows[f"lists.manzini.attributes.{end}"] = Recomputed.both(pick(attributes))
    return rows | {
        "sums.weat.least": Recomputed.both(min(CALISKAN), _MISPRINT),
        "sums.weat.most": Recomputed.both(max(CALISKAN)),
    }


def prior(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Three standard deviations around the mean of the prior of a group mean."""
    group = Priors().group
    return {
        f"prior.{end}": Recomputed.both(group.mean + 3 * sign * group.sd) for end, sign in (("low", -1), ("high", 1))
    }


def null_example(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """One data set without bias, drawn as R drew it: WEAT, and t tests on the distances to A and to B."""
    values = (_SD * r_normal(_EXAMPLE_SEED, 4 * _SIDE**2)).reshape(2 * _SIDE, 2 * _SIDE)
    halves = (slice(_SIDE), slice(_SIDE, None))
    blocks = [values[rows, columns] for rows in halves for columns in halves]
    test = weat_from_similarities(*blocks, alternative="two-sided", interval=None)
    greater = weat_from_similarities(*blocks, alternative="greater", interval=None)
    numbers = {
        "statistic": test.statistic,
        "weat": test.effect_size,
        "statistic.p": test.p_value,
        "weat.p": test.p_value,
        "weat.p.one_sided": greater.p_value,
    }
    for name, first, second in (("a", blocks[0], blocks[2]), ("b", blocks[1], blocks[3])):
        welch = ttest_ind(first.ravel(), second.ravel(), equal_var=False)
        ends = welch.confidence_interval()
        for label, value in (("p", welch.pvalue), ("low", ends.low), ("high", ends.high)):
            numbers[f"{name}.{label}"] = float(value)
        if name == "a" and test.p_value:
            numbers["a.times"] = float(welch.pvalue) / test.p_value
    return {f"null.{name}": Recomputed.both(value) for name, value in numbers.items()}


def null_simulation(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Share of ten thousand data sets without bias that have a WEAT as large as the paper's."""
    size = 2 * _SIDE
    tables = (_SD * r_normal(_SIMULATION_SEED, _DATA_SETS * size**2)).reshape(_DATA_SETS, size, size)
    population, sample = (weat_numbers(tables, NullModel(), ddof) for ddof in (0, 1))
    hits = {
        "weat": (np.abs(population.published) >= PAPER_EFFECT, np.abs(population.effect_size) >= PAPER_EFFECT),
        "weat.sample_sd": (np.abs(sample.published) >= PAPER_EFFECT, np.abs(sample.effect_size) >= PAPER_EFFECT),
        "statistic": (np.abs(population.statistic) >= PAPER_STATISTIC,) * 2,
        "statistic.one_sided": (population.statistic >= PAPER_STATISTIC,) * 2,
    }
    rows = {}
    for name, (published, right) in hits.items():
        ends = binomtest(int(right.sum()), _DATA_SETS).proportion_ci()
        theirs, ours, note = float(published.mean()), float(right.mean()), "" if name == "weat" else _LIKE_FOR_LIKE
        rows[f"simulation.{name}"] = Recomputed(theirs, ours, float(ends.low), float(ends.high), note)
    return rows


def r_normal(seed: int, count: int) -> Floats:
    """Return what `set.seed(seed); rnorm(count)` gives in R: Mersenne Twister, seed scrambled as in R, inversion."""
    words = [seed]
    for _ in range(_SCRAMBLES + _STATE + 1):
        words.append((69069 * words[-1] + 1) % 2**32)
    twister = np.random.MT19937()
    key = np.array(words[-_STATE:], dtype=np.uint32)
    twister.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": _STATE}}
    uniform = twister.random_raw(2 * count) * _TO_UNIT
    drawn: Floats = ndtri((np.floor(_BIG * uniform[::2]) + uniform[1::2]) / _BIG)
    return drawn

"""Dobrzeniecka & Urbaniak 2023: single numbers hide uncertainty; a Bayesian model of distances instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.lexicons import Stereotypes, lexicon
from biasgauge.papers.data import Need
from biasgauge.papers.dobrzeniecka2023.rows import (
    COVERAGE,
    EXAMPLE,
    GROUPS,
    LISTS,
    NULL_EXAMPLE,
    NULL_SIMULATION,
    TABLE_1,
    TABLE_2,
    WITHIN_BAND,
    WORDS,
)
from biasgauge.papers.paper import Paper, Part, late
from biasgauge.papers.r_random import r_normal
from biasgauge.papers.row import Recomputed

if TYPE_CHECKING:
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress

_SD = 0.08
_EXAMPLE_SEED, _SIMULATION_SEED = 10_232_169, 123_456
_DATA_SETS = 10_000
_SIDE = 8
_LIKE_FOR_LIKE = "on the numbers that R drew for the paper; corrected: Clopper–Pearson interval"

_HOME = "dobrzeniecka2023.distances"
"""Where the functions are that take long to import."""

_FOLDERS = ("", "bayes_distances/", "macWeatDatasets/", "datasets/macWeatDatasets/",
            "Bayesian-analysis-for-NLP-bias/datasets/macWeatDatasets/")  # fmt: skip
_FILES = ("*_group_*_dataset.csv*", "weat_7_*.csv*", "debiased_*_reddit.csv*")
NEEDS = (
    Need(
        name="distances",
        what="The authors' cosine distances: 18 files, ten of which are enough for the figures that were checked.",
        fetch="Fetch the folder datasets/macWeatDatasets of the repository efemeryds/Bayesian-analysis-for-NLP-bias on "
        "GitHub (MIT license), files *_group_*_dataset.csv, weat_7_*.csv and debiased_*_reddit.csv; gzipped or not.",
        accepts=tuple(f"{folder}{file}" for folder in _FOLDERS for file in _FILES),
    ),
    Need(
        name="coordinates",
        what="Coordinates of every word in the published figures.",
        fetch="Read them off the vector figures of the paper into published_posteriors.csv with the columns dataset, "
        "connection, protected_word ('*' for the group), mean, low_5_5, high_94_5.",
        accepts=("published_posteriors.csv", "bayes_distances/published_posteriors.csv"),
    ),
)  # fmt: skip


def _example(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    from biasgauge.association.weat import effect_size

    value = effect_size([0.5, 0.3], [-0.6, -0.3])
    return {"example.weat": Recomputed(value, value)}


def _lists(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    religion = lexicon("religion")
    assert isinstance(religion, Stereotypes)  # noqa: S101 - for type checkers: it ships so
    sizes = {
        "religion.protected": len({word for group in religion.groups for word in group.protected}),
        "religion.attributes": len({word for group in religion.groups for word in group.attributes}),
        "religion.sets": len(religion.groups),
        "human": len(lexicon("human").words),
        "neutral": len(lexicon("neutral").words),
    }
    return {f"lists.{name}": Recomputed(size, size) for name, size in sizes.items()}


def _null_example(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    from scipy.stats import ttest_ind

    from biasgauge.association.weat import weat_from_similarities

    values = (_SD * r_normal(_EXAMPLE_SEED, 4 * _SIDE**2)).reshape(2 * _SIDE, 2 * _SIDE)
    blocks = [values[rows, columns] for rows in (slice(_SIDE), slice(_SIDE, None))
              for columns in (slice(_SIDE), slice(_SIDE, None))]  # fmt: skip
    test = weat_from_similarities(*blocks, alternative="two-sided", interval=None)
    greater = weat_from_similarities(*blocks, alternative="greater", interval=None)
    found = {
        "null.statistic": Recomputed(test.statistic, test.statistic),
        "null.weat": Recomputed(test.effect_size, test.effect_size),
        "null.statistic.p": Recomputed(test.p_value, test.p_value),
        "null.weat.p": Recomputed(test.p_value, test.p_value),
        "null.weat.p.one_sided": Recomputed(greater.p_value, greater.p_value),
    }
    for name, first, second in (("a", blocks[0], blocks[2]), ("b", blocks[1], blocks[3])):
        welch = ttest_ind(first.ravel(), second.ravel(), equal_var=False)
        ends = welch.confidence_interval()
        for part, value in (("p", welch.pvalue), ("low", ends.low), ("high", ends.high)):
            found[f"null.{name}.{part}"] = Recomputed(float(value), float(value))
        if name == "a" and test.p_value:
            found["null.a.times"] = Recomputed(float(welch.pvalue) / test.p_value, float(welch.pvalue) / test.p_value)
    return found


def _null_simulation(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    import numpy as np
    from scipy.stats import binomtest

    from biasgauge.uncertainty import NullModel
    from biasgauge.uncertainty.nulls.simulation import PAPER_EFFECT, PAPER_STATISTIC
    from biasgauge.uncertainty.nulls.weat_mac import weat_numbers

    size = 2 * _SIDE
    tables = (_SD * r_normal(_SIMULATION_SEED, _DATA_SETS * size**2)).reshape(_DATA_SETS, size, size)
    population, sample = (weat_numbers(tables, NullModel(), ddof) for ddof in (0, 1))
    hits = {
        "weat": (np.abs(population.published) >= PAPER_EFFECT, np.abs(population.effect_size) >= PAPER_EFFECT),
        "weat.sample_sd": (np.abs(sample.published) >= PAPER_EFFECT, np.abs(sample.effect_size) >= PAPER_EFFECT),
        "statistic": (np.abs(population.statistic) >= PAPER_STATISTIC,) * 2,
        "statistic.one_sided": (population.statistic >= PAPER_STATISTIC,) * 2,
    }
    found = {}
    for name, (published, right) in hits.items():
        ends = binomtest(int(right.sum()), _DATA_SETS).proportion_ci()
        note = "" if name == "weat" else _LIKE_FOR_LIKE
        found[f"simulation.{name}"] = Recomputed(
            float(published.mean()), float(right.mean()), float(ends.low), float(ends.high), note
        )
    return found


PAPER = Paper(
    name="dobrzeniecka2023",
    title="A Bayesian approach to uncertainty in word embedding bias estimation",
    citation="Dobrzeniecka & Urbaniak 2023",
    about="The figures of the Bayesian model are reached from the authors' distances. The simulation that motivates it "
    "is reached only with a fault of its script: so large a WEAT comes from nothing in under 1 % of data sets, not in "
    "38 %. Percentages before and after debiasing compare different word lists.",
    needs=NEEDS,
    parts=(
        Part("example", "The worked example of WEAT.", EXAMPLE, _example),
        Part("lists", "Sizes of the word lists.", LISTS, _lists),
        Part("null_example", "One data set without bias, drawn as R drew it.", NULL_EXAMPLE, _null_example),
        Part("null_simulation", "Ten thousand data sets without bias.", NULL_SIMULATION, _null_simulation),
        Part(
            "table1", "Sample rows, and which words the vectors had.", TABLE_1, late(_HOME, "table_1"), ("distances",)
        ),
        Part("table2", "MAC, its paired t test, WEAT 7.", TABLE_2, late(_HOME, "table_2"), ("distances",)),
        Part("groups", "Posterior of each connection's mean distance.", GROUPS, late(_HOME, "groups"), ("distances",)),
        Part(
            "words",
            "Posterior of each word's mean distance.",
            WORDS,
            late(_HOME, "words"),
            ("distances", "coordinates"),
        ),
        Part("coverage", "Posterior predictive checks.", COVERAGE, late(_HOME, "coverage"), ("distances",)),
        Part("band", "Similarities within one less MAC, in %.", WITHIN_BAND, late(_HOME, "bands"), ("distances",)),
    ),
)

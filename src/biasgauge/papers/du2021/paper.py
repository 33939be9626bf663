"""Du, Fang & Nguyen 2021: how reliable are measures of gender bias?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from biasgauge.lexicons import Pairs, lexicon
from biasgauge.papers.data import Need
from biasgauge.papers.du2021.rows import COMBINATIONS, ESTIMATORS, LISTS, REGRESSION, RELIABILITY
from biasgauge.papers.paper import Paper, Part, late
from biasgauge.papers.row import Recomputed

if TYPE_CHECKING:
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress

SHROUT_FLEISS = ((9, 2, 5, 8), (6, 1, 3, 2), (8, 4, 6, 8), (7, 1, 2, 6), (10, 5, 6, 9), (6, 2, 4, 7))
"""Six subjects, four raters: Shrout & Fleiss 1979, table 2."""


def _replicates(folder: Path) -> bool:
    from biasgauge.papers.du2021.replicates import holds_replicates

    return holds_replicates(folder)


NEEDS = (
    Need(
        name="replicates",
        what="Replicates of embeddings (32 seeds for each algorithm and corpus in the paper), or their scores; those "
        "of the paper were not released.",
        fetch="Train them on WikiText-103 (train split; Merity et al. 2016, CC BY-SA) or on the comments of "
        "r/AskScience and r/AskHistorians of 2014 (Internet Archive, 2015_reddit_comments_corpus): `biasgauge train "
        "CORPUS --like du2021 --seeds 32`. Put the models, or a store that `biasgauge score … --pairs du2021 --words "
        "full --as-published du2021` made, into replicates/NAME; the paper's are called "
        f"{', '.join(COMBINATIONS)}. Replicates of any other name are set beside the paper's numbers without being "
        "held to them.",
        accepts=("replicates", "du2021"),
        holds=_replicates,
    ),
)


def _lists(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    pairs, queries = lexicon("du2021"), lexicon("du2021_queries")
    assert isinstance(pairs, Pairs)  # noqa: S101 - for type checkers: it ships so
    sizes = {
        "pairs": len(pairs.pairs),
        **{name: len(lexicon(name).words) for name in ("occ16", "occ18", "adj", "google10k")},
        "queries": len(queries.sets),
        **{f"queries.{name}": len(words) for name, words in queries.sets.items()},
    }
    return {f"lists.{name}": Recomputed(size, size) for name, size in sizes.items()}


def _estimators(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    import numpy as np

    from biasgauge.agreement import Estimate, cronbach_alpha, icc
    from biasgauge.stats.mean_squares import mean_squares

    table = np.array(SHROUT_FLEISS, float)
    squares = mean_squares(table[None])
    found = {
        f"estimators.{name}": Recomputed(float(value[0]), float(value[0]))
        for name, value in (
            ("ms_rows", squares.ms_rows), ("ms_columns", squares.ms_columns), ("ms_error", squares.ms_error)
        )
    }  # fmt: skip
    for name, one in (("icc21", icc(table, "2,1")), ("icc31", icc(table, "3,1")), ("alpha", cronbach_alpha(table))):
        assert isinstance(one, Estimate)  # noqa: S101 - for type checkers: one matrix, one estimate
        found[f"estimators.{name}"] = Recomputed(one.value, one.value, one.low, one.high)
    return found


PAPER = Paper(
    name="du2021",
    title="Assessing the Reliability of Word Embedding Gender Bias Measures",
    citation="Du, Fang & Nguyen, EMNLP 2021",
    about="Models, scores and the data of the regression were not released, so most numbers can only be set beside "
    "those of your own replicates. The released trainer leaves gensim at CBOW and passes no seed, so what the paper's "
    "32 models were is not known. The lengths of its word lists are reached, and its estimators give what a textbook "
    "prints.",
    needs=NEEDS,
    parts=(
        Part("lists", "Sizes of the word lists.", LISTS, _lists),
        Part("estimators", "The three estimators on a textbook table.", ESTIMATORS, _estimators),
        Part("reliability", "Reliabilities of words and pairs.", RELIABILITY,
             late("du2021.replicates", "on_replicates"), ("replicates",)),
        Part("regression", "What reliability depends on.", REGRESSION),
    ),
)  # fmt: skip

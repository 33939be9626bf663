"""May et al. 2019 (SEAT), as far as no encoder is needed: its sentences, and the false positive rate of its test.

The null of that rate serves CEAT, too: every word leans in its own way, and the sets are alike. X and Y are drawn from
one population of words, A and B too, so that a test at 5 % should reject in 5 % of the draws. The sentences of a word
share its lean: they are not independent of each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from biasgauge.core import Estimate, Floats, WordPolicy
from biasgauge.lexicons import lexicon
from biasgauge.metrics import contextual_weat, unit_contexts, weat_from_similarities
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.papers.published import row_ids
from biasgauge.scores import weat
from biasgauge.stats import wilson
from biasgauge.vectors import load_default

NAME_TEMPLATES, NOUN_TEMPLATES = 8, 14
"""Sentences that the released files make of a name, and of a noun (eight in the singular, six in the plural)."""
RUNS, SHUFFLES = 200, 999
WORDS, DIMENSIONS, SPREAD = 8, 12, 0.6
"""Words of each of the four sets, as in WEAT 6 and 7; dimensions; standard deviation of sentences around their word."""
LEVEL = 0.05
OTHER_VECTORS = "the vectors that ship (GloVe 6B, 100 dimensions) instead of GloVe 840B, 300 dimensions"
_PARTED = (
    "as published: sentences are shuffled between X and Y one by one, as if each were a word of its own; corrected: "
    "over words, sentences nested in them"
)
_DDOF = (
    "as published: divided by the standard deviation with n − 1 (Caliskan et al. and biasgauge: n); corrected: with n, "
    "and its interval over words"
)
_P = "as published: over targets, one-sided; corrected: the larger of the p over targets and over attributes"


def sentences(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Numbers of sentences in the released files, from the word lists and the templates."""
    rows = {}
    for name, templates in (("weat6", NAME_TEMPLATES), ("weat7", NOUN_TEMPLATES)):
        words, note = len(lexicon(name).sets["x"]), "corrected: words, which is what was sampled"
        rows[f"sentences.{name}.targets"] = Recomputed(words * templates, words, note=note)
    return rows


def null_vectors(random: np.random.Generator, sentences: int) -> dict[str, Floats]:
    """Vectors of the four sets: words × sentences × dimensions."""
    size = 4 * WORDS
    words = random.normal(size=(size, 1, DIMENSIONS))
    vectors = words + SPREAD * random.normal(size=(size, sentences, DIMENSIONS))
    return {role: vectors[WORDS * index : WORDS * (index + 1)] for index, role in enumerate("xyab")}


def simulated(runs: int, sentences: int, seed: int, p_value: Callable[[dict[str, Floats]], float]) -> Estimate:
    """Rejection rate of a test over simulated studies of the null, with Wilson's interval over the studies."""
    random = np.random.default_rng([seed, sentences])
    below = [p_value(null_vectors(random, sentences)) < LEVEL for _ in range(runs)]
    return wilson(float(np.mean(below)), len(below), 0.95, over="simulated studies")


def null(_data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """Rejections at 5 % when words lean each in its own way and the sets are alike."""
    rows = {}
    for name in row_ids(__name__, "null."):
        size = int(name.rpartition(".")[2])
        theirs = simulated(RUNS, size, seed, lambda sets: _shuffled(sets, seed))
        ours = simulated(RUNS, size, seed, p_over_words)
        rows[name] = Recomputed.of(theirs, ours, f"{_PARTED}; a test at .05 should reject in 5 % of {RUNS} studies")
    return rows


def _shuffled(sets: dict[str, Floats], seed: int) -> float:
    """The released rule: a permutation test over sentences."""
    units = {role: unit_contexts(words).reshape(-1, words.shape[-1]) for role, words in sets.items()}
    tables = [units[targets] @ units[attributes].T for targets in "xy" for attributes in "ab"]
    result = weat_from_similarities(*tables, ddof=1, interval=None, samples=SHUFFLES, random_state=seed)
    return result.p_value or 0.0


def p_over_words(sets: dict[str, Floats], **settings: Any) -> float:  # noqa: ANN401 - those of the test
    """P-value over words, sentences nested in them."""
    return contextual_weat(*(sets[role] for role in "xyab"), interval=None, **settings).p_value or 0.0


def words(_data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """The word-level tests by the released rule, on the vectors that ship."""
    vectors = load_default()
    rows = {}
    for number in range(1, 11):
        settings: dict[str, Any] = {"policy": WordPolicy(min_coverage=0.5, case="fallback"), "random_state": seed}
        theirs = weat(vectors, f"weat{number}", ddof=1, interval=None, **settings)
        ours = weat(vectors, f"weat{number}", ddof=0, **settings)
        p = [value for value in (ours.p_value, ours.p_attributes) if value is not None]
        rows[f"words.weat{number}.d"] = Recomputed.of(theirs.value, ours.estimate, _DDOF, OTHER_VECTORS)
        rows[f"words.weat{number}.p"] = Recomputed.of(
            theirs.p_value, float(np.max(p)) if p else None, _P, OTHER_VECTORS
        )
    return rows

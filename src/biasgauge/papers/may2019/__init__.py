"""May et al. 2019 (SEAT), as far as no encoder is needed: its sentences, and the false positive rate of its test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.core import WordPolicy
from biasgauge.lexicons import lexicon
from biasgauge.metrics import contextual_weat, unit_contexts, weat_from_similarities
from biasgauge.papers.paper import published_rows
from biasgauge.papers.row import Recomputed
from biasgauge.papers.word_nulls import simulated
from biasgauge.scores import weat
from biasgauge.vectors import load_default

if TYPE_CHECKING:
    from biasgauge.core import Floats
    from biasgauge.papers.paper import Data, Progress

NAME_TEMPLATES, NOUN_TEMPLATES = 8, 14
"""Sentences that the released files make of a name, and of a noun (eight in the singular, six in the plural)."""
RUNS, SHUFFLES = 200, 999
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


def sentences(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Numbers of sentences in the released files, from the word lists and the templates."""
    names, nouns = lexicon("weat6").sets["x"], lexicon("weat7").sets["x"]
    sizes = {"weat6.targets": len(names) * NAME_TEMPLATES, "weat7.targets": len(nouns) * NOUN_TEMPLATES}
    words = {"weat6.targets": len(names), "weat7.targets": len(nouns)}
    return {
        f"sentences.{name}": Recomputed(size, words[name], note="corrected: words, which is what was sampled")
        for name, size in sizes.items()
    }


def null(_data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Rejections at 5 % when words lean each in its own way and the sets are alike."""
    rows = {}
    for name in (row.id for row in published_rows("biasgauge.papers.may2019") if row.part == "null"):
        size = int(name.rpartition(".")[2])
        theirs = simulated(RUNS, size, seed, lambda sets: _shuffled(sets, seed))
        ours = simulated(RUNS, size, seed, _over_words)
        rows[name] = Recomputed.of(theirs, ours, f"{_PARTED}; a test at .05 should reject in 5 % of {RUNS} studies")
    return rows


def _shuffled(sets: dict[str, Floats], seed: int) -> float:
    """The released rule: a permutation test over sentences."""
    units = {role: unit_contexts(words).reshape(-1, words.shape[-1]) for role, words in sets.items()}
    tables = [units[targets] @ units[attributes].T for targets in "xy" for attributes in "ab"]
    result = weat_from_similarities(*tables, ddof=1, interval=None, samples=SHUFFLES, random_state=seed)
    return result.p_value or 0.0


def _over_words(sets: dict[str, Floats]) -> float:
    x, y, a, b = (sets[role] for role in "xyab")
    return contextual_weat(x, y, a, b, interval=None).p_value or 0.0


def words(_data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
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

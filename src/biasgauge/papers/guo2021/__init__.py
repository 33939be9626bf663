"""Guo & Caliskan 2021 (CEAT), as far as no model is needed: its lists, and the false positive rate of its test."""

from __future__ import annotations

from functools import partial

from biasgauge.core import Floats
from biasgauge.lexicons import lexicon
from biasgauge.metrics import published_ceat
from biasgauge.papers.may2019 import p_over_words, simulated
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.papers.published import row_ids

LEFT_OUT = {
    "weat1.x": {"gladiola"},
    "weat1.y": {"blackfly"},
    "weat3.x": {"Betsy", "Justin", "Frank", "Josh", "Heather"},
    "weat3.y": {"Jamel", "Shereen", "Latisha", "Lakisha", "Malika"},
    **{f"weat{test}.x": {"Neil"} for test in (4, 5)},
    **{f"weat{test}.y": {"Lakisha"} for test in (4, 5)},
}
"""Words of WEAT that the released code leaves out because its text lacks them, and others to keep the sets equal."""
RUNS, CONTEXTS = 100, 20
_DRAWS = (
    "as published: N draws of a context for each word count as N independent studies, so that the N that the user "
    "chooses decides p; corrected: over words, contexts nested in them"
)


def lists(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Words of the lists of the released code, from those of WEAT."""
    rows = {}
    for name in row_ids(__name__, "lists."):
        _, test, role = name.split(".")
        words, lost = set(lexicon(test).sets[role]), LEFT_OUT.get(f"{test}.{role}", set())
        note = f"without {', '.join(sorted(lost))}" if lost else ""
        rows[name] = Recomputed(len(words - lost), len(words), note=note)
    return rows


def null(_data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """Two-sided rejections at 5 % when words lean each in its own way and the sets are alike."""
    rows = {}
    ours = simulated(RUNS, CONTEXTS, seed, partial(p_over_words, alternative="two-sided"))
    for name in row_ids(__name__, "null."):
        draws = int(name.rpartition(".")[2])

        def p_value(sets: dict[str, Floats], draws: int = draws) -> float:
            p = published_ceat(**sets, draws=draws, random_state=seed).p_value
            return 2 * min(p, 1 - p)

        theirs = simulated(RUNS, CONTEXTS, seed, p_value)
        rows[name] = Recomputed.of(theirs, ours, f"{_DRAWS}; a test at .05 should reject in 5 % of {RUNS} studies")
    return rows

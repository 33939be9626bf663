"""Guo & Caliskan 2021 (CEAT), as far as no model is needed: its lists, and the false positive rate of its test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.lexicons import lexicon
from biasgauge.metrics import contextual_weat, published_ceat
from biasgauge.papers.paper import printed_numbers, published_rows
from biasgauge.papers.row import Recomputed
from biasgauge.papers.word_nulls import simulated

if TYPE_CHECKING:
    from biasgauge.core import Floats
    from biasgauge.papers.paper import Data, Progress

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


def lists(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Words of the lists of the released code, from those of WEAT."""
    rows = {}
    for name in printed_numbers("biasgauge.papers.guo2021"):
        if name.startswith("lists."):
            test, _, role = name.removeprefix("lists.").partition(".")
            words = set(lexicon(test).sets[role])
            lost = LEFT_OUT.get(f"{test}.{role}", set())
            note = f"without {', '.join(sorted(lost))}" if lost else ""
            rows[name] = Recomputed(len(words - lost), len(words), note=note)
    return rows


def null(_data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Two-sided rejections at 5 % when words lean each in its own way and the sets are alike."""
    rows = {}
    ours = simulated(RUNS, CONTEXTS, seed, _over_words)
    for name in (row.id for row in published_rows("biasgauge.papers.guo2021") if row.part == "null"):
        draws = int(name.rpartition(".")[2])

        def p_value(sets: dict[str, Floats], draws: int = draws) -> float:
            p = published_ceat(**sets, draws=draws, random_state=seed).p_value
            return 2 * min(p, 1 - p)

        theirs = simulated(RUNS, CONTEXTS, seed, p_value)
        rows[name] = Recomputed.of(theirs, ours, f"{_DRAWS}; a test at .05 should reject in 5 % of {RUNS} studies")
    return rows


def _over_words(sets: dict[str, Floats]) -> float:
    x, y, a, b = (sets[role] for role in "xyab")
    return contextual_weat(x, y, a, b, interval=None, alternative="two-sided").p_value or 0.0

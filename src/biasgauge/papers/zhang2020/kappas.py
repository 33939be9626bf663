"""Tables 3 to 6 of Zhang et al. 2020: Cohen's kappas of directions, by the paper's rules and by ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from biasgauge.analyses.reliability import pair_name
from biasgauge.papers.row import Recomputed
from biasgauge.papers.zhang2020.lists import MEAN, PAIRS, PRINTED, PROFESSIONS, TRUTHS, WITH_ALL_FORMS
from biasgauge.papers.zhang2020.runs import Runs, runs_of

if TYPE_CHECKING:
    from biasgauge.analyses.robustness import RobustnessResult
    from biasgauge.core import Estimate
    from biasgauge.papers.paper import Data, Progress

PARTS = {"table3": "pair_forms", "table4": "word_forms", "table5": "correspondence", "table6": "between_measures"}
WITH_FORMS = "table4"
ALL_FORMS = "table4.words"
FEWEST = 10
"""Words below which a kappa is not shown."""
_FORMS_CORRECTED = "corrected: real plurals (policemen), and a word counts by each form that it has"


class _Cell(NamedTuple):
    """Comparison on one base pair or on all in the mean; its fields joined by full stops are the id of its row."""

    table: str
    measure: str
    against: str
    pair: str


def named(measure: str) -> str:
    """The measure under the name that the paper has for it."""
    return measure.removesuffix("_zhang2020")


def _fill(table: str, data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    runs = runs_of(data, seed, progress)
    names = (name for name in PRINTED if name.startswith(f"{table}.") and name != ALL_FORMS)
    rows = {name: _row(runs, _Cell(*name.split("."))) for name in names}
    return {**rows, ALL_FORMS: _words(runs)} if table == WITH_FORMS else rows


table_3, table_4, table_5, table_6 = (partial(_fill, table) for table in PARTS)


def _row(runs: Runs, cell: _Cell) -> Recomputed:
    theirs = _kappa(runs.each_form if cell.table == WITH_FORMS else (runs.published,), cell)
    ours = _kappa((runs.corrected,), cell)
    if theirs.value is None:
        return Recomputed(None, ours.value, ours.low, ours.high, theirs.reason or "")
    if theirs.n < FEWEST:
        return Recomputed(note=f"only {theirs.n} words have this form in the vectors: too few to say anything")
    note = _FORMS_CORRECTED if cell.table == WITH_FORMS else ""
    if not note and ours.value is not None and theirs.value != ours.value:
        note = "corrected: a score of exactly 0 has no direction; the paper counts it as male"
    return Recomputed.of(theirs, ours, note, _differs(runs, cell, theirs))


def _differs(runs: Runs, cell: _Cell, kappa: Estimate) -> str:
    """In what the words, neighbors or pairs behind a number are not the paper's; empty where they are."""
    reasons = []
    if "nbm" in {cell.measure, cell.against} and runs.other_pool:
        reasons.append(runs.other_pool)
    expected = WITH_ALL_FORMS if cell.table == WITH_FORMS else TRUTHS.get(cell.against, PROFESSIONS)
    if kappa.n != expected:
        reasons.append(
            f"{kappa.n} of the paper's {expected} words" if kappa.n < expected else f"{kappa.n} words for {expected}"
        )
    if cell.pair == MEAN and kappa.k != len(PAIRS):
        reasons.append(f"mean over {kappa.k} pairs: the vectors lack the others")
    return "; ".join(reasons)


def _kappa(results: Sequence[RobustnessResult], cell: _Cell) -> Estimate:
    """Kappa of one cell; the runs together hold every form."""
    attribute = PARTS[cell.table]
    for result in results:
        means: Sequence[Any] = [row for row in result.means if row.part == attribute]
        for row in means if cell.pair == MEAN else getattr(result, attribute):
            pair = MEAN if cell.pair == MEAN else pair_name(row.pair)
            if (named(row.measure), named(row.against), pair) == cell[1:]:
                kappa: Estimate = row.kappa
                return kappa
    raise KeyError(".".join(cell))


def _words(runs: Runs) -> Recomputed:
    """Professions that have all three forms."""
    complete = len(runs.published.forms[0].found)
    by_form = ", ".join(f"{len(form.found)} {form.name}" for form in runs.corrected.forms)
    differs = "" if complete == WITH_ALL_FORMS else "the vectors lack forms that the whole of GoogleNews has"
    return Recomputed.of(complete, note=f"one form at a time, with real plurals: {by_form}", differs=differs)

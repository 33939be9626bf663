"""Tables 3 to 6 of Zhang et al. 2020: Cohen's kappas of directions, by the paper's rules and by ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from biasgauge.agreement.rows import pair_name
from biasgauge.papers.row import Recomputed
from biasgauge.papers.zhang2020.runs import Runs, runs_of
from biasgauge.papers.zhang2020.tables import LINES, MEAN, PAIRS, PROFESSIONS, TRUTHS, WITH_ALL_FORMS, Line

if TYPE_CHECKING:
    from biasgauge.agreement import Estimate
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress
    from biasgauge.sensitivity import RobustnessResult

PARTS = {3: "pair_forms", 4: "word_forms", 5: "correspondence", 6: "between_measures"}
WITH_FORMS = 4
ALL_FORMS = "table4.words"
FEWEST = 10
"""Words below which a kappa is not shown."""
_FORMS_CORRECTED = "corrected: real plurals (policemen), and a word counts by each form that it has"


def named(measure: str) -> str:
    """The measure under the name that the paper has for it."""
    return measure.removesuffix("_zhang2020")


def fill(table: int) -> Callable[[Data, int, Progress | None], dict[str, Recomputed]]:
    """The function that fills one of Tables 3 to 6."""

    def compute(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
        runs = runs_of(data, seed, progress)
        found = {
            line.row_id(pair): _cell(runs, line, pair)
            for line in LINES
            if line.table == table
            for pair in (*PAIRS, MEAN)
        }
        return {**found, ALL_FORMS: _words(runs)} if table == WITH_FORMS else found

    return compute


def _cell(runs: Runs, line: Line, pair: str) -> Recomputed:
    theirs = _kappa(runs.each_form if line.table == WITH_FORMS else (runs.published,), line, pair)
    ours = _kappa((runs.corrected,), line, pair)
    if theirs.value is None:
        return Recomputed(None, ours.value, ours.low, ours.high, theirs.reason or "")
    if theirs.n < FEWEST:
        return Recomputed(note=f"only {theirs.n} words have this form in the vectors: too few to say anything")
    note = _FORMS_CORRECTED if line.table == WITH_FORMS else _ties(theirs, ours)
    return Recomputed.of(theirs, ours, note, _differs(runs, line, pair, theirs))


def _ties(theirs: Estimate, ours: Estimate) -> str:
    if ours.value is None or theirs.value == ours.value:
        return ""
    return "corrected: a score of exactly 0 has no direction; the paper counts it as male"


def _differs(runs: Runs, line: Line, pair: str, kappa: Estimate) -> str:
    """In what the words, neighbors or pairs behind a number are not the paper's; empty where they are."""
    reasons = []
    if "nbm" in {line.measure, line.against} and runs.other_pool:
        reasons.append(runs.other_pool)
    asked = WITH_ALL_FORMS if line.table == WITH_FORMS else TRUTHS.get(line.against, PROFESSIONS)
    if kappa.n != asked:
        reasons.append(f"{kappa.n} of the paper's {asked} words" if kappa.n < asked else f"{kappa.n} words for {asked}")
    if pair == MEAN and kappa.k != len(PAIRS):
        reasons.append(f"mean over {kappa.k} pairs: the vectors lack the others")
    return "; ".join(reasons)


def _kappa(results: Sequence[RobustnessResult], line: Line, pair: str) -> Estimate:
    """Kappa of one cell; the runs together hold every form."""
    wanted = (line.measure, line.against)
    part = PARTS[line.table]
    for result in results:
        if pair == MEAN:
            means = (one for one in result.means if one.part == part)
            kappas = [one.kappa for one in means if (named(one.measure), named(one.against)) == wanted]
        else:
            kappas = [
                one.kappa
                for one in getattr(result, part)
                if (named(one.measure), named(one.against)) == wanted and pair_name(one.pair) == pair
            ]
        if kappas:
            found: Estimate = kappas[0]
            return found
    raise KeyError(line.row_id(pair))


def _words(runs: Runs) -> Recomputed:
    """Professions that have all three forms."""
    complete = len(runs.published.forms[0].found)
    by_form = ", ".join(f"{len(one.found)} {one.name}" for one in runs.corrected.forms)
    differs = "" if complete == WITH_ALL_FORMS else "the vectors lack forms that the whole of GoogleNews has"
    return Recomputed.of(complete, note=f"one form at a time, with real plurals: {by_form}", differs=differs)

"""Tables 1 to 6, Figure 2 and the examples in the text of Zhang et al. 2020, by the paper's rules and by ours."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from biasgauge.analyses import robustness
from biasgauge.analyses.reliability import pair_name
from biasgauge.core import Estimate, Floats
from biasgauge.papers import zhang2020 as paper
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.papers.zhang2020.runs import RANDOM_PAIRS, Runs, random_pairs_note, runs_of, vocabulary_differs
from biasgauge.scores import score
from biasgauge.vectors import Embedding

PARTS = {"table3": "pair_forms", "table4": "word_forms", "table5": "correspondence", "table6": "between_measures"}
WITH_FORMS, ALL_FORMS = "table4", "table4.words"
FEWEST = 10
"""Words below which a kappa is not shown."""
_BLOCK = 10_000
"""Random pairs of difference vectors that are computed at a time."""
_FORMS_CORRECTED = "corrected: real plurals (policemen), and a word counts by each form that it has"
_ZERO = "corrected: a score of exactly 0 has no direction; the paper counts it as male"
_LONGEST = "the code allows 19 letters where the text says 20, and letters of English alone; corrected follows the text"
_ITSELF = "the code holds each pair against itself too (cosine 1, κ 1), which the text denies; corrected does not"


def _measure(row: Any) -> str:  # noqa: ANN401 - any row with a measure
    """The measure of a row under the name that the paper has for it."""
    name: str = row.measure
    return name.removesuffix("_zhang2020")


def fill_table_1(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Mean and standard deviation of the scores of all frequent words."""
    runs = runs_of(data, seed, progress)
    words, pool = len(robustness.limited(runs.vectors, as_published=True)), runs.published.settings["pool_words"]
    ours, our_pool = len(robustness.limited(runs.vectors)), runs.corrected.settings["pool_words"]
    pairs = runs.published.reference[0].pairs
    rows: Recomputations = {}
    for measure in paper.MEASURES:
        theirs, corrected = (_reference(runs, measure, rule=rule) for rule in (True, False))
        reasons = []
        if theirs.words != paper.LIMITED:
            lengths = ", those whose vectors have kept their length" if measure == "ripa" else ""
            reasons.append(f"{theirs.words:,} other words, not the paper's {paper.LIMITED:,}{lengths}")
        if theirs.pairs != len(paper.PAIRS):
            reasons.append(f"{theirs.pairs} of the ten pairs")
        differs = _with_pool(runs, {measure}, reasons)
        mean = Recomputed.of(theirs.mean, corrected.mean, "+ is female, as in the paper", differs)
        defined = mean.as_published is not None and mean.corrected is not None
        rows[f"table1.{measure}.mean"] = mean.times(-1) if defined else mean
        rows[f"table1.{measure}.sd"] = Recomputed.of(theirs.sd, corrected.sd, differs=differs)
    cut = "" if words == paper.LIMITED else f"the vectors are a part of GoogleNews, {len(runs.vectors):,} words"
    return rows | {
        "table1.words": Recomputed.of(words, ours, _LONGEST, cut),
        "table1.scores": Recomputed.of(words * pairs, ours * pairs, differs=cut),
        "table1.neutral": Recomputed.of(pool, our_pool, differs="" if pool == paper.NEUTRAL else cut),
    }


def _with_pool(runs: Runs, measures: set[str], reasons: list[str]) -> str:
    """In what the data behind a number differ from the paper's; for NBM, also the pool of neighbors."""
    return "; ".join(filter(None, [*reasons, runs.other_pool if "nbm" in measures else ""]))


def _results(runs: Runs, measure: str) -> dict[bool, robustness.RobustnessResult]:
    """The runs that a measure's sizes are taken from, by whether the rule is the paper's."""
    return runs.with_lengths if measure == "ripa" else {True: runs.published, False: runs.corrected}


def _reference(runs: Runs, measure: str, *, rule: bool) -> robustness.Reference:
    return next(row for row in _results(runs, measure)[rule].reference if _measure(row) == measure)


def _base_pairs(result: robustness.RobustnessResult, measure: str) -> robustness.BasePairs:
    return next(row for row in result.base_pairs if _measure(row) == measure)


def fill_table_2(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Agreement over pairs and magnitude of changes."""
    runs = runs_of(data, seed, progress)
    rows: Recomputations = {}
    for measure in paper.MEASURES:
        theirs, ours = (_base_pairs(result, measure) for result in (runs.published, runs.corrected))
        reasons = []
        if theirs.kappa.k != len(paper.PAIRS):
            reasons.append(f"{theirs.kappa.k} of the ten pairs: the vectors lack the ends of the others")
        if theirs.kappa.n != paper.PROFESSIONS:
            reasons.append(f"{theirs.kappa.n} of the {paper.PROFESSIONS} professions")
        differs = _with_pool(runs, {measure}, reasons)
        rows[f"table2.{measure}.kappa"] = Recomputed.of(theirs.kappa, ours.kappa, differs=differs)
        shares = Recomputed.of(theirs.unanimous, ours.unanimous, differs=differs)
        rows[f"table2.{measure}.unanimous"] = shares.times(100)
        rows[f"table2.{measure}.magnitude"] = _magnitude(runs, measure, differs)
    return rows


def _magnitude(runs: Runs, measure: str, differs: str) -> Recomputed:
    """Share of changed words of Table 2, which prints one minus the share that its caption speaks of."""
    results = _results(runs, measure)
    theirs, ours = (_base_pairs(results[rule], measure).changed_by_one_sd for rule in (True, False))
    (low, high), printed = _bounds(runs.published, measure), paper.PRINTED[f"table2.{measure}.magnitude"]
    between = f"between {low:.2f} and {high:.2f}" if high > low else f"{low:.2f}"
    impossible = (
        f"; {printed:.2f} cannot be that share: with the paper's standard deviation it is {between}, whatever pairs "
        "that are not in the vectors do"
    )
    words = _reference(runs, measure, rule=True).words
    if words != paper.LIMITED:
        differs = "; ".join(filter(None, (differs, f"standard deviation of the scores of {words:,} words")))
    note = "the code returns one minus the share of relevant changes" + (impossible if high < printed else "")
    return Recomputed.of(None if theirs.value is None else 1 - theirs.value, ours, note, differs)


def _bounds(result: robustness.RobustnessResult, measure: str) -> tuple[float, float]:
    """Between which shares of relevant changes ten pairs can have, given those of the pairs that are there."""
    index = [name.removesuffix("_zhang2020") for name in result.scores.measures].index(measure)
    scores = result.scores.select(pair=result.pairs, word=result.words).values[index, :, :, 0].astype(np.float64)
    scored = scores[~np.isnan(scores).all(axis=1)]
    changes, every = len(scored) * (len(scored) - 1) // 2, len(result.pairs) * (len(result.pairs) - 1) // 2
    shares = robustness.change_shares(scored, paper.SD[measure])
    share = float(shares.mean()) * changes / every if len(shares) else 0.0
    return share, share + (every - changes) / every


class _KappaCell(NamedTuple):
    """Comparison on one base pair or on all in the mean; its fields joined by full stops are the id of its row."""

    table: str
    measure: str
    against: str
    pair: str


def _fill_kappas(table: str, data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Tables 3 to 6: Cohen's kappas of directions."""
    runs = runs_of(data, seed, progress)
    names = [name for name in paper.PRINTED if name.startswith(f"{table}.") and name != ALL_FORMS]
    rows = {name: _kappa_row(runs, _KappaCell(*name.split("."))) for name in names}
    if table == WITH_FORMS:
        complete = len(runs.published.forms[0].found)
        by_form = ", ".join(f"{len(form.found)} {form.name}" for form in runs.corrected.forms)
        differs = "" if complete == paper.WITH_ALL_FORMS else "the vectors lack forms that the whole of GoogleNews has"
        note = f"one form at a time, with real plurals: {by_form}"
        rows[ALL_FORMS] = Recomputed.of(complete, note=note, differs=differs)
    return rows


table_3, table_4, table_5, table_6 = (partial(_fill_kappas, table) for table in PARTS)


def _kappa_row(runs: Runs, cell: _KappaCell) -> Recomputed:
    theirs = _kappa(runs.each_form if cell.table == WITH_FORMS else (runs.published,), cell)
    ours = _kappa((runs.corrected,), cell)
    if theirs.value is None:
        return Recomputed(None, ours.value, ours.low, ours.high, theirs.reason or "")
    if theirs.n < FEWEST:
        return Recomputed(note=f"only {theirs.n} words have this form in the vectors: too few to say anything")
    note = _FORMS_CORRECTED if cell.table == WITH_FORMS else ""
    if not note and ours.value is not None and theirs.value != ours.value:
        note = _ZERO
    expected = paper.WITH_ALL_FORMS if cell.table == WITH_FORMS else paper.TRUTHS.get(cell.against, paper.PROFESSIONS)
    reasons = [_with_pool(runs, {cell.measure, cell.against}, [])]
    if theirs.n != expected:
        fewer = f"{theirs.n} of the paper's {expected} words"
        reasons.append(fewer if theirs.n < expected else f"{theirs.n} words for {expected}")
    if cell.pair == paper.MEAN and theirs.k != len(paper.PAIRS):
        reasons.append(f"mean over {theirs.k} pairs: the vectors lack the others")
    return Recomputed.of(theirs, ours, note, "; ".join(filter(None, reasons)))


def _kappa(results: Sequence[robustness.RobustnessResult], cell: _KappaCell) -> Estimate:
    """Kappa of one cell; the runs together hold every form."""
    attribute = PARTS[cell.table]
    for result in results:
        means: Sequence[Any] = [row for row in result.means if row.part == attribute]
        for row in means if cell.pair == paper.MEAN else getattr(result, attribute):
            pair = paper.MEAN if cell.pair == paper.MEAN else pair_name(row.pair)
            if (_measure(row), row.against.removesuffix("_zhang2020"), pair) == cell[1:]:
                kappa: Estimate = row.kappa
                return kappa
    raise KeyError(".".join(cell))


def fill_figure_2(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Likeness of difference vectors and agreement of the pairs, under DB/WA."""
    runs = runs_of(data, seed, progress)
    theirs, ours = (
        {pair_name(row.pair): row for row in run.similarity if row.measure == "dbwa" and row.pair is not None}
        for run in (runs.published, runs.corrected)
    )
    defined = sum(row.r.value is not None for row in theirs.values())
    differs = "" if defined == len(paper.PAIRS) else f"over {defined} of the ten pairs: the vectors lack the others"
    rows = {}
    for pair in paper.PAIRS:
        note = _ITSELF if theirs[pair].r.value is not None else "an end of the pair is not in the vocabulary"
        rows[f"figure2.{pair}"] = Recomputed.of(theirs[pair].r, ours[pair].r, note, differs)
    largest, corrected = (
        max((p for row in run.values() if (p := row.p) is not None), default=None) for run in (theirs, ours)
    )
    cosines = _random_differences(runs.vectors, seed)
    note, drawn_from = random_pairs_note(runs.vectors, len(cosines)), vocabulary_differs(runs.vectors)
    return rows | {
        "figure2.largest_p": Recomputed.of(largest, corrected, _ITSELF, differs),
        "figure2.mean_cosine": Recomputed.of(runs.published.mean_cosine, runs.corrected.mean_cosine, _ITSELF, differs),
        "figure2.random_mean": Recomputed.of(float(cosines.mean()), None, note, drawn_from),
        "figure2.random_sd": Recomputed.of(float(cosines.std()), None, note, drawn_from),
    }


def _random_differences(vectors: Embedding, seed: int) -> Floats:
    """Cosines of two difference vectors, each of two random words, of vectors as they are."""
    random = np.random.default_rng(seed)
    cosines = []
    for _ in range(RANDOM_PAIRS // _BLOCK):
        rows = vectors.vectors[random.integers(0, len(vectors), (4, _BLOCK))].astype(np.float64)
        first, second = rows[0] - rows[1], rows[2] - rows[3]
        lengths = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
        cosines.append((first * second).sum(axis=1)[lengths > 0] / lengths[lengths > 0])
    return np.concatenate(cosines)


def fill_text(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """The words that the text takes as examples."""
    runs = runs_of(data, seed, progress)
    pairs, words = [("he", "she"), ("man", "woman")], ["surgeon", "surgeons"]
    scored = score(runs.vectors, pairs=pairs, words=words, measures=["ripa", "dbwa"])
    ripa, dbwa = -scored.values[..., 0].astype(np.float64)
    rows = {
        "text.surgeon.ripa.she_he": _word_row(ripa[0, 0], ripa[0, 0]),
        "text.surgeon.ripa.woman_man": _word_row(ripa[1, 0], ripa[1, 0]),
        "text.surgeon.dbwa": _word_row(dbwa[0, 0], dbwa[0, 0]),
        "text.surgeons.dbwa": _word_row(dbwa[0, 1], dbwa[0, 1]),
    }
    for word in ("bull", "compassionate", "compassionately"):
        theirs, ours = (
            -run.scores.select(measure=[run.scores.measures[-1]], pair=pairs[1:], word=[word]).values.item()
            for run in (runs.published, runs.corrected)
        )
        rows[f"text.{word}.nbm"] = _word_row(theirs, ours, runs.other_pool)
    (changed,) = runs.royal.pairwise
    flipped, total = len(changed.flipped), changed.kappa.n
    if total == 0:
        return rows
    differs = "" if total == paper.PROFESSIONS else f"{total} of the {paper.PROFESSIONS} professions"
    return rows | {
        "text.flipped": Recomputed.of(flipped, flipped, differs=differs),
        "text.flipped_percent": Recomputed.of(100 * flipped / total, 100 * flipped / total, differs=differs),
    }


def _word_row(theirs: float, ours: float, differs: str = "") -> Recomputed:
    """Score of a word by the paper's rule and by ours."""
    if np.isnan(theirs):
        return Recomputed(note="the word, or an end of the pair, is not in the vectors")
    return Recomputed.of(float(theirs), None if np.isnan(ours) else float(ours), differs=differs)

"""Tables 1 and 2, Figure 2 and the examples in the text of Zhang et al. 2020."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from biasgauge.analyses.reliability import pair_name
from biasgauge.analyses.robustness import change_shares, difference_cosines, limited, mean_cosine
from biasgauge.papers.row import Recomputed
from biasgauge.papers.zhang2020.kappas import named
from biasgauge.papers.zhang2020.lists import LIMITED, MEASURES, NEUTRAL, PAIRS, PRINTED, PROFESSIONS, SD
from biasgauge.papers.zhang2020.runs import Runs, runs_of
from biasgauge.scores import score

if TYPE_CHECKING:
    from biasgauge.analyses.robustness import BasePairs, Reference, RobustnessResult
    from biasgauge.papers.paper import Data, Progress

_RANDOM_PAIRS = 448
"""So many random pairs have about 100,000 pairs of difference vectors among them."""


def fill_table_1(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Mean and standard deviation of the scores of all frequent words."""
    runs = runs_of(data, seed, progress)
    words, pool = len(limited(runs.vectors, as_published=True)), runs.published.settings["pool_words"]
    ours, our_pool = len(limited(runs.vectors)), runs.corrected.settings["pool_words"]
    pairs = runs.published.reference[0].pairs
    rows: dict[str, Recomputed] = {}
    for measure in MEASURES:
        theirs, corrected = (_reference(runs, measure, rule=rule) for rule in (True, False))
        differs = _differs(runs, measure, theirs)
        mean = Recomputed.of(theirs.mean, corrected.mean, "+ is female, as in the paper", differs)
        defined = mean.as_published is not None and mean.corrected is not None
        rows[f"table1.{measure}.mean"] = mean.times(-1) if defined else mean
        rows[f"table1.{measure}.sd"] = Recomputed.of(theirs.sd, corrected.sd, differs=differs)
    cut = "" if words == LIMITED else f"the vectors are a part of GoogleNews, {len(runs.vectors):,} words"
    longest = (
        "the code allows 19 letters where the text says 20, and letters of English alone; corrected follows the text"
    )
    return rows | {
        "table1.words": Recomputed.of(words, ours, longest, cut),
        "table1.scores": Recomputed.of(words * pairs, ours * pairs, differs=cut),
        "table1.neutral": Recomputed.of(pool, our_pool, differs="" if pool == NEUTRAL else cut),
    }


def _reference(runs: Runs, measure: str, *, rule: bool) -> Reference:
    result = _runs_of(runs, measure)[rule]
    return next(row for row in result.reference if named(row.measure) == measure)


def _runs_of(runs: Runs, measure: str) -> dict[bool, RobustnessResult]:
    """The runs that a measure's sizes are taken from, by whether the rule is the paper's."""
    return runs.with_lengths if measure == "ripa" else {True: runs.published, False: runs.corrected}


def _differs(runs: Runs, measure: str, reference: Reference) -> str:
    reasons = []
    if reference.words != LIMITED:
        lengths = ", those whose vectors have kept their length" if measure == "ripa" else ""
        reasons.append(f"{reference.words:,} other words, not the paper's {LIMITED:,}{lengths}")
    if reference.pairs != len(PAIRS):
        reasons.append(f"{reference.pairs} of the ten pairs")
    if measure == "nbm" and runs.other_pool:
        reasons.append(runs.other_pool)
    return "; ".join(reasons)


def fill_table_2(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Agreement over pairs and magnitude of changes."""
    runs = runs_of(data, seed, progress)
    rows: dict[str, Recomputed] = {}
    for measure in MEASURES:
        theirs, ours = (_base_pairs(result, measure) for result in (runs.published, runs.corrected))
        differs = _lost(runs, measure, theirs)
        rows[f"table2.{measure}.kappa"] = Recomputed.of(theirs.kappa, ours.kappa, differs=differs)
        shares = Recomputed.of(theirs.unanimous, ours.unanimous, differs=differs)
        rows[f"table2.{measure}.unanimous"] = shares.times(100)
        rows[f"table2.{measure}.magnitude"] = _magnitude(runs, measure, differs)
    return rows


def _magnitude(runs: Runs, measure: str, differs: str) -> Recomputed:
    """Share of changed words of Table 2, which prints one minus the share that its caption speaks of."""
    results = _runs_of(runs, measure)
    theirs, ours = (_base_pairs(results[rule], measure).changed_by_one_sd for rule in (True, False))
    (low, high), printed = _bounds(runs.published, measure), PRINTED[f"table2.{measure}.magnitude"]
    between = f"between {low:.2f} and {high:.2f}" if high > low else f"{low:.2f}"
    impossible = (
        f"; {printed:.2f} cannot be that share: with the paper's standard deviation it is {between}, whatever pairs "
        "that are not in the vectors do"
    )
    words = _reference(runs, measure, rule=True).words
    if words != LIMITED:
        differs = "; ".join(filter(None, (differs, f"standard deviation of the scores of {words:,} words")))
    note = "the code returns one minus the share of relevant changes" + (impossible if high < printed else "")
    return Recomputed.of(None if theirs.value is None else 1 - theirs.value, ours, note, differs)


def _bounds(result: RobustnessResult, measure: str) -> tuple[float, float]:
    """Between which shares of relevant changes ten pairs can have, given those of the pairs that are there."""
    index = [named(name) for name in result.scores.measures].index(measure)
    scores = result.scores.select(pair=result.pairs, word=result.words).values[index, :, :, 0].astype(np.float64)
    scored = scores[~np.isnan(scores).all(axis=1)]
    changes, every = len(scored) * (len(scored) - 1) // 2, len(result.pairs) * (len(result.pairs) - 1) // 2
    shares = change_shares(scored, SD[measure])
    share = float(shares.mean()) * changes / every if len(shares) else 0.0
    return share, share + (every - changes) / every


def _lost(runs: Runs, measure: str, agreement: BasePairs) -> str:
    reasons = []
    if agreement.kappa.k != len(PAIRS):
        reasons.append(f"{agreement.kappa.k} of the ten pairs: the vectors lack the ends of the others")
    if agreement.kappa.n != PROFESSIONS:
        reasons.append(f"{agreement.kappa.n} of the {PROFESSIONS} professions")
    if measure == "nbm" and runs.other_pool:
        reasons.append(runs.other_pool)
    return "; ".join(reasons)


def _base_pairs(result: RobustnessResult, measure: str) -> BasePairs:
    return next(row for row in result.base_pairs if named(row.measure) == measure)


def fill_figure_2(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Likeness of difference vectors and agreement of the pairs, under DB/WA."""
    runs = runs_of(data, seed, progress)
    theirs, ours = (
        {pair_name(row.pair): row for row in run.similarity if row.measure == "dbwa" and row.pair is not None}
        for run in (runs.published, runs.corrected)
    )
    defined = sum(row.r.value is not None for row in theirs.values())
    differs = "" if defined == len(PAIRS) else f"over {defined} of the ten pairs: the vectors lack the others"
    itself = "the code holds each pair against itself too (cosine 1, κ 1), which the text denies; corrected does not"
    rows = {
        f"figure2.{pair}": Recomputed.of(
            theirs[pair].r,
            ours[pair].r,
            itself if theirs[pair].r.value is not None else "an end of the pair is not in the vocabulary",
            differs,
        )
        for pair in PAIRS
    }
    largest, corrected = (
        max((p for row in run.values() if (p := row.p) is not None), default=None) for run in (theirs, ours)
    )
    random = np.random.default_rng(seed)
    words = limited(runs.vectors, as_published=True)
    drawn = random.choice(len(words), (min(_RANDOM_PAIRS, len(words) // 2), 2), replace=False)
    cosines = difference_cosines(runs.vectors, [(words[a], words[b]) for a, b in drawn.tolist()])
    apart = cosines[np.triu_indices(len(cosines), 1)]
    drawn_from = "" if len(words) == LIMITED else f"drawn from {len(words):,} words, not the paper's {LIMITED:,}"
    note = f"{len(drawn)} other random pairs, each with every other"
    return rows | {
        "figure2.largest_p": Recomputed.of(largest, corrected, itself, differs),
        "figure2.mean_cosine": Recomputed.of(runs.published.mean_cosine, runs.corrected.mean_cosine, itself, differs),
        "figure2.random_mean": Recomputed.of(mean_cosine(cosines, with_itself=False), None, note, drawn_from),
        "figure2.random_sd": Recomputed.of(float(apart.std()) if len(apart) else None, None, note, drawn_from),
    }


def fill_text(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """The words that the text takes as examples."""
    runs = runs_of(data, seed, progress)
    pairs, words = [("he", "she"), ("man", "woman")], ["surgeon", "surgeons"]
    scored = score(runs.vectors, pairs=pairs, words=words, measures=["ripa", "dbwa"])
    values = -scored.values[..., 0].astype(np.float64)
    rows = {
        "text.surgeon.ripa.she_he": _of_word(values[0, 0, 0]),
        "text.surgeon.ripa.woman_man": _of_word(values[0, 1, 0]),
        "text.surgeon.dbwa": _of_word(values[1, 0, 0]),
        "text.surgeons.dbwa": _of_word(values[1, 0, 1]),
    }
    for word in ("bull", "compassionate", "compassionately"):
        theirs, ours = (
            -run.scores.select(measure=[run.scores.measures[-1]], pair=pairs[1:], word=[word]).values.item()
            for run in (runs.published, runs.corrected)
        )
        rows[f"text.{word}.nbm"] = _of_word(theirs, ours, runs.other_pool)
    (changed,) = runs.royal.pairwise
    flipped, total = len(changed.flipped), changed.kappa.n
    if total == 0:
        return rows
    differs = "" if total == PROFESSIONS else f"{total} of the {PROFESSIONS} professions"
    return rows | {
        "text.flipped": Recomputed.of(flipped, flipped, differs=differs),
        "text.flipped_percent": Recomputed.of(100 * flipped / total, 100 * flipped / total, differs=differs),
    }


def _of_word(theirs: float, ours: float | None = None, differs: str = "") -> Recomputed:
    """A score by the paper's rule and by ours, which may be the same."""
    ours = theirs if ours is None else ours
    if np.isnan(theirs):
        return Recomputed(note="the word, or an end of the pair, is not in the vectors")
    return Recomputed.of(float(theirs), None if np.isnan(ours) else float(ours), differs=differs)

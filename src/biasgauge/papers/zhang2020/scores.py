"""Tables 1 and 2, Figure 2 and the examples in the text of Zhang et al. 2020."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.agreement.rows import pair_name
from biasgauge.papers.row import Recomputed, Row
from biasgauge.papers.zhang2020.kappas import named
from biasgauge.papers.zhang2020.runs import Runs, runs_of
from biasgauge.papers.zhang2020.tables import FIGURE_2, LIMITED, MEASURES, NEUTRAL, PAIRS, PROFESSIONS, SD, TABLE_2
from biasgauge.scores import score
from biasgauge.sensitivity import limited
from biasgauge.sensitivity.base_pairs import change_shares
from biasgauge.sensitivity.difference_vectors import difference_cosines, mean_cosine

if TYPE_CHECKING:
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress
    from biasgauge.sensitivity import BasePairs, Reference, RobustnessResult

_TURNED = "+ is female, as in the paper"
_RANDOM_PAIRS = 448
"""So many random pairs have about 100,000 pairs of difference vectors among them."""


def fill_table_1(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Mean and standard deviation of the scores of all frequent words."""
    runs = runs_of(data, seed, progress)
    words, pool = len(limited(runs.vectors, as_published=True)), runs.published.settings["pool_words"]
    ours, our_pool = len(limited(runs.vectors)), runs.corrected.settings["pool_words"]
    pairs = runs.published.reference[0].pairs
    found: dict[str, Recomputed] = {}
    for measure in MEASURES:
        theirs, corrected = (_reference(runs, measure, rule=rule) for rule in (True, False))
        differs = _differs(runs, measure, theirs)
        for name, one, other in (("mean", theirs.mean, corrected.mean), ("sd", theirs.sd, corrected.sd)):
            turned = name == "mean" and one.value is not None and other.value is not None
            values = [one.value, other.value, other.low, other.high]
            # The paper's sign is the other one, which also swaps the ends of the interval.
            values = (
                [None if x is None else -x for x in (values[0], values[1], values[3], values[2])] if turned else values
            )
            row = Recomputed.of(values[0], values[1], _TURNED if name == "mean" else "", differs)
            found[f"table1.{measure}.{name}"] = row._replace(low=values[2], high=values[3])
    cut = "" if words == LIMITED else f"the vectors are a part of GoogleNews, {len(runs.vectors):,} words"
    longest = (
        "the code allows 19 letters where the text says 20, and letters of English alone; corrected follows the text"
    )
    return found | {
        "table1.words": Recomputed.of(words, ours, longest, cut),
        "table1.scores": Recomputed.of(words * pairs, ours * pairs, differs=cut),
        "table1.neutral": Recomputed.of(pool, our_pool, differs="" if pool == NEUTRAL else cut),
    }


def _reference(runs: Runs, measure: str, *, rule: bool) -> Reference:
    result = runs.published if rule else runs.corrected
    result = runs.with_lengths[rule] if measure == "ripa" else result
    return next(one for one in result.reference if named(one.measure) == measure)


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
    found: dict[str, Recomputed] = {}
    for measure in MEASURES:
        theirs, ours = (_base_pairs(one, measure) for one in (runs.published, runs.corrected))
        differs = _lost(runs, measure, theirs)
        found[f"table2.{measure}.kappa"] = Recomputed.of(theirs.kappa, ours.kappa, differs=differs)
        shares = Recomputed.of(theirs.unanimous, ours.unanimous, differs=differs)
        theirs_in, ours_in, low, high = map(_percent, shares[:4])
        found[f"table2.{measure}.unanimous"] = Recomputed(theirs_in, ours_in, low, high, shares.note, shares.same_data)
        found[f"table2.{measure}.magnitude"] = _magnitude(runs, measure, differs)
    return found


def _magnitude(runs: Runs, measure: str, differs: str) -> Recomputed:
    """What the table prints is one minus the share that its caption speaks of."""
    results = runs.with_lengths if measure == "ripa" else {True: runs.published, False: runs.corrected}
    theirs, ours = (_base_pairs(results[rule], measure).changed_by_one_sd for rule in (True, False))
    (low, high), printed = _bounds(runs.published, measure), TABLE_2[measure][1]
    between = f"between {low:.2f} and {high:.2f}" if high > low else f"{low:.2f}"
    impossible = (
        f"; {printed:.2f} cannot be that share: with the paper's standard deviation it is {between}, whatever pairs "
        "that are not in the vectors do"
    )
    words = _reference(runs, measure, rule=True).words
    if words != LIMITED:
        differs = "; ".join(text for text in (differs, f"standard deviation of the scores of {words:,} words") if text)
    note = "the code returns one minus the share of relevant changes" + (impossible if high < printed else "")
    return Recomputed.of(None if theirs.value is None else 1 - theirs.value, ours, note, differs)


def _bounds(result: RobustnessResult, measure: str) -> tuple[float, float]:
    """Between which shares of relevant changes ten pairs can have, given those of the pairs that are there."""
    place = [named(one) for one in result.scores.measures].index(measure)
    scores = result.scores.select(pair=result.pairs, word=result.words).values[place, :, :, 0].astype(np.float64)
    there = scores[~np.isnan(scores).all(axis=1)]
    changes, every = len(there) * (len(there) - 1) // 2, len(result.pairs) * (len(result.pairs) - 1) // 2
    shares = change_shares(there, SD[measure])
    known = float(shares.mean()) * changes / every if len(shares) else 0.0
    return known, known + (every - changes) / every


def _lost(runs: Runs, measure: str, one: BasePairs) -> str:
    reasons = []
    if one.kappa.k != len(PAIRS):
        reasons.append(f"{one.kappa.k} of the ten pairs: the vectors lack the ends of the others")
    if one.kappa.n != PROFESSIONS:
        reasons.append(f"{one.kappa.n} of the {PROFESSIONS} professions")
    if measure == "nbm" and runs.other_pool:
        reasons.append(runs.other_pool)
    return "; ".join(reasons)


def _base_pairs(result: RobustnessResult, measure: str) -> BasePairs:
    return next(one for one in result.base_pairs if named(one.measure) == measure)


def _percent(share: Any) -> float | None:  # noqa: ANN401 - a share, or None
    return None if share is None else 100 * share


def fill_figure_2(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Likeness of difference vectors and agreement of the pairs, under DB/WA."""
    runs = runs_of(data, seed, progress)
    theirs, ours = (
        {pair_name(one.pair): one for one in run.similarity if one.measure == "dbwa" and one.pair is not None}
        for run in (runs.published, runs.corrected)
    )
    there = sum(one.r.value is not None for one in theirs.values())
    differs = "" if there == len(PAIRS) else f"over {there} of the ten pairs: the vectors lack the others"
    itself = "the code holds each pair against itself too (cosine 1, κ 1), which the text denies; corrected does not"
    found = {
        f"figure2.{pair}": Recomputed.of(
            theirs[pair].r,
            ours[pair].r,
            itself if theirs[pair].r.value is not None else "an end of the pair is not in the vocabulary",
            differs,
        )
        for pair in FIGURE_2
    }
    largest = [max((p for one in run.values() if (p := one.p) is not None), default=None) for run in (theirs, ours)]
    random = np.random.default_rng(seed)
    words = limited(runs.vectors, as_published=True)
    drawn = random.choice(len(words), (min(_RANDOM_PAIRS, len(words) // 2), 2), replace=False)
    cosines = difference_cosines(runs.vectors, [(words[a], words[b]) for a, b in drawn.tolist()])
    apart = cosines[np.triu_indices(len(cosines), 1)]
    drawn_from = "" if len(words) == LIMITED else f"drawn from {len(words):,} words, not the paper's {LIMITED:,}"
    other = f"{len(drawn)} other random pairs, each with every other"
    return found | {
        "figure2.largest_p": Recomputed.of(largest[0], largest[1], itself, differs),
        "figure2.mean_cosine": Recomputed.of(runs.published.mean_cosine, runs.corrected.mean_cosine, itself, differs),
        "figure2.random_mean": Recomputed.of(mean_cosine(cosines, with_itself=False), None, other, drawn_from),
        "figure2.random_sd": Recomputed.of(float(apart.std()) if len(apart) else None, None, other, drawn_from),
    }


_DIGITS = "§6; digits of the notebook"
TEXT = (
    Row("text.surgeon.ripa.she_he", "RIPA of surgeon, (she, he); + is female", _DIGITS, -0.1716, tolerance=0.00005),
    Row("text.surgeon.ripa.woman_man", "RIPA of surgeon, (woman, man)", _DIGITS, 0.2694, tolerance=0.00005),
    Row("text.surgeon.dbwa", "DB/WA of surgeon, (she, he)", _DIGITS, -0.0816, tolerance=0.00005),
    Row("text.surgeons.dbwa", "DB/WA of surgeons, (she, he)", _DIGITS, 0.0104, tolerance=0.00005),
    Row("text.bull.nbm", "NBM of bull, (woman, man)", _DIGITS, 0.14, tolerance=0.005),
    Row("text.compassionate.nbm", "NBM of compassionate, (woman, man)", _DIGITS, -0.16, tolerance=0.005),
    Row("text.compassionately.nbm", "NBM of compassionately, (woman, man)", _DIGITS, 0.18, tolerance=0.005),
    Row("text.flipped", "professions whose RIPA direction (queen, king) for (woman, man) turns", "§7", 91, tolerance=0),
    Row("text.flipped_percent", "the same in %", "§7", 28, tolerance=0.5),
)


def fill_text(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """The words that the text takes as examples."""
    runs = runs_of(data, seed, progress)
    pairs, words = [("he", "she"), ("man", "woman")], ["surgeon", "surgeons"]
    scored = score(runs.vectors, pairs=pairs, words=words, measures=["ripa", "dbwa"])
    values = -scored.values[..., 0].astype(np.float64)
    plain = {
        "text.surgeon.ripa.she_he": values[0, 0, 0],
        "text.surgeon.ripa.woman_man": values[0, 1, 0],
        "text.surgeon.dbwa": values[1, 0, 0],
        "text.surgeons.dbwa": values[1, 0, 1],
    }
    found = {name: _of_word(float(value), float(value)) for name, value in plain.items()}
    for word in ("bull", "compassionate", "compassionately"):
        both = [
            float(-run.scores.select(measure=[run.scores.measures[-1]], pair=pairs[1:], word=[word]).values.item())
            for run in (runs.published, runs.corrected)
        ]
        found[f"text.{word}.nbm"] = _of_word(both[0], both[1], runs.other_pool)
    (changed,) = runs.royal.pairwise
    flipped, there = len(changed.flipped), changed.kappa.n
    if there == 0:
        return found
    some = "" if there == PROFESSIONS else f"{there} of the {PROFESSIONS} professions"
    return found | {
        "text.flipped": Recomputed.of(flipped, flipped, differs=some),
        "text.flipped_percent": Recomputed.of(100 * flipped / there, 100 * flipped / there, differs=some),
    }


def _of_word(theirs: float, ours: float, differs: str = "") -> Recomputed:
    if np.isnan(theirs):
        return Recomputed(note="the word, or an end of the pair, is not in the vectors")
    return Recomputed.of(theirs, None if np.isnan(ours) else ours, differs=differs)

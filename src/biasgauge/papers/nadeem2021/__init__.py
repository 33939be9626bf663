"""Nadeem, Bethke & Reddy 2021: StereoSet from the authors' own scores of its sentences; sums of printed numbers."""

from __future__ import annotations

from biasgauge.analyses.likelihood import SplitScores, StereoSetResult, StereoSetScores, stereoset
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.papers.published import printed_numbers

PRINTED = printed_numbers(__name__)
MODELS = tuple(name.partition(".")[0] for name in PRINTED if name.endswith(".overall.all.icat"))
"""As their predictions are called here."""
BY_DEFINITION = {"ideal": (100.0, 50.0), "stereotyped": (100.0, 100.0), "random": (50.0, 50.0)}
"""lms and ss of the models that the paper defines."""
_TIES = (
    "as published: of two equal scores the stereotype, or the meaningful sentence, counts as not preferred; corrected: "
    "such comparisons are left out; interval over targets"
)
_THRICE = "as published: a cluster is counted once for each of its three sentences; corrected: once"


def printed(data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Numbers that the authors' evaluation printed, for every model whose scores are in the data."""
    rows: Recomputations = {}
    for model in MODELS:
        if data.find(f"predictions_{model}") is None:
            continue
        files = data.path("stereoset"), data.path(f"predictions_{model}")
        theirs, ours = stereoset(*files, ties="published"), stereoset(*files, ties="undefined")
        for name in (row for row in PRINTED if row.startswith(f"{model}.")):
            _, split, domain, number = name.split(".")
            sets = [_domain(result, split, domain) for result in (theirs, ours)]
            if number == "count":
                thrice = domain != "all"
                count = sets[0].clusters
                rows[name] = Recomputed(3 * count if thrice else count, count, note=_THRICE if thrice else "")
            else:
                rows[name] = Recomputed.of(getattr(sets[0], number), getattr(sets[1], number), _TIES)
    return rows


def _domain(result: StereoSetResult, split: str, domain: str) -> StereoSetScores:
    scores: SplitScores = getattr(result, split)
    return scores if domain == "all" else next(row for row in scores.domains if row.domain == domain)


def sums(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """The icat that follows from the printed lms and ss."""
    printed = {model: (PRINTED[f"{model}.overall.all.lms"], PRINTED[f"{model}.overall.all.ss"]) for model in MODELS}
    return {
        f"sums.{name}.icat": Recomputed(lms * min(ss, 100 - ss) / 50)
        for name, (lms, ss) in (printed | BY_DEFINITION).items()
    }

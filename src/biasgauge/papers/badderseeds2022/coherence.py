"""Table A.2 and Figure 4 of Badder Seeds: coherence, similarity and explained variance of pairs of seed sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.analyses.seeds import generated_cloud, seeds
from biasgauge.core import WordPolicy
from biasgauge.papers.badderseeds2022.published import APPENDIX, CORPORA, NOT_RELEASED, models_of
from biasgauge.papers.row import Recomputed
from biasgauge.vectors import mean_embedding

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.analyses.seeds import SeedsResult
    from biasgauge.papers.paper import Data, Progress

_SETS = 50
_LARGEST = (
    "as published: divided by the largest of the pairs in each model, so that one of them is 1 by construction; "
    "corrected: as a share of the vocabulary"
)
_DUPLICATES = "; duplicates deflate a set's mean rank as published"
_LEFT = "as published a pair counts only in models that have every seed; corrected: at least 80 % of each set"
_NOUNS = (
    "; a noun is a word that Brown most often has as a noun, where the paper took any word ever tagged so (hence its "
    "verbs and names)"
)

_RANKED = {"second": 1, "fourth_last": -4, "third_last": -3}
_GENERATED = {"1": 0, "2": 1, "3": 2, "-3": -3, "-2": -2, "-1": -1}
"""Places of the pairs that the table names, from the most coherent one on."""


def fill(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Table A.2."""
    result, differs = _measured(data, "nyt", seed, progress)
    differs = differs or NOT_RELEASED
    rows: dict[str, Recomputed] = {}
    cards = {(card.a, card.b): card for card in result}
    for name, (a, b) in APPENDIX["gathered"].items():
        theirs, ours = cards[a, b].coherence_published, cards[a, b].coherence
        note = _LARGEST + _DUPLICATES if theirs.value is not None else theirs.reason or ""
        rows[f"tableA2.{name}"] = Recomputed.of(theirs, ours, note, differs)
    theirs_sorted, ours_sorted = _sorted(result.to_frame())
    for name, rank in _RANKED.items():
        if min(len(theirs_sorted), len(ours_sorted)) >= abs(rank) + 1:
            rows[f"tableA2.{name}"] = Recomputed.of(theirs_sorted[rank], ours_sorted[rank], _LARGEST, differs)
    rows["tableA2.pairs.gathered"] = Recomputed.of(len(theirs_sorted), len(ours_sorted), _LEFT, differs)
    if result.cloud is None:
        return rows
    theirs_sorted, ours_sorted = _sorted(result.cloud.to_frame())
    rows["tableA2.pairs.generated"] = Recomputed.of(len(theirs_sorted), len(ours_sorted), _LEFT + _NOUNS, differs)
    if min(len(theirs_sorted), len(ours_sorted)) >= len(_GENERATED):
        for name, rank in _GENERATED.items():
            both = theirs_sorted[rank], ours_sorted[rank]
            rows[f"tableA2.generated.{name}"] = Recomputed.of(*both, _LARGEST + _NOUNS, differs)
    return rows


def _sorted(pairs: pd.DataFrame) -> tuple[list[float], list[float]]:
    """Coherences as published and corrected, the largest first."""
    published, corrected = (
        pairs[name].dropna().sort_values(ascending=False).tolist() for name in ("coherence_published", "coherence")
    )
    return published, corrected


_CORRELATED = "Spearman's correlation over pairs of sets; pairs share sets, so that its interval is too narrow"
_AVERAGED = (
    f"{_CORRELATED}; as published: vectors averaged over models that were never aligned, and sets of 25 words; "
    "corrected: in each model, sets of 5, which is another quantity and not the same one put right"
)
_LONG = 25
"""Words in a generated set of Figure 4."""


def fill_figure_4(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Correlation of similarity with explained variance and with coherence, in each corpus."""
    rows: dict[str, Recomputed] = {}
    for corpus in CORPORA:
        if data.find(f"{corpus}_min10") is None and corpus != "nyt":
            continue  # the models that ship stand in for one corpus, not for four
        result, differs = _measured(data, corpus, seed, progress)
        ours = {(relation.of, relation.y): relation for relation in result.relations if relation.x == "similarity"}
        if relation := ours.get(("gathered", "coherence")):
            rows[f"figure4.{corpus}.coherence"] = Recomputed.of(relation, relation, _CORRELATED, differs)
        if relation := ours.get(("generated", "first_share")):
            theirs = _averaged(data, corpus, seed)
            rows[f"figure4.{corpus}.explained"] = Recomputed.of(theirs, relation, _AVERAGED, differs)
    return rows


def _averaged(data: Data, corpus: str, seed: int) -> float | None:
    """Similarity and explained variance of generated sets in vectors averaged as published."""
    models, _ = models_of(data, f"{corpus}_min10")
    mean = mean_embedding(models, aligned=False) if len(models) > 1 else models[0]
    cloud = generated_cloud(mean, sets=_SETS, size=_LONG, random_state=seed)
    return next((relation.value for relation in cloud.relations if relation.y == "first_share"), None)


def _measured(data: Data, corpus: str, seed: int, progress: Progress | None) -> tuple[SeedsResult, str]:
    """All pairs of sets, gathered and generated, on the models of one corpus; once for all parts."""
    models, differs = models_of(data, f"{corpus}_min10")
    settings: dict[str, Any] = {"pairs": "all", "filter": "published", "shuffles": 0, "leave_one_out": False}
    settings |= {"generated": _SETS, "policy": WordPolicy(case="exact"), "random_state": seed, "progress": progress}
    return data.once(("seeds", corpus, seed), lambda: seeds(models, **settings)), differs

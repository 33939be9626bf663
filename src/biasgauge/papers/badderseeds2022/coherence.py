"""Table A.2 and Figure 4 of Badder Seeds: coherence, similarity and explained variance of pairs of seed sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from biasgauge.embeddings import mean_embedding
from biasgauge.papers.badderseeds2022.models import NOT_RELEASED, models_named, models_of
from biasgauge.papers.badderseeds2022.tables import CORPORA, GATHERED, GENERATED, PAIRS_LEFT, TRENDS
from biasgauge.papers.row import Recomputed, Row
from biasgauge.seed_words import generated_cloud, seeds

if TYPE_CHECKING:
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress
    from biasgauge.seed_words import SeedsResult
    from biasgauge.seed_words.relations import Relation

MIN_COUNT = 10
NYT = models_named("nyt", MIN_COUNT)
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

ROWS = (
    *(
        Row(f"tableA2.{name}", f"coherence of {a} and {b}", "Table A.2", coherence, note=NOT_RELEASED, needs=NYT)
        for name, (a, b, coherence) in GATHERED.items()
    ),
    Row("tableA2.second", "coherence of the second most coherent pair of gathered sets", "notebook of Table A.2", 0.999,
        note=NOT_RELEASED, needs=NYT),
    Row("tableA2.fourth_last", "coherence of the fourth least coherent pair", "notebook of Table A.2", 0.100,
        note=NOT_RELEASED, needs=NYT),
    Row("tableA2.third_last", "coherence of the third least coherent pair", "notebook of Table A.2", 0.093,
        note=NOT_RELEASED, needs=NYT),
    *(
        Row(f"tableA2.generated.{place}", f"coherence of pair {place} of generated sets; −1 is the least", "Table A.2",
            coherence, note=NOT_RELEASED, needs=NYT)
        for place, coherence in GENERATED.items()
    ),
    *(
        Row(f"tableA2.pairs.{kind}", f"pairs of {kind} sets that have a coherence, of {every:,}",
            "notebook of Table A.2", left, note=NOT_RELEASED, needs=NYT)
        for kind, (left, every) in PAIRS_LEFT.items()
    ),
)  # fmt: skip

_RANKED = {"second": 1, "fourth_last": -4, "third_last": -3}


def fill(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """Table A.2."""
    result, differs = _measured(data, "nyt", seed, progress)
    differs = differs or NOT_RELEASED
    found: dict[str, Recomputed] = {}
    cards = {(card.a, card.b): card for card in result}
    for name, (a, b, _) in GATHERED.items():
        card = cards[a, b]
        theirs, ours = card.coherence_published, card.coherence
        note = _LARGEST + _DUPLICATES if theirs.value is not None else theirs.reason or ""
        found[f"tableA2.{name}"] = Recomputed.of(theirs, ours, note, differs)
    gathered = result.to_frame()
    theirs_sorted = gathered["coherence_published"].dropna().sort_values(ascending=False).tolist()
    ours_sorted = gathered["coherence"].dropna().sort_values(ascending=False).tolist()
    for name, place in _RANKED.items():
        if len(theirs_sorted) >= abs(place) + 1 and len(ours_sorted) >= abs(place) + 1:
            found[f"tableA2.{name}"] = Recomputed.of(theirs_sorted[place], ours_sorted[place], _LARGEST, differs)
    found["tableA2.pairs.gathered"] = Recomputed.of(len(theirs_sorted), len(ours_sorted), _LEFT, differs)
    return found | _generated(result, differs)


def _generated(result: SeedsResult, differs: str) -> dict[str, Recomputed]:
    if result.cloud is None:
        return {}
    frame = result.cloud.to_frame()
    columns = [
        frame[name].dropna().sort_values(ascending=False).tolist() for name in ("coherence_published", "coherence")
    ]
    left = Recomputed.of(len(columns[0]), len(columns[1]), _LEFT + _NOUNS, differs)
    found = {"tableA2.pairs.generated": left}
    for name in GENERATED:
        place = int(name) - 1 if int(name) > 0 else int(name)
        if min(map(len, columns)) >= len(GENERATED):
            both = columns[0][place], columns[1][place]
            found[f"tableA2.generated.{name}"] = Recomputed.of(*both, _LARGEST + _NOUNS, differs)
    return found


FIGURE_4 = (
    *(
        Row(f"figure4.{corpus}.explained", f"explained variance against similarity, generated sets, {CORPORA[corpus]}",
            "§4.1 and §4.3", trend, between=(-1.0, 0.0) if trend == "negative" else None,
            needs=models_named(corpus, MIN_COUNT))
        for corpus, trend in TRENDS.items()
    ),
    *(
        Row(f"figure4.{corpus}.coherence", f"coherence against similarity, gathered sets, {CORPORA[corpus]}", "§4.3",
            "inverse", between=(-1.0, 0.0), needs=models_named(corpus, MIN_COUNT))
        for corpus in CORPORA
    ),
)  # fmt: skip
_CORRELATED = "Spearman's correlation over pairs of sets; pairs share sets, so that its interval is too narrow"
_AVERAGED = (
    f"{_CORRELATED}; as published: vectors averaged over models that were never aligned, and sets of 25 words; "
    "corrected: in each model, sets of 5, which is another quantity and not the same one put right"
)
_LONG = 25
"""Words in a generated set of Figure 4."""


def fill_figure_4(data: Data, seed: int, progress: Progress | None) -> dict[str, Recomputed]:
    """How similarity goes with explained variance and with coherence, in each corpus."""
    found: dict[str, Recomputed] = {}
    for corpus in CORPORA:
        if data.find(models_named(corpus, MIN_COUNT)) is None and corpus != "nyt":
            continue  # the models that ship stand in for one corpus, not for four
        result, differs = _measured(data, corpus, seed, progress)
        ours = {(one.of, one.y): one for one in result.relations if one.x == "similarity"}
        if one := ours.get(("gathered", "coherence")):
            found[f"figure4.{corpus}.coherence"] = _trend(one.value, one, differs, _CORRELATED)
        if one := ours.get(("generated", "first_share")):
            theirs = _averaged(data, corpus, seed)
            found[f"figure4.{corpus}.explained"] = _trend(theirs, one, differs, _AVERAGED)
    return found


def _trend(theirs: float | None, ours: Relation, differs: str, note: str) -> Recomputed:
    return Recomputed.of(theirs, ours.value, note, differs)._replace(low=ours.low, high=ours.high)


def _averaged(data: Data, corpus: str, seed: int) -> float | None:
    """Similarity and explained variance of generated sets in vectors averaged as published."""
    models, _ = models_of(data, models_named(corpus, MIN_COUNT))
    mean = mean_embedding(models, aligned=False) if len(models) > 1 else models[0]
    cloud = generated_cloud(mean, sets=_SETS, size=_LONG, random_state=seed)
    return next((one.value for one in cloud.relations if one.y == "first_share"), None)


def _measured(data: Data, corpus: str, seed: int, progress: Progress | None) -> tuple[SeedsResult, str]:
    """All pairs of sets, gathered and generated, on the models of one corpus; once for all parts."""
    models, differs = models_of(data, models_named(corpus, MIN_COUNT))
    asked: dict[str, Any] = {"pairs": "all", "filter": "published", "shuffles": 0, "leave_one_out": False}
    asked |= {"generated": _SETS, "random_state": seed, "progress": progress}
    return data.once(("seeds", corpus, seed), lambda: seeds(models, **asked)), differs

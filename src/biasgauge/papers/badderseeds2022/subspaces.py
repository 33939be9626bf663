"""Figures 2 to 4 and A.2 and Table A.2 of Badder Seeds: explained variance, the choice of the list, coherence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.analyses.seeds import SeedsResult, bias_subspace, generated_cloud, seed_choice, seeds
from biasgauge.core import Estimate, WordPolicy, cosine
from biasgauge.lexicons import seed_bank
from biasgauge.papers.badderseeds2022 import APPENDIX, CORPORA, PRINTED
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.stats import mean_over_models
from biasgauge.vectors import Embedding, load_default_replicates, load_models, mean_embedding

if TYPE_CHECKING:
    import pandas as pd

SHIPPED = 3
"""How many of the replicates that ship are used: enough for an interval, few enough to be quick."""
OTHER_MODELS = (
    f"{SHIPPED} models that ship with biasgauge instead: English Wikipedia, skip-gram, 64 dimensions, 25,000 words"
)
OWN_MODELS = "on models of your own, which need not agree with the authors' to the digit"
RELEASED_FILES = "vectors_sample*.kv"
"""Names of the authors' models."""
UNPLEASANT = "unpleasantness-Caliskan_et_al_2017"
LETTERS = tuple("unpleasantness")
"""What Figure 3 was measured against: a string where the code expects a list of words."""
_SHUFFLES = 200
_SETS, _LONG = 50, 25
"""Generated sets, and words in a generated set of Figure 4."""
_RANKED = {"second": 1, "fourth_last": -4, "third_last": -3}
_GENERATED = {"1": 0, "2": 1, "3": 2, "-3": -3, "-2": -2, "-1": -1}
"""Places of the pairs that Table A.2 names, from the most coherent one on."""
_SHUFFLED = f"as published: the one printed order; corrected: mean of {_SHUFFLES} shuffles and where 95 % of them lie"
_LETTERED = (
    "as published: a string is passed where a list of words is expected, so that the reference is the mean vector of "
    "the letters u, n, p, l, e, a, s, …; corrected: the unpleasant words of Caliskan et al."
)
_BOXES = "as published: of all cosines that are printed for the list; corrected: a word that the list has twice once"
_MIRRORED = (
    "values are reversed and words are not, so that each word stands beside the cosine of its mirror word; corrected: "
    "what the figure prints for that one, which is this word's own"
)
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
_DRAWN_ANEW = "generated sets are drawn anew, of words that Brown has as nouns"
_CORRELATED = "Spearman's correlation over pairs of sets; pairs share sets, so that its interval is too narrow"
_AVERAGED = (
    f"{_CORRELATED}; as published: vectors averaged over models that were never aligned, and sets of 25 words; "
    "corrected: in each model, sets of 5, which is another quantity and not the same one put right"
)


def models_of(data: Data, name: str) -> tuple[list[Embedding], str]:
    """Models of a need, and in what they differ from the paper's; those that ship where there are none.

    The authors' own go before others.
    """
    if paths := data.find_all(name):
        theirs = [path for path in paths if path.match(RELEASED_FILES)]
        differs = "" if theirs else OWN_MODELS
        return data.once(("models", name), lambda: load_models(theirs or list(paths))), differs
    return data.once("shipped models", lambda: load_default_replicates()[:SHIPPED]), OTHER_MODELS


def _unaligned_mean(models: list[Embedding]) -> Embedding:
    """Vectors averaged over models that were never aligned, as published."""
    return mean_embedding(models, aligned=False) if len(models) > 1 else models[0]


def fill_figure_2(data: Data, seed: int, _progress: Progress | None) -> Recomputations:
    """Explained variance of pairs as listed, in the printed order and over many shuffles."""
    models, differs = models_of(data, "nyt_min0")
    sets = seed_bank("published").bank.sets
    rows = {}
    for name, shuffle in APPENDIX["shuffles"].items():
        settings: dict[str, Any] = {"leave_one_out": False, "policy": WordPolicy(0.5, "exact"), "random_state": seed}
        (listed,) = seeds(models, *(sets[seed_set] for seed_set in shuffle["sets"]), shuffles=_SHUFFLES, **settings)
        (once,) = seeds(models, *(order.split() for order in shuffle["orders"]), shuffles=0, **settings)
        share, pairing = listed.pairing.first, listed.pairing
        note = share.reason or f"{pairing.pairs} pairs are there"
        rows[f"figure2.{name}.as listed"] = Recomputed.of(share, share, note, differs)
        both = once.pairing.first, pairing.shuffled_first
        rows[f"figure2.{name}.shuffled"] = Recomputed.of(*both, _SHUFFLED, differs)
    return rows


def fill_figure_3(data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Female words and sets against unpleasant words, and against the letters that were averaged."""
    sets = seed_bank("published").bank.sets
    rows: Recomputations = {}
    for corpus, lists in APPENDIX["figure3"].items():
        for name, cosines in lists.items():  # the line in each box, from the cosines that the notebook prints
            medians = float(np.median(cosines)), float(np.median(list(dict.fromkeys(cosines))))
            rows[f"figure3.{corpus}.median.{name}"] = Recomputed(*medians, note=_BOXES)
        need = f"{corpus}_min0"
        if data.find(need) is None and corpus != "history":
            continue  # the models that ship stand in for one corpus, not for two
        models, differs = models_of(data, need)
        mean = _unaligned_mean(models)
        start = f"figure3.{corpus}."
        for row in [name for name in PRINTED if name.startswith(start)]:
            word = row.removeprefix(start)
            both = _cosine_with_letters(mean, [word]), _unpleasantness(models, word)
            rows[row] = Recomputed.of(*both, _LETTERED, differs)
        if corpus == "history":
            policy = WordPolicy(0.6, "exact")
            choice = seed_choice(models, list(lists), UNPLEASANT, filter="published", policy=policy)
            for seed_list in choice.lists:
                theirs = _cosine_with_letters(mean, sets[seed_list.set])
                rows[f"figure3.{seed_list.set}"] = Recomputed.of(theirs, seed_list, _LETTERED, differs)
    return rows


def _unpleasantness(models: Sequence[Embedding], word: str) -> Estimate | None:
    """Cosine of a word with the mean vector of the unpleasant words, mean over the models that have the word."""
    words = seed_bank("published").bank.sets[UNPLEASANT]
    cosines = [
        cosine(model[word].astype(np.float64), mean)
        for model in models
        if word in model and (mean := _mean_vector(model, words)) is not None
    ]
    return mean_over_models(np.array(cosines), 0.95, None, (-1.0, 1.0)) if cosines else None


def _cosine_with_letters(model: Embedding, words: Sequence[str]) -> float | None:
    """The published mistake: cosine with the mean vector of the letters of "unpleasantness", repeated ones too."""
    first, second = (_mean_vector(model, listed) for listed in (words, LETTERS))
    return None if first is None or second is None else cosine(first, second)


def _mean_vector(model: Embedding, words: Sequence[str]) -> Any:  # noqa: ANN401 - an array, or None
    """Mean vector of the words that a model has; None where it has none."""
    vectors = [model[word].astype(np.float64) for word in words if word in model]
    return np.mean(vectors, axis=0) if vectors else None


def _column(name: str) -> list[tuple[str, float | None]]:
    """Words and printed cosines from top to bottom; "" and None where they are illegible."""
    cells = (cell.rpartition(" ") for cell in APPENDIX["figureA2"][name].split("|"))
    return [(word, float(value) if value else None) for word, _, value in cells]


def fill_figure_a2(data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Give each word its own cosine from what is printed; with models of the user's, as the code averages them."""
    theirs, differs = _averaged_components(data)
    rows = {}
    for name in APPENDIX["figureA2"]:
        column = _column(name)
        for (word, _), (_, mirrored) in zip(column, reversed(column), strict=True):
            if word:
                note = _MIRRORED if mirrored is not None else f"{_MIRRORED}, but it is illegible in our copy"
                both = theirs.get((name, word)), mirrored
                rows[f"figureA2.{name}.{word}"] = Recomputed.of(*both, note, differs)
    return rows


def _averaged_components(data: Data) -> tuple[dict[tuple[str, str], float | None], str]:
    """Cosines along the second components, averaged over unaligned models as published; empty without the models.

    With them, in what they differ from the paper's.
    """
    models, differs = models_of(data, "nyt_min100")
    if differs == OTHER_MODELS:
        return {}, ""
    sets = seed_bank("published").bank.sets
    pairs = {"gender": [sets[seed_set] for seed_set in APPENDIX["shuffles"]["gender"]["sets"]]}
    pairs |= {name: [order.split() for order in orders] for name, orders in APPENDIX["figure1"].items()}
    cosines: dict[tuple[str, str], float | None] = {}
    for name, (a, b) in pairs.items():
        space = bias_subspace(models, a, b, component=2, aligned=False, policy=WordPolicy(case="exact"))
        words = [word for word, _ in _column(name) if word]
        cosines |= {(name, word): value for word, value in space.cosine_of(words).items()}
    return cosines, differs


def _seed_measures(data: Data, corpus: str, seed: int, progress: Progress | None) -> tuple[SeedsResult, str]:
    """All pairs of sets, gathered and generated, on the models of one corpus; once for all parts."""
    models, differs = models_of(data, f"{corpus}_min10")
    settings: dict[str, Any] = {"pairs": "all", "filter": "published", "shuffles": 0, "leave_one_out": False}
    settings |= {"generated": _SETS, "policy": WordPolicy(case="exact"), "random_state": seed, "progress": progress}
    return data.once(("seeds", corpus, seed), lambda: seeds(models, **settings)), differs


def fill_table_a2(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Coherence of pairs of seed sets."""
    result, differs = _seed_measures(data, "nyt", seed, progress)
    rows: Recomputations = {}
    cards = {(card.a, card.b): card for card in result}
    for name, (a, b) in APPENDIX["gathered"].items():
        theirs, ours = cards[a, b].coherence_published, cards[a, b].coherence
        note = _LARGEST + _DUPLICATES if theirs.value is not None else theirs.reason or ""
        rows[f"tableA2.{name}"] = Recomputed.of(theirs, ours, note, differs)
    gathered = _coherences(result.to_frame())
    for name, rank in _RANKED.items():
        if min(map(len, gathered)) >= abs(rank) + 1:
            both = gathered[0][rank], gathered[1][rank]
            rows[f"tableA2.{name}"] = Recomputed.of(*both, _LARGEST, differs)
    rows["tableA2.pairs.gathered"] = Recomputed.of(len(gathered[0]), len(gathered[1]), _LEFT, differs)
    if result.cloud is None:
        return rows
    generated = _coherences(result.cloud.to_frame())
    counts = len(generated[0]), len(generated[1])
    drawn = "; ".join(filter(None, (differs, _DRAWN_ANEW)))
    rows["tableA2.pairs.generated"] = Recomputed.of(*counts, _LEFT + _NOUNS, drawn)
    if min(counts) >= len(_GENERATED):
        for name, rank in _GENERATED.items():
            both = generated[0][rank], generated[1][rank]
            rows[f"tableA2.generated.{name}"] = Recomputed.of(*both, _LARGEST + _NOUNS, drawn)
    return rows


def _coherences(pairs: pd.DataFrame) -> list[list[float]]:
    """Coherences as published and corrected, the largest first."""
    names = ("coherence_published", "coherence")
    return [pairs[name].dropna().sort_values(ascending=False).tolist() for name in names]


def fill_figure_4(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Correlation of similarity with explained variance and with coherence, in each corpus."""
    rows: Recomputations = {}
    for corpus in CORPORA:
        if data.find(f"{corpus}_min10") is None and corpus != "nyt":
            continue  # the models that ship stand in for one corpus, not for four
        result, differs = _seed_measures(data, corpus, seed, progress)
        differs = (
            differs if differs == OTHER_MODELS else ""
        )  # a trend in words is a claim about models of your own, too
        ours = {(relation.of, relation.y): relation for relation in result.relations if relation.x == "similarity"}
        if relation := ours.get(("gathered", "coherence")):
            rows[f"figure4.{corpus}.coherence"] = Recomputed.of(relation, relation, _CORRELATED, differs)
        if relation := ours.get(("generated", "first_share")):
            mean = _unaligned_mean(models_of(data, f"{corpus}_min10")[0])
            cloud = generated_cloud(mean, sets=_SETS, size=_LONG, random_state=seed)
            theirs = next((relation.value for relation in cloud.relations if relation.y == "first_share"), None)
            rows[f"figure4.{corpus}.explained"] = Recomputed.of(theirs, relation, _AVERAGED, differs)
    return rows

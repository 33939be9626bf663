"""Figures 2, 3 and A.2 of Badder Seeds: explained variance, the choice of the list, words along a subspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.analyses.seeds import bias_subspace, seed_choice, seeds
from biasgauge.core import Estimate, WordPolicy, cosine
from biasgauge.lexicons import seed_bank
from biasgauge.papers.badderseeds2022.published import (
    APPENDIX,
    FEMALE_SETS,
    NOT_RELEASED,
    OTHER_MODELS,
    PRINTED,
    models_of,
)
from biasgauge.papers.row import Recomputed
from biasgauge.stats import mean_over_models
from biasgauge.vectors import mean_embedding

if TYPE_CHECKING:
    from biasgauge.papers.paper import Data, Progress
    from biasgauge.vectors import Embedding

UNPLEASANT = "unpleasantness-Caliskan_et_al_2017"
LETTERS = tuple("unpleasantness")
"""What Figure 3 was measured against: a string where the code expects a list of words."""
_MANY = 200


def fill_figure_2(data: Data, seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Explained variance of pairs as listed, in the printed order and over many shuffles."""
    models, differs = models_of(data, "nyt_min0")
    differs = differs or f"read off the figure; {NOT_RELEASED}"
    sets = seed_bank("published").bank.sets
    rows = {}
    for name, shuffle in APPENDIX["shuffles"].items():
        settings: dict[str, Any] = {"leave_one_out": False, "policy": WordPolicy(0.5, "exact"), "random_state": seed}
        (listed,) = seeds(models, *(sets[seed_set] for seed_set in shuffle["sets"]), shuffles=_MANY, **settings)
        (once,) = seeds(models, *(order.split() for order in shuffle["orders"]), shuffles=0, **settings)
        share, pairing = listed.pairing.first, listed.pairing
        rows[f"figure2.{name}.as listed"] = Recomputed.of(
            share, share, share.reason or f"{pairing.pairs} pairs are there", differs
        )
        note = f"as published: the one printed order; corrected: mean of {_MANY} shuffles and where 95 % of them lie"
        rows[f"figure2.{name}.shuffled"] = Recomputed.of(once.pairing.first, pairing.shuffled_first, note, differs)
    return rows


_LETTERED = (
    "as published: a string is passed where a list of words is expected, so that the reference is the mean vector of "
    "the letters u, n, p, l, e, a, s, …; corrected: the unpleasant words of Caliskan et al."
)


def fill_figure_3(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Female words and sets against unpleasant words, and against the letters that were averaged."""
    sets = seed_bank("published").bank.sets
    rows = _boxes()
    for corpus in APPENDIX["figure3"]:
        need = f"{corpus}_min0"
        if data.find(need) is None and corpus != "history":
            continue  # the models that ship stand in for one corpus, not for two
        models, differs = models_of(data, need)
        differs = differs or NOT_RELEASED
        mean = mean_embedding(models, aligned=False) if len(models) > 1 else models[0]
        start = f"figure3.{corpus}."
        for name in [row.removeprefix(start) for row in PRINTED if row.startswith(start)]:
            both = _cosine_with_letters(mean, [name]), _unpleasantness(models, name)
            rows[f"{start}{name}"] = Recomputed.of(*both, _LETTERED, differs)
        if corpus == "history":
            choice = seed_choice(
                models, list(FEMALE_SETS), UNPLEASANT, filter="published", policy=WordPolicy(0.6, "exact")
            )
            rows |= {
                f"figure3.{seed_list.set}": Recomputed.of(
                    _cosine_with_letters(mean, sets[seed_list.set]), seed_list, _LETTERED, differs
                )
                for seed_list in choice.lists
            }
    return rows


_BOXES = "as published: of all cosines that are printed for the list; corrected: a word that the list has twice once"


def _boxes() -> dict[str, Recomputed]:
    """The line in each box of Figure 3, from the cosines that the notebook prints."""
    return {
        f"figure3.{corpus}.median.{name}": Recomputed(
            float(np.median(cosines)), float(np.median(list(dict.fromkeys(cosines)))), note=_BOXES
        )
        for corpus, lists in APPENDIX["figure3"].items()
        for name, cosines in lists.items()
    }


def _unpleasantness(models: Sequence[Embedding], word: str) -> Estimate | None:
    """Cosine of a word with the mean vector of the unpleasant words, mean over the models that have the word."""
    words = seed_bank("published").bank.sets[UNPLEASANT]
    cosines = [
        cosine(
            model[word].astype(np.float64),
            np.mean([model[term] for term in words if term in model], axis=0, dtype=np.float64),
        )
        for model in models
        if word in model and any(term in model for term in words)
    ]
    return mean_over_models(np.array(cosines), 0.95, None, (-1.0, 1.0)) if cosines else None


def _cosine_with_letters(model: Embedding, words: Sequence[str]) -> float | None:
    """The published mistake: cosine with the mean vector of the letters of "unpleasantness", repeated ones too."""
    means = []
    for listed in (words, LETTERS):
        vectors = [model[word].astype(np.float64) for word in listed if word in model]
        if not vectors:
            return None
        means.append(np.mean(vectors, axis=0))
    return cosine(*means)


_MIRRORED = (
    "values are reversed and words are not, so that each word stands beside the cosine of its mirror word; corrected: "
    "what the figure prints for that one, which is this word's own"
)


def _column(name: str) -> list[tuple[str, float | None]]:
    """Words and printed cosines from top to bottom; "" and None where they are illegible."""
    cells = (cell.rpartition(" ") for cell in APPENDIX["figureA2"][name].split("|"))
    return [(word, float(value) if value else None) for word, _, value in cells]


def fill_figure_a2(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Give each word its own cosine from what is printed; with models of the user's, as the code averages them."""
    theirs = _averaged(data)
    rows = {}
    for name in APPENDIX["figureA2"]:
        column = _column(name)
        for (word, _), (_, rank) in zip(column, reversed(column), strict=True):
            if word:
                note = _MIRRORED if rank is not None else f"{_MIRRORED}, but it is illegible in our copy"
                rows[f"figureA2.{name}.{word}"] = Recomputed.of(
                    theirs.get((name, word)), rank, note, NOT_RELEASED if theirs else ""
                )
    return rows


def _averaged(data: Data) -> dict[tuple[str, str], float | None]:
    """Cosines along the second components, averaged over unaligned models as published; empty without the models."""
    models, differs = models_of(data, "nyt_min100")
    if differs == OTHER_MODELS:
        return {}
    sets = seed_bank("published").bank.sets
    pairs = {"gender": [sets[seed_set] for seed_set in APPENDIX["shuffles"]["gender"]["sets"]]}
    pairs |= {name: [order.split() for order in orders] for name, orders in APPENDIX["figure1"].items()}
    cosines: dict[tuple[str, str], float | None] = {}
    for name, (a, b) in pairs.items():
        space = bias_subspace(models, a, b, component=2, aligned=False, policy=WordPolicy(case="exact"))
        words = [word for word, _ in _column(name) if word]
        cosines |= {(name, word): value for word, value in space.cosine_of(words).items()}
    return cosines

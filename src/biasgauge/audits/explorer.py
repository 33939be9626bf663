"""Word explorer: scores of some thousand words under every measure and pair, small enough to travel in the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from biasgauge.audits.shared_scores import SharedScores, usable_pairs
from biasgauge.core import Codes, Floats, JsonObject
from biasgauge.errors import InputError
from biasgauge.lexicons import Pairs, lexicons_in_language
from biasgauge.results import Extra, Result, Summary, counted, lexicon_name, measure_name
from biasgauge.scores import REASONS, ScoreTensor
from biasgauge.stats import Means, means_along
from biasgauge.vectors import Embedding

ABOUT = {
    "dbwa": "How much nearer the word is to the first word of the pair than to the second, by cosine; 0: equally near.",
    "ripa": "Length of the word's vector along the direction from the second word of the pair to the first; 0: none.",
    "nbm": "Among its 100 nearest neighbors, the share nearer to the first word less the share nearer to the second.",
}
LEVEL = 0.95
MOST_PAIRS = 40
"""Base pairs that a page carries: each takes some 50 kB of it."""
LARGEST = 32_000
"""The largest score of a measure as an integer; what is below its negative is undefined."""
UNDEFINED = -32_768
FINEST = 0.0005
"""The smallest step: a page shows three decimals, and finer ones would not pack. Intervals have twice that."""


@dataclass(frozen=True, eq=False, repr=False)
class Explorer(Result):
    """Scores for a reader to look words up in, or why there are none.

    Attributes:
        scores: scores of the first model: measure × pair × word × 1.
        over_pairs: each word's mean over pairs, measure × word, with its interval over pairs.
        replicates: how many models the next two are of; 0 when there are fewer than two.
        by_pair: means over replicates with their intervals, measure × pair × word.
        over_replicates: means over replicates of a word's mean over pairs, measure × word.
        pool: among how many words neighbors were looked for.
        lost_pairs: pairs without a vector for both ends.
        lists: of whom the pairs are: the lists given with the audit, or that of the language.
        beside: other lists of pairs in the language, whose means a reader may ask for too.
        reason: why there is nothing to explore.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"words": int}

    scores: ScoreTensor | None = None
    over_pairs: Means | None = None
    replicates: int = 0
    by_pair: Means | None = None
    over_replicates: Means | None = None
    pool: int = 0
    lost_pairs: tuple[tuple[str, str], ...] = ()
    lists: tuple[Pairs, ...] = ()
    beside: tuple[Pairs, ...] = ()
    reason: str | None = None

    @property
    def whose(self) -> str:
        """Names of the lists of pairs."""
        return ", ".join(lexicon_name(pair_list.name) for pair_list in self.lists)

    def to_dict(self) -> JsonObject:
        """Labels of the scores, without the scores: as in `--json`."""
        if self.scores is None:
            return {"words": 0, "reason": self.reason}
        labels = {"measures": list(self.scores.measures), "pairs": [list(pair) for pair in self.scores.pairs]}
        lost = [list(pair) for pair in self.lost_pairs]
        return {"words": len(self.scores.words), **labels, "lost_pairs": lost, "replicates": self.replicates}

    def packed(self) -> dict[str, Any]:
        """Everything, as a page carries it: integers of 16 bits in hexadecimal digits, one scale for each measure.

        A score is its integer times the scale of its measure. An integer of −32,768 + n is undefined for the reason n.
        """
        if self.scores is None or self.over_pairs is None:
            return {}
        values = self.scores.values[..., 0].astype(np.float64)
        undefined = self.scores.undefined[..., 0]
        scales = self._scales(values)
        content: JsonObject = {
            **self.to_dict(),
            "model": self.scores.models[0],
            "words": list(self.scores.words),
            "reasons": list(REASONS),
            "scales": scales.tolist(),
            "about": ABOUT,
            "lists": pair_lists(self.scores.pairs, self.beside),
            "names": {name: measure_name(name) for name in self.scores.measures},
            "level": LEVEL,
            "pool": self.pool,
            "scores": _integers(values, scales, undefined),
            "over_pairs": _packed_means(self.over_pairs, scales),
            "spread": [
                [_spread(row) for row in table]
                for table in np.concatenate([values, self.over_pairs.mean[:, None]], axis=1)
            ],
        }
        if self.by_pair is not None and self.over_replicates is not None:
            content["by_pair"] = _packed_means(self.by_pair, scales)
            content["over_replicates"] = _packed_means(self.over_replicates, scales)
            content["models"] = self.over_replicates.n.max(axis=0).tolist()
        return content

    def summary(self, *, shipped: bool = False) -> Summary:
        """A section of the page that only a page can show; `shipped`: the replicates are those of the package."""
        if self.scores is None:
            return Summary("Scores of single words", f"Not possible: {self.reason}.")
        context, data = {"explorer": self, "shipped": shipped}, {"explorer-data": self.packed()}
        extra = Extra("biasgauge.audits", "explorer.html", context, data, ("explorer.js",))
        pairs = f"{counted(self.scores.pairs, 'base pair')} ({self.whose})"
        headline = f"{counted(self.scores.words, 'word')} on {pairs}, to look up."
        return Summary("Scores of single words", headline, extra=extra)

    def _scales(self, values: Floats) -> Floats:
        """Size of one step of an integer, for each measure: the largest number of all tables is at most `LARGEST`."""
        tables = [values, *(() if self.by_pair is None else (self.by_pair.mean, self.by_pair.reach))]
        tables += [means.reach[:, None] for means in (self.over_pairs, self.over_replicates) if means is not None]
        largest = np.max([np.nan_to_num(np.abs(table)).max(axis=(1, 2)) for table in tables], axis=0)
        return np.asarray(np.maximum(np.where(largest > 0, largest, 1) / LARGEST, FINEST))


def explore(scores: SharedScores, replicates: Sequence[Embedding], *, lists: Sequence[Pairs] = ()) -> Explorer:
    """Scores of the page's words on base pairs: of the first model, and of two or more replicates.

    The pairs are those of the given lists; without any, the base pairs of the language.
    """
    if not lists and (reason := scores.language.lacks("base_pairs")):
        return Explorer(reason=reason)
    model = scores.models[0]
    pair_sets = tuple(lists) or (scores.pairs,)
    beside = pair_sets if len(pair_sets) > 1 else ()
    if not lists:
        shipped = (lexicon for lexicon in lexicons_in_language(scores.language) if isinstance(lexicon, Pairs))
        beside = tuple(lexicon for lexicon in shipped if lexicon.name != scores.pairs.name)
    all_pairs = list(dict.fromkeys(pair for pairs in pair_sets for pair in pairs.pairs))
    usable, without = usable_pairs(model, all_pairs, case_fallback=scores.case_fallback)
    pairs, lost = usable[:MOST_PAIRS], tuple(without)
    if not pairs or not scores.page_words:
        names = ", ".join(pairs.name for pairs in pair_sets)
        return Explorer(lost_pairs=lost, reason=f"no pair of {names} has both its words in the vocabulary")
    try:
        page_scores = scores.of_page(pairs)
    except InputError as problem:
        return Explorer(lost_pairs=lost, reason=str(problem))
    first = page_scores.select(model=page_scores.models[:1])
    explorer = Explorer(
        scores=first,
        over_pairs=means_along(first.values[..., 0], axis=1),
        pool=scores.pool,
        lost_pairs=lost,
        lists=pair_sets,
        beside=beside,
    )
    if len(replicates) < 2:
        return explorer
    among = any(replicate is model for replicate in replicates)
    replicate_values = page_scores.values if among else page_scores.values[..., 1:]
    return replace(
        explorer,
        replicates=len(replicates),
        by_pair=means_along(replicate_values, axis=3),
        over_replicates=means_along(means_along(replicate_values, axis=1).mean, axis=2),
    )


def pair_lists(pairs: Sequence[tuple[str, str]], named_lists: Sequence[Pairs]) -> dict[str, list[int]]:
    """Positions of the pairs that stand in each of several lists, by the name of the list."""
    positions = {pair: index for index, pair in enumerate(pairs)}
    lists = {}
    for named in named_lists:
        shared = [positions[pair] for pair in named.pairs if pair in positions]
        if len(shared) > 1:
            lists[f"mean of {lexicon_name(named.name)} ({len(shared)} of its {len(named.pairs)} pairs)"] = shared
    return lists


def _packed_means(means: Means, scales: Floats) -> dict[str, str]:
    return {"mean": _integers(means.mean, scales), "reach": _integers(means.reach, scales, coarse=2)}


def _integers(
    values: Floats,
    scales: Floats,
    undefined: Codes | None = None,
    coarse: int = 1,
) -> str:
    """Integers of 16 bits in C order as hexadecimal digits: all high bytes, then all low ones, which packs best."""
    steps = coarse * np.rint(values / (coarse * scales).reshape(-1, *[1] * (values.ndim - 1)))
    reasons = 0 if undefined is None else undefined.astype(np.int64)
    integers = np.where(np.isnan(steps), UNDEFINED + reasons, np.nan_to_num(steps))
    return integers.astype(">i2").reshape(-1, 1).view(np.uint8).T.tobytes().hex()


def _spread(values: Floats) -> list[float] | None:
    """Mean and standard deviation of a pair's scores over the words of the page."""
    defined = values[~np.isnan(values)]
    if len(defined) < 2:
        return None
    return [round(float(defined.mean()), 6), round(float(defined.std(ddof=1)), 6)]

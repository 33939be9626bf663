"""Numbers before and after: bias on the same words, and what moved that should not have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge import registry
from biasgauge.analyses.posterior import CONNECTIONS, bayes_change
from biasgauge.core import Estimate, Floats, Vectors, row_cosines
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Lexicon
from biasgauge.mitigation.effects.result import Row
from biasgauge.scores import neighbor_overlap
from biasgauge.stats import Resampled, Resampling, correlation, correlations_differ, estimate_over_words, mean_estimate
from biasgauge.vectors import ROWS, Embedding, load, similarity_benchmark

if TYPE_CHECKING:
    from biasgauge.metrics import AssociationResult, SetTest

Sets = dict[str, Vectors]

_ASKED = 2_000


def association_rows(
    before: Embedding, after: Embedding, test: AssociationTest, interval: Resampling, *, min_coverage: float,
    case_fallback: bool,
) -> list[Row]:  # fmt: skip
    """Every registered test on one lexicon; words count that have a direction both before and after."""
    coverages = [model.coverage(test.sets, case_fallback=case_fallback, directions=True) for model in (before, after)]
    short = coverages[0].shortfall(min_coverage) or coverages[1].shortfall(min_coverage)
    if short:
        return _undefined(test.name, short)
    rows = [
        {role: dict(zip(found.words, found.rows.tolist(), strict=True)) for role, found in coverage.sets.items()}
        for coverage in coverages
    ]
    usable = {role: rows[0][role].keys() & rows[1][role].keys() for role in test.sets}
    if shared := usable["x"] & usable["y"]:
        return _undefined(test.name, f"the word {min(shared)!r} is in both target sets")
    numbers = []
    for kind in registry.everything("association_test").values():
        words = _kept(kind, test.sets, usable)
        sets = [
            {role: model.vectors[[own[role][word] for word in words[role]]] for role in kind.sets}
            for model, own in zip((before, after), rows, strict=True)
        ]
        numbers.append(_row(kind, test.name, sets, interval))
    return numbers


def _undefined(name: str, reason: str) -> list[Row]:
    return [Row(part="association", name=kind, of=name, reason=reason) for kind in registry.names("association_test")]


def _kept(
    kind: SetTest, words: Mapping[str, Sequence[str]], usable: Mapping[str, AbstractSet[str]]
) -> dict[str, list[str]]:
    """Words of each set that both models have, each once; where the test pairs x with y, the pairs that are whole."""
    kept = {role: [word for word in dict.fromkeys(words[role]) if word in usable[role]] for role in kind.sets}
    if not kind.paired:
        return kept
    whole = [
        pair for pair in zip(words["x"], words["y"], strict=True) if pair[0] in usable["x"] and pair[1] in usable["y"]
    ]
    return {**kept, "x": [pair[0] for pair in whole], "y": [pair[1] for pair in whole]}


def _row(kind: SetTest, name: str, sets: list[Sets], interval: Resampling) -> Row:
    """One test; its change has an interval that draws the same words before and after each time."""
    results: list[AssociationResult] = [kind.function(**own, interval=interval) for own in sets]
    before, after = (replace(result.interval or Estimate(value=None), value=result.value) for result in results)
    change = None
    if before.value is not None and after.value is not None:
        wide = [{role: np.asarray(vectors, np.float64) for role, vectors in own.items()} for own in sets]
        first, second = (kind.resampled(own) for own in wide)
        drawn = Resampled(first.units, lambda counts: second.values(counts) - first.values(counts))
        change = estimate_over_words(after.value - before.value, drawn, interval)
    count, reason = sum(map(len, sets[0].values())), results[0].reason or results[1].reason
    return Row(
        part="association", name=kind.name, of=name, before=before, after=after, change=change, count=count,
        reason=reason,
    )  # fmt: skip


def distance_rows(
    before: Embedding, after: Embedding, named: Lexicon, random_state: int, *, min_coverage: float, case_fallback: bool
) -> list[Row]:
    """Posterior mean distances of the connections of one lexicon; a change has the paired posterior."""
    try:
        result = bayes_change(
            before, after, named, random_state=random_state, min_coverage=min_coverage, case_fallback=case_fallback
        )
    except ParameterError as problem:
        return [Row(part="distances", name=name, of=named.name, reason=str(problem)) for name in CONNECTIONS]
    credible = result.before.credible
    how: dict[str, Any] = {"level": credible.prob, "method": credible.kind, "over": "words (posterior)"}

    def estimate(of: Any) -> Estimate | None:  # noqa: ANN401 - a group or a change
        if of.mean is None:
            return None
        return Estimate(value=of.mean) if of.low is None else Estimate(value=of.mean, low=of.low, high=of.high, **how)

    old, new = ({group.connection: group for group in side.groups} for side in (result.before, result.after))
    rows = []
    for change in result.groups:
        name = change.connection
        sides: dict[str, Any] = {
            "before": estimate(old[name]),
            "after": estimate(new[name]),
            "change": estimate(change),
        }
        reason = change.reason or old[name].reason or new[name].reason
        rows.append(Row(part="distances", name=name, of=named.name, reason=reason, **sides))
    return rows


def moved_rows(
    before: Embedding, after: Embedding, sets: Mapping[str, Sequence[str]], interval: Resampling
) -> list[Row]:
    """Mean cosine of the new with the old vectors of each set of words, and of all words."""
    rows = []
    for name, words in {**sets, "all": before.words}.items():
        places = before.lookup(words).rows
        blocks = [places[at : at + ROWS] for at in range(0, len(places), ROWS)]
        parts = [row_cosines(before.vectors[block], after.vectors[block]) for block in blocks]
        cosines = np.concatenate([np.empty(0), *parts])
        cosines = cosines[np.isfinite(cosines)]
        if not len(cosines):
            rows.append(Row(part="moved", name="cosine", of=name, reason="no word was found"))
            continue
        rows.append(Row(part="moved", name="cosine", of=name, after=_mean(cosines, interval), count=len(cosines)))
    return rows


def _mean(values: Floats, interval: Resampling) -> Estimate | None:
    """The usual interval for a few words, the normal one for many, where resampling would only cost time."""
    if len(values) <= _ASKED:
        drawn = Resampled({"words": len(values)}, lambda counts: counts["words"] @ values / len(values))
        return estimate_over_words(float(values.mean()), drawn, interval)
    return mean_estimate(values, level=interval.level, spread="normal", bounds=(-np.inf, 1.0))


def benchmark_rows(before: Embedding, after: Embedding, names: Sequence[Any], level: float) -> list[Row]:
    """Spearman correlation with human similarity before and after, on the pairs that both have."""
    rows = []
    for name in names:
        old, new = (similarity_benchmark(model, name, level=level) for model in (before, after))
        first, second = old.spearman.value, new.spearman.value
        about: dict[str, Any] = {"part": "benchmark", "name": "spearman", "of": old.benchmark}
        if first is None or second is None or old.pairs != new.pairs:
            why = old.reason or new.reason or "some pairs have a direction on one side only"
            sides = [None if value is None else Estimate(value=value) for value in (first, second)]
            rows.append(Row(before=sides[0], after=sides[1], reason=why, **about))
            continue
        between = float(correlation("spearman", old.cosines, new.cosines)[0])
        change = correlations_differ(second, first, between, len(old.pairs), level)
        about |= {"before": old.spearman, "after": new.spearman, "change": change}
        rows.append(Row(count=len(old.pairs), **about))
    return rows


def overlap_row(before: Embedding, after: Embedding, k: int, level: float) -> Row:
    """Share of the k nearest neighbors that are the same, over at most 2,000 words spread over the vocabulary."""
    step = -(-len(before) // _ASKED)
    sides = [load((model.words, model.vectors), name=name) for model, name in ((before, "before"), (after, "after"))]
    overlap = neighbor_overlap(*sides, k=k, words=before.words[::step], level=level)
    mean = overlap.mean
    return Row(
        part="neighbors", name=f"{k} nearest", of="all", after=mean, count=len(overlap.words), chance=overlap.chance,
        reason=None if mean.defined else mean.reason,
    )  # fmt: skip

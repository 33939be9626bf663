"""`mitigation_effect`: what a change of vectors did to bias, what else it did, and what it left.

`mitigate_to_file` makes the change, writes the vectors, and compares in one call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence, Sized
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge import registry
from biasgauge.analyses.posterior import CONNECTIONS, bayes_change
from biasgauge.core import Estimate, Floats, JsonMapping, Vectors, VectorsLike, row_cosines
from biasgauge.errors import ParameterError
from biasgauge.io import refuse_inputs
from biasgauge.lexicons import AssociationTest, Lexicon, Stereotypes, lexicon
from biasgauge.mitigation.effect_result import MitigationEffect, Row, changed_words
from biasgauge.mitigation.mitigation import Direction, Norms, mitigation_method
from biasgauge.mitigation.recovery import Recovery, recovery_rows
from biasgauge.results import Result, Summary
from biasgauge.scores import neighbor_overlap
from biasgauge.stats import (
    Resampled,
    Resampling,
    correlation,
    correlations_differ,
    estimate_over_words,
    mean_estimate,
    on_one_thread,
)
from biasgauge.vectors import (
    ROWS,
    SEPARATE,
    Coverage,
    Embedding,
    load,
    load_default,
    save,
    separately_trained,
    similarity_benchmark,
    similarity_names,
)

if TYPE_CHECKING:
    from biasgauge.metrics import AssociationResult, SetTest


DEFAULT_LEXICONS = ("weat6b", "weat7", "gender")
"""What is compared unless something else is asked for."""


def mitigation_effect(
    before: VectorsLike,
    after: VectorsLike,
    lexicons: str | Lexicon | Sequence[str | Lexicon] = DEFAULT_LEXICONS,
    *,
    controls: Sequence[str] = ("human", "neutral"),
    benchmarks: Sequence[Any] | None = None,
    neighbors: int = 10,
    recovery: Recovery | None = Recovery(),  # noqa: B008 - frozen
    interval: Resampling = Resampling(),  # noqa: B008 - frozen
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> MitigationEffect:
    """Compare vectors before and after a mitigation, on the words that both have.

    Args:
        before: an `Embedding` or anything `load` takes.
        after: the same, in the same axes.
        lexicons: tests (every association test, and distances) and stereotypes (distances).
        controls: lexicons of words that should not have moved.
        benchmarks: similarity benchmarks; all that ship by default, none with ().
        neighbors: how many nearest neighbors to compare.
        recovery: how to look for what is left of the bias; None not to.
        interval: how to find intervals over words.
        min_coverage: share of each set that must be found.
        case_fallback: look a lost word up in lower case, then capitalized.
        random_state: seed of the posteriors, the intervals and the recovery.
        progress: called with (done, total).

    Raises:
        ParameterError: the two have no word in common or differ in their dimensions, or a lexicon is of another kind.
    """
    first, second, warnings = _same_words(load(before), load(after))
    if separately_trained(first, second):
        warnings = (SEPARATE, *warnings)
    alone = isinstance(lexicons, (str, os.PathLike, Lexicon))
    named = [lexicon(entry) for entry in ([lexicons] if alone else lexicons)]  # type: ignore[arg-type, union-attr]
    for entry in named:
        if not isinstance(entry, (AssociationTest, Stereotypes)):
            kind = f"The lexicon {entry.name!r} is of kind {entry.kind!r}"
            raise ParameterError(f"{kind}; 'test' or 'stereotypes' is needed.")
    drawn = replace(interval, random_state=random_state)
    lookup: dict[str, Any] = {"min_coverage": min_coverage, "case_fallback": case_fallback}
    asked = similarity_names() if benchmarks is None else benchmarks
    tests = [entry for entry in named if isinstance(entry, AssociationTest)]
    sets = {name: lexicon(name).words for name in controls}
    steps: list[Callable[[], list[Row]]] = [
        *(partial(association_rows, first, second, test, drawn, **lookup) for test in tests),
        *(partial(distance_rows, first, second, entry, random_state, **lookup) for entry in named),
        partial(moved_rows, first, second, sets, drawn),
        partial(benchmark_rows, first, second, asked, interval.level),
        lambda: [overlap_row(first, second, neighbors, interval.level)],
    ]
    seeded = None if recovery is None else replace(recovery, random_state=random_state)
    if seeded is not None:
        steps.append(partial(recovery_rows, first, second, seeded))
    rows: list[Row] = []
    with on_one_thread():
        for done, step in enumerate(steps, 1):
            rows += step()
            if progress is not None:
                progress(done, len(steps))
    settings = {
        "lexicons": [entry.name for entry in named],
        "controls": list(controls),
        "neighbors": neighbors,
        "recovery": None if seeded is None else {name: _stated(value) for name, value in vars(seeded).items()},
        "interval": asdict(drawn),
        **lookup,
        "random_state": random_state,
        "before_checksum": first.checksum,
        "after_checksum": second.checksum,
    }
    return MitigationEffect(
        first.name, second.name, len(first), changed_words(first, second), tuple(rows), warnings, settings
    )


def _stated(setting: Sized | int | None) -> str | int | None:
    """A setting as it stands in `--json`: names and numbers as they are, words of the user's own only counted."""
    return setting if setting is None or isinstance(setting, (str, int)) else f"{len(setting)} given"


def _same_words(before: Embedding, after: Embedding) -> tuple[Embedding, Embedding, tuple[str, ...]]:
    """Both with the words that both have, in the order of the first."""
    if before.dim != after.dim:
        raise ParameterError(f"Before and after must have as many dimensions. Got {before.dim} and {after.dim}.")
    if before.words == after.words:
        return before, after, ()
    words = [word for word in before.words if word in after]
    if not words:
        raise ParameterError("Before and after have no word in common.")
    left_out = len(before) + len(after) - 2 * len(words)
    rows = after.lookup(words).rows
    second = replace(after, words=tuple(words), vectors=after.vectors[rows])
    return before.subset(words), second, (f"{left_out:,} words are in one of the two only and are left out",)


@dataclass(frozen=True, eq=False, repr=False)
class Mitigated(Result):
    """Vectors that were changed and written.

    Attributes:
        path: where they are.
        changed: how many words have another vector.
        words: how many words there are.
        method: which method.
        coverage: words that the method asked for, None where it asks for none; read back, what JSON says of it.
        effect: what that did; None where it was not asked for.
        name: of the changed vectors.
        settings: everything that decides the change.
        warnings: what to know first.
    """

    path: str
    changed: int
    words: int
    method: str
    coverage: Coverage | Mapping[str, Any] | None
    effect: MitigationEffect | None
    name: str
    settings: JsonMapping
    warnings: tuple[str, ...]

    def summary(self) -> Summary:
        """How many words changed, and before beside after."""
        headline = f"{self.name}: {self.changed:,} of {self.words:,} words changed"
        parts = () if self.effect is None else (self.effect.summary(),)
        return Summary(self.name, headline, warnings=self.warnings, parts=parts)


def mitigate_to_file(
    vectors: VectorsLike | None = None,
    *,
    out: str | os.PathLike[str],
    method: str = "hard",
    direction: Direction = "debias",
    strength: float = 1.0,
    norms: Norms = "kept",
    effect: bool = False,
    compare: Sequence[str] = DEFAULT_LEXICONS,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,  # noqa: ANN401 - those of the method
) -> Mitigated:
    """Debias vectors, or overbias them, into a new file, and say what that did.

    Args:
        vectors: an `Embedding` or anything `load` takes; those that ship with the package when None.
        out: where to write; the ending says how: .safetensors, .bin, .txt or .vec, also .gz.
        method: hard, double_hard, half_sibling, ran, multiclass_hard, multiclass_soft or attract_repel.
        direction: "overbias" makes the same change the other way.
        strength: 0 changes nothing, 1 is the whole method; overbias may go further.
        norms: "kept": every vector has its old length; "unit": length 1.
        effect: compare before and after.
        compare: tests and stereotypes to compare.
        random_state: seed of the method, where it has one, and of the comparison.
        progress: called with (done, total), anew for reading, changing and comparing.
        settings: of the method, such as `lexicon`, `equalize`, `specific`, `components`, `epochs`, `as_published`.

    Raises:
        ParameterError: a method or a setting is unknown or cannot be used.
    """
    refuse_inputs(out, [vectors])
    common = {"direction": direction, "strength": strength, "norms": norms}
    seeded = {"random_state": random_state} if "random_state" in mitigation_method(method).get_params() else {}
    chosen = mitigation_method(method, **common, **settings, **seeded)
    before = load_default() if vectors is None else load(vectors, progress=progress)
    after = chosen.fit(before).transform(before, progress=progress)
    path = save(after, out)
    compared = None
    if effect:
        compared = mitigation_effect(before, after, compare, random_state=random_state, progress=progress)
    warnings = [notice.message for notice in before.notices]
    if chosen.emptied_:
        more = f" … and {len(chosen.emptied_) - 8:,} more" if len(chosen.emptied_) > 8 else ""
        named = ", ".join(chosen.emptied_[:8])
        warnings.append(f"nothing is left of these words, whose vectors are now zero: {named}{more}")
    return Mitigated(
        path=str(path),
        changed=changed_words(before, after),
        words=len(after),
        method=method,
        coverage=chosen.coverage_,
        effect=compared,
        name=after.name,
        settings={"method": method, **common, **settings, "model_checksum": before.checksum},
        warnings=tuple(warnings),
    )


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

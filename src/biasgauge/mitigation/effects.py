"""`mitigation_effect`: effect of a change of vectors on bias, its side effects, and the bias that remains.

`mitigate_to_file` makes the change, writes the vectors, and compares in one call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge import registry
from biasgauge.analyses.posterior import CONNECTIONS, bayes_change
from biasgauge.core import (
    DEFAULT_POLICY,
    Estimate,
    Floats,
    JsonMapping,
    Query,
    SimilarityTable,
    Vectors,
    VectorsLike,
    WordPolicy,
    resolve,
    row_cosines,
)
from biasgauge.errors import ParameterError
from biasgauge.io import refuse_inputs
from biasgauge.lexicons import AssociationTest, Lexicon, Stereotypes, lexicon
from biasgauge.metrics import NO_FREQUENCIES, table_sides
from biasgauge.mitigation.effect_result import (
    AS_IT_IS,
    EQUAL_FREQUENCY,
    EffectRow,
    MitigationEffect,
    count_changed_words,
)
from biasgauge.mitigation.mitigation import Direction, Norms, mitigation_method
from biasgauge.mitigation.recovery import Recovery, recovery_rows
from biasgauge.results import Result, Summary
from biasgauge.scores import neighbor_overlap
from biasgauge.stats import (
    Contrast,
    Resampled,
    Resampling,
    contrast_estimate,
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
"""Lexicons that are compared by default."""
_MAX_RESAMPLED = 2_000
"""Words beyond which means have normal intervals, and neighbors are compared on a sample."""


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
    policy: WordPolicy = DEFAULT_POLICY,
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> MitigationEffect:
    """Compare vectors before and after a mitigation, on the words that both have.

    Args:
        before: an `Embedding` or anything `load` takes.
        after: the same, in the same axes.
        lexicons: tests (every association test, the contrast, and distances) and stereotypes (the last two).
        controls: lexicons of words that should not have moved.
        benchmarks: similarity benchmarks; all that ship by default, none with ().
        neighbors: how many nearest neighbors to compare.
        recovery: settings of the search for remaining bias; None to skip it.
        interval: method of intervals over words.
        policy: how words are looked up, and how many must be found.
        random_state: seed of the posteriors, the intervals and the recovery.
        progress: called with (done, total).

    Raises:
        ParameterError: the two have no word in common or differ in their dimensions, or a lexicon is of another kind.
    """
    first, second, warnings = _common_words(load(before), load(after))
    if separately_trained(first, second):
        warnings = (SEPARATE, *warnings)
    single = isinstance(lexicons, (str, os.PathLike, Lexicon))
    named = [lexicon(entry) for entry in ([lexicons] if single else lexicons)]  # type: ignore[arg-type, union-attr]
    for entry in named:
        if not isinstance(entry, (AssociationTest, Stereotypes)):
            raise ParameterError(
                f"The lexicon {entry.name!r} is of kind {entry.kind!r}; 'test' or 'stereotypes' is needed."
            )
    resampling = replace(interval, random_state=random_state)
    tests = [entry for entry in named if isinstance(entry, AssociationTest)]
    sets = {name: lexicon(name).words for name in controls}
    steps: list[Callable[[], list[EffectRow]]] = [
        *(partial(association_rows, first, second, test, resampling, policy) for test in tests),
        *(partial(contrast_rows, first, second, entry, resampling.level, policy) for entry in named),
        *(partial(distance_rows, first, second, entry, random_state, policy) for entry in named),
        partial(moved_rows, first, second, sets, resampling),
        partial(
            benchmark_rows, first, second, similarity_names() if benchmarks is None else benchmarks, interval.level
        ),
        lambda: [overlap_row(first, second, neighbors, interval.level)],
    ]
    seeded = None if recovery is None else replace(recovery, random_state=random_state)
    if seeded is not None:
        steps.append(partial(recovery_rows, first, second, seeded))
    rows: list[EffectRow] = []
    with on_one_thread():
        for done, step in enumerate(steps, 1):
            rows += step()
            if progress is not None:
                progress(done, len(steps))
    settings = {
        "lexicons": [entry.name for entry in named],
        "controls": list(controls),
        "neighbors": neighbors,
        "recovery": None if seeded is None else seeded.settings(),
        "interval": asdict(resampling),
        **policy.settings([first, second]),
        "random_state": random_state,
        "before_checksum": first.checksum,
        "after_checksum": second.checksum,
    }
    changed = count_changed_words(first, second)
    return MitigationEffect(first.name, second.name, len(first), changed, tuple(rows), warnings, settings)


def _common_words(before: Embedding, after: Embedding) -> tuple[Embedding, Embedding, tuple[str, ...]]:
    """Both with the words that both have, in the order of the first."""
    if before.dim != after.dim:
        raise ParameterError(
            f"Vectors before and after must have the same number of dimensions. Got {before.dim} and {after.dim}."
        )
    if before.words == after.words:
        return before, after, ()
    words = [word for word in before.words if word in after]
    if not words:
        raise ParameterError("Before and after have no word in common.")
    left_out = len(before) + len(after) - 2 * len(words)
    second = after.take(after.lookup(words).rows)
    return before.subset(words), second, (f"{left_out:,} words are in one of the two only and are left out",)


def association_rows(
    before: Embedding, after: Embedding, test: AssociationTest, resampling: Resampling, policy: WordPolicy
) -> list[EffectRow]:
    """Every registered association test on one lexicon; words count that have a direction both before and after."""
    resolved = resolve(Query.from_lexicon(test), [before, after], policy)
    reason = resolved.reason
    if resolved.shared_target is not None:
        reason = reason or f"the word {resolved.shared_target!r} is in both target sets"
    rows = []
    for kind in registry.everything("association_test").values():
        sides = [resolved.vectors(kind.sets, paired=kind.paired, model=model) for model in (0, 1)]
        unusable = reason or sides[0][1]
        fields = {"reason": unusable} if unusable else _test_change(kind, [sets for sets, _ in sides], resampling)
        rows.append(EffectRow("association", kind.name, test.name, **fields))
    return rows


def contrast_rows(
    before: Embedding, after: Embedding, named: Lexicon, level: float, policy: WordPolicy
) -> list[EffectRow]:
    """Contrast of one lexicon before and after, as it is and at equal word frequency; the change is of the same words.

    Frequencies are those of the vectors before where those after come without: the words are the same.
    """
    if after.frequencies is None:
        after = replace(after, frequencies=before.frequencies)
    resolved = resolve(Query.from_lexicon(named), [before, after], policy)
    if resolved.reason:
        return [EffectRow("contrast", name, named.name, reason=resolved.reason) for name in (AS_IT_IS, EQUAL_FREQUENCY)]
    table = SimilarityTable(resolved)
    count = len(table.target_groups) + len(table.attribute_groups)
    rows = []
    for name, values, powers in ((AS_IT_IS, table.values, 0), (EQUAL_FREQUENCY, table.centered, 2)):
        if values is None:
            rows.append(EffectRow("contrast", name, named.name, count=count, reason=NO_FREQUENCIES))
            continue
        sides = table_sides(table, powers=powers)
        first, last, moved = (
            contrast_estimate(similarities, *sides, table.weights, level=level)
            for similarities in (values[0], values[1], values[1] - values[0])
        )
        row = EffectRow("contrast", name, named.name, count=count, reason=first.reason)
        rows.append(replace(row, before=_plain(first), after=_plain(last), change=_plain(moved)))
    return rows


def _plain(contrast: Contrast) -> Estimate:
    """A contrast as number and interval alone."""
    return Estimate(**{field.name: getattr(contrast, field.name) for field in fields(Estimate)})


def _test_change(kind: SetTest, sides: list[dict[str, Vectors]], resampling: Resampling) -> dict[str, Any]:
    """Fields of one test; the interval of its change draws the same words before and after each time."""
    results: list[AssociationResult] = [kind.function(**sets, interval=resampling) for sets in sides]
    before, after = (replace(result.interval or Estimate(value=None), value=result.value) for result in results)
    change = None
    if before.value is not None and after.value is not None:
        wide = [{role: np.asarray(vectors, np.float64) for role, vectors in sets.items()} for sets in sides]
        first, second = (kind.resampled(sets) for sets in wide)
        drawn = Resampled(first.units, lambda counts: second.values(counts) - first.values(counts))
        change = estimate_over_words(after.value - before.value, drawn, resampling)
    count, reason = sum(map(len, sides[0].values())), results[0].reason or results[1].reason
    return {"before": before, "after": after, "change": change, "count": count, "reason": reason}


def distance_rows(
    before: Embedding, after: Embedding, named: Lexicon, random_state: int, policy: WordPolicy
) -> list[EffectRow]:
    """Posterior mean distances of the connections of one lexicon; a change has the paired posterior."""
    try:
        decided = policy.decided([before, after])
        result = bayes_change(before, after, named, random_state=random_state, policy=decided)
    except ParameterError as problem:
        return [EffectRow("distances", name, named.name, reason=str(problem)) for name in CONNECTIONS]
    credible = result.before.credible
    interval: dict[str, Any] = {"level": credible.prob, "method": credible.kind, "over": "words (posterior)"}

    def estimate(posterior: Any) -> Estimate | None:  # noqa: ANN401 - a group or a change
        if posterior.mean is None:
            return None
        ends = {} if posterior.low is None else {"low": posterior.low, "high": posterior.high, **interval}
        return Estimate(value=posterior.mean, **ends)

    rows = []
    groups = [{group.connection: group for group in side.groups} for side in (result.before, result.after)]
    for change in result.groups:
        old, new = (by_connection[change.connection] for by_connection in groups)
        estimates = estimate(old), estimate(new), estimate(change)
        reason = change.reason or old.reason or new.reason
        rows.append(EffectRow("distances", change.connection, named.name, *estimates, reason=reason))
    return rows


def moved_rows(
    before: Embedding, after: Embedding, sets: Mapping[str, Sequence[str]], resampling: Resampling
) -> list[EffectRow]:
    """Mean cosine of the new with the old vectors of each set of words, and of all words."""
    rows = []
    for name, words in {**sets, "all": before.words}.items():
        word_rows = before.lookup(words).rows
        blocks = [word_rows[start : start + ROWS] for start in range(0, len(word_rows), ROWS)]
        cosines = [row_cosines(before.vectors[block], after.vectors[block]) for block in blocks]
        values = np.concatenate([np.empty(0), *cosines])
        values = values[np.isfinite(values)]
        if not len(values):
            rows.append(EffectRow("moved", "cosine", name, reason="no word was found"))
            continue
        if len(values) <= _MAX_RESAMPLED:
            resampled = partial(_drawn_means, values)
            mean = estimate_over_words(float(values.mean()), Resampled({"words": len(values)}, resampled), resampling)
        else:  # where resampling would only cost time
            mean = mean_estimate(values, level=resampling.level, spread="normal", bounds=(-np.inf, 1.0))
        rows.append(EffectRow("moved", "cosine", name, after=mean, count=len(values)))
    return rows


def _drawn_means(values: Floats, counts: Mapping[str, Floats]) -> Floats:
    """Means of bootstrap samples, from how often each word is drawn."""
    means: Floats = counts["words"] @ values / len(values)
    return means


def benchmark_rows(before: Embedding, after: Embedding, names: Sequence[Any], level: float) -> list[EffectRow]:
    """Spearman correlation with human similarity before and after, on the pairs that both have."""
    rows = []
    for name in names:
        old, new = (similarity_benchmark(model, name, level=level) for model in (before, after))
        first, second = old.spearman.value, new.spearman.value
        if first is None or second is None or old.pairs != new.pairs:
            reason = old.reason or new.reason or "some pairs have a direction on one side only"
            side, other_side = (None if value is None else Estimate(value=value) for value in (first, second))
            rows.append(EffectRow("benchmark", "spearman", old.benchmark, side, other_side, reason=reason))
            continue
        between = float(correlation("spearman", old.cosines, new.cosines)[0])
        change = correlations_differ(second, first, between, len(old.pairs), level)
        numbers = old.spearman, new.spearman, change, len(old.pairs)
        rows.append(EffectRow("benchmark", "spearman", old.benchmark, *numbers))
    return rows


def overlap_row(before: Embedding, after: Embedding, k: int, level: float) -> EffectRow:
    """Share of the k nearest neighbors that are the same, over at most 2,000 words spread over the vocabulary."""
    step = -(-len(before) // _MAX_RESAMPLED)
    sides = [load((model.words, model.vectors), name=name) for model, name in ((before, "before"), (after, "after"))]
    overlap = neighbor_overlap(*sides, k=k, words=before.words[::step], level=level)
    mean, count = overlap.mean, len(overlap.words)
    reason = None if mean.defined else mean.reason
    return EffectRow("neighbors", f"{k} nearest", "all", after=mean, count=count, chance=overlap.chance, reason=reason)


@dataclass(frozen=True, eq=False, repr=False)
class Mitigated(Result):
    """Vectors that were changed and written.

    Attributes:
        path: of the new file.
        changed: number of words with another vector.
        words: number of words.
        method: name of the method.
        coverage: words that the method needs, None where it needs none; read back, the JSON object.
        effect: comparison of before and after; None where it was not requested.
        name: of the changed vectors.
        settings: everything that decides the change.
        warnings: caveats.
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
        """Number of words that changed, and the comparison of before and after."""
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
    """Debias vectors, or overbias them, into a new file, and measure the effect.

    Args:
        vectors: an `Embedding` or anything `load` takes; those that ship with the package when None.
        out: where to write; the ending decides the format: .safetensors, .bin, .txt or .vec, also .gz.
        method: hard, double_hard, half_sibling, ran, multiclass_hard, multiclass_soft or attract_repel.
        direction: "overbias" makes the same change the other way.
        strength: 0 changes nothing, 1 is the whole method; overbias may go further.
        norms: "kept": every vector keeps its length; "unit": length 1.
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
    mitigation = mitigation_method(method, **common, **settings, **seeded)
    before = load_default() if vectors is None else load(vectors, progress=progress)
    after = mitigation.fit(before).transform(before, progress=progress)
    path = save(after, out)
    comparison = None
    if effect:
        comparison = mitigation_effect(before, after, compare, random_state=random_state, progress=progress)
    warnings = [notice.message for notice in before.notices]
    if mitigation.emptied_:
        more = f" … and {len(mitigation.emptied_) - 8:,} more" if len(mitigation.emptied_) > 8 else ""
        names = ", ".join(mitigation.emptied_[:8])
        warnings.append(f"nothing is left of these words, whose vectors are now zero: {names}{more}")
    return Mitigated(
        path=str(path),
        changed=count_changed_words(before, after),
        words=len(after),
        method=method,
        coverage=mitigation.coverage_,
        effect=comparison,
        name=after.name,
        settings={"method": method, **common, **settings, "model_checksum": before.checksum},
        warnings=tuple(warnings),
    )

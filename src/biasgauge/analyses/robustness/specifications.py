"""`specification_curve`: one association test under every view or model at once, with one permutation for all of them.

A transformer has no one vector of a word: layer, pooling, template and context are choices. Each combination is an
analysis that somebody could have reported; together they are a specification curve. Words are split again to see what
chance gives, the same split in every analysis: targets between X and Y, and, in their turn, attributes between A and B.
The larger p of the two counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from biasgauge._version import __version__
from biasgauge.core import (
    DEFAULT_POLICY,
    TEST_ROLES,
    Estimate,
    Floats,
    JsonMapping,
    JsonObject,
    ModelsLike,
    Record,
    SimilarityTable,
    WordPolicy,
    WordsLike,
    check_number,
    check_whole,
    resolve,
)
from biasgauge.errors import ParameterError
from biasgauge.results import Chart, Column, Result, Summary, Table, Tone, level_text, p_phrase, share_text
from biasgauge.scores import TestLike, query_of_test
from biasgauge.stats import SAME, JointPermutation, contrast_estimate, joint_permutation
from biasgauge.vectors import Embedding, load_models

SAME_VECTOR = "all target words, or all attribute words, have the same association here"
_TONES: Mapping[str, Tone] = {"report": "good", "do-not-report": "bad"}
TOO_NEAR = 1e-5
"""Where all cosines of a view lie nearer together than this, numbers hang on the last digits of single precision."""


@dataclass(frozen=True)
class Specification(Record):
    """The test under one view or model.

    Attributes:
        model: its name.
        facets: its layer, pooling, template, context and checkpoint; empty for a model that is no view.
        effect_size: d, in standard deviations of the associations (ddof 0); None where it is undefined.
        contrast: in cosine units, with the interval over targets and attributes.
        p: the larger of the two-sided p over targets and over attributes, of this analysis by itself.
        p_adjusted: the same, adjusted for all analyses.
        reason: why it is undefined; None where it is not.
    """

    model: str
    facets: Mapping[str, str | int]
    effect_size: float | None
    contrast: Estimate
    p: float | None
    p_adjusted: float | None
    reason: str | None = None


@dataclass(frozen=True)
class FacetSummary(Record):
    """The effect size at one level of a facet: its median over analyses of that level, and how many are positive."""

    facet: str
    level: str
    analyses: int
    median: float
    positive: int


@dataclass(frozen=True, eq=False, repr=False)
class SpecificationCurve(Result):
    """All analyses together.

    Attributes:
        name: the lexicon, or "given words".
        sets: what each set stands for.
        specifications: one for each view or model, in the order given.
        facets: the effect size by level of each facet.
        median: the median effect size.
        positive: how many of the defined ones are above 0.
        defined: how many are defined.
        clear: how many have p at most alpha by themselves, over targets, in the direction of most of these.
        p_median: joint p of the median: the larger of that over targets and that over attributes.
        p_clear: joint p of so many clear analyses, likewise.
        decision: report, do-not-report, no-association-shown or not-measurable.
        null_low, null_high: middle 95 % of the curve in chance splits of the targets, smallest effect first.
        words: how many words of each set all analyses share.
        settings: everything that decides the result.
        warnings: what to know before reading it.
    """

    tables: ClassVar[tuple[str, ...]] = ("specifications",)

    name: str
    sets: Mapping[str, str]
    specifications: tuple[Specification, ...]
    facets: tuple[FacetSummary, ...]
    median: float | None
    positive: int
    defined: int
    clear: int
    p_median: float | None
    p_clear: float | None
    decision: str
    null_low: tuple[float, ...]
    null_high: tuple[float, ...]
    words: Mapping[str, int]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()

    def derived(self) -> JsonMapping:
        """The sentence, and the version."""
        return {"sentence": self.sentence(), "version": __version__}

    def sentence(self) -> str:
        """The verdict in one sentence."""
        if self.median is None or self.p_median is None:
            return f"{self.name} cannot be measured in these views: {self.specifications[0].reason}."
        most = max(self.positive, self.defined - self.positive)
        leans = f"{self.sets['x']} {'more' if self.median > 0 else 'less'} with {self.sets['a']} than {self.sets['y']}"
        how = f"{most} of {self.defined} analyses ({share_text(most / self.defined)})"
        joint = f"median d {self.median:.2f}, joint {p_phrase(self.p_median)}"
        needed = share_text(self.settings["agreement"])
        if self.decision == "report":
            return f"Most analyses associate {leans}: {how} agree; {joint}."
        if self.decision == "no-association-shown":
            return f"No association is shown over all analyses together: {joint}; {how} have one direction."
        only = f"only {how} agree ({needed} required)"
        return f"Do not report one number: its direction depends on the analysis; {only}; {joint}."

    def summary(self) -> Summary:
        """The verdict, effects by facet, and the curve."""
        from biasgauge.analyses.robustness.specification_chart import curve

        level = level_text(self.settings["level"])
        facets = [
            "facet",
            "level",
            Column("analyses", "count"),
            Column("median d", "number"),
            Column("positive", "count"),
        ]
        rows = [(row.facet, row.level, row.analyses, row.median, row.positive) for row in self.facets]
        columns = ["analysis", Column("d", "number"), Column(f"contrast [{level}], cosine", "estimate", 4),
                   Column("p", "p"), Column("p adjusted for all", "p"), "reason"]  # fmt: skip
        ordered = sorted(self.specifications, key=lambda row: (row.effect_size is None, row.effect_size or 0.0))
        analyses = [(row.model, row.effect_size, row.contrast, row.p, row.p_adjusted, row.reason) for row in ordered]
        alone = f"{self.clear} of {self.defined} analyses have p ≤ {self.settings['alpha']:g} alone, in one direction"
        alone += "" if self.p_clear is None else f"; so many by chance: {p_phrase(self.p_clear)}."
        charts: tuple[Chart, ...] = ()
        if self.defined > 1:
            remark = (
                "One point per analysis, smallest first; the band holds 95 % of the curves of chance splits.\n"
                "Below: which layer, pooling, template or context each analysis has."
            )
            charts = (Chart("specification-curve", self.sentence().rstrip("."), remark, partial(curve, self)),)
        return Summary(
            title=f"Specification curve of {self.name}",
            headline=self.sentence(),
            sentences=() if self.p_clear is None else (alone,),
            tables=(
                Table.of("facets", "Effect size by facet", facets, rows),
                Table.of("analyses", "Every analysis", columns, analyses, most=12).without_empty(),
            ),
            charts=charts,
            warnings=self.warnings,
            mark=self.decision,
            tone=_TONES.get(self.decision, "plain"),
        )  # fmt: skip


def specification_curve(
    models: ModelsLike,
    test: TestLike | None = None,
    *,
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    agreement: float = 0.9,
    alpha: float = 0.05,
    policy: WordPolicy = DEFAULT_POLICY,
    level: float = 0.95,
    samples: int = 9_999,
    random_state: int = 0,
) -> SpecificationCurve:
    """Run one association test under every view or model, and say what all of them together show.

    Args:
        models: the views that `encode` gives, or any list of models.
        test: a lexicon of kind "test", or give the four sets.
        x: words, a lexicon, or one of its sets.
        y: as x.
        a: as x.
        b: as x.
        agreement: share of analyses that must have one direction for "report".
        alpha: error of the joint test.
        policy: how words are looked up, and how many of each set all analyses must share.
        level: of the intervals of contrasts.
        samples: random splits, where there are more than 20,000.
        random_state: seed.

    Raises:
        ParameterError: an argument cannot be used, or a word is in both X and Y.
    """
    check_number(0, 1, agreement=agreement)
    check_number(0, 1, ends=False, alpha=alpha, level=level)
    check_whole(99, samples=samples)
    loaded = load_models(models)
    query = query_of_test(test, {"x": x, "y": y, "a": a, "b": b}, TEST_ROLES)
    resolved = resolve(query, loaded, policy)
    if resolved.shared_target is not None:
        raise ParameterError(
            f"The word {resolved.shared_target!r} is in both target sets, X and Y; remove it from one."
        )
    words = {role: resolved_set.words for role, resolved_set in resolved.sets.items()}
    settings = {"agreement": agreement, "alpha": alpha, "min_coverage": policy.min_coverage, "level": level,
                "samples": samples, "random_state": random_state}  # fmt: skip
    labels: dict[str, Any] = {
        "name": query.name, "sets": query.labels,
        "words": {role: len(members) for role, members in words.items()}, "settings": settings,
    }  # fmt: skip
    few = [role for role in TEST_ROLES if len(words[role]) < 2]
    reason = resolved.reason or (f"fewer than two words of {', '.join(few)} are in all views" if few else None)
    if reason:
        return _undefined(loaded, reason, labels)
    tables = list(SimilarityTable(resolved).values)
    usable = [index for index, table in enumerate(tables) if _tells_apart(table, words)]
    if not usable:
        return _undefined(loaded, SAME_VECTOR, labels)
    return _joint(loaded, tables, usable, words, labels, alpha, samples, random_state)


def _joint(
    models: Sequence[Embedding],
    tables: Sequence[Floats],
    usable: Sequence[int],
    words: Mapping[str, Sequence[str]],
    labels: JsonObject,
    alpha: float,
    samples: int,
    random_state: int,
) -> SpecificationCurve:
    sizes = {role: len(members) for role, members in words.items()}
    sides = [_leans(tables[index], sizes) for index in usable]
    settings: JsonObject = {"alpha": alpha, "samples": samples, "random_state": random_state}
    targets = joint_permutation([rows for rows, _ in sides], sizes["x"], **settings)
    attributes = joint_permutation([columns for _, columns in sides], sizes["a"], **settings)
    level = labels["settings"]["level"]
    positions = {index: position for position, index in enumerate(usable)}
    rows = []
    for index, model in enumerate(models):
        position = positions.get(index)
        if position is None:
            nothing = Estimate(value=None, reason=SAME_VECTOR)
            rows.append(Specification(model.name, dict(model.facets), None, nothing, None, None, SAME_VECTOR))
            continue
        rows.append(
            Specification(
                model.name,
                dict(model.facets),
                float(targets.effects[position]),
                _contrast(tables[index], sizes, level),
                float(max(targets.p[position], attributes.p[position])),
                float(max(targets.p_adjusted[position], attributes.p_adjusted[position])),
            )
        )
    return _curve(rows, targets, attributes, labels, _near([(tables[index], models[index]) for index in usable]))


def _curve(
    rows: Sequence[Specification],
    targets: JointPermutation,
    attributes: JointPermutation,
    labels: JsonObject,
    warnings: tuple[str, ...],
) -> SpecificationCurve:
    defined = len(targets.effects)
    positive = int((targets.effects > 0).sum())
    p_median = max(targets.p_median, attributes.p_median)
    settings = labels["settings"]
    decision = "report" if p_median <= settings["alpha"] else "no-association-shown"
    smallest = float(np.maximum(targets.p_adjusted, attributes.p_adjusted).min())
    agrees = max(positive, defined - positive) >= settings["agreement"] * defined - SAME
    if not agrees and min(p_median, smallest) <= settings["alpha"]:
        decision = "do-not-report"
    lost = len(rows) - defined
    notes = [*([f"{lost:,} of {len(rows):,} analyses are undefined: {SAME_VECTOR}"] if lost else []), *warnings]
    return SpecificationCurve(
        specifications=tuple(rows),
        facets=_by_facet(rows),
        median=float(np.median(targets.effects)),
        positive=positive,
        defined=defined,
        clear=targets.clear,
        p_median=p_median,
        p_clear=max(targets.p_clear, attributes.p_clear),
        decision=decision,
        null_low=tuple(targets.low.tolist()),
        null_high=tuple(targets.high.tolist()),
        warnings=tuple(notes),
        **labels,
    )


def _undefined(models: Sequence[Embedding], reason: str, labels: JsonObject) -> SpecificationCurve:
    nothing = Estimate(value=None, reason=reason)
    rows = tuple(Specification(model.name, dict(model.facets), None, nothing, None, None, reason) for model in models)
    return SpecificationCurve(
        specifications=rows, facets=(), median=None, positive=0, defined=0, clear=0, p_median=None, p_clear=None,
        decision="not-measurable", null_low=(), null_high=(), warnings=(reason,), **labels,
    )  # fmt: skip


def _leans(table: Floats, sizes: Mapping[str, int]) -> tuple[Floats, Floats]:
    """Association of each target with A rather than B, and of each attribute with X rather than Y."""
    targets = table[:, : sizes["a"]].mean(axis=1) - table[:, sizes["a"] :].mean(axis=1)
    attributes = table[: sizes["x"]].mean(axis=0) - table[sizes["x"] :].mean(axis=0)
    return targets, attributes


def _tells_apart(table: Floats, words: Mapping[str, Sequence[str]]) -> bool:
    if not np.isfinite(table).all():
        return False
    sides = _leans(table, {role: len(members) for role, members in words.items()})
    return all(float(side.std()) > SAME * float(np.abs(table).max()) for side in sides)


def _contrast(table: Floats, sizes: Mapping[str, int], level: float) -> Estimate:
    rows, columns = (np.repeat([0, 1], [sizes[first], sizes[second]]) for first, second in ("xy", "ab"))
    return contrast_estimate(table, rows, columns, level=level)


def _near(analyses: Sequence[tuple[Floats, Embedding]]) -> tuple[str, ...]:
    near = [model.name for table, model in analyses if np.ptp(table) < TOO_NEAR]
    if not near:
        return ()
    named = "; ".join(near[:3]) + (" …" if len(near) > 3 else "")
    apart = f"in {len(near):,} analyses all cosines lie within {TOO_NEAR:g} of each other"
    return (f"{apart}, so that d magnifies differences that mean nothing: {named}",)


def _by_facet(rows: Sequence[Specification]) -> tuple[FacetSummary, ...]:
    defined = [row for row in rows if row.effect_size is not None]
    levels: dict[tuple[str, str], list[float]] = {}
    for row in defined:
        for facet, level in row.facets.items():
            levels.setdefault((facet, str(level)), []).append(row.effect_size or 0.0)
    varying = {facet for facet, _ in levels if sum(name == facet for name, _ in levels) > 1}
    order = list(dict.fromkeys(facet for facet, _ in levels))
    return tuple(
        FacetSummary(facet, level, len(values), float(np.median(values)), sum(value > 0 for value in values))
        for (facet, level), values in sorted(levels.items(), key=lambda item: order.index(item[0][0]))
        if facet in varying
    )

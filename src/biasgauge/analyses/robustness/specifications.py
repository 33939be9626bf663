"""`specification_curve`: one association test under every view or model at once, with one permutation for all of them.

A transformer has no one vector of a word: layer, pooling, template and context are choices. Each combination is an
analysis that somebody could have reported; together they are a specification curve. Words are split again to see what
chance gives, the same split in every analysis: targets between X and Y, and, in their turn, attributes between A and B.
The larger p of the two counts. The decision rests on the curve at equal word frequency, where frequencies are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from biasgauge._version import __version__
from biasgauge.core import (
    DEFAULT_POLICY,
    REPORTED,
    TEST_ROLES,
    UNDEFINED,
    Decision,
    Estimate,
    Floats,
    FrequencyEffect,
    JsonMapping,
    JsonObject,
    ModelsLike,
    Record,
    SimilarityTable,
    WordPolicy,
    WordsLike,
    check_number,
    check_whole,
    decide,
    frequency_effect,
    resolve,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Circularity, circularity
from biasgauge.metrics import NO_FREQUENCIES, contrast_of, contrast_of_similarities, row_scores, table_sides
from biasgauge.results import (
    ACCENT,
    NEUTRAL,
    SECOND,
    ZERO,
    AltairChart,
    Chart,
    Column,
    Result,
    Summary,
    Table,
    Tone,
    altair,
    interval_text,
    level_text,
    number_text,
    p_phrase,
    share_text,
    top_legend,
    zero_line,
)
from biasgauge.scores import TestLike, query_of_test
from biasgauge.stats import SAME, JointPermutation, decide_equivalence, holm, joint_permutation
from biasgauge.vectors import load_models

SAME_VECTOR = "all target words, or all attribute words, have the same association here"
_TONES: Mapping[str, Tone] = {"report": "good", "report-with-care": "caution", "do-not-report": "bad"}
_MARGIN = 150
"""Pixels left of the panels of the chart, so that the titles of their axes stand in one line."""
_LABEL = 34
"""Characters of a level that the chart shows."""
TOO_NEAR = 1e-5
"""Where all cosines of a view lie nearer together than this, numbers hang on the last digits of single precision."""


@dataclass(frozen=True)
class Specification(Record):
    """The test under one view or model.

    Attributes:
        model: its name.
        facets: its layer, pooling, template, context and checkpoint; empty for a model that is no view.
        effect_size: d, in standard deviations of the associations (ddof 0); None where it is undefined.
        contrast: in cosine units, with the interval over targets and attributes; `adjusted` is it at equal frequency.
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


@dataclass(frozen=True)
class CurveAtEqualFrequency(Record):
    """All analyses together at equal word frequency; fields as in `SpecificationCurve`.

    Attributes:
        median: the median effect size of associations less what frequency predicts; None where nothing is left.
        positive: how many effects are above 0.
        clear: how many are clear by themselves.
        p_median: joint p of the median.
        p_clear: joint p of the number of clear ones.
        frequency: what word frequency does to the finding.
        reason: why there is no curve at equal frequency.
    """

    median: float | None = None
    positive: int = 0
    clear: int = 0
    p_median: float | None = None
    p_clear: float | None = None
    frequency: FrequencyEffect | None = None
    reason: str | None = None


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
        p_clear: joint p of this number of clear analyses, likewise.
        adjusted: the same at equal word frequency, on which the decision rests; None where frequencies are not known.
        contrast: the contrast over all analyses, in cosine units, as an audit has it: at equal word frequency where
            that is known, with the interval of level 1 − 2 × alpha that equivalence with 0 is judged by.
        smallest: the smallest contrast that matters; None where it is not known.
        decision: one of the six decisions (docs/measures/verdicts.md).
        reasons: what holds the decision back, in words.
        beware: notes of the lists of words on what to beware of.
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
    decision: Decision
    null_low: tuple[float, ...]
    null_high: tuple[float, ...]
    words: Mapping[str, int]
    settings: JsonMapping
    warnings: tuple[str, ...] = ()
    adjusted: CurveAtEqualFrequency | None = None
    contrast: Estimate = UNDEFINED
    smallest: float | None = None
    reasons: tuple[str, ...] = ()
    beware: tuple[str, ...] = ()

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
        joint = f"median d {self.median:.2f}, joint {p_phrase(self.p_median)}{self._at_equal_frequency()}"
        needed = share_text(self.settings["agreement"])
        held_back = "".join(f"; {reason}" for reason in self.reasons)
        if self.decision in REPORTED:
            return f"Most analyses associate {leans}: {how} agree; {joint}{held_back}."
        if self.decision == "no-association-shown":
            return f"Any association over all analyses together is too small to matter: {self._within()}; {joint}."
        if self.decision == "inconclusive":
            start = "An association over all analyses together is neither shown nor ruled out"
            return f"{start}: {joint}; {how} have one direction; {self._within()}{held_back}."
        only = f"only {how} agree ({needed} required)"
        return f"Do not report one number: its direction depends on the analysis; {only}; {joint}."

    def _at_equal_frequency(self) -> str:
        """Clause on the curve at equal word frequency, and what frequency does to the finding."""
        curve = self.adjusted
        if curve is None:
            return ""
        if curve.median is None or curve.p_median is None:
            return f" (at equal word frequency undefined: {curve.reason})"
        numbers = f"at equal word frequency median d {curve.median:.2f}, joint {p_phrase(curve.p_median)}"
        effects = {"explains": ", explained by word frequency", "hides": ", word frequency hides it"}
        return f" ({numbers}{effects.get(curve.frequency or '', '')})"

    def _within(self) -> str:
        """Interval of the contrast beside the smallest that matters."""
        contrast = self.contrast
        ends = interval_text(contrast.low, contrast.high, 3, signed=True) or "none"
        size = "unknown (smallest=)" if self.smallest is None else f"±{number_text(self.smallest, 3)}"
        return f"{level_text(contrast.level)} interval of the contrast {ends}, smallest that matters {size}"

    @property
    def ordered(self) -> tuple[Specification, ...]:
        """Every analysis, the smallest effect first and undefined ones last."""
        return tuple(sorted(self.specifications, key=lambda row: (row.effect_size is None, row.effect_size or 0.0)))

    def summary(self) -> Summary:
        """The verdict, effects by facet, and the curve."""
        counts = Column("analyses", "count"), Column("median d", "number"), Column("positive", "count")
        facets = [(row.facet, row.level, row.analyses, row.median, row.positive) for row in self.facets]
        contrast = Column(f"contrast [{level_text(self.settings['level'])}], cosine", "estimate", 4)
        tests = Column("p", "p"), Column("p adjusted for all", "p")
        columns = ["analysis", Column("d", "number"), contrast, *tests, "reason"]
        rows = [(row.model, row.effect_size, row.contrast, row.p, row.p_adjusted, row.reason) for row in self.ordered]
        notes = (f"Beware of these lists: {' '.join(self.beware)}",) if self.beware else ()
        alone = f"{self.clear} of {self.defined} analyses have p ≤ {self.settings['alpha']:g} alone, in one direction"
        by_chance = f"{alone}; so many by chance: {p_phrase(self.p_clear)}."
        remark = (
            "One point per analysis, smallest first; the band holds 95 % of the curves of chance splits.\n"
            "Below: which layer, pooling, template or context each analysis has."
        )
        chart = Chart("specification-curve", self.sentence().rstrip("."), remark, partial(_draw_curve, self))
        return Summary(
            title=f"Specification curve of {self.name}",
            headline=self.sentence(),
            sentences=notes if self.p_clear is None else (by_chance, *notes),
            tables=(
                Table.of("facets", "Effect size by facet", ["facet", "level", *counts], facets),
                Table.of("analyses", "Every analysis", columns, rows, most=12).without_empty(),
            ),
            charts=(chart,) if self.defined > 1 else (),
            warnings=self.warnings,
            mark=self.decision,
            tone=_TONES.get(self.decision, "plain"),
        )


def specification_curve(  # noqa: PLR0913 - each is a choice that a report has to state
    models: ModelsLike,
    test: TestLike | None = None,
    *,
    x: WordsLike | None = None,
    y: WordsLike | None = None,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    agreement: float = 0.9,
    alpha: float = 0.05,
    smallest: float | None = None,
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
        smallest: the smallest contrast that matters, in cosine units; without it no association can be ruled out.
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
    if smallest is not None:
        check_number(0, ends=False, smallest=smallest)
    loaded = load_models(models)
    query = query_of_test(test, {"x": x, "y": y, "a": a, "b": b}, TEST_ROLES)
    resolved = resolve(query, loaded, policy)
    if resolved.shared_target is not None:
        raise ParameterError(
            f"The word {resolved.shared_target!r} is in both target sets, X and Y; remove it from one."
        )
    words = {role: resolved_set.words for role, resolved_set in resolved.sets.items()}
    sizes = {role: len(members) for role, members in words.items()}
    few = [role for role in TEST_ROLES if sizes[role] < 2]
    reason = resolved.reason or (f"fewer than two words of {', '.join(few)} are in all views" if few else None)
    tables = []
    table = None if reason else SimilarityTable(resolved)
    if table is not None:  # forms of one lemma are one word
        tables, groups = list(table.values), (table.target_groups, table.attribute_groups)
        counts = [int(count) for side in groups for count in np.bincount(side)]
        sizes = dict(zip(TEST_ROLES, counts, strict=True))
    sides = {index: leans for index, table in enumerate(tables) if (leans := _leans(table, sizes)) is not None}
    reason = reason or (None if sides else SAME_VECTOR)
    settings: JsonObject = {
        "agreement": agreement, "alpha": alpha, "min_coverage": policy.min_coverage, "level": level,
        "samples": samples, "random_state": random_state, "smallest": smallest,
    }  # fmt: skip
    labels: dict[str, Any] = {
        "name": query.name, "sets": query.labels, "words": sizes, "settings": settings, "beware": query.beware,
    }  # fmt: skip
    nothing = Estimate(value=None, reason=reason or SAME_VECTOR)
    rows = [
        Specification(model.name, dict(model.facets), None, nothing, None, None, nothing.reason) for model in loaded
    ]
    if reason or table is None:
        return SpecificationCurve(
            specifications=tuple(rows), facets=(), median=None, positive=0, defined=0, clear=0, p_median=None,
            p_clear=None, decision=decide(found=None), null_low=(), null_high=(),
            warnings=(str(nothing.reason),), **labels,
        )  # fmt: skip
    chance: JsonObject = {"alpha": alpha, "samples": samples, "random_state": random_state}
    targets, attributes = _joint(list(sides.values()), sizes, chance)
    p, p_adjusted = np.maximum(targets.p, attributes.p), np.maximum(targets.p_adjusted, attributes.p_adjusted)
    contrasts = [contrast_of(SimilarityTable(resolved.in_model(index)), level=level).contrast for index in sides]
    for position, index in enumerate(sides):
        rows[index] = replace(
            rows[index],
            effect_size=float(targets.effects[position]),
            contrast=contrasts[position],
            p=float(p[position]),
            p_adjusted=float(p_adjusted[position]),
            reason=None,
        )
    defined, positive = len(sides), int((targets.effects > 0).sum())
    p_median = max(targets.p_median, attributes.p_median)
    centered = None if table.centered is None else table.centered[list(sides)]
    pooled = contrast_of_similarities(table, table.values[list(sides)], centered)
    contrast = pooled.decisive.contrast.at(1 - 2 * alpha)
    narrow = smallest is not None and decide_equivalence(contrast.low, contrast.high, smallest) == "equivalent"
    equal = None if centered is None else _equal_frequency(table, centered, sizes, chance)
    single = [single.adjusted for single in contrasts]
    decisive = _Joint.of(targets, attributes)
    adjusted = None
    if equal is not None:
        decisive = equal.beyond(contrast.p, [None if one is None else one.p for one in single])
        adjusted = decisive.described(p_median, alpha, contrast.reason)
    lists = circularity(query, loaded)
    reasons = _held_back(table, lists)
    found, turns = decisive.read(agreement, alpha)
    decision = decide(
        found=found or turns,
        small=narrow and not turns,  # opposite directions may cancel in the mean
        stable=[not turns, *([None] if reasons else [])],
        barred=lists is not None and lists.passes is False,
    )
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
        warnings=tuple(_warnings(rows, {rows[index].model: tables[index] for index in sides})),
        adjusted=adjusted,
        contrast=Estimate(**{field.name: getattr(contrast, field.name) for field in fields(Estimate)}),
        smallest=smallest,
        reasons=reasons,
        **labels,
    )


def _joint(
    sides: Sequence[tuple[Floats, Floats]], sizes: Mapping[str, int], chance: JsonObject
) -> tuple[JointPermutation, JointPermutation]:
    """Both joint tests; `sides` has the associations of targets and of attributes in each analysis."""
    by_target, by_attribute = zip(*sides, strict=True)
    return (
        joint_permutation(list(by_target), sizes["x"], **chance),
        joint_permutation(list(by_attribute), sizes["a"], **chance),
    )


@dataclass(frozen=True, eq=False)
class _Joint:
    """Joint tests of a curve, the larger p over targets and over attributes.

    Attributes:
        effects: effect size in each analysis.
        p_median: of the median; 1 where nothing can be tested.
        p_clear: of the number of clear analyses.
        p_adjusted: of each analysis, adjusted for all.
        clear: number of analyses that are clear by themselves.
    """

    effects: Floats
    p_median: float
    p_clear: float
    p_adjusted: Floats
    clear: int

    @classmethod
    def of(cls, targets: JointPermutation, attributes: JointPermutation) -> _Joint:
        """Combine the tests over targets and over attributes."""
        return cls(
            targets.effects,
            max(targets.p_median, attributes.p_median),
            max(targets.p_clear, attributes.p_clear),
            np.maximum(targets.p_adjusted, attributes.p_adjusted),
            targets.clear,
        )

    def beyond(self, p: float | None, p_single: Sequence[float | None]) -> _Joint:
        """Return the tests with those of the contrasts: over all analyses, and of each (Holm).

        Splits of residuals know nothing of how well frequency tells the lists apart; the error of the contrast does.
        """
        single = [1.0 if value is None else value for value in holm(p_single)]
        p = 1.0 if p is None else p
        return replace(
            self,
            p_median=max(self.p_median, p),
            p_clear=max(self.p_clear, p),
            p_adjusted=np.maximum(self.p_adjusted, single),
        )

    def read(self, agreement: float, alpha: float) -> tuple[bool, bool]:
        """Return whether an association is found over all analyses; and whether its direction depends on them."""
        positive, defined = int((self.effects > 0).sum()), len(self.effects)
        agrees = max(positive, defined - positive) >= agreement * defined - SAME
        return self.p_median <= alpha, not agrees and min(self.p_median, float(self.p_adjusted.min())) <= alpha

    def described(self, p_as_it_is: float, alpha: float, reason: str | None) -> CurveAtEqualFrequency:
        """The curve in numbers, and what word frequency does to a finding at alpha."""
        if reason is not None:
            return CurveAtEqualFrequency(reason=reason)
        return CurveAtEqualFrequency(
            median=float(np.median(self.effects)),
            positive=int((self.effects > 0).sum()),
            clear=self.clear,
            p_median=self.p_median,
            p_clear=self.p_clear,
            frequency=frequency_effect(as_it_is=p_as_it_is <= alpha, at_equal_frequency=self.p_median <= alpha),
        )


def _equal_frequency(table: SimilarityTable, centered: Floats, sizes: Mapping[str, int], chance: JsonObject) -> _Joint:
    """Joint tests of associations less what word frequency predicts of them, where they still differ."""
    rows, columns = table_sides(table)
    pattern = np.asarray(table.weights, np.float64)
    by_target = row_scores(centered, rows, columns, pattern)
    by_attribute = row_scores(np.swapaxes(centered, -1, -2), columns, rows, pattern.T)
    least = min(by_target.std(axis=1).min(), by_attribute.std(axis=1).min())
    if rows.collinear or columns.collinear or least <= SAME * np.abs(centered).max():
        return _Joint(np.zeros(len(centered)), 1.0, 1.0, np.ones(len(centered)), 0)
    return _Joint.of(*_joint(list(zip(by_target, by_attribute, strict=True)), sizes, chance))


def _held_back(table: SimilarityTable, lists: Circularity | None) -> tuple[str, ...]:
    """Reasons that hold the decision back: frequencies that are not known, lists that may be circular."""
    reasons = [] if lists is None or lists.passes else [lists.reason]
    views = all(getattr(model, "facets", None) for model in table.resolved.models)
    if None in table.frequency_sources:
        reasons.append(f"unknown whether word frequency explains it: {NO_FREQUENCIES}")
    elif "reference" in table.frequency_sources and not views:
        reasons.append("word frequency is held constant by a reference list of the language")
    return tuple(reasons)


def _leans(table: Floats, sizes: Mapping[str, int]) -> tuple[Floats, Floats] | None:
    """Association of each target with A rather than B, and of each attribute with X rather than Y.

    None where an association is undefined, or does not differ between words.
    """
    targets = table[:, : sizes["a"]].mean(axis=1) - table[:, sizes["a"] :].mean(axis=1)
    attributes = table[: sizes["x"]].mean(axis=0) - table[sizes["x"] :].mean(axis=0)
    if not np.isfinite(table).all():
        return None
    tolerance = SAME * float(np.abs(table).max())
    return (targets, attributes) if min(targets.std(), attributes.std()) > tolerance else None


def _warnings(rows: Sequence[Specification], tables: Mapping[str, Floats]) -> Iterator[str]:
    lost = sum(row.effect_size is None for row in rows)
    if lost:
        yield f"{lost:,} of {len(rows):,} analyses are undefined: {SAME_VECTOR}"
    near = [name for name, table in tables.items() if np.ptp(table) < TOO_NEAR]
    if near:
        yield (
            f"in {len(near):,} analyses all cosines lie within {TOO_NEAR:g} of each other, so that d magnifies "
            f"differences that mean nothing: {'; '.join(near[:3])}{' …' if len(near) > 3 else ''}"
        )


def _by_facet(rows: Sequence[Specification]) -> tuple[FacetSummary, ...]:
    """Median effect size at each level of the facets that vary."""
    effects: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        for facet, level in row.facets.items() if row.effect_size is not None else ():
            effects.setdefault(facet, {}).setdefault(str(level), []).append(row.effect_size or 0.0)
    return tuple(
        FacetSummary(facet, level, len(values), float(np.median(values)), sum(value > 0 for value in values))
        for facet, levels in effects.items()
        if len(levels) > 1
        for level, values in levels.items()
    )


def _draw_curve(result: SpecificationCurve) -> AltairChart:
    """Effects in order with the band of chance, over a table of dots: which choice each analysis made."""
    import pandas as pd

    alt = altair()

    def shorten(level: str) -> str:
        return level if len(level) <= _LABEL else f"{level[: _LABEL - 1]}…"

    ordered = [row for row in result.ordered if row.effect_size is not None]
    alpha = result.settings["alpha"]
    clear, unclear = f"p adjusted for all ≤ {alpha:g}".replace("0.", "."), "not clear"
    points = pd.DataFrame(
        {
            "rank": range(1, len(ordered) + 1),
            "d": [row.effect_size for row in ordered],
            "low": result.null_low,
            "high": result.null_high,
            "analysis": [row.model for row in ordered],
            "p adjusted": [row.p_adjusted for row in ordered],
            "evidence": [clear if (row.p_adjusted or 0.0) <= alpha else unclear for row in ordered],
        }
    )
    scale = alt.Scale(domain=[0.5, len(ordered) + 0.5], nice=False)
    x = alt.X("rank:Q", title=None, scale=scale, axis=alt.Axis(labels=False, ticks=False, grid=False))
    base = alt.Chart(points).encode(x=x)
    colors = alt.Scale(domain=[clear, unclear], range=[ACCENT, NEUTRAL])
    size = max(6, min(40, 2400 // len(ordered)))
    top = alt.layer(
        base.mark_area(opacity=0.18, color=ZERO).encode(
            y=alt.Y("low:Q", title="effect size d", axis=alt.Axis(minExtent=_MARGIN)), y2="high:Q"
        ),
        zero_line(horizontal=True),
        base.mark_point(filled=True, size=size, opacity=1).encode(
            y="d:Q",
            color=alt.Color("evidence:N", scale=colors, legend=top_legend()),
            tooltip=["analysis", "d", "p adjusted"],
        ),
    ).properties(width=520, height=220)
    facets = dict.fromkeys(row.facet for row in result.facets)
    panels = [top]
    for facet in facets:
        order = [row.level for row in result.facets if row.facet == facet]
        marks = pd.DataFrame(
            {
                "rank": range(1, len(ordered) + 1),
                "level": [shorten(str(row.facets.get(facet))) for row in ordered],
                "analysis": [row.model for row in ordered],
                "d": [row.effect_size for row in ordered],
            }
        )
        y = alt.Y(
            "level:N",
            title=facet,
            sort=list(map(shorten, order)),
            axis=alt.Axis(grid=True, ticks=False, minExtent=_MARGIN),
        )
        ticks = alt.Chart(marks).mark_tick(thickness=max(1, min(4, 480 // len(ordered))), height=9, color=SECOND)
        panels.append(ticks.encode(x=x, y=y, tooltip=["analysis", "d"]).properties(width=520, height=14 * len(order)))
    return alt.vconcat(*panels, spacing=8).resolve_scale(x="shared")

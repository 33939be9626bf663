"""Results of association tests on an embedding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from biasgauge._version import __version__
from biasgauge.core import TEST_ROLES, Estimate, JsonMapping, JsonObject
from biasgauge.lexicons import TYPED_WORDS, shared_words
from biasgauge.metrics import AssociationResult, WeatResult
from biasgauge.results import (
    Chart,
    Column,
    RecordTable,
    Result,
    chart_of_rows,
    interval_text,
    level_text,
    number_text,
    p_phrase,
    p_text,
    test_name,
)
from biasgauge.vectors import Coverage

if TYPE_CHECKING:
    import pandas as pd

FREQUENCY_EFFECTS = {
    "explains": ": explained by word frequency",
    "hides": ": word frequency hides it",
    "neither": ", on which a finding rests",
}
"""End of the sentence on a contrast at equal word frequency."""
MOST_DRAWN = 50
"""Words that a chart shows: those furthest from 0."""


class SetRow(NamedTuple):
    """Words of one set of an association test that are in the vocabulary, and those that are not."""

    role: str
    stands_for: str
    found: int
    of: int
    not_in_the_vocabulary: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class Association(Result):
    """The outcome of an association test on one model.

    Attributes:
        test: which test, e.g. "weat" or "mac".
        name: the lexicon, or "given words".
        model: the model's name.
        sets: what each set stands for.
        result: the numbers.
        coverage: which words were found and which were lost.
        settings: everything that decides the result.
        circular: how the lists were made from these vectors or their text; empty where no list says so.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"version": str}
    merged: ClassVar[str] = "result"
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "set_rows",
            "Words that the test rests on",
            (Column("set", source="role"), "stands_for", "found", Column("of", "count"), "not_in_the_vocabulary"),
            name="sets",
        ),
    )

    test: str
    name: str
    model: str
    sets: Mapping[str, str]
    result: AssociationResult
    coverage: Coverage
    settings: JsonMapping
    circular: str = ""

    @property
    def value(self) -> float | None:
        """The test's number; None when it is undefined."""
        return self.result.value

    @property
    def reason(self) -> str | None:
        """Reason why it is undefined; None when it is defined."""
        return self.result.reason

    @property
    def interval(self) -> Estimate | None:
        """Interval of the number over other words of the same kind."""
        return self.result.interval

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings: lists were made from these vectors; attributes that stand in both sets do not discriminate."""
        circular = (self.circular,) if self.circular else ()
        roles = [self.coverage.sets[role].words for role in "ab" if role in self.coverage.sets]
        shared = shared_words(*roles).sentence if len(roles) == 2 else ""
        return (*circular, f"{self.sets['a']} and {self.sets['b']}: {shared}") if shared else circular

    def to_dict(self) -> JsonObject:
        """One JSON-ready object."""
        shape = super().to_dict()
        numbers = shape.pop("result")
        return {**shape, **numbers, "warnings": list(self.warnings), "version": __version__}

    @property
    def estimate(self) -> Estimate:
        """The number with its interval."""
        return estimate_of_result(self.result)

    def to_frame(self) -> pd.DataFrame:
        """One row: the number, its interval, and whatever else the test found."""
        ends = self.estimate
        return super().to_frame().assign(low=ends.low, high=ends.high, level=ends.level)

    @property
    def set_rows(self) -> tuple[SetRow, ...]:
        """Words found and not found of each set."""
        lookups, lost = self.coverage.sets, self.coverage.lost
        return tuple(
            SetRow(role, label, len(lookups[role].words), lookups[role].asked, tuple(lost.get(role, ())))
            for role, label in self.sets.items()
        )

    def _title(self) -> str:
        return f"{test_name(self.test)} {self.name} on {self.model}"

    def _headline(self) -> str:
        return f"{self._title()}: {f'undefined: {self.reason}' if self.value is None else self._reading()}"

    def _reading(self) -> str:
        """The number in words."""
        return _with_interval(number_text(self.value, 4), self.interval)


def estimate_of_result(result: AssociationResult) -> Estimate:
    """The number of an association test with its interval."""
    ends = result.interval
    low, high, level = (None, None, 0.95) if ends is None else (ends.low, ends.high, ends.level)
    return Estimate(value=result.value, low=low, high=high, level=level, reason=result.reason)


def _result_property(name: str, doc: str) -> property:
    """Property that returns the field of the test's result with that name."""
    return property(attrgetter(f"result.{name}"), doc=doc)


@dataclass(frozen=True, eq=False, repr=False)
class Weat(Association):
    """The outcome of a WEAT: positive when X leans to A and Y to B."""

    result: WeatResult

    effect_size = _result_property("effect_size", "Difference of the mean associations in standard deviations.")
    statistic = _result_property("statistic", "Sum of the associations of X less that of Y.")
    p_value = _result_property("p_value", "Share of splits of X and Y at least as extreme as this one.")
    p_method = _result_property("p_method", 'How p was found: "exact" over all splits, or "monte-carlo".')
    p_interval = _result_property("p_interval", "Where p itself may lie; a point when it is exact.")
    contrast = _result_property("contrast", "Difference of the mean associations in cosine units, with its interval.")
    p_attributes = _result_property("p_attributes", "Share of splits of A and B at least as extreme as this one.")
    alternative = _result_property("alternative", "Which splits count as extreme.")
    p_contrast = _result_property("p_contrast", "Largest p of the contrast: over targets, attributes, its interval.")
    p_equal_frequency = _result_property(
        "p_equal_frequency", "The same at equal word frequency; a finding rests on it."
    )
    frequency = _result_property("frequency", "What word frequency does to the finding.")

    @property
    def associations(self) -> dict[str, float]:
        """Association of each target word: how much closer it is to A than to B."""
        words = (*self.coverage.sets["x"].words, *self.coverage.sets["y"].words)
        numbers = (*self.result.x_associations, *self.result.y_associations)
        return dict(zip(words, numbers, strict=True)) if numbers else {}

    def _charts(self) -> tuple[Chart, ...]:
        """Association of each target word: how much closer it is to A than to B."""
        associations = self.associations
        if not associations:
            return ()
        x, y, a, b = (self.sets[role] for role in TEST_ROLES)
        first = set(self.coverage.sets["x"].words)
        furthest = sorted(associations, key=lambda word: -abs(associations[word]))[:MOST_DRAWN]
        rows = [
            {"what": word, "association": associations[word], "targets": x if word in first else y}
            for word in sorted(furthest, key=lambda word: -associations[word])
        ]
        which = "Every target word" if len(rows) == len(associations) else f"The {len(rows)} words furthest from 0"
        remark = f"{which}: mean cosine with {a} less mean cosine with {b}. The contrast is the difference of the means"
        title = f"Which words of {x} and {y} lean to {a} or {b}"
        axis = f"← {b} · association · {a} →"
        return (chart_of_rows("words", title, remark, axis, rows, number="association", color="targets"),)

    def _reading(self) -> str:
        """The contrast with its interval and the largest p, both two-sided; what word frequency does to it."""
        if self.contrast is None or self.p_contrast is None:
            return f"effect size d {self._published()}"
        ends = self.contrast
        interval = "" if ends.low is None else f" {interval_text(ends.low, ends.high, 4)}"
        p = f"{p_phrase(self.p_contrast)} (two-sided, largest of three)"
        return f"contrast {number_text(ends.value, 4)}{interval}, {p}{self._frequency_effect()}"

    def _frequency_effect(self) -> str:
        """Clause on the contrast at equal word frequency; empty where frequencies are not known."""
        if self.p_equal_frequency is None:
            return ""
        p = p_phrase(self.p_equal_frequency)
        effect = {"explains": "explained by word frequency", "hides": "hidden by word frequency"}.get(
            self.frequency or ""
        )
        return f"; {effect} ({p} at equal frequency)" if effect else f"; {p} at equal word frequency"

    def _published(self) -> str:
        """Effect size d with its interval, and p over targets alone, as Caliskan et al. 2017 have them."""
        size = _with_interval(number_text(self.value, 4), self.interval)
        p, spread = self.p_value, self.p_interval
        if p is None:
            return size
        drawn = self.p_method == "monte-carlo" and spread is not None
        within = f", 95 % interval [{p_text(spread.low)}, {p_text(spread.high)}]" if drawn else ""
        sides = "two-sided" if self.alternative == "two-sided" else f"one-sided, {self.alternative}"
        return f"{size}, {p_phrase(p)} over targets alone ({self.p_method}, {sides}{within})"

    def _at_equal_frequency(self) -> Iterator[str]:
        """Yield a sentence on the contrast at equal word frequency, and what frequency does to the finding."""
        adjusted = None if self.contrast is None else self.contrast.adjusted
        if adjusted is None:
            return
        if adjusted.value is None:
            yield f"At equal word frequency it is undefined: {adjusted.reason}."
            return
        contrast = _with_interval(number_text(adjusted.value, 4), adjusted)
        p = "" if self.p_equal_frequency is None else f", {p_phrase(self.p_equal_frequency)} (largest of three)"
        yield f"At equal word frequency {contrast}{p}{FREQUENCY_EFFECTS.get(self.frequency or '', '')}."

    def _sentences(self) -> tuple[str, ...]:
        if self.value is None or self.statistic is None:
            return ()
        x, y, a, b = (role.upper() if self.sets[role] == TYPED_WORDS else self.sets[role] for role in TEST_ROLES)
        sentences = [f"A positive contrast: {x} is more associated with {a} than {y} is, and {y} with {b}."]
        if self.contrast is not None:
            contrast = _with_interval(number_text(self.contrast.value, 4), self.contrast)
            sentences += [f"Contrast in cosine units {contrast}.", *self._at_equal_frequency()]
        if self.p_attributes is not None:
            sentences.append(
                f"{p_phrase(self.p_attributes)} over attributes: how often a random split of {a} and {b} does as much. "
                "A finding should hold for other targets and for other attributes: the largest p counts."
            )
        published = f"As published (Caliskan et al. 2017): effect size d {self._published()}."
        warning = "Where attributes are a sample of words, neither this p nor the interval of d holds its level."
        return (*sentences, published, warning, f"Test statistic {number_text(self.statistic, 4)}.")


def _with_interval(number: str, ends: Estimate | None) -> str:
    if ends is None or ends.low is None or ends.high is None:
        return f"{number}, without an interval" if ends is None or not ends.reason else f"{number}, {ends.reason}"
    description = f"{level_text(ends.level)}, {ends.method}, over {ends.over}"
    return f"{number} {interval_text(ends.low, ends.high, 4)} ({description})"

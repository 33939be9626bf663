"""Rows of a comparison: contrasts of groups, differences, trends, changes of single words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, NamedTuple

from biasgauge.core import UNDEFINED, Estimate, FrequencyEffect, LabeledEstimate, Record
from biasgauge.stats import Contrast, GroupComparison


@dataclass(frozen=True, kw_only=True)
class GroupContrast(LabeledEstimate):
    """The contrast of one question in one group, over all of its models.

    Attributes:
        question: the lexicon's name.
        group: the group's name.
        position: where the group stands in the order; None without one.
        from_mean: the group's `decisive` contrast less the mean of all groups, with an interval: what all groups
            share is not in it, such as the common lean of the words.
        adjusted: the contrast at equal word frequency; None where frequencies are not known.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "contrast"}

    intervals_of: ClassVar[tuple[str, ...]] = ("from_mean", "adjusted")

    question: str
    group: str
    position: float | None = None
    from_mean: Estimate = UNDEFINED
    adjusted: Estimate | None = None

    @property
    def decisive(self) -> Estimate:
        """The contrast that differences rest on: at equal word frequency, where that is known."""
        return self if self.adjusted is None else self.adjusted


@dataclass(frozen=True, kw_only=True)
class Compared(LabeledEstimate):
    """A number that sets groups against each other, asked in two ways.

    The interval (`low`, `high`) is for other words of the same kind and other models of the same kind.

    Attributes:
        question: the lexicon's name.
        p: two-sided p of no difference; below 1 − level exactly where the interval excludes 0.
        p_adjusted: p of the number that the verdict rests on, at equal word frequency where that is known, adjusted for
            all rows of this table (Holm).
        se: standard error.
        df: its degrees of freedom.
        these_words: the number that the verdict rests on, with the interval for these very words and other models.
        p_these_words: its p.
        variances: of what the standard error is made, as in `stats.Contrast`.
        adjusted: the same number at equal word frequency, on which the verdict rests; None where frequencies are not
            known, or the number is an effect size.
        p_equal_frequency: its p.
        frequency: what word frequency does to the finding; None where frequencies are not known.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("these_words", "adjusted")

    question: str
    p: float | None = None
    p_adjusted: float | None = None
    se: float | None = None
    df: float | None = None
    these_words: Estimate = UNDEFINED
    p_these_words: float | None = None
    variances: Mapping[str, float] = field(default_factory=dict)
    adjusted: Estimate | None = None
    p_equal_frequency: float | None = None
    frequency: FrequencyEffect | None = None

    @property
    def decisive(self) -> Estimate:
        """The number that the verdict rests on, with its interval: at equal word frequency, where that is known."""
        return self if self.adjusted is None else self.adjusted

    @property
    def p_decisive(self) -> float | None:
        """Its p, not adjusted for other rows."""
        return self.p if self.adjusted is None else self.p_equal_frequency


@dataclass(frozen=True, kw_only=True)
class Difference(Compared):
    """The contrast in the second group less that in the first: positive where it is larger in the second.

    Attributes:
        first, second: names of the groups.
        words_with: share of the target words whose own association changes in the direction of the difference.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "difference"}

    first: str
    second: str
    words_with: float | None = None


@dataclass(frozen=True, kw_only=True)
class Trend(Compared):
    """Least-squares slope of the groups' contrasts over their positions, per unit of position; each group counts once.

    Attributes:
        other_texts: the same slope with the interval of the groups' scatter about the line, which holds also what
            sets one group's text apart from the next; wide with few groups.
        p_other_texts: its p.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "slope"}

    intervals_of: ClassVar[tuple[str, ...]] = ("these_words", "adjusted", "other_texts")

    other_texts: Estimate = UNDEFINED
    p_other_texts: float | None = None


@dataclass(frozen=True, kw_only=True)
class CountDifference(LabeledEstimate):
    """The same difference in the texts themselves: of log odds ratios from counts, with an interval over documents.

    Attributes:
        question: the lexicon's name.
        first, second: names of the groups.
        in_first, in_second: the contrast of log odds in each text.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "difference"}

    question: str
    first: str
    second: str
    in_first: float | None = None
    in_second: float | None = None


@dataclass(frozen=True, kw_only=True)
class WordChange(LabeledEstimate):
    """Change of one target word's association from the first group to the last, with its interval over models.

    Attributes:
        question: the lexicon's name.
        word: the target word.
        set: its list.
        first, last: its association in the two groups: positive leans as the question's first claim says.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "change"}

    question: str
    word: str
    set: str
    first: float
    last: float


@dataclass(frozen=True)
class LinePoint(Record):
    """A point of the line of a trend, with the interval of its slope there, about the mean of the groups."""

    question: str
    position: float
    value: float
    low: float | None
    high: float | None
    method: str | None = None


@dataclass(frozen=True)
class QuestionAbout(Record):
    """Name, title and claim of a question.

    Attributes:
        name: the lexicon's name.
        title: what it is about.
        claim: what a positive contrast means.
        reason: why it cannot be compared; None when it can.
    """

    name: str
    title: str
    claim: str
    reason: str | None = None


class TwoComparisons(NamedTuple):
    """A comparison of groups as it is, and at equal word frequency: None where frequencies are not known."""

    as_it_is: GroupComparison
    at_equal_frequency: GroupComparison | None

    @property
    def decisive(self) -> GroupComparison:
        """The one that a verdict rests on."""
        return self.as_it_is if self.at_equal_frequency is None else self.at_equal_frequency


def compared(kind: type[Compared], numbers: TwoComparisons, **labels: Any) -> Any:  # noqa: ANN401 - of `kind`
    """A row from a comparison of groups, as it is and at equal word frequency."""
    contrast, fixed = numbers.as_it_is.other_words, numbers.decisive.these_words
    tests = {"p": contrast.p, "se": contrast.se, "df": contrast.df, "variances": contrast.variances}
    these = {"these_words": estimate_alone(fixed), "p_these_words": fixed.p}
    if numbers.at_equal_frequency is not None:
        adjusted = numbers.at_equal_frequency.other_words
        these |= {"adjusted": estimate_alone(adjusted), "p_equal_frequency": adjusted.p}
    return kind.of_estimate(estimate_alone(contrast), **tests, **these, **labels)


def estimate_alone(contrast: Contrast) -> Estimate:
    """A contrast as number and interval alone."""
    return Estimate(**{field.name: getattr(contrast, field.name) for field in fields(Estimate)})

"""Rows of a comparison: contrasts of groups, differences, trends, changes of single words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from biasgauge.core import UNDEFINED, Estimate, LabeledEstimate, Record
from biasgauge.stats import Contrast, GroupComparison


@dataclass(frozen=True, kw_only=True)
class GroupContrast(LabeledEstimate):
    """The contrast of one question in one group, over all of its models.

    Attributes:
        question: the lexicon's name.
        group: the group's name.
        position: where the group stands in the order; None without one.
        from_mean: the group's contrast less the mean of all groups, with an interval: what all groups share is not in
            it, such as the common lean of the words.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "contrast"}

    intervals_of: ClassVar[tuple[str, ...]] = ("from_mean",)

    question: str
    group: str
    position: float | None = None
    from_mean: Estimate = UNDEFINED


@dataclass(frozen=True, kw_only=True)
class Compared(LabeledEstimate):
    """A number that sets groups against each other, asked in two ways.

    The interval (`low`, `high`) is for other words of the same kind and other models of the same kind.

    Attributes:
        question: the lexicon's name.
        p: two-sided p of no difference; below 1 − level exactly where the interval excludes 0.
        p_adjusted: the same, adjusted for all rows of this table (Holm).
        se: standard error.
        df: its degrees of freedom.
        these_words: the same number with the interval for these very words and other models.
        p_these_words: its p.
        variances: of what the standard error is made, as in `stats.Contrast`.
    """

    intervals_of: ClassVar[tuple[str, ...]] = ("these_words",)

    question: str
    p: float | None = None
    p_adjusted: float | None = None
    se: float | None = None
    df: float | None = None
    these_words: Estimate = UNDEFINED
    p_these_words: float | None = None
    variances: Mapping[str, float] = field(default_factory=dict)


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

    intervals_of: ClassVar[tuple[str, ...]] = ("these_words", "other_texts")

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


def compared(kind: type[Compared], comparison: GroupComparison, **labels: Any) -> Any:  # noqa: ANN401 - of `kind`
    """A row from a comparison of groups."""
    contrast, fixed = comparison.other_words, comparison.these_words
    tests = {"p": contrast.p, "se": contrast.se, "df": contrast.df, "variances": contrast.variances}
    these = {"these_words": estimate_alone(fixed), "p_these_words": fixed.p}
    return kind.of_estimate(estimate_alone(contrast), **tests, **these, **labels)


def estimate_alone(contrast: Contrast) -> Estimate:
    """A contrast as number and interval alone."""
    return Estimate(**{field.name: getattr(contrast, field.name) for field in fields(Estimate)})

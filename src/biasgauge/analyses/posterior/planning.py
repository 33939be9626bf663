"""Number of attribute words until the interval of a contrast is narrower than some width.

With W protected words and A attributes in each of two connections, the variance of a contrast of group means is

    Σ over connections of tau² / W + sigma² / (W A) + omega² / A.

Tau is the standard deviation of word means, which more attributes do not reduce; sigma that of residuals; omega that
of attribute effects (crossed model), which more protected words do not reduce, since they meet the same attributes.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from biasgauge.analyses.posterior.bayesian import Posterior
from biasgauge.analyses.posterior.table import ASSOCIATED, DIFFERENT
from biasgauge.core import Floats, Record, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table, level_text, number_text

if TYPE_CHECKING:
    import pandas as pd


GRID = (1.0, 1.5, 2.0, 3.0, 4.0, 8.0, 16.0)
"""Multiples of the protected words for which the attributes needed are listed."""
_DRAWS = 1_000
"""Draws of the standard deviations that a plan uses; the posterior is thinned to about as many."""
_NORMAL = 1e9
"""Degrees of freedom at which Student's t is Normal within rounding."""
_DOUBLINGS, _STEPS = 24.0, 32
"""Bisection searches factors of the attributes between 2 to plus and minus this power, in this many halvings."""


@dataclass(frozen=True)
class Spreads:
    """Assumed standard deviations, before there are data: two equal connections with separate attributes.

    Attributes:
        residual: of distances around the mean of their word (sigma).
        between: of word means (tau).
        words: protected words.
        attribute: of the effects of attributes (omega); 0 in the published model.
    """

    residual: float
    between: float
    words: int
    attribute: float = 0.0

    def __post_init__(self) -> None:
        check_number(0, residual=self.residual, between=self.between, attribute=self.attribute)
        check_whole(2, words=self.words)

    def variances(self) -> _Variances:
        """Variance of the contrast; attributes are counted in multiples of one per connection."""
        words, ones = self.words, np.ones((1, 2))  # one draw × two connections
        terms = ones * self.between**2 / words, ones * self.residual**2 / words, ones * self.attribute**2
        return _Variances(*terms, (words, words), (1, 1))


@dataclass(frozen=True)
class PlanRow(Record):
    """Attribute words needed with some number of protected words.

    Attributes:
        words: protected words in each of the two connections.
        attributes: attribute words needed in each; None: never, with these protected words.
    """

    words: tuple[int, int]
    attributes: tuple[int, int] | None


@dataclass(frozen=True, repr=False)
class AttributePlan(Result):
    """Number of attribute words that are enough.

    Attributes:
        contrast: the two connections.
        width: the interval must be narrower than this, in cosine distance.
        prob: probability inside the interval.
        assurance: share of the posterior draws of the standard deviations for which the plan is enough.
        variant: the model.
        words: protected words planned with, in each connection.
        attributes: attribute words needed in each connection; None: never, however many.
        attributes_now: attribute words there are; None without a posterior.
        low: attribute words needed in the first connection at the 5.5 % quantile over draws; None for never.
        high: the same at the 94.5 % quantile.
        p_never: share of the draws in which no number of attributes is enough.
        expected_width: width that the standard deviations give at the present numbers (median over draws); None
            without a posterior.
        observed_width: width of the posterior's own interval; None without a posterior.
        most_attributes: width with infinitely many attributes and the protected words planned with.
        most_words: width with infinitely many protected words and the present attributes; 0 in the published model, in
            which protected words can replace attributes. None without a posterior.
        rows: attributes needed with more protected words.
    """

    contrast: tuple[str, str]
    width: float
    prob: float
    assurance: float
    variant: str
    words: tuple[int, int]
    attributes: tuple[int, int] | None
    attributes_now: tuple[int, int] | None
    low: int | None
    high: int | None
    p_never: float
    expected_width: float | None
    observed_width: float | None
    most_attributes: float
    most_words: float | None
    rows: tuple[PlanRow, ...]

    @property
    def reading(self) -> str:
        """Conclusion in one sentence: attributes needed, or why no number is enough."""
        interval = f"the {level_text(self.prob)} interval of {self.contrast[0]} − {self.contrast[1]}"
        if self.attributes is None:
            more = f" Nor would {_count_text(self.rows[-1].words)} protected words make it possible."
            for row in reversed(self.rows):
                if row.attributes is not None:
                    words, attributes = _count_text(row.words), _count_text(row.attributes)
                    more = f" With {words} protected words, {attributes} attributes are enough."
            return (
                f"Never: with {_count_text(self.words)} protected words {interval} stays at "
                f"{number_text(self.most_attributes, 3)} or wider, however many attributes there are, because "
                f"protected words differ from each other.{more}"
            )
        present = "" if self.attributes_now is None else f" (now {_count_text(self.attributes_now)})"
        return (
            f"{_count_text(self.attributes)} attribute words{present}, with {_count_text(self.words)} protected words, "
            f"make {interval} narrower than {self.width:g}."
        )

    def derived(self) -> dict[str, str]:
        """Add the conclusion, also as the reason where no number is enough."""
        return dict.fromkeys(["reading"] if self.attributes is not None else ["reading", "reason"], self.reading)

    def to_frame(self) -> pd.DataFrame:
        """One row per number of protected words; attributes are missing where no number is enough."""
        import pandas as pd

        columns = [f"{name}_{count}" for count in ("words", "attributes") for name in self.contrast]
        return pd.DataFrame(self._cells(), columns=columns).astype("Int64")

    def _cells(self) -> list[tuple[int | None, ...]]:
        return [(*row.words, *(row.attributes or (None, None))) for row in self.rows]

    def summary(self) -> Summary:
        """Attribute words needed, for several numbers of protected words."""
        a, b = self.contrast
        columns = [Column(f"{count}, {name}", "count") for count in ("words", "attributes") for name in (a, b)]
        note = "– : no number of attributes is enough"
        table = Table.of("plan", f"Attribute words needed ({a} / {b})", columns, self._cells(), note=note)
        return Summary("Plan", self.reading, name="plan", tables=(table,))


def plan_attributes(
    posterior: Posterior | Spreads,
    *,
    width: float,
    contrast: tuple[str, str] = (ASSOCIATED, DIFFERENT),
    words: int | None = None,
    prob: float | None = None,
    assurance: float = 0.5,
) -> AttributePlan:
    """Attribute words needed until the interval of a contrast of group means is narrower than `width`.

    Given the standard deviations, the means are Gaussian; the width is that of Student's t with the degrees of freedom
    of the words and attributes there are (Welch), because a future data set would have to estimate the standard
    deviations again. Every list of attributes grows by the same factor. The prior of the group means is left out, which
    makes the plan cautious by a percent or two. Uncertainty of the standard deviations comes from the draws of the
    posterior: half of them need no more than the plan says, unless `assurance` asks for more.

    Args:
        posterior: that of `bayes` (any shipped variant; "crossed" is the one that knows what attributes cost), or
            chosen `Spreads`.
        width: the interval must be narrower than this.
        contrast: the two connections.
        words: protected words to plan with (in the first connection; the second grows alike); as many as now by
            default.
        prob: probability inside the interval; that of the posterior, or .89, by default.
        assurance: share of the draws for which the plan must be enough.

    Raises:
        ParameterError: an argument cannot be used, or a connection has no posterior.
    """
    fitted = posterior if isinstance(posterior, Posterior) else None
    probability = prob if prob is not None else 0.89 if fitted is None else fitted.credible.prob
    check_number(0, ends=False, width=width)
    check_number(0, 1, ends=False, assurance=assurance, prob=probability)
    variances = posterior.variances() if isinstance(posterior, Spreads) else _variances(posterior, contrast)
    factor = 1.0 if words is None else words / variances.words[0]
    if factor * min(variances.words) < 2:
        raise ParameterError(f"A plan needs at least two protected words. Got {words!r}.")
    needed = variances.attribute_factor(width, factor, probability)
    low, sufficient, high = (
        variances.attributes_times(float(end))
        for end in np.quantile(needed, [0.055, assurance, 0.945], method="higher")
    )
    rows = []
    for multiple in GRID:
        factors = variances.attribute_factor(width, factor * multiple, probability)
        quantile = float(np.quantile(factors, assurance, method="higher"))
        rows.append(PlanRow(_scaled(variances.words, factor * multiple), variances.attributes_times(quantile)))
    observed = None
    if fitted is not None and prob is None:
        contrasts = [row for row in fitted.contrasts if {row.a, row.b} == set(contrast) and row.word is None]
        observed = next((row.high - row.low for row in contrasts if row.high is not None and row.low is not None), None)
    typical: dict[str, Any] = {
        "most_attributes": float(np.median(variances.widths(np.inf, factor, probability))),
        "expected_width": float(np.median(variances.widths(1.0, 1.0, probability))) if fitted else None,
        "most_words": float(np.median(variances.widths(1.0, np.inf, probability))) if fitted else None,
    }
    return AttributePlan(
        contrast=contrast, width=width, prob=probability, assurance=assurance, words=_scaled(variances.words, factor),
        variant=fitted.variant if fitted else "chosen", attributes=sufficient,
        attributes_now=variances.attributes if fitted else None, low=low and low[0], high=high and high[0],
        p_never=float(np.isinf(needed).mean()), observed_width=observed, rows=tuple(rows), **typical,
    )  # fmt: skip


class _Variances(NamedTuple):
    """Terms of the variance of a contrast at the present numbers, each draws × connections."""

    between: Floats
    residual: Floats
    attribute: Floats
    words: tuple[int, int]
    attributes: tuple[int, int]

    def widths(self, attributes: float | Floats, words: float, prob: float) -> Floats:
        """Width of the interval in each draw, with attributes and protected words multiplied by these factors.

        2 t √V with V the sum of the terms and t the quantile of Student's t at Welch's degrees of freedom,
        V² / Σ term² / (n − 1), n the number of protected words or of attributes.
        """
        from scipy.special import stdtrit

        factor = np.broadcast_to(np.asarray(attributes, np.float64), (len(self.between),))[:, None]
        means = (self.between + self.residual / factor) / words
        effects = self.attribute / factor
        counts = np.array(self.attributes)[: effects.shape[1]]
        total = means.sum(axis=1) + effects.sum(axis=1)
        freedom = (means**2 / np.maximum(words * np.array(self.words) - 1, 1)).sum(axis=1)
        freedom += (effects**2 / np.maximum(factor * counts - 1, 1)).sum(axis=1)
        df = np.divide(total**2, freedom, out=np.full(len(total), _NORMAL), where=freedom > 0)
        widths: Floats = 2 * stdtrit(df, (1 + prob) / 2) * np.sqrt(total)
        return widths

    def attribute_factor(self, width: float, words: float, prob: float) -> Floats:
        """Smallest factor of the attributes that makes the interval narrow enough, by draw; infinite if none does."""
        shape = (len(self.between),)
        low, high = np.full(shape, -_DOUBLINGS), np.full(shape, _DOUBLINGS)
        for _ in range(_STEPS):  # bisection of log2 of the factor; widths fall as it rises
            middle = (low + high) / 2
            narrow = self.widths(2**middle, words, prob) < width
            low, high = np.where(narrow, low, middle), np.where(narrow, middle, high)
        return np.where(self.widths(np.inf, words, prob) < width, 2**high, np.inf)

    def attributes_times(self, factor: float) -> tuple[int, int] | None:
        """Present numbers of attributes times a factor, rounded up; None where the factor is infinite."""
        return None if np.isinf(factor) else _scaled(self.attributes, factor)


def _variances(fitted: Posterior, contrast: tuple[str, str]) -> _Variances:
    """Variance of a contrast of two connections in draws of a posterior."""
    draws, table = fitted.draws, fitted.table
    if len(contrast) != 2 or contrast[0] == contrast[1]:
        raise ParameterError(f"A contrast is of two connections. Got {contrast!r}.")
    for name in contrast:
        if name not in draws.connections:
            why = fitted.undefined.get(name, f"there are {', '.join(draws.connections)}")
            raise ParameterError(f"There is no posterior of {name!r}: {why}.")
    columns = [draws.connections.index(name) for name in contrast]
    thinned = slice(None, None, max(1, len(draws) // _DRAWS))
    counts, shares, sizes, weights = [], [], [], []
    for name in contrast:
        rows = table.rows_of([name])
        words, word = np.unique(table.word[rows], return_inverse=True)
        if len(words) < 2:
            raise ParameterError("A plan needs at least two protected words in either connection.")
        per_word = np.bincount(word).astype(np.float64)
        # Weight of each attribute in the mean of word means: Σ over its words of 1 / (words × attributes of the word).
        weight = np.zeros(len(table.attributes))
        np.add.at(weight, table.attribute[rows], 1 / (len(words) * per_word[word]))
        counts.append(len(words))
        shares.append((1 / per_word).sum() / len(words) ** 2)  # residual variance of the mean of word means over σ²
        sizes.append(int(np.count_nonzero(weight)))
        weights.append(weight)
    residual = draws.residual[thinned][:, columns] ** 2
    if draws.freedom is not None:
        # Fisher information of the location of Student's t with f degrees of freedom: (f + 1) / (f + 3) of the Normal.
        freedom = draws.freedom[thinned][:, columns]
        residual = residual * (freedom + 3) / (freedom + 1)
    attribute = np.zeros((len(residual), 1))
    if draws.attributes is not None:
        variance = draws.attributes.sd[thinned] ** 2
        blocks = [
            next(index for index, names in enumerate(draws.attributes.blocks) if name in names) for name in contrast
        ]
        if blocks[0] == blocks[1]:  # the same attributes in both: effects cancel but for the difference of weights
            attribute = variance[:, blocks[:1]] * ((weights[0] - weights[1]) ** 2).sum()
        else:
            attribute = variance[:, blocks] * np.array([(weight**2).sum() for weight in weights])
    between = draws.between[thinned][:, columns] ** 2 / np.array(counts)
    numbers = (counts[0], counts[1]), (sizes[0], sizes[1])
    return _Variances(between, residual * np.array(shares), attribute, *numbers)


def _scaled(counts: tuple[int, int], factor: float) -> tuple[int, int]:
    first, second = (max(1, ceil(count * factor - 1e-9)) for count in counts)
    return first, second


def _count_text(counts: tuple[int, int]) -> str:
    return f"{counts[0]:,}" if counts[0] == counts[1] else f"{counts[0]:,} and {counts[1]:,}"

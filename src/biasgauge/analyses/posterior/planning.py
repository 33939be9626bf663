"""Number of attribute words until the interval of a contrast is narrower than some width.

The variance of a contrast of two group means has three parts. How protected words differ from each other (tau) falls
with the number of protected words alone, however many attributes there are. Residuals (sigma) fall with both. Effects
of attributes (omega, in the crossed model) fall with the number of attributes alone: more protected words, which meet
the same attributes, cannot replace them.
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
"""Draws of the standard deviations that are enough for a plan: every so many of the posterior's are taken."""
_NORMAL = 1e9
"""Degrees of freedom of what is as good as Normal."""
_DOUBLINGS, _STEPS = 24.0, 32
"""Attributes may grow or shrink by 2 to this power; halvings of that range until the answer is exact enough."""


@dataclass(frozen=True)
class Spreads:
    """Chosen standard deviations, where there are no data yet: two connections alike, with attributes of their own.

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
        words, both = self.words, np.ones((1, 2))
        parts = both * self.between**2 / words, both * self.residual**2 / words, both * self.attribute**2
        return _Variances(*parts, (words, words), (1, 1))


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
        most_attributes: width with endlessly many attributes and the protected words planned with.
        most_words: width with endlessly many protected words and the present attributes; 0 in the published model, in
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
        """The answer in words."""
        what = f"the {level_text(self.prob)} interval of {self.contrast[0]} − {self.contrast[1]}"
        if self.attributes is None:
            more = f" Nor would {_both(self.rows[-1].words)} protected words make it possible."
            for row in reversed(self.rows):
                if row.attributes is not None:
                    more = f" With {_both(row.words)} protected words, {_both(row.attributes)} attributes would do."
            return (
                f"Never: with {_both(self.words)} protected words {what} stays at "
                f"{number_text(self.most_attributes, 3)} or wider, however many attributes there are, because "
                f"protected words differ from each other.{more}"
            )
        now = "" if self.attributes_now is None else f" (now {_both(self.attributes_now)})"
        return (
            f"{_both(self.attributes)} attribute words{now}, with {_both(self.words)} protected words, make {what} "
            f"narrower than {self.width:g}."
        )

    def derived(self) -> dict[str, str]:
        """The answer in words; the same as a reason where no number is enough."""
        return dict.fromkeys(["reading"] if self.attributes is not None else ["reading", "reason"], self.reading)

    def to_frame(self) -> pd.DataFrame:
        """One row a number of protected words; attributes empty for never."""
        import pandas as pd

        columns = [f"{name}_{what}" for what in ("words", "attributes") for name in self.contrast]
        return pd.DataFrame(self._cells(), columns=columns).astype("Int64")

    def _cells(self) -> list[tuple[int | None, ...]]:
        return [(*row.words, *(row.attributes or (None, None))) for row in self.rows]

    def summary(self) -> Summary:
        """Attribute words needed, for several numbers of protected words."""
        a, b = self.contrast
        columns = [Column(f"{what}, {name}", "count") for what in ("words", "attributes") for name in (a, b)]
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
        contrast: which two connections.
        words: protected words to plan with (in the first connection; the second grows alike); as many as now by
            default.
        prob: probability inside the interval; that of the posterior, or .89, by default.
        assurance: share of the draws for which the plan must be enough.

    Raises:
        ParameterError: an argument cannot be used, or a connection has no posterior.
    """
    fitted = posterior if isinstance(posterior, Posterior) else None
    inside = prob if prob is not None else 0.89 if fitted is None else fitted.credible.prob
    check_number(0, ends=False, width=width)
    check_number(0, 1, ends=False, assurance=assurance, prob=inside)
    now = posterior.variances() if isinstance(posterior, Spreads) else _variances(posterior, contrast)
    factor = 1.0 if words is None else words / now.words[0]
    if factor * min(now.words) < 2:
        raise ParameterError(f"A plan needs at least two protected words. Got {words!r}.")
    needed = now.attribute_factor(width, factor, inside)
    low, enough, high = (
        now.grown(float(end)) for end in np.quantile(needed, [0.055, assurance, 0.945], method="higher")
    )
    rows = []
    for more in GRID:
        factors = now.attribute_factor(width, factor * more, inside)
        quantile = float(np.quantile(factors, assurance, method="higher"))
        rows.append(PlanRow(_scaled(now.words, factor * more), now.grown(quantile)))
    observed = None
    if fitted is not None and prob is None:
        contrasts = [row for row in fitted.contrasts if {row.a, row.b} == set(contrast) and row.word is None]
        observed = next((row.high - row.low for row in contrasts if row.high is not None and row.low is not None), None)
    typical: dict[str, Any] = {
        "most_attributes": float(np.median(now.widths(np.inf, factor, inside))),
        "expected_width": float(np.median(now.widths(1.0, 1.0, inside))) if fitted else None,
        "most_words": float(np.median(now.widths(1.0, np.inf, inside))) if fitted else None,
    }
    return AttributePlan(
        contrast=contrast, width=width, prob=inside, assurance=assurance, words=_scaled(now.words, factor),
        variant=fitted.variant if fitted else "chosen", attributes=enough,
        attributes_now=now.attributes if fitted else None, low=low and low[0], high=high and high[0],
        p_never=float(np.isinf(needed).mean()), observed_width=observed, rows=tuple(rows), **typical,
    )  # fmt: skip


class _Variances(NamedTuple):
    """The parts of the variance of a contrast at the present numbers, draws × terms."""

    between: Floats
    residual: Floats
    attribute: Floats
    words: tuple[int, int]
    attributes: tuple[int, int]

    def widths(self, attributes: float | Floats, words: float, prob: float) -> Floats:
        """Width of the interval in each draw, for so many times as many attributes and protected words.

        Student's t with Welch's degrees of freedom: protected words less one, attributes less one.
        """
        from scipy.special import stdtrit

        more = np.broadcast_to(np.asarray(attributes, np.float64), (len(self.between),))[:, None]
        means = (self.between + self.residual / more) / words
        effects = self.attribute / more
        terms = np.array(self.attributes)[: effects.shape[1]]
        total = means.sum(axis=1) + effects.sum(axis=1)
        freedom = (means**2 / np.maximum(words * np.array(self.words) - 1, 1)).sum(axis=1)
        freedom += (effects**2 / np.maximum(more * terms - 1, 1)).sum(axis=1)
        df = np.divide(total**2, freedom, out=np.full(len(total), _NORMAL), where=freedom > 0)
        widths: Floats = 2 * stdtrit(df, (1 + prob) / 2) * np.sqrt(total)
        return widths

    def attribute_factor(self, width: float, words: float, prob: float) -> Floats:
        """By how much the attributes must grow in each draw; infinite where no number is enough."""
        shape = (len(self.between),)
        low, high = np.full(shape, -_DOUBLINGS), np.full(shape, _DOUBLINGS)
        for _ in range(_STEPS):
            middle = (low + high) / 2
            narrow = self.widths(2**middle, words, prob) < width
            low, high = np.where(narrow, low, middle), np.where(narrow, middle, high)
        return np.where(self.widths(np.inf, words, prob) < width, 2**high, np.inf)

    def grown(self, factor: float) -> tuple[int, int] | None:
        """So many times as many attributes; None where no number is enough."""
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
    some = slice(None, None, max(1, len(draws) // _DRAWS))
    counts, shares, sizes, weights = [], [], [], []
    for name in contrast:
        rows = table.rows_of([name])
        words, word = np.unique(table.word[rows], return_inverse=True)
        if len(words) < 2:
            raise ParameterError("A plan needs at least two protected words in either connection.")
        per_word = np.bincount(word).astype(np.float64)
        # weight of each attribute in the mean of word means
        weight = np.zeros(len(table.attributes))
        np.add.at(weight, table.attribute[rows], 1 / (len(words) * per_word[word]))
        counts.append(len(words))
        shares.append((1 / per_word).sum() / len(words) ** 2)
        sizes.append(int(np.count_nonzero(weight)))
        weights.append(weight)
    residual = draws.residual[some][:, columns] ** 2
    if draws.freedom is not None:  # what a mean of Student's t costs beside a Normal one, by Fisher information
        freedom = draws.freedom[some][:, columns]
        residual = residual * (freedom + 3) / (freedom + 1)
    attribute = np.zeros((len(residual), 1))
    if draws.attributes is not None:
        variance = draws.attributes.sd[some] ** 2
        blocks = [
            next(index for index, names in enumerate(draws.attributes.blocks) if name in names) for name in contrast
        ]
        if blocks[0] == blocks[1]:  # the same attributes meet both: only what they weigh differently counts
            attribute = variance[:, blocks[:1]] * ((weights[0] - weights[1]) ** 2).sum()
        else:
            attribute = variance[:, blocks] * np.array([(weight**2).sum() for weight in weights])
    between = draws.between[some][:, columns] ** 2 / np.array(counts)
    numbers = (counts[0], counts[1]), (sizes[0], sizes[1])
    return _Variances(between, residual * np.array(shares), attribute, *numbers)


def _scaled(counts: tuple[int, int], factor: float) -> tuple[int, int]:
    first, second = (max(1, ceil(count * factor - 1e-9)) for count in counts)
    return first, second


def _both(counts: tuple[int, int]) -> str:
    return f"{counts[0]:,}" if counts[0] == counts[1] else f"{counts[0]:,} and {counts[1]:,}"

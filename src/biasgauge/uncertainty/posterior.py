"""`Posterior`: what the model of cosine distances says, with everything that decides it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.errors import ParameterError
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.stats.credible import Credible
from biasgauge.stats.estimate import Estimate as Interval
from biasgauge.uncertainty.diagnostics import Diagnostics
from biasgauge.uncertainty.draws import Draws
from biasgauge.uncertainty.estimates import Contrast, Estimate, contrasts, estimates, undefined_estimates
from biasgauge.uncertainty.figures import posterior_charts, word_chart
from biasgauge.uncertainty.model import Priors
from biasgauge.uncertainty.predictive import PredictiveCheck
from biasgauge.uncertainty.table import DistanceTable

if TYPE_CHECKING:
    import pandas as pd


GROUP = "*"
"""Stands in the column of words where a row is about the whole group."""

CAUTION = "the sampler's diagnostics failed, do not rely on these numbers"


_MOST_WORDS = 12
"""Protected words that a screen shows."""


@dataclass(frozen=True, eq=False, repr=False)
class Posterior(Result):
    """The posterior of the model of cosine distances.

    Attributes:
        table: the distances.
        variant: which model.
        priors: what was believed beforehand.
        sampler: how the draws were made.
        draws: the draws.
        diagnostics: whether they can be trusted.
        predictive: observed beside predicted distances; None when nothing could be fitted.
        credible: how intervals are taken.
        rope: half-width of the region of practical equivalence of contrasts.
        undefined: connections without a posterior, with the reason.
        settings: everything that decides the result.
    """

    table: DistanceTable
    variant: str
    priors: Priors
    sampler: str
    draws: Draws
    diagnostics: Diagnostics
    predictive: PredictiveCheck | None
    credible: Credible
    rope: float
    undefined: Mapping[str, str]
    settings: Mapping[str, Any]

    @cached_property
    def groups(self) -> tuple[Estimate, ...]:
        """Mean distance of each connection; undefined ones at the end."""
        labels = [(name, None) for name in self.draws.connections]
        return estimates(self.draws.group, labels, self.credible) + undefined_estimates(self.undefined)

    @cached_property
    def words(self) -> tuple[Estimate, ...]:
        """Mean distance of each protected word, for each connection."""
        labels = [
            (self.draws.connections[connection], self.table.words[word])
            for connection, word in zip(self.draws.cell_connection, self.draws.cell_word, strict=True)
        ]
        return estimates(self.draws.word, labels, self.credible)

    @cached_property
    def contrasts(self) -> tuple[Contrast, ...]:
        """Differences between connections: of the groups, then of each word."""
        return contrasts(self.draws, self.table.words, self.credible, self.rope)

    @property
    def caution(self) -> str:
        """What every table and figure of this must say; empty when the draws can be trusted."""
        return "" if self.diagnostics.ok else f"{CAUTION}: {'; '.join(self.diagnostics.problems)}"

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the reader should know first: failed diagnostics, undefined connections, lost words, repeated rows."""
        found = [self.caution] if self.caution else []
        found += [f"{name} is undefined: {reason}" for name, reason in self.undefined.items()]
        found += [f"lost from {name}: {', '.join(words)}" for name, words in self.table.lost.items()]
        if self.table.repeated:
            done = "counted once" if self.table.duplicates == "drop" else "counted as often as they stand there"
            found.append(f"{self.table.repeated:,} rows repeat others exactly and are {done}")
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        check = self.predictive
        ppc = {"within_50": None, "within_89": None, "reason": "no connection could be fitted"}
        coverage = self.table.coverage
        return {
            "name": self.table.name,
            "variant": self.variant,
            "sampler": self.sampler,
            "groups": [one.to_dict() for one in self.groups],
            "words": [one.to_dict() for one in self.words],
            "contrasts": [one.to_dict() for one in self.contrasts],
            "ppc": ppc if check is None else check.to_dict(),
            "diagnostics": self.diagnostics.to_dict(),
            "interval": self.credible.to_dict(),
            "priors": self.priors.to_dict(),
            "distances": self.table.to_dict(),
            **({} if coverage is None else {"coverage": coverage.to_dict()}),
        }

    def to_frame(self) -> pd.DataFrame:
        """Groups and words: connection, word ("*" for the group), mean, low, high, sd."""
        rows = [{**vars(one), "word": one.word or GROUP} for one in (*self.groups, *self.words)]
        return self._frame(rows, reason=bool(self.undefined))

    def contrasts_frame(self) -> pd.DataFrame:
        """One row a contrast."""
        return self._frame([{**vars(one), "word": one.word or GROUP} for one in self.contrasts])

    def predictive_frame(self) -> pd.DataFrame:
        """Observed and predicted distance of each row, with the 50 % and 89 % intervals."""
        frame = self._frame([]) if self.predictive is None else self.predictive.to_frame(self.table)
        return frame.assign(caution=self.caution) if self.caution else frame

    def density_frame(self, bins: int = 60) -> pd.DataFrame:
        """Density of observed and of simulated distances."""
        frame = self._frame([]) if self.predictive is None else self.predictive.density_frame(self.table, bins)
        return frame.assign(caution=self.caution) if self.caution else frame

    def word_frame(self, word: str) -> pd.DataFrame:
        """The distances of one protected word, nearest first: figures 6 and 7 of the paper.

        Raises:
            ParameterError: there is no such word.
        """
        frame = self.table.of_word(word).to_frame()
        return frame.sort_values("cosine_distance", kind="stable").reset_index(drop=True)

    def to_inference_data(self) -> Any:  # noqa: ANN401 - an arviz object, from an optional library
        """The draws as ArviZ knows them (needs the extra `bayes`)."""
        from biasgauge.uncertainty.inference_data import to_inference_data

        return to_inference_data(self)

    def _frame(self, rows: Sequence[Mapping[str, Any]], *, reason: bool = False) -> pd.DataFrame:
        import pandas as pd

        frame = pd.DataFrame(list(rows))
        if not reason and "reason" in frame:
            frame = frame.drop(columns="reason")
        return frame.assign(caution=self.caution) if self.caution else frame

    def summary(self) -> Summary:
        """Mean distance of each connection and word, differences between connections, and whether to trust them."""
        level = f"[{self.credible.prob:.0%} {self.credible.kind}]"
        mean = Column(f"mean {level}", "estimate", 3)
        groups = [(one.connection, interval_of(one)) for one in self.groups]
        words = [(one.connection, one.word, interval_of(one)) for one in self.words]
        differences = [
            (f"{one.a} − {one.b}", interval_of(one), one.p_direction, one.p_equivalent)
            for one in self.contrasts
            if one.word is None
        ]
        same = f"p(within ±{self.rope:.3f})"
        chances = Column("p(direction)", "number", 3), Column(same, "number", 3)
        told = [self._trust()]
        if self.predictive is not None:
            inside = f"{self.predictive.within_50:.0%} within 50 %, {self.predictive.within_89:.0%} within 89 %"
            told.append(f"Predictive check: {inside} of what the model expects.")
        return Summary(
            title=f"Distances of {self.table.name}",
            headline=f"{self.table.name}: {self.variant}, {len(self.table):,} distances (1 unrelated, less is closer)",
            sentences=tuple(told),
            tables=(
                Table.of("groups", "Mean distance by connection", ["connection", mean], groups),
                Table.of("contrasts", "Differences", ["difference", mean, *chances], differences),
                Table.of("words", "Protected words", ["connection", "word", mean], words, most=_MOST_WORDS),
            ),
            charts=posterior_charts(self),
            warnings=self.warnings,
        )

    def figures(self, **choices: str) -> dict[str, Any]:
        """Its charts by name; of a protected `word`, its distances too.

        Raises:
            ParameterError: there is no such choice, or no such word.
        """
        if unknown := [name for name in choices if name != "word"]:
            raise ParameterError(f"Figures of Posterior leave word to choose. Got {unknown[0]!r}.")
        charts = [word_chart(self, word) for word in choices.values()]
        return super().figures() | {chart.name: chart.drawn() for chart in charts}

    def _trust(self) -> str:
        about = self.diagnostics
        if about.rhat_max is None or about.ess_min is None:
            return f"Diagnostics: {'; '.join(about.problems)}."
        verdict = "good" if about.ok else "FAILED"
        numbers = f"R-hat {about.rhat_max:.3f}, effective draws {about.ess_min:,.0f}, {self.sampler}"
        return f"Diagnostics: {verdict} ({numbers})."


def interval_of(row: Any) -> Interval:  # noqa: ANN401 - a row with a mean and its ends
    """The mean of a row with its interval."""
    return Interval(value=row.mean, low=row.low, high=row.high, reason=getattr(row, "reason", None))


def default_rope(table: DistanceTable) -> float:
    """A tenth of the standard deviation of distances within (connection, word): half of what is called a small effect.

    Source: Kruschke, "Rejecting or accepting parameter values in Bayesian estimation", AMPPS 1 (2018).
    """
    from biasgauge.uncertainty.cells import cells_of

    cells = cells_of(table)
    spare = sum(one.spare for one in cells)
    return 0.1 * float(np.sqrt(sum(one.within for one in cells) / spare)) if spare else 0.0

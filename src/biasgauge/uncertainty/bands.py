"""Which share of similarities lies within ±(1 − MAC), by connection: figures 3–5 and 15–17 of the paper.

MAC is a mean, and 1 − MAC a mean similarity to the stereotypes. The paper draws a band of that width around 0 and
counts the similarities inside it, to show how little the mean says of single words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.arrays import Floats
from biasgauge.errors import ParameterError
from biasgauge.inputs import LexiconLike
from biasgauge.results import Column, Result, Summary, Table
from biasgauge.stats.bootstrap import draw_counts
from biasgauge.stats.estimate import Estimate
from biasgauge.uncertainty.bayesian import table_of
from biasgauge.uncertainty.change import matched
from biasgauge.uncertainty.figures import band_charts
from biasgauge.uncertainty.table import CONNECTIONS, DistancesLike, DistanceTable

if TYPE_CHECKING:
    import pandas as pd


METHOD = "bootstrap over protected words and attributes"
_BLOCK = 250
"""Resamples computed at a time: bounds the memory; results do not depend on it."""


@dataclass(frozen=True)
class BandShare:
    """Share of one connection's similarities inside the band.

    Attributes:
        connection: which connection.
        side: "before" or "after"; "change" is the share after less the share before, on the same pairs of words.
        share: in [0, 1] ("change": in [−1, 1]); None when undefined.
        low: lower end of its interval.
        high: upper end.
        rows: similarities counted.
        reason: why the share or its interval is undefined; None when neither is.
    """

    connection: str
    side: str
    share: float | None
    low: float | None
    high: float | None
    rows: int
    reason: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class WithinBand(Result):
    """Shares of similarities within ± the band, by connection.

    Attributes:
        name: of the table.
        band: half-width of the band, in cosine similarity.
        mac: the MAC that the band comes from; None when the band was given.
        shares: for each connection; before, after and change where two tables were given.
        points: for each side, (connection, protected word, attribute, similarity) of every row, for figures.
        level: nominal coverage of the intervals.
        resamples: how many resamples they rest on.
        left_out: rows that only one of two tables has.
    """

    name: str
    band: float
    mac: float | None
    shares: tuple[BandShare, ...]
    points: Mapping[str, DistanceTable]
    level: float
    resamples: int
    left_out: Mapping[str, int]

    def to_dict(self) -> dict[str, Any]:
        """One JSON-ready object."""
        return {
            "band": self.band,
            "mac": self.mac,
            "shares": [vars(one) for one in self.shares],
            "interval": {"level": self.level, "method": METHOD, "resamples": self.resamples},
            "left_out": dict(self.left_out),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a connection and side."""
        import pandas as pd

        return pd.DataFrame([vars(one) for one in self.shares])

    def points_frame(self) -> pd.DataFrame:
        """One row a similarity, with its side and whether it lies inside."""
        import pandas as pd

        parts = [table.to_frame().assign(side=side) for side, table in self.points.items()]
        frame = pd.concat(parts, ignore_index=True)
        frame["cosine_similarity"] = 1 - frame["cosine_distance"]
        return frame.assign(within=frame["cosine_similarity"].abs() <= self.band)

    def summary(self) -> Summary:
        """The share of each connection."""
        what = "" if self.mac is None else " (1 − MAC)"
        rows = [
            (
                one.connection,
                one.side,
                Estimate(value=one.share, low=one.low, high=one.high, reason=one.reason),
                one.rows,
            )
            for one in self.shares
        ]
        share = Column(f"share [{self.level:.0%}, over words]", "estimate", 3)
        name = f"Similarities within ±{self.band:.3f}{what}"
        table = Table.of("shares", "", ["connection", "side", share, Column("rows", "count")], rows)
        return Summary("Within a band", name, name="within-band", tables=(table,), charts=band_charts(self))


def within_band(
    vectors: DistancesLike,
    lexicon: LexiconLike | None = None,
    *,
    after: DistancesLike | None = None,
    band: float | None = None,
    level: float = 0.95,
    resamples: int = 2_000,
    random_state: int = 0,
    **asked: Any,  # noqa: ANN401 - those of `distances`, which says what is wrong with them
) -> WithinBand:
    """Share of similarities within ±`band` for each connection, with an interval over words.

    Every protected word meets every attribute, so rows are not independent. The interval draws protected words with
    replacement, and attributes with replacement within their list, and weighs a row by the product of both (the
    pigeonhole bootstrap: Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 1 (2007)); quantiles of the
    resampled shares are its ends. It is rather too wide than too narrow. The band is held fixed.

    Args:
        vectors: vectors with a lexicon, or distances, as in `bayes`.
        lexicon: which words to compare; only with vectors.
        after: the same after a change, such as debiasing: shares before, after and their change on the pairs of words
            that both have, in the same band.
        band: half-width of the band; 1 − MAC of `vectors` by default. The paper rounds it (.14, .38, .11).
        level: nominal coverage of the intervals.
        resamples: resamples; 0 for no intervals.
        random_state: seed.
        asked: `duplicates`, `human`, `neutral`, `min_coverage`, `case_fallback`, as in `bayes`.

    Raises:
        ParameterError: an argument cannot be used, or there is no MAC to take the band from.
    """
    if not 0 < level < 1:
        raise ParameterError(f"The 'level' of within_band must lie between 0 and 1. Got {level!r}.")
    if resamples < 0 or random_state < 0:
        raise ParameterError(f"'resamples' and 'random_state' must be at least 0. Got {resamples} and {random_state}.")
    asked = {"duplicates": "drop", **asked}
    table = table_of(vectors, lexicon, **asked)
    width, mac = (_check_band(band), None) if band is not None else _band_of(table)
    left_out: dict[str, int] = {}
    sides = {"before": table}
    if after is not None:
        (first, second), left_out = matched(table, table_of(after, lexicon, **asked))
        sides = {"before": first, "after": second}
    drawn = _Resampler(sides["before"], resamples, random_state)
    hits = {side: (np.abs(1 - one.distance) <= width).astype(np.float64) for side, one in sides.items()}
    if after is not None:
        hits["change"] = hits["after"] - hits["before"]
    shares = [
        _share(sides["before"], connection, side, one, drawn, level)
        for connection in sides["before"].connections
        for side, one in hits.items()
    ]
    shares += [BandShare(name, "before", None, None, None, 0, reason) for name, reason in table.undefined.items()]
    return WithinBand(table.name, width, mac, tuple(shares), sides, level, resamples, left_out)


def _band_of(table: DistanceTable) -> tuple[float, float]:
    """1 − MAC over all protected words and lists of stereotypes, and the MAC."""
    from biasgauge.association.mac import mac_from_similarities

    found = mac_from_similarities(table.similarities(), interval=None)
    if found.value is None or found.value >= 1:
        why = found.reason if found.value is None else f"MAC is {found.value:.4f}, not below 1"
        raise ParameterError(f"There is no band of 1 − MAC: {why}; give one, as in band=.14.")
    return 1 - found.value, found.value


def _check_band(band: float) -> float:
    if not 0 < band <= 2:
        raise ParameterError(f"The 'band' must be a number above 0 and at most 2. Got {band!r}.")
    return float(band)


def _share(
    table: DistanceTable,
    connection: str,
    side: str,
    hits: Floats,
    drawn: _Resampler,
    level: float,
) -> BandShare:
    rows = table.connection == CONNECTIONS.index(connection)
    values = drawn.shares(rows, hits)
    share, count = float(hits[rows].mean()), int(rows.sum())
    sound = values[np.isfinite(values)]
    if len(np.unique(table.word[rows])) < 2 or not len(sound):
        why = "no resamples were asked for" if not len(values) else "fewer than two protected words to draw from again"
        return BandShare(connection, side, share, None, None, count, why)
    low, high = np.quantile(sound, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return BandShare(connection, side, share, low, high, count)


class _Resampler:
    """The same resamples of words and attributes for every connection and side."""

    def __init__(self, table: DistanceTable, resamples: int, random_state: int) -> None:
        self.table = table
        self.resamples = resamples
        self.random_state = random_state
        codes = table.source.astype(np.int64) * len(table.attributes) + table.attribute
        self.listed, self.column = np.unique(codes, return_inverse=True)

    def shares(self, rows: np.ndarray[Any, np.dtype[np.bool_]], values: Floats) -> Floats:
        """Weighted mean of `values` over `rows` in each resample; nan where none of the rows was drawn."""
        shape = (len(self.table.words), len(self.listed))
        count, total = np.zeros(shape), np.zeros(shape)
        np.add.at(count, (self.table.word[rows], self.column[rows]), 1.0)
        np.add.at(total, (self.table.word[rows], self.column[rows]), values[rows])
        parts = [
            ((words @ total) * attributes).sum(axis=1) / _positive(((words @ count) * attributes).sum(axis=1))
            for words, attributes in self._weights()
        ]
        return np.concatenate(parts) if parts else np.empty(0)

    def _weights(self) -> Any:  # noqa: ANN401 - pairs of arrays
        """How often each word and each attribute is drawn, a block of resamples at a time."""
        random = np.random.default_rng([self.random_state, 0])
        lists = self.listed // len(self.table.attributes)
        streams = {int(one): np.random.default_rng([self.random_state, 1, int(one)]) for one in np.unique(lists)}
        for start in range(0, self.resamples, _BLOCK):
            size = min(_BLOCK, self.resamples - start)
            words = draw_counts(random, len(self.table.words), size)
            attributes = np.empty((size, len(self.listed)))
            for one, stream in streams.items():
                own = np.flatnonzero(lists == one)
                attributes[:, own] = draw_counts(stream, len(own), size)
            yield words, attributes


def _positive(weights: Floats) -> Floats:
    return np.where(weights > 0, weights, np.nan)

"""Share of similarities within ±(1 − MAC), by connection: figures 3–5 and 15–17 of the paper.

MAC is a mean, and 1 − MAC a mean similarity to the stereotypes. The paper draws a band of that width around 0 and
counts the similarities inside it, to show how little the mean says of single words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge.analyses.posterior.change import matched
from biasgauge.analyses.posterior.figures import band_charts
from biasgauge.analyses.posterior.sources import table_of
from biasgauge.analyses.posterior.table import DistancesLike, DistanceTable
from biasgauge.core import (
    Estimate,
    Flags,
    Floats,
    JsonMapping,
    JsonObject,
    LexiconLike,
    check_level,
    check_number,
    check_whole,
)
from biasgauge.errors import ParameterError
from biasgauge.metrics import mac_from_similarities
from biasgauge.results import Chart, Column, RecordTable, Result, Summary, number_text
from biasgauge.stats import blocks, draw_counts, percentile_estimate

if TYPE_CHECKING:
    import pandas as pd


METHOD = "bootstrap over protected words and attributes"
_SHARE = Column("share [{level}, over words]", "estimate", 3, source=".")
"""Resamples computed at a time: bounds the memory; results do not depend on it."""


@dataclass(frozen=True, kw_only=True)
class BandShare(Estimate):
    """Share of one connection's similarities inside the band, in [0, 1] ("change": in [−1, 1]); `n` similarities.

    Attributes:
        connection: which connection.
        side: "before" or "after"; "change" is the share after less the share before, on the same pairs of words.
    """

    renamed: ClassVar[Mapping[str, str]] = {"value": "share", "n": "rows"}
    hidden: ClassVar[frozenset[str]] = frozenset(
        {"level", "method", "statistic", "k", "over", "resamples", "undefined_resamples"}
    )

    connection: str
    side: str

    @property
    def share(self) -> float | None:
        """The share; None when undefined."""
        return self.value

    def to_dict(self) -> JsonObject:
        """Return the JSON object of `--json`."""
        return {"connection": self.connection, "side": self.side, **super().to_dict()}


@dataclass(frozen=True, eq=False, repr=False)
class WithinBand(Result):
    """Shares of similarities within ± the band, by connection.

    Attributes:
        name: of the table.
        band: half-width of the band, in cosine similarity.
        mac: the MAC that the band comes from; None when the band was given.
        shares: for each connection; before, after and change where two tables were given.
        interval: level and method of the intervals, and how many resamples they rest on.
        left_out: rows that only one of two tables has.
        points: the distances of each side, for figures; not in JSON.
    """

    tables: ClassVar[tuple[str, ...]] = ("shares",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("shares", columns=("connection", "side", _SHARE, Column("rows", "count", source="n"))),
    )
    hidden: ClassVar[frozenset[str]] = frozenset({"points"})

    name: str
    band: float
    mac: float | None
    shares: tuple[BandShare, ...]
    interval: JsonMapping
    left_out: Mapping[str, int]
    points: Mapping[str, DistanceTable] = field(default_factory=dict)

    def points_frame(self) -> pd.DataFrame:
        """One row per similarity, with its side and whether it lies inside the band."""
        import pandas as pd

        parts = [table.to_frame().assign(side=side) for side, table in self.points.items()]
        frame = pd.concat(parts, ignore_index=True)
        frame["cosine_similarity"] = 1 - frame["cosine_distance"]
        return frame.assign(within=frame["cosine_similarity"].abs() <= self.band)

    def summary(self) -> Summary:
        """The share of each connection."""
        return replace(super().summary(), name="within-band")

    def _title(self) -> str:
        return "Within a band"

    def _headline(self) -> str:
        return f"Similarities within ±{number_text(self.band, 3)}{'' if self.mac is None else ' (1 − MAC)'}"

    def _charts(self) -> tuple[Chart, ...]:
        return band_charts(self) if self.points else ()


def within_band(
    vectors: DistancesLike,
    lexicon: LexiconLike | None = None,
    *,
    after: DistancesLike | None = None,
    band: float | None = None,
    level: float = 0.95,
    resamples: int = 2_000,
    random_state: int = 0,
    **lookup: Any,  # noqa: ANN401 - those of `distances`, which says what is wrong with them
) -> WithinBand:
    """Share of similarities within ±`band` for each connection, with an interval over words.

    Every protected word meets every attribute, so rows are not independent. The interval draws protected words with
    replacement, and attributes with replacement within their list, and weighs a row by the product of both (the
    pigeonhole bootstrap: Owen, "The pigeonhole bootstrap", Annals of Applied Statistics 1 (2007)); quantiles of the
    resampled shares are its ends. It tends to be too wide (conservative). The band is held fixed.

    Args:
        vectors: vectors with a lexicon, or distances, as in `bayes`.
        lexicon: which words to compare; only with vectors.
        after: the same after a change, such as debiasing: shares before, after and their change on the pairs of words
            that both have, in the same band.
        band: half-width of the band; 1 − MAC of `vectors` by default. The paper rounds it (.14, .38, .11).
        level: nominal coverage of the intervals.
        resamples: resamples; 0 for no intervals.
        random_state: seed.
        lookup: `duplicates`, `human`, `neutral`, `policy`, as in `bayes`.

    Raises:
        ParameterError: an argument cannot be used, or there is no MAC to take the band from.
    """
    check_level(level)
    check_whole(0, resamples=resamples, random_state=random_state)
    table = table_of(vectors, lexicon, **lookup)
    width, mac = band, None
    if width is None:
        result = mac_from_similarities(table.similarities(), interval=None)
        if result.value is None or result.value >= 1:
            why = result.reason if result.value is None else f"MAC is {number_text(result.value, 4)}, not below 1"
            raise ParameterError(f"There is no band of 1 − MAC: {why}; give one, as in band=.14.")
        width, mac = 1 - result.value, result.value
    check_number(0, 2, band=width)
    check_number(0, ends=False, band=width)
    left_out: dict[str, int] = {}
    sides = {"before": table}
    if after is not None:
        (first, second), left_out = matched(table, table_of(after, lexicon, **lookup))
        sides = {"before": first, "after": second}
    before = sides["before"]
    hits = {side: (np.abs(1 - distances.distance) <= width).astype(np.float64) for side, distances in sides.items()}
    if after is not None:
        hits["change"] = hits["after"] - hits["before"]
    shares = []
    for name in before.connections:
        rows = before.rows_of([name])
        reason = None if resamples else "no resamples were asked for"
        if len(np.unique(before.word[rows])) < 2:
            reason = reason or "fewer than two protected words to draw from again"
        for side, values in hits.items():
            drawn = resampled_shares(before, rows, values, resamples, random_state)
            share = Estimate(value=float(values[rows].mean()), level=level, reason=reason)
            if reason is None:
                share = percentile_estimate(share.value or 0.0, drawn[np.isfinite(drawn)], level)
            labels = {"connection": name, "side": side, "n": int(rows.sum()), "method": "" if reason else METHOD}
            shares.append(BandShare.of_estimate(share, **labels))
    shares += [
        BandShare(value=None, reason=reason, level=level, connection=name, side="before")
        for name, reason in table.undefined.items()
    ]
    interval = {"level": level, "method": METHOD, "resamples": resamples}
    return WithinBand(table.name, float(width), mac, tuple(shares), interval, left_out, sides)


def resampled_shares(
    table: DistanceTable, rows: Flags, values: Floats, resamples: int, random_state: int, block: int = 250
) -> Floats:
    """Weighted mean of `values` over `rows` in each resample; NaN where none of the rows was drawn.

    The resamples of words and attributes are the same for every connection and side; `block` of them are drawn at a
    time.
    """
    # Cells word × (list, attribute): the number of rows in each, and the sum of their values.
    codes = table.source.astype(np.int64) * len(table.attributes) + table.attribute
    listed, column = np.unique(codes, return_inverse=True)
    count, total = np.zeros((2, len(table.words), len(listed)))
    np.add.at(count, (table.word[rows], column[rows]), 1.0)
    np.add.at(total, (table.word[rows], column[rows]), values[rows])
    random = np.random.default_rng([random_state, 0])
    lists = listed // len(table.attributes)
    streams = {int(name): np.random.default_rng([random_state, 1, int(name)]) for name in np.unique(lists)}
    means = [np.empty(0)]
    for size in blocks(resamples, 1, block):
        words = draw_counts(random, len(table.words), size)
        attributes = np.empty((size, len(listed)))
        for name, stream in streams.items():
            columns = np.flatnonzero(lists == name)
            attributes[:, columns] = draw_counts(stream, len(columns), size)
        # A cell weighs (draws of its word) × (draws of its attribute).
        weights = ((words @ count) * attributes).sum(axis=1)
        means.append(((words @ total) * attributes).sum(axis=1) / np.where(weights > 0, weights, np.nan))
    return np.concatenate(means)

"""Shares within a band: counts by hand, published percentages, and intervals that hold what they should."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

from biasgauge.analyses.posterior import WithinBand, distance_table, read_distances, within_band
from biasgauge.analyses.posterior.bands import resampled_shares
from biasgauge.errors import ParameterError
from biasgauge.metrics import mac_from_similarities

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.analyses.posterior import DistanceTable


def shares(found: WithinBand, side: str = "before") -> dict[str, float | None]:
    return {one.connection: one.share for one in found.shares if one.side == side}


def test_shares_are_counts(table: DistanceTable) -> None:
    frame = table.to_frame()
    inside = (1 - frame["cosine_distance"]).abs() <= 0.1
    expected = inside.groupby(frame["connection"]).mean().to_dict()
    found = within_band(table, band=0.1, resamples=50)
    assert shares(found) == pytest.approx(expected, abs=1e-15)
    assert shares(found) == table.share_within(0.1)
    assert {one.connection: one.n for one in found.shares} == frame["connection"].value_counts().to_dict()
    points = found.points_frame()
    assert points.groupby("connection")["within"].mean().to_dict() == pytest.approx(expected, abs=1e-15)


def test_the_band_is_one_less_mac(table: DistanceTable) -> None:
    found = within_band(table, resamples=0)
    mac = mac_from_similarities(table.similarities(), interval=None).value
    assert found.mac == mac
    assert mac is not None
    assert found.band == 1 - mac
    assert within_band(table, band=0.2, resamples=0).mac is None
    assert {one.reason for one in found.shares} == {"no resamples were asked for"}
    assert all(one.low is None and one.high is None for one in found.shares)


@pytest.mark.shared
@pytest.mark.parametrize(
    ("before", "after", "band", "expected"),
    [
        (
            "religion_group_reddit_dataset",
            "debiased_religion_reddit",
            0.14,
            [36.4, 63.6, 43.6, 63.6, 52.7, 58.6, 56.3, 58.6],
        ),
        ("gender_group_reddit_dataset", None, 0.38, [47.4, 52.6, 91.3, 96.0]),
    ],
)
def test_the_published_percentages(
    shared_data: Path, before: str, after: str | None, band: float, expected: list[float]
) -> None:
    """METHODS 2.6: like for like, before and after, on the lists of the paper's appendix."""
    tables = [read_distances(shared_data / "bayes_distances" / f"{name}.csv.gz") for name in (before, after) if name]
    found = within_band(tables[0], after=tables[1] if after else None, band=band, resamples=200)
    printed = [100 * one.share for one in found.shares if one.share is not None and one.side != "change"]
    assert printed == pytest.approx(expected, abs=0.05)
    assert set(found.left_out.values()) <= {0}
    for one in found.shares:
        assert one.low is not None
        assert one.high is not None
        assert one.share is not None
        assert one.low < one.share < one.high


@pytest.mark.shared
def test_the_published_bands(shared_data: Path) -> None:
    """1 − MAC is .14 for religion and .38 for gender, on Reddit."""
    for name, band in (("religion", 0.14), ("gender", 0.38)):
        table = read_distances(shared_data / "bayes_distances" / f"{name}_group_reddit_dataset.csv.gz")
        assert round(within_band(table, resamples=0).band, 2) == band


def test_before_and_after_are_on_the_same_rows(table: DistanceTable) -> None:
    kept = table.select(np.arange(len(table)) % 7 != 0)
    moved = replace(kept, distance=kept.distance + 0.05)
    found = within_band(table, after=moved, band=0.12, resamples=100)
    assert found.left_out == {"before": len(table) - len(kept), "after": 0}
    assert shares(found) == kept.share_within(0.12)
    assert shares(found, "after") == moved.share_within(0.12)
    for name, change in shares(found, "change").items():
        assert change == pytest.approx(moved.share_within(0.12)[name] - kept.share_within(0.12)[name], abs=1e-12)
    still = within_band(table, after=table, band=0.12, resamples=100)
    assert [(one.low, one.high) for one in still.shares if one.side == "change"] == [(0.0, 0.0)] * 4


def grid(words: int, attributes: int, word_sd: float, attribute_sd: float, seed: int) -> DistanceTable:
    random = np.random.default_rng(seed)
    own, theirs = random.normal(0, word_sd, words), random.normal(0, attribute_sd, attributes)
    rows = [
        (f"w{w:03}", f"a{a:03}", "human", "human", float(1 + own[w] + theirs[a] + random.normal(0, 0.1)))
        for w in range(words)
        for a in range(attributes)
    ]
    return distance_table("grid", rows)


def test_resampling_is_that_of_owen(table: DistanceTable) -> None:
    """The same resamples, row by row: words drawn together, attributes within their list, weights multiplied."""
    found = within_band(table, band=0.1, resamples=300, level=0.8, random_state=4)
    words = np.random.default_rng([4, 0])
    streams = {one: np.random.default_rng([4, 1, one]) for one in range(len(table.lists))}
    members = {one: np.unique(table.attribute[table.source == one]) for one in streams}
    inside = np.abs(1 - table.distance) <= 0.1
    drawn: dict[str, list[float]] = {name: [] for name in table.connections}
    word_counts = np.concatenate([words.multinomial(5, np.full(5, 0.2), size=size) for size in (250, 50)])
    attribute_counts = {
        one: np.concatenate(
            [streams[one].multinomial(len(own), np.full(len(own), 1 / len(own)), size=s) for s in (250, 50)]
        )
        for one, own in members.items()
    }
    for at in range(300):
        weights = np.array(
            [
                word_counts[at, word] * attribute_counts[source][at, np.searchsorted(members[source], attribute)]
                for word, source, attribute in zip(table.word, table.source, table.attribute, strict=True)
            ]
        )
        for place, name in enumerate(table.connections):
            own = weights * (table.connection == place)
            if own.sum():
                drawn[name].append((own * inside).sum() / own.sum())
    for one in found.shares:
        expected = np.quantile(drawn[one.connection], [0.1, 0.9])
        assert (one.low, one.high) == pytest.approx(expected, abs=1e-12)


def test_intervals_hold_the_true_share_where_rows_share_words() -> None:
    """A binomial interval, which takes rows for independent, misses far too often; ours does not."""
    width, spread = 0.15, np.sqrt(0.1**2 + 0.1**2 + 0.1**2)
    true = 1 - 2 * stats.norm.sf(width / spread)
    inside = {"ours": 0, "binomial": 0}
    for seed in range(120):
        table = grid(14, 20, 0.1, 0.1, seed)
        (one,) = within_band(table, band=width, resamples=300, random_state=seed).shares
        assert one.share is not None
        inside["ours"] += one.low <= true <= one.high
        ends = stats.binomtest(round(one.share * one.n), one.n).proportion_ci(0.95)
        inside["binomial"] += ends.low <= true <= ends.high
    assert inside["ours"] >= 104  # 95 % less four standard errors
    assert inside["binomial"] <= 90


def test_repeated_rows_count_once_unless_kept(table: DistanceTable) -> None:
    rows = list(zip(*(table.columns()[name] for name in (
        "protected_word", "word_to_compare", "word_class", "connection", "cosine_distance")), strict=True))  # fmt: skip
    twice = [*rows, *(row for row in rows if row[0] == "rabbi")]
    once, often = (distance_table("twice", twice, duplicates=kind) for kind in ("drop", "keep"))
    assert shares(within_band(once, band=0.1, resamples=0)) == table.share_within(0.1)
    assert shares(within_band(often, band=0.1, resamples=0)) == often.share_within(0.1) != table.share_within(0.1)


def test_blocks_and_seeds(table: DistanceTable) -> None:
    rows, values = table.rows_of(table.connections[:1]), table.distance**2
    whole = resampled_shares(table, rows, values, 200, random_state=0)
    assert (whole != resampled_shares(table, rows, values, 200, random_state=1)).any()
    np.testing.assert_array_equal(resampled_shares(table, rows, values, 200, random_state=0, block=7), whole)


def test_it_can_be_written(table: DistanceTable) -> None:
    found = within_band(table, resamples=20)
    shape = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert shape["interval"]["method"] == "bootstrap over protected words and attributes"
    assert [one["share"] for one in shape["shares"]] == found.to_frame()["share"].tolist()
    assert "associated" in found._repr_html_()


def test_one_word_has_no_interval(table: DistanceTable) -> None:
    found = within_band(table.of_word("rabbi"), band=0.1, resamples=20)
    assert {one.reason for one in found.shares} == {"fewer than two protected words to draw from again"}


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"band": 0}, "'band' parameter must be a number above 0"),
        ({"level": 95}, "'level' of an interval must lie between 0 and 1"),
        ({"resamples": -1}, "'resamples' parameter must be a whole number of at least 0"),
    ],
)
def test_mistakes_get_one_sentence(table: DistanceTable, asked: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        within_band(table, **asked)


def test_no_band_without_mac(table: DistanceTable) -> None:
    with pytest.raises(ParameterError, match=r"MAC is 1\.\d+, not below 1; give one, as in band=\.14"):
        within_band(replace(table, distance=np.minimum(table.distance + 0.5, 2)))
    controls = table.select(table.connection >= 2)
    with pytest.raises(ParameterError, match="There is no band of 1 − MAC"):
        within_band(controls)


def test_json_there_and_back(table: DistanceTable) -> None:
    found = within_band(table, band=0.1, after=replace(table, distance=table.distance + 0.02), resamples=200)
    again = WithinBand.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again.to_dict() == found.to_dict()
    assert [row.share for row in again.shares] == [row.share for row in found.shares]
    assert again.summary().headline == found.summary().headline
    assert again.figures() == {}

"""`correlate` on tables: the authors' own, and small ones of every kind."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from biasgauge.analyses.correlate import CorrelationResult, correlate, read_points, seed_reliability
from biasgauge.errors import InputError, ParameterError
from biasgauge.stats import correlation_power, icc

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.core import Estimate

FAST: dict[str, Any] = {"resamples": 20}
FILTER = ["Test=9", "Name=[6-9]|all_tweets"]


@pytest.fixture
def authors(shared_data: Path) -> Path:
    return shared_data / "goldfarb_tarrant_results" / "hsd_en.csv"


def of_authors(path: Any, by: list[str], drop: list[str], **more: Any) -> CorrelationResult:  # noqa: ANN401 - settings
    return correlate(path, "WEAT", "Performance Gap", by, drop=drop, **{**FAST, **more})


def stated(found: CorrelationResult, **by: str) -> tuple[float, int]:
    one = found.group(**by) if by else found.pooled
    assert one.r is not None
    return round(one.r, 4), one.n


@pytest.mark.shared
def test_the_authors_points_without_their_filter(authors: Path) -> None:
    """METHODS.md §5.9: each row counts, the repeated one twice; test 9 is a sanity check and left out."""
    found = of_authors(authors, ["Metric"], FILTER[:1])
    assert stated(found) == (0.0007, 247)
    assert stated(found, Metric="Precision") == (0.0738, 124)
    assert stated(found, Metric="Recall") == (-0.1678, 123)
    labeled = of_authors(authors, ["Metric", "Method"], FILTER[:1]).group(Metric="Recall", Method="Postprocess")
    assert labeled.r == pytest.approx(0.083, abs=5e-4)
    assert labeled.p is not None
    assert labeled.p > 0.4


@pytest.mark.shared
def test_the_authors_points_with_their_filter(authors: Path) -> None:
    found = of_authors(authors, ["Metric", "Method"], FILTER)
    assert found.pooled.n == 120
    post, pre = (found.group(Metric="Recall", Method=one) for one in ("Postprocess", "Preprocess"))
    assert (round(post.r or 0, 4), round(post.p or 0, 4)) == (0.6053, 0.0017)
    assert (round(pre.r or 0, 4), round(pre.p or 0, 4)) == (-0.4968, 0.0021)
    apart = of_authors(authors, ["Metric", "Method", "Embedding"], FILTER)
    for method, embedding, r in [
        ("Postprocess", "word2vec", 0.5649),
        ("Postprocess", "fastText", 0.8159),
        ("Preprocess", "word2vec", -0.4580),
        ("Preprocess", "fastText", -0.6388),
    ]:
        assert stated(apart, Metric="Recall", Method=method, Embedding=embedding)[0] == r
    assert stated(of_authors(authors, ["Metric"], FILTER), Metric="Precision") == (0.0075, 60)


@pytest.mark.shared
def test_the_authors_points_relabeled_by_file_name(authors: Path) -> None:
    frame = pd.read_csv(authors)
    wrong = frame["Name"].str.contains(r"_twitter_en_(?:debias|overbias)_[678]")
    assert frame[wrong]["Name"].nunique() == 18
    frame.loc[wrong, "Method"] = "Preprocess"
    found = of_authors(frame, ["Metric", "Method"], FILTER[:1])
    post, pre = (found.group(Metric="Recall", Method=one) for one in ("Postprocess", "Preprocess"))
    assert (post.r, pre.r) == pytest.approx((0.245, -0.359), abs=5e-4)
    assert post.p is not None
    assert post.p > 0.2


@pytest.mark.shared
def test_the_authors_baselines(authors: Path) -> None:
    frame = pd.read_csv(authors)
    base = frame[frame["Name"].str.contains("all_tweets")].drop_duplicates(["Embedding", "Metric"])
    found = base.set_index(["Embedding", "Metric"])["Performance Gap"].to_dict()
    assert found == {
        ("fastText", "Precision"): 9.48,
        ("fastText", "Recall"): -6.15,
        ("word2vec", "Precision"): -4.42,
        ("word2vec", "Recall"): -6.15,
    }


@pytest.mark.shared
def test_the_repeated_row_is_told(authors: Path) -> None:
    found = of_authors(authors, [], FILTER[:1])
    assert found.warnings[0] == "line 25 repeats line 24 in every cell: counted as often as it occurs"
    once = of_authors(authors, [], FILTER[:1], duplicates="drop")
    assert once.pooled.n == 246
    assert once.warnings[0].endswith("counted once")


@pytest.mark.shared
def test_one_gap_stands_beside_three_tests(authors: Path) -> None:
    """Eight and twelve embeddings, not 24 and 36 points: neither correlation is then beyond chance."""
    found = of_authors(authors, ["Metric", "Method"], FILTER, unit="Name", resamples=2_000)
    plain = of_authors(authors, ["Metric", "Method"], FILTER)
    assert any("points have only" in one for one in plain.warnings)
    for method, units in (("Postprocess", 8), ("Preprocess", 12)):
        one, before = (some.group(Metric="Recall", Method=method) for some in (found, plain))
        assert (one.r, one.n, one.units) == (before.r, before.n, units)
        assert one.p == pytest.approx(0.086, abs=0.012)
        assert (one.p_holm or 0) > 0.3
        assert one.power == pytest.approx(correlation_power(units, 0.5))
    post = found.group(Metric="Recall", Method="Postprocess").estimate
    assert (post.low or 1) < 0


def table(n: int = 24, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "weat": random.standard_normal(n),
        "metric": np.resize(["precision", "recall"], n),
        "test": np.resize([6, 7, 10], n),
    })  # fmt: skip
    return frame.assign(gap=0.7 * frame["weat"] + random.standard_normal(n))


def test_strata_are_correlations_of_their_rows() -> None:
    frame = table()
    found = correlate(frame, "weat", "gap", ["test", "metric"], **FAST)
    assert [one.by for one in found.groups[:3]] == [
        {},
        {"test": "6", "metric": "precision"},
        {"test": "6", "metric": "recall"},
    ]
    assert [one.by["test"] for one in found.groups[1:]] == ["6", "6", "7", "7", "10", "10"]
    for one in found.groups:
        part = frame
        for name, value in one.by.items():
            part = part[part[name].astype(str) == value]
        expected = stats.pearsonr(part["weat"], part["gap"]), stats.spearmanr(part["weat"], part["gap"])
        assert one.n == len(part)
        assert (one.r, one.p) == pytest.approx((expected[0].statistic, expected[0].pvalue))
        assert one.spearman.value == pytest.approx(expected[1].statistic)
        assert one.power == pytest.approx(correlation_power(one.n, 0.5))
    ranks = correlate(frame, "weat", "gap", method="spearman", **FAST)
    assert ranks.pooled.r == pytest.approx(stats.spearmanr(frame["weat"], frame["gap"]).statistic)
    assert ranks.levels is None


def test_the_same_from_a_frame_and_from_files(tmp_path: Path) -> None:
    frame = table()
    expected = correlate(frame, "weat", "gap", ["metric"], **FAST)
    for name, separator in (("a.csv", ","), ("b.tsv", "\t"), ("c.txt", ";")):
        path = tmp_path / name
        frame.to_csv(path, sep=separator, index=False)
        found = correlate(path, "weat", "gap", ["metric"], **FAST)
        assert found.groups == expected.groups
    packed = tmp_path / "d.csv.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + frame.to_csv(index=False).encode()))
    assert correlate(str(packed), "weat", "gap", ["metric"], **FAST).groups == expected.groups
    assert correlate(read_points(packed), "weat", "gap", "metric", **FAST).groups == expected.groups


def test_rows_are_dropped_by_patterns() -> None:
    frame = table()
    found = correlate(frame, "weat", "gap", drop=["test=^(6|7)$", "metric=recall"], **FAST)
    part = frame[(frame["test"] == 10) & (frame["metric"] == "precision")]
    assert found.pooled.r == pytest.approx(stats.pearsonr(part["weat"], part["gap"]).statistic)
    idle = correlate(frame, "weat", "gap", drop=["metric=f1"], **FAST)
    assert idle.warnings == ("no row matches 'metric=f1'; nothing was dropped by it",)


def test_missing_numbers_are_left_out_and_told(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text("x,y\n1,2\n2,NA\n3,1\n,4\n5,7\n6,5\n")
    found = correlate(path, "x", "y", **FAST)
    assert found.warnings == ("2 points lack a number and were left out: lines 3, 5",)
    assert (found.pooled.r, found.pooled.n) == pytest.approx((stats.pearsonr([1, 3, 5, 6], [2, 1, 7, 5]).statistic, 4))


def test_undefined_correlations_say_why() -> None:
    frame = pd.DataFrame({
        "x": [1.0, 2, 3, 4, 1, 2, 3, 9],
        "y": [2.0, 1, 4, 4, 5, 5, 5, 1],
        "s": list("aaaabbbc"),
    })  # fmt: skip
    found = correlate(frame, "x", "y", ["s"], **FAST)
    reasons = {one.by["s"]: one.reason for one in found.groups[1:]}
    assert reasons == {
        "a": None,
        "b": "'y' is the same in all 3 points",
        "c": "a correlation takes 3 points or more, and there is 1",
    }
    one = found.group(s="c").to_dict()
    assert (one["r"], one["low"], one["high"], one["p"], one["spearman"], one["power"]) == (None,) * 6
    assert found.group(s="a").p_holm == pytest.approx(found.group(s="a").p)  # one test, nothing to correct for
    json.dumps(found.to_dict(), allow_nan=False)
    flat = correlate(frame.assign(y=1.0), "x", "y", ["s"], **FAST)
    assert flat.pooled.reason == "'y' is the same in all 8 points"
    assert flat.levels is None


def test_power_is_said_in_a_sentence() -> None:
    found = correlate(table(), "weat", "gap", ["metric"], power_of=0.3, **FAST)
    both = [round(100 * correlation_power(n, 0.3)) for n in (24, 12)]
    told = f"With 24 points a true r of 0.3 would be detected (p ≤ 0.05) {both[0]} % of the time; "
    assert found.readings[-1].startswith(f"{told}with the 12 of the smallest stratum, {both[1]} %")


def runs(noise: float, seeds: int = 4, points: int = 15) -> pd.DataFrame:
    random = np.random.default_rng(1)
    weat = random.standard_normal(points)
    return pd.DataFrame([
        {
            "name": f"e{at}",
            "weat": weat[at],
            "metric": metric,
            "seed": seed,
            "gap": weat[at] + noise * random.standard_normal(),
        }
        for at in range(points)
        for metric in ("precision", "recall")
        for seed in range(seeds)
    ])  # fmt: skip


@pytest.mark.parametrize("noise", [0.3, 3.0])
def test_task_seeds_are_averaged_and_their_reliability_bounds_r(noise: float) -> None:
    frame = runs(noise)
    found = correlate(frame, "weat", "gap", ["metric"], seed_column="seed", **FAST)
    means = frame.groupby(["name", "metric"], as_index=False).agg({"weat": "first", "gap": "mean"})
    part = means[means["metric"] == "recall"]
    one = found.group(metric="recall")
    assert (one.r, one.n) == pytest.approx((stats.pearsonr(part["weat"], part["gap"]).statistic, 15))
    assert found.warnings[0] == "120 rows are 30 points: y is the mean over 4 task seeds"
    matrix = frame[frame["metric"] == "recall"].pivot_table(index="name", columns="seed", values="gap").to_numpy()
    single, mean = (cast("Estimate", icc(matrix, form)) for form in ("3,1", "3,k"))
    assert one.reliability is not None
    assert one.reliability.single.value == pytest.approx(single.value)
    assert one.reliability.mean.value == pytest.approx(mean.value)
    assert one.reliability.r_max.value == pytest.approx(max(mean.value or 0, 0) ** 0.5)
    assert one.reliability.r_max.high == pytest.approx(max(mean.high or 0, 0) ** 0.5)
    assert found.pooled.reliability is not None
    assert found.readings[-1] == found.pooled.reliability.reading
    assert found.to_frame()["r_max"].tolist()[2] == one.reliability.r_max.value


def test_the_bound_is_what_noise_does_to_a_perfect_relation() -> None:
    """If x is the true gap, r comes out at the bound over many points."""
    frame = runs(1.5, seeds=3, points=1_500)
    found = correlate(frame, "weat", "gap", ["metric"], seed_column="seed", interval="percentile", **FAST)
    for one in found.groups[1:]:
        assert one.reliability is not None
        assert one.r == pytest.approx(one.reliability.r_max.value, abs=0.03)
        assert one.r == pytest.approx((1 / (1 + 1.5**2 / 3)) ** 0.5, abs=0.03)


def shared(effect: float, *, named_alike: bool, points: int = 1_200) -> pd.DataFrame:
    """Gaps that each seed moves together, in embeddings that have the same seeds or seeds of their own."""
    random = np.random.default_rng(2)
    weat, moved = random.standard_normal(points), effect * random.standard_normal(3)
    return pd.DataFrame([
        {
            "name": f"e{at}",
            "weat": weat[at],
            "seed": f"s{seed}" if named_alike else f"e{at}s{seed}",
            "gap": weat[at] + moved[seed] + random.standard_normal(),
        }
        for at in range(points)
        for seed in range(3)
    ])  # fmt: skip


def test_what_a_seed_does_to_all_embeddings_is_in_no_correlations_way() -> None:
    """The bound is what a perfect relation shows, however much a seed moves all gaps; one-way it would be far below."""
    found = correlate(shared(4.0, named_alike=True), "weat", "gap", seed_column="seed", unit="name", **FAST).pooled
    assert found.reliability is not None
    assert (found.reliability.crossed, found.reliability.form) == (True, "ICC(3,k)")
    assert found.reliability.single.value == pytest.approx(0.5, abs=0.03)
    assert found.r == pytest.approx(found.reliability.r_max.value, abs=0.02)
    assert found.r == pytest.approx((1 / (1 + 1 / 3)) ** 0.5, abs=0.02)
    apart = correlate(shared(4.0, named_alike=False), "weat", "gap", seed_column="seed", unit="name", **FAST).pooled
    assert apart.reliability is not None
    assert (apart.reliability.crossed, apart.reliability.form) == (False, "ICC(1,k)")
    assert apart.reliability.mean.value is not None
    assert apart.reliability.mean.value < 0.5


def test_seeds_that_share_nothing_may_have_the_same_names() -> None:
    """It costs next to nothing to leave out what seeds do to all, where they do nothing to all."""
    one_way, two_way = [], []
    random = np.random.default_rng(3)
    for _ in range(400):
        values = (random.standard_normal(20)[:, None] + random.standard_normal((20, 3))).tolist()
        one_way.append(seed_reliability(values, "gap").single.value or 0.0)
        two_way.append(seed_reliability(values, "gap", seeds=[["0", "1", "2"]] * 20).single.value or 0.0)
    assert np.mean(two_way) == pytest.approx(np.mean(one_way), abs=0.005)
    assert np.std(two_way) == pytest.approx(np.std(one_way), abs=0.01)
    assert np.mean(two_way) == pytest.approx(0.5, abs=0.03)


def test_noise_alone_lets_nothing_be_seen() -> None:
    random = np.random.default_rng(4)
    values = random.standard_normal((12, 3))
    values -= values.mean(axis=1, keepdims=True)  # points do not differ at all
    found = seed_reliability([tuple(one) for one in values.tolist()], "gap")
    assert found.r_max.value == 0
    assert "not reliable" in found.reading
    good = seed_reliability([(at, at + 0.01) for at in range(9)], "gap")
    assert "reliability of 1.00 as a mean over 2 task seeds (excellent; one seed: 1.00)" in good.reading
    assert "r = 1.00 at most" in good.reading


def test_points_with_fewer_seeds() -> None:
    full = [(1.0, 1.2, 0.9), (2.0, 2.3, 2.2), (3.0, 2.8, 3.1), (4.0, 4.4, 3.9)]
    found = seed_reliability([*full, (9.0, 1.0), (5.0,)], "gap")
    assert (found.mean.n, found.mean.k, found.left_out) == (4, 3, 2)
    assert found.mean.value == pytest.approx(icc(np.array(full), "1,k").value)
    most = seed_reliability([*((at, at + 0.5) for at in range(6)), (9.0, 9.1, 8.0, 9.4)], "gap")
    assert (most.mean.n, most.mean.k, most.left_out) == (7, 2, 0), "two seeds of seven points, not four of one"
    names = [*[["0", "1"]] * 6, ["0", "1", "2", "3"]]
    assert seed_reliability([[at, at + 0.5] for at in range(6)] + [[9.0, 9.1, 8.0, 9.4]], "gap", seeds=names).crossed
    lone = seed_reliability([(1.0,), (2.0,)], "gap")
    assert lone.r_max.value is None
    assert "is not known" in lone.reading


def test_tables_and_html() -> None:
    found = correlate(table(), "weat", "gap", ["metric"], **FAST)
    frame = found.to_frame()
    assert frame["r"].tolist() == [one.r for one in found.groups]
    assert frame["metric"].tolist()[1:] == ["precision", "recall"]
    assert found.points_frame()["gap"].tolist() == table()["gap"].tolist()
    assert "rho" in found._repr_html_()
    assert CorrelationResult.from_dict(json.loads(json.dumps(found.to_dict()))).to_dict() == found.to_dict()
    with pytest.raises(ParameterError, match="one stratum with"):
        found.group(metric="f1")


def test_results_follow_the_seed_alone() -> None:
    frame = table()
    first = correlate(frame, "weat", "gap", ["metric"], resamples=200, random_state=1)
    assert correlate(frame, "weat", "gap", ["metric"], resamples=200, random_state=1).groups == first.groups
    assert correlate(frame, "weat", "gap", ["metric"], resamples=200, random_state=2).groups != first.groups


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"x,y\n1,2\n3,four\n", r"line 3: 'y' must be a number or empty; found 'four'"),
        (b"x,y\n1,2\n3,inf\n", "line 3: 'y' must be a number or empty; found 'inf'"),
        (b"x,y\n1,2\n3\n", "line 3: expected 2 fields, found 1"),
        (b"x,x\n1,2\n", "line 1: the column 'x' stands there twice"),
        (b"", "line 1: expected a table with a header, found nothing"),
        (b"x,y\n\xff,2\n", "is not UTF-8"),
        (gzip.compress(b"x,y\n1,2\n", mtime=0)[:-9], "damaged or cut short"),
        (b'x,y\n"1"2,2\n', "line 2: is not separated text"),
        (b"x,y\n", "expected rows below the header, found none"),
        (b"x,y\n,2\n", "no points left with numbers in 'x' and 'y'"),
    ],
)
def test_bad_files_get_a_sentence(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "points.csv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=sentence) as problem:
        correlate(path, "x", "y")
    assert "points.csv" in str(problem.value)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"x": "waet"}, "has no column 'waet'; did you mean 'weat'[?] its columns are weat, metric, test, gap"),
        ({"by": ["zzzzz"]}, "has no column 'zzzzz'; its columns"),
        ({"by": ["gap"]}, "used once as x, y, by or seed. Got weat, gap, gap"),
        ({"unit": "Name"}, "has no column 'Name'"),
        ({"method": "kendall"}, "'method' parameter must be one of pearson, spearman. Got 'kendall'"),
        ({"duplicates": "merge"}, "'duplicates' parameter must be one of keep, drop. Got 'merge'"),
        ({"interval": "fisher"}, "'interval' parameter of correlate must be bca or percentile"),
        ({"level": 2.0}, "between 0 and 1"),
        ({"power_of": 2.0}, "number from -1 to 1"),
        ({"drop": ["test"]}, "COLUMN=REGEX, such as 'Test=9'. Got 'test'"),
        ({"drop": ["test=("]}, "is no regular expression"),
        ({"drop": ["tset=9"]}, "did you mean 'test'"),
        ({"seed_column": "test"}, "No two rows of the frame differ only in 'test' and 'gap'"),
        ({"points": 7}, "must be a file, a data frame"),
    ],
)
def test_bad_questions_get_a_sentence(changed: dict[str, Any], sentence: str) -> None:
    asked: dict[str, Any] = {"points": table(), "x": "weat", "y": "gap"}
    with pytest.raises(ParameterError, match=sentence):
        correlate(**{**asked, **changed})


def test_a_seed_that_stands_there_twice() -> None:
    frame = runs(1.0)
    frame.loc[1, "seed"] = 0
    with pytest.raises(ParameterError, match=r"row 2.*occurs"):
        correlate(frame, "weat", "gap", ["metric"], seed_column="seed")


def test_reliability_over_seeds_comes_back_from_json() -> None:
    found = correlate(runs(1.0), "weat", "gap", ["metric"], seed_column="seed", **FAST)
    assert found.pooled.reliability is not None
    assert CorrelationResult.from_dict(found.to_dict()).to_dict() == found.to_dict()


def beside_several(tests: int, seeds: int = 3) -> pd.DataFrame:
    """One gap a version and seed, beside the WEATs of some tests, which are equal for the version v0."""
    random = np.random.default_rng(5)
    gaps = random.standard_normal((9, 1)) + random.standard_normal((9, seeds))
    return pd.DataFrame([
        {"weat": 2.0 if at == 0 else 0.1 * test + at, "test": test, "variant": f"v{at}", "seed": seed, "gap": gap}
        for test in range(tests)
        for at, own in enumerate(gaps)
        for seed, gap in (list(enumerate(own))[:: -1 if test else 1])
    ])  # fmt: skip


def test_one_gap_beside_several_tests_is_one_measurement_of_it() -> None:
    """Five tests add nothing to what is known of the gap: reliability, interval and bound are those of one."""
    alone, beside = (
        correlate(beside_several(tests), "weat", "gap", unit="variant", seed_column="seed", **FAST) for tests in (1, 5)
    )
    assert (alone.pooled.n, beside.pooled.n, beside.pooled.units) == (9, 45, 9)
    assert alone.pooled.reliability is not None
    assert beside.pooled.reliability == alone.pooled.reliability
    assert beside.pooled.reliability.single.n == 9


def test_equal_values_of_two_tests_stay_two_points() -> None:
    """A version's WEATs may be equal (often ±2): its rows are told apart by the test, as without a tie."""
    frame = beside_several(2).assign(minutes=range(54))  # a column that differs in every row tells nothing
    found = correlate(frame, "weat", "gap", unit="variant", seed_column="seed", **FAST)
    assert (found.pooled.n, found.pooled.units) == (18, 9)
    apart = frame.assign(weat=frame["weat"] + 1e-9 * frame["test"])
    moved = correlate(apart, "weat", "gap", unit="variant", seed_column="seed", **FAST)
    assert found.pooled.r == pytest.approx(moved.pooled.r)
    again = pd.concat([frame, frame.assign(gap=0.0)])
    with pytest.raises(ParameterError, match="occurs"):
        correlate(again, "weat", "gap", unit="variant", seed_column="seed", **FAST)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        correlate(tmp_path / "nowhere.csv", "x", "y")

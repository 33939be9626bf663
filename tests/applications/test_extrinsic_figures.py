"""Figures of tasks and of coreference show the numbers of their results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.applications import TaskItems, TaskResult
from biasgauge.applications.classification.task import summarize
from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.gap import GapSnippet, score_gap
from biasgauge.applications.coref.winobias_pairs import WinoBiasResult, paired_gaps
from biasgauge.stats import Resampling

if TYPE_CHECKING:
    from pathlib import Path


def drawn(chart: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - a chart
    """Every row of data in a chart."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows]


def task(groups: list[str], seeds: int, texts: int = 300) -> TaskResult:
    random = np.random.default_rng(1)
    labels, about = random.choice(["toxic", "fine"], texts).tolist(), random.choice(groups, texts).tolist()
    guesses = [random.choice(["toxic", "fine"], texts).tolist() for _ in range(seeds)]
    items = TaskItems(tuple(labels), tuple(about), tuple(map(tuple, guesses)))
    runs: dict[int, Any] = {seed: {} for seed in range(seeds)}
    how = Resampling("percentile", 0.95, 100, 0)
    found = summarize(items, runs, how, classes=["fine", "toxic"], positive="toxic", order=groups)
    return TaskResult(
        "csv", "texts", "v.bin", found.metrics, found.gaps, found.seeds, found.counts, {}, {"level": 0.95}, ()
    )


def test_gaps_with_intervals_and_every_seed() -> None:
    result = task(["men", "women"], 3)
    chart = result.figures()["task_gaps"]
    rows = drawn(chart)
    means = {row["what"]: row for row in rows if row["kind"] == "mean"}
    assert len(means) == len(result.gaps)
    for one in result.gaps:
        name = one.metric.replace("_", " ") + (f", {one.positive_class}" if one.positive_class else "")
        assert (means[name]["gap"], means[name]["low"], means[name]["high"], means[name]["sd"]) == (
            one.value,
            one.low,
            one.high,
            None if one.sd is None else one.sd.value,
        )
        ticks = [row["gap"] for row in rows if row["kind"] == "one seed" and row["what"] == name]
        assert ticks == list(one.values)
    assert chart.to_dict()["title"]["subtitle"][0].startswith("men − women; 95 % intervals over items and seeds")
    alone = task(["men", "women"], 1).figures()["task_gaps"]
    assert {row["kind"] for row in drawn(alone)} == {"mean"}


def test_many_groups_are_drawn_against_the_rest() -> None:
    result = task(list("abcdefg"), 1, texts=600)
    charts = result.figures()
    rows = drawn(charts["task_gaps"])
    assert {row["what"] for row in rows} == {f"{group} − the rest" for group in "abcdefg"}
    assert {row["panel"] for row in rows} >= {"recall, toxic", "accuracy"}
    assert {row["who"] for row in drawn(charts["task_metrics"])} == {"all"}


def test_metrics_of_all_and_of_each_group() -> None:
    result = task(["men", "women"], 1)
    rows = drawn(result.figures()["task_metrics"])
    assert [(row["who"], row["value"]) for row in rows] == [(one.group or "all", one.value) for one in result.metrics]
    alone = task(["men"], 1)
    assert list(alone.figures()) == ["task_metrics"]  # no gaps


@pytest.fixture(scope="module")
def wino() -> WinoBiasResult:
    random = np.random.default_rng(0)
    how = Resampling("percentile", 0.95, 100, 0)
    gaps = []
    for part in ("test 1", "test 2"):
        sums = np.ones((50, 2, 4, 4))
        sums[..., 0] = sums[..., 2] = random.integers(0, 2, (50, 2, 1))
        gaps += paired_gaps(sums, part, ("pro", "anti"), how)
    return WinoBiasResult(tuple(gaps), {"level": 0.95})


def test_winobias_by_type(wino: WinoBiasResult, tmp_path: Path) -> None:
    charts = wino.figures()
    rows = {(row["part"], row["what"], row["who"]): row for row in drawn(charts["winobias"])}
    one = wino.gap("test 1", "linked")
    assert rows["type 1, test", "linked", "pro"]["value"] == (one.first and one.first.value)
    assert rows["type 1, test", "linked", "anti"]["high"] == (one.second and one.second.high)
    (change,) = [
        row for row in drawn(charts["winobias_gaps"]) if (row["part"], row["what"]) == ("type 1, test", "linked")
    ]
    assert (change["value"], change["p"]) == (one.value, one.p_value)
    written = bg.results.save_figures(charts, tmp_path)
    assert {path.name for path in written} == {
        f"winobias{end}.{kind}" for end in ("", "_gaps") for kind in ("svg", "png")
    }
    assert all(path.stat().st_size > 2_000 for path in written)


def test_gap_by_gender() -> None:
    random = np.random.default_rng(2)
    text = Document("d", (("He", "is", "Al"),))
    snippets = [
        GapSnippet(text, (0, 0), ((2, 2), (1, 1)), (True, False), "masculine" if at % 2 else "feminine")
        for at in range(60)
    ]
    answers = [(bool(random.random() < 0.7), False) for _ in snippets]
    result = score_gap(snippets, answers, Resampling("percentile", 0.95, 100, 0))
    chart = result.figures()["gap_f1"]
    rows = {(row["what"], row["who"]): row["value"] for row in drawn(chart)}
    assert len(rows) == 9
    assert rows["f1", "feminine"] == result.score("feminine").value
    ratio = result.score("feminine / masculine").value
    assert f"feminine / masculine pronouns: {ratio:.2f} [" in chart.to_dict()["title"]["subtitle"][1]

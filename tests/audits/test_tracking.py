"""Whether intrinsic numbers track the application: the verdict by a table, columns by their names, the section."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import biasgauge as bg
from biasgauge.analyses.correlate import CorrelationResult, correlate
from biasgauge.applications import TaskItems, TaskResult
from biasgauge.applications.classification.task import summarize
from biasgauge.audits import Rules, track
from biasgauge.audits.parts.extrinsic import HOW_TO_GET
from biasgauge.audits.tracking import answer_points
from biasgauge.cli.entry import run
from biasgauge.core import decide_tracking
from biasgauge.stats import Resampling, correlation_power

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.audits import Verdict
    from biasgauge.results import Summary


@pytest.mark.parametrize(
    ("found", "rest", "decision"),
    [
        (None, [True], "not-measurable"),
        (True, [True, True, True], "report"),
        (True, [True, True, None], "report-with-care"),
        (True, [False, True, None], "do-not-report"),
        (False, [True, True, True], "no-association-shown"),
        (False, [True, True, None], "no-association-shown"),
        (False, [False, True, True], "inconclusive"),
        (False, [np.True_, np.False_], "inconclusive"),
    ],
)
def test_the_decision_from_the_evidence(found: bool | None, rest: list[bool | None], decision: str) -> None:  # noqa: FBT001
    assert decide_tracking(found=found, checks=rest) == decision


def table(
    slopes: dict[str, float],
    *,
    embeddings: int = 40,
    noise: float = 0.4,
    seeds: int = 1,
    seed_noise: float = 0.1,
    shared: int = 1,
    random_state: int = 0,
) -> pd.DataFrame:
    """Embeddings whose gap follows their bias by one slope a method; `shared` tests see the same gap."""
    random = np.random.default_rng(random_state)
    rows = []
    for method, slope in slopes.items():
        for at, bias in enumerate(random.standard_normal(embeddings)):
            true = slope * bias + noise * random.standard_normal()
            gaps = true + seed_noise * random.standard_normal(seeds)
            for test in range(shared):
                weat = bias + 0.1 * random.standard_normal()
                rows += [
                    {"name": f"{method} {at}", "method": method, "test": test, "seed": seed, "weat": weat, "gap": gap}
                    for seed, gap in enumerate(gaps)
                ]
    return pd.DataFrame(rows)


def answered(frame: pd.DataFrame, by: tuple[str, ...] = ("method",), **how: Any) -> Verdict:  # noqa: ANN401 - of correlate
    return answer_points(correlate(frame, "weat", "gap", by, resamples=200, **how), Rules())


SEEDS: dict[str, Any] = {"seed_column": "seed", "unit": "name"}


@pytest.mark.parametrize(
    ("frame", "how", "decision", "because"),
    [
        (table({"pre": 1, "post": 1}, seeds=3), SEEDS, "report", "r = +0.9"),
        (
            table({"pre": 1, "post": 1}),
            {},
            "report-with-care",
            "unknown whether gap holds over task seeds: each point has one",
        ),
        (
            table({"pre": -1, "post": 1}, seeds=3),
            SEEDS,
            "do-not-report",
            "1 of 2 strata (90 % required) give the same direction",
        ),
        (table({"pre": 1}, shared=3), {"by": ()}, "do-not-report", "one measurement stands in several rows"),
        (table({"pre": 0, "post": 0}), {}, "no-association-shown", "unknown whether"),
        (
            table({"pre": 0}, embeddings=12),
            {},
            "inconclusive",
            "power to see a true r of 0.5 at p ≤ 0.025 with all 12: 29 % (80 % required)",
        ),
        (
            table({"pre": 1}, noise=0, seeds=2, seed_noise=30),
            {**SEEDS, "by": ()},
            "inconclusive",
            "too low to detect",
        ),
        (table({"pre": 1}).assign(gap=3), {}, "not-measurable", "'gap' is the same in all 40 points"),
    ],
)
def test_a_verdict_for_each_rule(frame: pd.DataFrame, how: dict[str, Any], decision: str, because: str) -> None:
    found = answered(frame, **how)
    assert found.decision == decision, found.sentence
    assert because in found.why
    assert found.sentence.startswith("Do the intrinsic numbers track the application? ")
    assert {one.link for one in found.evidence} <= {"extrinsic"}


def test_p_is_corrected_over_all_points_and_strata() -> None:
    found = correlate(table({"pre": 0.2, "post": 0.1}, embeddings=25), "weat", "gap", ["method"], resamples=200)
    values = sorted(one.p for one in found.groups if one.p is not None)
    assert len(values) == 3
    smallest = min(1.0, 3 * values[0])  # Holm's first step
    assert f"Holm-adjusted p = {smallest:.3f}".replace("0.", ".") in answer_points(found, Rules()).why
    assert answer_points(found, Rules(alpha=smallest)).evidence[0].passes
    assert not answer_points(found, Rules(alpha=smallest * 0.99)).evidence[0].passes


def test_columns_are_found_by_their_usual_names(tmp_path: Path) -> None:
    frame = table({"pre": 1, "post": 1}, seeds=2, embeddings=8)
    frame.to_csv(tmp_path / "points.csv", index=False)
    found = track(tmp_path / "points.csv")
    named = {key: found.settings[key] for key in ("points", "unit", "seed_column")}
    assert named == {"points": "points.csv", "unit": "name", "seed_column": "seed"}
    assert (found.x, found.y, found.by) == ("weat", "gap", ("method",))  # one test only: it makes no strata
    expected = correlate(frame, "weat", "gap", ["method"], unit="name", seed_column="seed")
    assert found.groups == expected.groups
    assert track(found) is found
    once = track(frame[frame["seed"] == 0])  # nothing to average over
    assert (once.settings["seed_column"], once.settings["points"]) == (None, "points")
    other = frame.rename(columns={"weat": "WEAT", "gap": "Performance Gap", "name": "Name"})
    assert (track(other).x, track(other).y, track(other).settings["unit"]) == ("WEAT", "Performance Gap", "Name")
    own = frame.rename(columns={"weat": "bias", "gap": "harm"})
    asked = track(own, "bias", "harm", ["test"], "method")
    assert (asked.x, asked.y, asked.by, asked.settings["unit"]) == ("bias", "harm", ("test",), "method")
    with pytest.raises(bg.ParameterError, match="intrinsic"):
        track(own)
    with pytest.raises(bg.ParameterError, match="no column 'bia'"):
        track(own, "bia", "harm")


def task(seeds: int = 2) -> TaskResult:
    random = np.random.default_rng(seeds)
    labels, groups = random.choice(["toxic", "fine"], 120).tolist(), random.choice(["men", "women"], 120).tolist()
    guesses = [random.choice(["toxic", "fine"], 120).tolist() for _ in range(seeds)]
    items = TaskItems(tuple(labels), tuple(groups), tuple(map(tuple, guesses)))
    how = Resampling("percentile", 0.95, 200, 0)
    settings: dict[str, Any] = {"classes": ["fine", "toxic"], "positive": "toxic", "order": ["men", "women"]}
    found = summarize(items, {seed: {} for seed in range(seeds)}, how, **settings)
    return TaskResult(
        "csv", "texts", "v.bin", found.metrics, found.gaps, found.seeds, found.counts, {}, {"level": 0.95}, ()
    )


@pytest.fixture(scope="module")
def vectors() -> bg.Embedding:
    words = ("he", "she", "man", "woman", "nurse", "judge")
    return bg.Embedding(words, np.random.default_rng(3).standard_normal((6, 5)), name="tiny")


def section_of(result: bg.audits.AuditResult) -> Summary:
    return next(part for part in result.summary().parts if part.name == "extrinsic")


@pytest.fixture(scope="module")
def audited(vectors: bg.Embedding) -> bg.audits.AuditResult:
    frame = table({"pre": -1, "post": 1}, seeds=3, embeddings=10, shared=2).assign(strength="50 %")
    return bg.audit(vectors, lexicons=["weat7"], points=frame, tasks=[task(), task(1)])


def test_points_and_tasks_are_read_back(audited: bg.audits.AuditResult) -> None:
    content = audited.extrinsic.to_dict()
    assert type(audited.extrinsic).from_dict(content).to_dict() == content


def test_the_section_has_every_number(audited: bg.audits.AuditResult) -> None:
    found = audited.extrinsic.correlation
    assert isinstance(found, CorrelationResult)
    section = section_of(audited)
    correlations, power, levels = section.tables
    assert [row[0] for row in correlations.rows] == [one.name for one in found.groups]
    assert [row[3].value for row in correlations.rows] == [one.r for one in found.groups]
    assert len(levels.rows) >= 2
    assert [column.name for column in power.columns][-2:] == ["reliability over seeds", "largest r"]
    assert [row[1] for row in power.rows] == [one.power for one in found.groups]
    gaps = [table for part in section.parts for table in part.all_tables() if table.name == "gaps"]
    assert [len(table.rows) for table in gaps] == [len(one.gaps) for one in audited.extrinsic.tasks]
    assert [row[2].value for row in gaps[0].rows] == [one.value for one in audited.extrinsic.tasks[0].gaps]
    assert section.headline == found.summary().headline
    assert set(found.readings) <= set(section.sentences)
    assert any(one.startswith("What this does not say") for one in section.sentences)
    assert [part.title for part in section.parts] == ["csv with v.bin", "csv with v.bin (2)"]
    points = next(one for one in section.charts if one.name == "points")
    assert points.numbers is not None
    drawn, lines = points.numbers()
    assert [column.name for column in drawn.columns] == ["weat", "gap", "test", "method", "name", "seed", "strength"]
    assert drawn.rows[0][5] == "0, 1, 2"
    assert len(drawn.rows) == 2 * 10 * 2
    tips = [one["title"] for one in json.loads(json.dumps(points.spec()))["spec"]["layer"][1]["encoding"]["tooltip"]]
    assert tips == ["weat", "gap", "test", "method", "name", "seed", "strength"]
    assert len(lines.rows) == 2 * 4  # both ends of each line


def test_the_verdict_and_the_json(audited: bg.audits.AuditResult) -> None:
    assert audited.verdicts[-1].question == "extrinsic"
    assert audited.verdicts[-1].decision == "do-not-report"
    content = json.loads(json.dumps(audited.to_dict(), allow_nan=False))["extrinsic"]
    assert content["groups"][0]["n"] == 2 * 10 * 2
    assert [one["task"] for one in content["tasks"]] == ["csv", "csv"]
    assert "reason" not in content


def test_without_points_one_line_says_how_to_get_them(vectors: bg.Embedding) -> None:
    result = bg.audit(vectors, lexicons=["weat7"])
    section = result.parts["extrinsic"].summary()
    assert section.headline == "Unknown: no application was measured."
    assert "extrinsic" not in {part.name for part in result.summary().parts}
    assert "biasgauge audit a.bin --points points.csv" in section.listings[0].text
    assert (section.charts, section.tables) == ((), ())
    assert result.to_dict()["extrinsic"] == {"groups": [], "reason": HOW_TO_GET, "tasks": []}
    assert all(one.question != "extrinsic" for one in result.verdicts)


def test_the_command(vectors: bg.Embedding, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bg.save(vectors, tmp_path / "v.bin")
    frame = table({"pre": 1, "post": 1}, embeddings=8).rename(columns={"weat": "bias", "gap": "harm"})
    frame.to_csv(tmp_path / "points.csv", index=False)
    (tmp_path / "task.json").write_text(json.dumps(task().to_dict()))
    asked = ["audit", str(tmp_path / "v.bin"), "--lexicon", "weat7", "--out", str(tmp_path / "out")]
    points = ["--points", str(tmp_path / "points.csv"), "--points-x", "bias", "--points-y", "harm"]
    assert run([*asked, *points, "--points-by", "method,test", "--tasks", str(tmp_path / "task.json"), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    expected = correlate(tmp_path / "points.csv", "bias", "harm", ["method", "test"], unit="name")
    assert content["extrinsic"]["groups"] == json.loads(json.dumps([one.to_dict() for one in expected.groups]))
    assert len(content["extrinsic"]["tasks"]) == 1
    assert content["settings"]["points"] == "points.csv"
    assert (content["verdicts"][-1]["model"], content["verdicts"][-1]["question"]) == ("points.csv", "extrinsic")
    assert run([*asked, *points, "--force", "--verbose"]) == 0
    shown = capsys.readouterr().out
    assert "Do the intrinsic numbers track the application?" in shown
    assert "would be detected (p ≤ 0.05)" in " ".join(shown.split())


def test_power_is_that_of_the_corrected_p() -> None:
    """Over 21 p and 30 points a stratum: .42 at .05 / 21, where an uncorrected test would have .83."""
    frame = table({f"m{at}": 0.0 for at in range(20)}, embeddings=30)
    found = correlate(frame, "weat", "gap", ["method"], resamples=50)
    power = {one.rule: one for one in answer_points(found, Rules()).evidence}["power"]
    assert correlation_power(30, 0.5) > 0.8 > correlation_power(30, 0.5, alpha=0.05 / 21)
    assert not power.passes
    assert power.observed == correlation_power(30, 0.5, alpha=0.05 / 21)
    assert power.threshold == 0.8
    assert "in the smallest stratum (30)" in power.reason
    strict = answer_points(found, Rules(alpha=0.001)).evidence[1]
    assert strict.observed == correlation_power(30, 0.5, alpha=0.001 / 21)


def test_units_of_one_point_each_leave_the_test_of_strata_in() -> None:
    frame = table({"pre": 3, "post": 0.5})
    plain, named = (correlate(frame, "weat", "gap", ["method"], unit=unit, resamples=50) for unit in (None, "name"))
    assert plain.levels is not None
    assert named.levels is not None
    assert named.levels.q_p == plain.levels.q_p
    assert plain.levels.q_p is not None
    assert plain.levels.q_p < 0.05
    for found in (plain, named):
        strata = {one.rule: one for one in answer_points(found, Rules()).evidence}["strata"]
        assert strata.passes is False
        assert "all 2 strata (90 % required) give the same direction and do not share one correlation" in strata.reason


def test_whether_strata_differ_is_not_known_where_points_share_units() -> None:
    found = answered(table({"pre": 1, "post": 1}, shared=2, seeds=3), **SEEDS)
    strata = {one.rule: one for one in found.evidence}["strata"]
    assert strata.passes is None
    assert strata.reason.endswith("same direction; unknown whether they share one correlation (points share units)")
    assert found.decision == "report-with-care"
    turned = answered(table({"pre": 1, "post": -1}, shared=2), unit="name")
    assert {one.rule: one for one in turned.evidence}["strata"].passes is False


def test_strata_of_one_seed_say_nothing_on_reliability() -> None:
    known, lone = table({"pre": 1}, seeds=3), table({"post": 1}, random_state=1)
    middle = {one.rule: one for one in answered(pd.concat([known, lone]), **SEEDS).evidence}["reliability"]
    assert middle.passes
    assert middle.reason == "reliability of gap over 3 task seeds, ICC(3,k), 1.00 (0.5 required)"
    flat = known.assign(weat=np.random.default_rng(3).standard_normal(40).repeat(3))
    question = answered(pd.concat([flat, table({"post": 3}, random_state=1)]), **SEEDS)
    assert "over 40 units (name) of post" in question.why
    alone = {one.rule: one for one in question.evidence}["reliability"]
    assert alone.passes is None
    assert alone.reason == "unknown whether gap holds over task seeds: each point has one"


def test_too_few_points_are_not_called_too_few_words(
    vectors: bg.Embedding, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bg.save(vectors, tmp_path / "v.bin")
    (tmp_path / "points.csv").write_text("weat,gap\n1,2\n")
    asked = ["audit", str(tmp_path / "v.bin"), "--lexicon", "weat7", "--points", str(tmp_path / "points.csv")]
    assert run([*asked, "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    page = " ".join((tmp_path / "out" / "report.html").read_text().split())
    rows = re.findall(r'<details class="row quiet".*?</summary>', page)
    assert len(rows) == 2
    assert sum("a correlation takes 3 points or more, and there is 1" in row for row in rows) == 1
    assert sum("of the words found" in row for row in rows) == 1
    assert "0 of 1 lexicon can be measured; 1 cannot." in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--points-x", "weat"], "Got no --points"),
        (["--points", "nowhere.csv"], "nowhere.csv: there is no such file"),
        (["--points", "POINTS"], "line 3: 'gap' must be a number or empty; found 'much'"),
        (["--tasks", "POINTS"], "is not JSON"),
    ],
)
def test_mistakes_get_a_sentence(
    words: list[str], sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "points.csv"
    path.write_text("weat,gap\n1,2\n3,much\n")
    assert run(["audit", "--out", str(tmp_path / "out"), *[word.replace("POINTS", str(path)) for word in words]]) == 2
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("biasgauge: auditing: ")]
    assert len(said) == 1  # beside progress, which a slow machine shows
    assert sentence in said[0]

"""Points of a study: the numbers of `weat` and `extrinsic` side by side, and no model trained twice."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.analyses.correlate import correlate
from biasgauge.analyses.correlate.embedding_points import Point, Variant, points, points_from_results
from biasgauge.applications import extrinsic
from biasgauge.applications.classification.task import TextClassification
from biasgauge.applications.coref.scores import CorefScore, CorefScores
from biasgauge.applications.coref.winobias_pairs import PairedGap, WinoBiasResult
from biasgauge.cli.entry import run
from biasgauge.core.estimate import Estimate
from biasgauge.errors import InputError, ParameterError
from biasgauge.lexicons import AssociationTest, WordSet
from biasgauge.scores import association_test, weat
from biasgauge.vectors import Embedding, load, save

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.analyses.correlate.embedding_points import PointsResult

TINY: dict[str, Any] = {"filters": 4, "widths": (1,), "batch": 16, "learning_rate": 0.05, "epochs": 2}
SETS = {role: tuple(f"{role}{letter}" for letter in "pqr") for role in "xyab"}
WORDS = (*(word for words in SETS.values() for word in words), "good", "bad")
X, Y, A, B = (WordSet(role, words) for role, words in SETS.items())
TEST = AssociationTest(name="made", x=X, y=Y, a=A, b=B)
LOST = replace(TEST, name="lost", y=WordSet("y", ("nowhere", "never")))
SEEDS = 2


def version(seed: int) -> Embedding:
    vectors = np.random.default_rng(seed).standard_normal((len(WORDS), 5)).astype(np.float32)
    return Embedding(WORDS, vectors, name=f"version {seed}")


VARIANTS = (
    Variant(version(0), "made"),
    Variant(version(1), "made", "shifted", "debias", 0.5),
    Variant(version(2), "made", "shifted", "overbias", 1, name="mine"),
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    random = np.random.default_rng(1)
    rows = ["text,label,group,split"]
    for at in range(160):
        label, group, split = at % 2, "mf"[at // 2 % 2], ("train", "train", "dev", "test")[at // 4 % 4]
        words = [*random.choice(WORDS[:12], 3), ("good", "bad")[label ^ int(random.random() < 0.2)]]
        rows.append(f"{' '.join(words)},{label},{group},{split}")
    path = tmp_path_factory.mktemp("points") / "texts.csv"
    path.write_text("\n".join([*rows, ""]))
    return path


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cells")


def study(table: Path, cells: Path, variants: tuple[Variant, ...] = VARIANTS, **settings: Any) -> PointsResult:  # noqa: ANN401 - settings of points
    return points(variants, [TEST, LOST], "csv", table, seeds=SEEDS, cache=cells, **TINY, **settings)


@pytest.fixture(scope="module")
def found(table: Path, cells: Path) -> PointsResult:
    return study(table, cells)


def test_every_intrinsic_number_is_that_of_the_test_alone(found: PointsResult) -> None:
    for variant in VARIANTS:
        point = next(one for one in found.points if (one.variant, one.test) == (variant.label, "made"))
        alone = weat(variant.vectors, TEST)
        assert alone.contrast is not None
        assert (point.weat.value, point.contrast.value) == (alone.value, alone.contrast.value)
        assert (point.contrast.low, point.contrast.high) == (alone.contrast.low, alone.contrast.high)
        ripa = association_test(variant.vectors, TEST, kind="set_ripa")
        assert point.ripa.value == ripa.value
        assert alone.contrast.adjusted is not None
        assert point.adjusted.value == alone.contrast.adjusted.value
    frame = found.to_frame()
    assert {"weat", "contrast", "contrast_low", "adjusted", "ripa"} <= set(frame.columns)
    assert Point.from_dict(found.points[0].to_dict()) == found.points[0]


def test_the_command_gives_the_same_points(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("made", "made:shifted:debias:0.5")
    files = [tmp_path / f"{number}.npz" for number in range(2)]
    for variant, file in zip(VARIANTS, files, strict=False):
        save(load(variant.vectors), file)
    test = tmp_path / "made.toml"
    roles = "".join(f'[{role}]\nname = "{role}"\nwords = {json.dumps(SETS[role])}\n' for role in "xyab")
    test.write_text(f'kind = "test"\n{roles}')
    settings = [part for name, value in TINY.items() if name != "widths" for part in ("--set", f"{name}={value}")]
    typed = [f"{name}={file}" for name, file in zip(names, files, strict=True)]
    options = ["--task", "csv", "--data", str(table), "--tests", str(test), "--seeds", "1", "--json", *settings]
    assert run(["points", *typed, *options]) == 0, capsys.readouterr().err
    printed = json.loads(capsys.readouterr().out)
    assert {one["variant"] for one in printed["points"]} == {"made original", "made shifted debias 0.5"}
    assert printed["points"][0]["contrast"] == pytest.approx(weat(VARIANTS[0].vectors, TEST).contrast.value)
    assert run(["points", f"made:shifted={files[0]}", *options]) == 2
    assert "EMBEDDING:METHOD:DIRECTION:STRENGTH=FILE" in capsys.readouterr().err


def test_a_row_for_every_version_test_gap_and_seed(found: PointsResult, table: Path, cells: Path) -> None:
    alone = extrinsic("csv", VARIANTS[1].vectors, table, seeds=SEEDS, cache=cells, **TINY)
    assert all(one.reused for one in alone.seeds)
    assert len(found.points) == len(VARIANTS) * 2 * len(alone.gaps) * SEEDS
    assert len(list(cells.glob("*.json"))) == len(VARIANTS) * SEEDS
    assert {one.variant for one in found.points} == {"made original", "made shifted debias 0.5", "mine"}
    frame = found.to_frame()
    keys = ["variant", "test", "metric", "of", "a", "b", "seed"]
    assert not frame.duplicated(keys).any()
    assert frame[["embedding", "method", "direction", "strength"]].drop_duplicates().to_numpy().tolist() == [
        ["made", "original", "none", 0],
        ["made", "shifted", "debias", 0.5],
        ["made", "shifted", "overbias", 1],
    ]


def test_numbers_are_those_of_weat_and_extrinsic_alone(found: PointsResult, table: Path) -> None:
    for variant in VARIANTS:
        intrinsic = weat(variant.vectors, TEST)
        gaps = {
            (one.metric, one.positive_class): one.values
            for one in extrinsic("csv", variant.vectors, table, seeds=SEEDS, **TINY).gaps
        }
        rows = [one for one in found.points if one.variant == variant.label and one.test == "made"]
        assert len(rows) == len(gaps) * SEEDS
        for row in rows:
            assert (row.weat.value, row.found, row.asked, row.weat.reason) == (intrinsic.effect_size, 12, 12, None)
            assert intrinsic.interval is not None
            assert (row.weat.low, row.weat.high) == (intrinsic.interval.low, intrinsic.interval.high)
            assert row.gap == gaps[row.metric, row.positive_class][row.seed]
            assert (row.task, row.a, row.b) == ("csv", "f", "m")  # by the alphabet


def test_performance_is_that_of_extrinsic(found: PointsResult, table: Path) -> None:
    alone = extrinsic("csv", VARIANTS[0].vectors, table, seeds=SEEDS, **TINY)
    mine = [one for one in found.performance if one.variant == "made original"]
    assert len(mine) == len(alone.metrics) * SEEDS == len(found.performance_frame()) / len(VARIANTS)
    for one in alone.metrics:
        rows = [
            row
            for row in mine
            if (row.metric, row.positive_class, row.group) == (one.metric, one.positive_class, one.group)
        ]
        assert [(row.seed, row.value) for row in rows] == list(enumerate(one.values))


def test_an_undefined_number_has_its_reason(found: PointsResult) -> None:
    rows = [one for one in found.points if one.test == "lost"]
    assert {(one.weat.value, one.weat.low, one.weat.reason) for one in rows} == {
        (None, None, "fewer than 80 % of the words found: y 0 of 2")
    }
    assert {(one.found, one.asked) for one in rows} == {(9, 11)}
    assert "lost on mine: fewer than 80 % of the words found: y 0 of 2" in found.warnings


def test_a_stopped_study_goes_on(
    found: PointsResult, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[int] = []
    train = TextClassification.train

    def counted(self: TextClassification, seed: int, progress: Any = None) -> dict[str, Any]:  # noqa: ANN401 - passed on
        if len(trained) == 3:
            raise KeyboardInterrupt
        trained.append(seed)
        return train(self, seed, progress)

    monkeypatch.setattr(TextClassification, "train", counted)
    with pytest.raises(KeyboardInterrupt):
        study(table, tmp_path)
    assert trained == [0, 1, 0]  # two of the first version, one of the second
    trained.clear()
    assert study(table, tmp_path).points == found.points
    assert trained == [1, 0, 1]
    trained.clear()
    trained.extend([0] * 3)  # the next training would stop it
    assert study(table, tmp_path).points == found.points


def test_correlate_takes_the_frame_and_the_file(found: PointsResult, tmp_path: Path) -> None:
    found.save(tmp_path / "points.csv")
    asked: dict[str, Any] = {"by": ["metric"], "drop": ["of=weighted"], "seed_column": "seed", "unit": "variant"}
    from_file = correlate(tmp_path / "points.csv", "weat", "gap", **asked)
    from_frame = correlate(found.to_frame(), "weat", "gap", **asked)
    # Files hold nine significant digits.
    assert [one.r for one in from_file.groups] == pytest.approx([one.r for one in from_frame.groups], rel=1e-6)
    recall = next(one for one in from_file.groups if one.by == {"metric": "recall"})
    assert recall.n == len(VARIANTS)
    means = [
        (rows[0].weat.value, np.mean([one.gap for one in rows if one.gap is not None]))
        for variant in VARIANTS
        for rows in [
            [
                one
                for one in found.points
                if (one.variant, one.test, one.metric, one.positive_class) == (variant.label, "made", "recall", "1")
            ]
        ]
    ]
    assert recall.r == pytest.approx(np.corrcoef(np.array(means, float).T)[0, 1])


def test_json_and_html(found: PointsResult) -> None:
    content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(content["points"]) == len(found.points)
    assert content["settings"]["tests"] == ["made", "lost"]
    assert content["settings"]["seeds"] == [0, 1]
    assert f"{len(found.points)} points of 3 versions" in found._repr_html_()


def test_results_from_elsewhere_give_the_same_points(found: PointsResult, table: Path, tmp_path: Path) -> None:
    results: list[tuple[Variant, object]] = []
    for at, variant in enumerate(VARIANTS):
        alone = extrinsic("csv", variant.vectors, table, seeds=SEEDS, **TINY)
        path = tmp_path / f"{at}.json"
        path.write_text(json.dumps(alone.to_dict()))
        results.append((variant, path if at else alone))
    assert points_from_results(results, [TEST, LOST]).points == found.points


def test_a_result_without_a_value_for_each_seed_is_refused(table: Path, tmp_path: Path) -> None:
    content = extrinsic("csv", VARIANTS[0].vectors, table, **TINY).to_dict()
    content["gaps"][0]["values"] = [*content["gaps"][0]["values"], 0.5]
    (tmp_path / "one.json").write_text(json.dumps(content))
    with pytest.raises(InputError, match="expected one a seed"):
        points_from_results([(VARIANTS[0], tmp_path / "one.json")], [TEST])


def coref_result(seed: int, gap: float | None) -> dict[str, Any]:
    """What scripts/train_coref.py writes, of given numbers."""
    second = None if gap is None else Estimate(value=60.0)
    row = PairedGap(
        subset="test 1",
        metric="recall",
        first=Estimate(value=60.0 + (gap or 0)),
        second=second,
        value=gap,
        n=396,
        reason="no" if gap is None else None,
    )
    f1 = (CorefScore(metric="conll", rate="f1", value=0.5), CorefScore(metric="muc", rate="f1", value=0.6))
    scores = CorefScores(f1, 3, 4, 5, {})
    return {"seed": seed, "test": scores.to_dict(), "winobias": WinoBiasResult((row,), {}).to_dict()}


def test_coreference_that_was_trained_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(json.dumps(coref_result(1, None)))
    given = [(VARIANTS[0], coref_result(0, 12.5)), (VARIANTS[0], path), (VARIANTS[1], coref_result(0, -3.0))]
    found = points_from_results(given, [TEST])
    rows = [
        (one.variant, one.seed, one.task, one.positive_class, one.a, one.b, one.gap, one.gap_reason)
        for one in found.points
    ]
    about = ("coref", "winobias test 1", "pro", "anti")
    assert rows == [
        ("made original", 0, *about, 0.125, None),
        ("made original", 1, *about, None, "no"),
        ("made shifted debias 0.5", 0, *about, -0.03, None),
    ]
    assert [one.weat.value for one in found.points[1:]] == [weat(one.vectors, TEST).effect_size for one in VARIANTS[:2]]
    numbers = {(one.metric, one.positive_class, one.group): one.value for one in found.performance if one.seed == 0}
    assert numbers["f1", "conll", None] == 0.5
    assert numbers["recall", "winobias test 1", "pro"] == pytest.approx(0.57)  # the last version's


def test_bad_input_is_refused(table: Path, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="at least one version"):
        points([], [TEST], "csv", table)
    with pytest.raises(ParameterError, match="versions"):
        points([VARIANTS[0], VARIANTS[0]], [TEST], "csv", table)
    with pytest.raises(ParameterError, match="Variant"):
        points(["vectors.bin"], [TEST], "csv", table)  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="lexicons"):
        points(VARIANTS, "weat7", "csv", table)
    with pytest.raises(ParameterError, match="original"):
        points_from_results([(VARIANTS[0], coref_result(0, 1.0))] * 2, [TEST])
    with pytest.raises(ParameterError, match="must be a TaskResult"):
        points_from_results([(VARIANTS[0], 5)], [TEST])
    with pytest.raises(InputError, match="train_coref"):
        points_from_results([(VARIANTS[0], {"winobias": {}})], [TEST])
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(InputError, match="is not JSON"):
        points_from_results([(VARIANTS[0], tmp_path / "bad.json")], [TEST])


def test_a_task_without_groups_has_no_points(table: Path, tmp_path: Path) -> None:
    path = tmp_path / "texts.csv"
    path.write_text(
        "\n".join(",".join([row.split(",")[at] for at in (0, 1, 3)]) for row in table.read_text().splitlines())
    )
    with pytest.raises(ParameterError, match="groups"):
        points(VARIANTS[:1], [TEST], "csv", path, seeds=1, **TINY)

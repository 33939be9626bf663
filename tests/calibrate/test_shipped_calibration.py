"""The calibration that ships: made for the replicates that ship, and what it says of them."""

from __future__ import annotations

import importlib
import json
from math import exp, log, sqrt
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.calibrate import DEFAULT_CALIBRATION, load_default_calibration
from biasgauge.lexicons import pairs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from biasgauge.audits import AuditResult

SCRIPTS = Path(__file__).parents[2] / "scripts"
Z = 1.6448536269514722


def script(name: str, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a module
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module(name)


def leaves(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - of JSON
    if not isinstance(value, (dict, list)):
        yield name, value
        return
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(item, f"{name}/{key}")


def test_its_recipe_is_that_of_the_replicates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replicates = script("make_default_replicates", monkeypatch)
    given: dict[str, Any] = {}

    def train(corpus: object, **settings: Any) -> SimpleNamespace:  # noqa: ANN401, ARG001
        given.update(settings)
        return SimpleNamespace(models=())

    monkeypatch.setattr(replicates.bg.text, "read_corpus", lambda *_, **__: None)
    monkeypatch.setattr(replicates.bg, "train", train)
    replicates.make(tmp_path, tmp_path)
    recipe = {name: given[name] for name in ("algorithm", "min_count", "dim", "window", "epochs")}
    assert recipe == script("make_default_calibration", monkeypatch).RECIPE
    assert recipe == load_default_calibration().settings["recipe"]


def test_the_file_is_what_the_script_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = script("make_default_calibration", monkeypatch)
    made.write(load_default_calibration(), tmp_path / "again.json")
    paths = (tmp_path / "again.json", DEFAULT_CALIBRATION)
    again, shipped = (list(leaves(json.loads(path.read_text(encoding="utf-8")))) for path in paths)
    assert [name for name, _ in again] == [name for name, _ in shipped]
    for (name, ours), (_, theirs) in zip(again, shipped, strict=True):  # seven digits are kept, odds follow from them
        assert ours == (pytest.approx(theirs, rel=1e-4) if isinstance(theirs, float) else theirs), name
    assert DEFAULT_CALIBRATION.stat().st_size < 200_000


def test_its_design_is_the_one_that_the_script_makes_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_default_calibration().settings
    asked: dict[str, Any] = {}
    made = script("make_default_calibration", monkeypatch)
    monkeypatch.setattr(made, "make", lambda *_, **options: asked.update(options))
    monkeypatch.setattr("sys.argv", ["make_default_calibration.py"])
    made.main()
    design = settings["design"]
    assert {name: design[name] for name in ("plantings", "seeds", "shuffled")} == {
        name: asked[name] for name in ("plantings", "seeds", "shuffled")
    }
    assert settings["models"] == asked["plantings"] * asked["seeds"]
    known = {tuple(pair) for pair in pairs_of("du2021").pairs}
    assert {tuple(pair) for pair in settings["pairs"]} == known


def test_scores_follow_the_planted_doses() -> None:
    curve = load_default_calibration().curve("dbwa")
    assert curve.response.slope.low is not None
    assert curve.response.slope.low > 0
    doses = [point.dose for point in curve.points]
    assert max(doses) == pytest.approx(log(10), abs=0.1)
    means = [point.mean.value for point in curve.points]
    assert np.corrcoef(np.array(doses, float), np.array(means, float))[0, 1] > 0.8


def test_equivalents_are_read_off_the_line() -> None:
    calibration = load_default_calibration()
    response = calibration.curve("dbwa").response
    slope = response.slope.value
    assert slope is not None
    found = {word.word: word for word in calibration.equivalent({"up": 0.02, "down": -0.03}, measure="dbwa").words}
    for word, score in (("up", 0.02), ("down", -0.03)):
        assert found[word].dose.value == pytest.approx((score - response.intercept) / slope)


def test_the_default_audit_tells_contrasts_beside_it(shipped_audit: Callable[..., AuditResult]) -> None:
    calibration = load_default_calibration()
    result = shipped_audit("weat7")
    (verdict,) = result.verdicts
    piece = next(piece for piece in verdict.evidence if piece.rule == "calibration")
    response = calibration.curve("dbwa").response
    words = 4.0  # two lists of eight: 1 / (1/8 + 1/8)
    lasting = response.variances.carrier + response.variances.planting  # type: ignore[operator]
    needed = 2 * Z * sqrt((lasting + response.variances.run) / words)  # type: ignore[operator]
    contrast = verdict.observed("association")["contrast"]
    assert contrast is not None
    assert exp(needed / response.slope.value) > 1000  # type: ignore[operator]
    assert piece.threshold == pytest.approx(needed)
    assert piece.observed["contrast"] == contrast  # type: ignore[index]
    largest = max(abs(point.dose) for point in calibration.curve("dbwa").points)
    assert piece.observed["of_largest_planted"] == pytest.approx(response.slope.value * largest)  # type: ignore[index, operator]
    assert piece.passes is (abs(contrast) >= needed)
    assert f"limit of detection is {needed:.3f}" in verdict.why
    assert "odds ratio" not in verdict.claim
    told = result.calibration
    assert told is not None
    assert told.too_coarse
    part = next(part for part in result.summary().parts if part.name == "calibration")
    assert "moves the score of a word by" in part.headline
    assert [column.name for column in part.tables[1].columns] == ["word", "score", "detected"]
    again = bg.audits.AuditResult.from_dict(json.loads(json.dumps(result.to_dict())))
    assert again.to_dict()["calibration"] == result.to_dict()["calibration"]


def test_other_vectors_have_none() -> None:
    words = (*bg.lexicon("weat7").words, *(f"w{number}" for number in range(300)))
    matrix = np.random.default_rng(0).normal(size=(len(words), 20)).astype(np.float32)
    assert bg.audit(bg.Embedding(words, matrix), lexicons=["weat7"]).calibration is None

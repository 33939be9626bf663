"""The calibration that ships: made for the replicates that ship, and what it says of them."""

from __future__ import annotations

import importlib
import json
from math import log, sqrt
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import biasgauge as bg
from biasgauge.analyses.calibrate import DEFAULT_CALIBRATION, Calibration, load_default_calibration
from biasgauge.lexicons import pairs_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from biasgauge.audits import AuditResult

SCRIPTS = Path(__file__).parents[2] / "scripts"
TABLE = Path(__file__).parents[2] / "docs" / "studies" / "calibration" / "new_texts.csv"
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
    contrast = verdict.observed("association")["contrast"]
    assert contrast is not None
    needed = max(contrast_limit(calibration, 8, texts) for texts in (1, 3))
    own = calibration.lines[0].line
    assert needed > 2 * Z * sqrt(min(own.blank_variance, own.dose_variance) / 4)  # that of a variance that is known
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


def contrast_limit(calibration: Calibration, words: int, texts: int) -> float:
    """Two prediction margins of a difference of means of so many words: t of words, in the first text or a new one."""
    lines = [line.line for line in calibration.lines if line.measure == "dbwa"][:texts]
    blanks, dosed = (np.array([getattr(line, f"{kind}_variance") for line in lines]) for kind in ("blank", "dose"))
    count, freedom = len(lines), sum(line.df for line in lines)
    t = [
        stats.t.ppf(
            0.95,
            freedom if count == 1 else max(min(freedom, 2 * of.mean() ** 2 / (of.var(ddof=1) * (1 + 1 / count))), 1),
        )
        for of in (blanks, dosed)
    ]
    blank, dose = blanks.mean() / words, dosed.mean() / words
    return float(t[0] * sqrt(2 * blank) + t[1] * sqrt(blank + dose))


def test_limits_hold_for_text_that_was_not_used() -> None:
    """They rest on three texts; each of them was held against limits of the others, and the table says how it went."""
    calibration = load_default_calibration()
    assert [text.name for text in calibration.texts] == ["Wikipedia", "film reviews", "English novels"]
    assert calibration.texts[0].checksum == calibration.settings["corpus"]["checksum"]
    assert all(limit.texts for limit in calibration.limits if limit.of == "measure")
    assert "they rest on 3 texts, Wikipedia (29,986,581 tokens)" in calibration.generalization
    table = pd.read_csv(TABLE)
    assert set(table["text"]) > {text.name for text in calibration.texts}
    shares = table.groupby(["kind", "measure", "words"])[["blanks_beyond", "detected"]].mean()
    assert (shares["blanks_beyond"] <= 0.05).all()
    of_mean_cosines = shares.drop(index="nbm", level="measure")
    assert (of_mean_cosines["detected"].dropna() >= 0.95).all()


def test_other_vectors_have_none() -> None:
    words = (*bg.lexicon("weat7").words, *(f"w{number}" for number in range(300)))
    matrix = np.random.default_rng(0).normal(size=(len(words), 20)).astype(np.float32)
    assert bg.audit(bg.Embedding(words, matrix), lexicons=["weat7"]).calibration is None

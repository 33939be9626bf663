"""What an audit once got wrong: settings that did not arrive, a correction for fewer tests, scores computed thrice."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.reliability import ReliabilityResult
from biasgauge.analyses.robustness import RobustnessResult
from biasgauge.audits import shared_scores
from biasgauge.audits.verdict_rule import corrected

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.scores import ScoreTensor

pytestmark = pytest.mark.usefixtures("quick_audits")


def shouted(vectors: bg.Embedding) -> bg.Embedding:
    """The same vectors, every word capitalized."""
    kept = {word.capitalize(): row for row, word in reversed(list(enumerate(vectors.words)))}
    return bg.Embedding(tuple(kept), vectors.vectors[list(kept.values())], name=vectors.name)


@pytest.fixture(scope="module")
def replicates(small_replicates: list[bg.Embedding]) -> list[bg.Embedding]:
    return [shouted(model) for model in small_replicates[:2]]


def test_case_fallback_and_coverage_reach_reliability_and_robustness(replicates: list[bg.Embedding]) -> None:
    result = bg.audit(replicates, policy=bg.core.WordPolicy(min_coverage=0.3, case="fallback"))
    assert isinstance(result.reliability, ReliabilityResult)
    assert result.reliability.settings["min_coverage"] == 0.3
    found = next(words for words in result.reliability.lists if words.name == "occ16")
    assert len(found.lost) < found.size / 2
    assert isinstance(result.robustness, RobustnessResult)
    assert result.robustness.settings["min_coverage"] == 0.3
    assert result.robustness.coverage.share > 0.5
    assert result.robustness.flips is not None
    assert any(row.outcome is not None for row in result.robustness.flips.rows)
    plain = bg.audit(replicates, policy=bg.core.WordPolicy(min_coverage=0.3, case="exact"))
    assert not isinstance(plain.robustness, RobustnessResult)  # he and she are not there as written


def test_p_is_corrected_over_the_questions_of_all_subjects(small_replicates: list[bg.Embedding]) -> None:
    """Three models that are no replicates and two tests are six p, in two families of three."""
    models = [replace(model, lineage="") for model in small_replicates[:3]]
    result = bg.audit(models, lexicons=["weat1", "weat7"])
    assert len(result.verdicts) == 6
    p_values = {one.id: (one.family, one.observed("association")["p"]) for one in result.verdicts}
    assert {family for family, _ in p_values.values()} == {"sanity", "gender"}
    expected = corrected(p_values, 0.05)
    for one in result.verdicts:
        numbers = one.observed("association")
        assert (numbers["p_adjusted"], numbers["k"]) == (expected[one.id].p, expected[one.id].k)
    alone = bg.audit(models[0], lexicons=["weat1"]).verdicts[0].observed("association")
    assert alone["k"] == 1
    assert float(result.verdicts[0].observed("association")["p_adjusted"] or 0) > float(alone["p_adjusted"] or 0)


def test_base_pairs_are_scored_once_for_all_parts(
    monkeypatch: pytest.MonkeyPatch, small_replicates: list[bg.Embedding]
) -> None:
    asked: list[dict[str, Any]] = []
    score: Callable[..., ScoreTensor] = vars(shared_scores)["score"]

    def counted(models: object, **settings: Any) -> ScoreTensor:  # noqa: ANN401 - those of `score`
        asked.append(settings)
        return score(models, **settings)

    monkeypatch.setattr(shared_scores, "score", counted)
    result = bg.audit(small_replicates[:2])
    assert [settings["pairs"].name for settings in asked] == ["du2021"]
    assert result.explorer is not None
    assert isinstance(result.reliability, ReliabilityResult)


def test_a_result_is_short_on_the_screen_and_whole_in_its_files(tmp_path: Path) -> None:
    result = bg.audit(lexicons=["weat7", "religion"])
    assert len(repr(result)) < 200
    text = json.dumps(result.to_dict(), allow_nan=False)
    again = bg.audits.AuditResult.from_dict(json.loads(text))
    assert json.dumps(again.to_dict(), allow_nan=False) == text
    assert again.to_frame().equals(result.to_frame())
    assert [part.name for part in again.summary().parts] == [part.name for part in result.summary().parts]
    assert again.save(tmp_path / "again.html").stat().st_size > 10_000
    frame = result.to_frame().set_index("question")
    numbers = next(one for one in result.verdicts if one.question == "weat7").observed("association")
    columns = {"value": "contrast", **{name: name for name in ("low", "high", "level", "p", "p_adjusted")}}
    assert {name: frame.loc["weat7", name] for name in columns} == {
        name: numbers[other] for name, other in columns.items()
    }
    assert np.isfinite(frame.loc["weat7", ["p_targets", "p_attributes"]].astype(float)).all()
    assert frame.loc["religion", "decision"] == result.verdicts[-1].decision

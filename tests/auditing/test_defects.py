"""What an audit once got wrong: settings that did not arrive, a correction for fewer tests, scores computed thrice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.agreement import ReliabilityResult
from biasgauge.auditing import shared_scores
from biasgauge.auditing.answers import corrected_p
from biasgauge.scores import Weat
from biasgauge.sensitivity import RobustnessResult
from biasgauge.stats.multiple import holm

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.scores import ScoreTensor


def shouted(vectors: bg.Embedding) -> bg.Embedding:
    """The same vectors, every word capitalized."""
    kept = {word.capitalize(): row for row, word in reversed(list(enumerate(vectors.words)))}
    return bg.Embedding(tuple(kept), vectors.vectors[list(kept.values())], name=vectors.name)


@pytest.fixture(scope="module")
def replicates() -> list[bg.Embedding]:
    return [shouted(one) for one in bg.embeddings.load_default_replicates()[:2]]


def test_case_fallback_and_coverage_reach_reliability_and_robustness(replicates: list[bg.Embedding]) -> None:
    result = bg.audit(replicates, lexicons=["occ16"], case_fallback=True, min_coverage=0.3)
    assert isinstance(result.reliability, ReliabilityResult)
    assert result.reliability.settings["min_coverage"] == 0.3
    found = next(words for words in result.reliability.lists if words.name == "occ16")
    assert len(found.lost) < found.asked / 2
    assert isinstance(result.robustness, RobustnessResult)
    assert result.robustness.settings["min_coverage"] == 0.3
    assert result.robustness.coverage.share > 0.5
    assert result.robustness.flips is not None
    assert any(row.outcome is not None for row in result.robustness.flips.rows)
    plain = bg.audit(replicates, lexicons=["occ16"], min_coverage=0.3)
    assert not isinstance(plain.robustness, RobustnessResult)  # he and she are not there as written


def test_p_is_corrected_over_the_tests_of_all_models() -> None:
    """Three models and two tests are six p-values, not three times two."""
    names = ("weat1", "weat7")
    models = bg.embeddings.load_default_replicates()[:3]
    result = bg.audit(models, lexicons=list(names))
    tests = [one for one in result.bias if isinstance(one, Weat)]
    assert len(tests) == 6
    expected = dict(zip([(one.model, one.name) for one in tests], holm([one.p_value for one in tests]), strict=True))
    assert corrected_p(tests) == expected
    told = {
        (one.model, one.question): one.observed("effect")["p_adjusted"] for one in result.verdicts if one.test == "weat"
    }
    assert told == expected
    alone: dict[tuple[str, str], float | None] = {}
    for model in {one.model for one in tests}:
        mine = [one for one in tests if one.model == model]
        alone |= {(model, one.name): p for one, p in zip(mine, holm([one.p_value for one in mine]), strict=True)}
    assert any(expected[key] > alone[key] for key in alone)  # type: ignore[operator]


def test_base_pairs_are_scored_once_for_all_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    score: Callable[..., ScoreTensor] = vars(shared_scores)["score"]

    def counted(models: object, **settings: Any) -> ScoreTensor:  # noqa: ANN401 - those of `score`
        asked.append(settings)
        return score(models, **settings)

    monkeypatch.setattr(shared_scores, "score", counted)
    result = bg.audit(lexicons=["weat7", "weat8"])
    assert [settings["pairs"] for settings in asked] == ["du2021"]
    assert result.explorer is not None
    assert isinstance(result.reliability, ReliabilityResult)
    assert {"base pairs", "measures"} <= {one.rule for one in result.verdicts[0].evidence}


def test_a_result_is_short_on_the_screen_and_whole_in_its_files(tmp_path: Path) -> None:
    result = bg.audit(lexicons=["weat7", "religion"])
    assert len(repr(result)) < 200
    text = json.dumps(result.to_dict(), allow_nan=False)
    again = bg.AuditResult.from_dict(json.loads(text))
    assert json.dumps(again.to_dict(), allow_nan=False) == text
    assert again.to_frame().equals(result.to_frame())
    assert [part.name for part in again.summary().parts] == [part.name for part in result.summary().parts]
    assert again.save(tmp_path / "again.html").stat().st_size > 10_000
    frame = result.to_frame().set_index(["question", "test"])
    test = next(one for one in result.bias if one.name == "weat7")
    assert frame.loc[("weat7", "weat"), "value"] == test.value
    assert frame.loc[("weat7", "weat"), "decision"] == "do-not-report"
    assert np.isfinite(
        frame.loc[("weat7", "weat"), ["low", "high", "p", "p_adjusted", "chance_low"]].astype(float)
    ).all()
    assert frame.loc[("religion", "posterior"), "decision"] == result.verdicts[-1].decision

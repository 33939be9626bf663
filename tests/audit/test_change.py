"""Before and after in the audit: the same numbers as the room that compares, on the page and on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.cli.main import run
from biasgauge.report.page.sections import sections_of

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def pair() -> tuple[bg.Embedding, bg.Embedding]:
    before = bg.load_default(6_000)
    return before, bg.mitigate(before, "hard")


def test_the_section_is_what_the_comparison_says(pair: tuple[bg.Embedding, bg.Embedding]) -> None:
    before, after = pair
    result = bg.audit(after, before=before, lexicons=["weat7"])
    alone = bg.mitigation_effect(before, after, ["weat7"])
    assert result.change is not None
    assert result.change.sentences == alone.sentences
    assert result.settings["before"] == before.name
    section = sections_of(result)["change"]
    assert len(section.tables[0].rows) == len(alone.rows)
    assert result.to_dict()["change"]["changed"] == alone.changed


def test_without_vectors_before_there_is_no_section() -> None:
    result = bg.audit(bg.load_default(2_000), lexicons=["weat7"])
    assert result.change is None
    assert "change" not in sections_of(result)
    assert "change" not in result.to_dict()


def test_before_and_after_are_one_model_each(pair: tuple[bg.Embedding, bg.Embedding]) -> None:
    with pytest.raises(bg.ParameterError, match="Before and after are one model each"):
        bg.audit(list(pair), before=pair[0], lexicons=["weat7"])


def test_the_command_takes_both_or_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "vectors.npz"
    np.savez(file, words=np.array(["he", "she"]), vectors=np.eye(2))
    assert run(["audit", "--before", str(file)]) == 2
    assert "--before and --after go together" in capsys.readouterr().err
    assert run(["audit", str(file), "--before", str(file), "--after", str(file)]) == 2

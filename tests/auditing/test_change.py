"""Before and after in the audit: the same numbers as the room that compares, on the page and on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def pair() -> tuple[bg.Embedding, bg.Embedding]:
    before = bg.embeddings.load_default(6_000)
    return before, bg.mitigate(before, "hard")


def test_the_section_is_what_the_comparison_says(pair: tuple[bg.Embedding, bg.Embedding]) -> None:
    before, after = pair
    result = bg.audit(after, before=before, lexicons=["weat7"])
    alone = bg.mitigation.mitigation_effect(before, after, ["weat7"])
    assert result.change is not None
    assert result.change.sentences == alone.sentences
    assert result.settings["before"] == before.name
    section = next(part for part in result.summary().parts if part.name == "change")
    assert sum(len(table.rows) for table in section.all_tables()) == len(alone.rows)
    assert [row[2:4] for table in section.all_tables() for row in table.rows] == [
        tuple(None if side is None else side.value for side in (row.before, row.after))
        for part in dict.fromkeys(row.part for row in alone.rows)
        for row in alone.part(part)
    ]
    assert result.to_dict()["change"]["changed"] == alone.changed


def test_without_vectors_before_there_is_no_section() -> None:
    result = bg.audit(bg.embeddings.load_default(2_000), lexicons=["weat7"])
    assert result.change is None
    assert "change" not in [part.name for part in result.summary().parts]
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

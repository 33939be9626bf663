"""The page about sentences and language models: its programs run, and its numbers are those of the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from biasgauge import registry


def test_the_programs_of_the_page_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, masked: tuple[Any, Any], causal: tuple[Any, Any]
) -> None:
    page = (repository / "docs" / "likelihood.md").read_text(encoding="utf-8")
    programs = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(programs) == 2
    names: dict[str, Any] = {}
    for program, (model, tokenizer) in zip(programs, (causal, masked), strict=True):
        place = tmp_path / type(model).__name__
        model.save_pretrained(place / "folder")
        tokenizer.save_pretrained(place / "folder")
        monkeypatch.chdir(place)
        exec(compile(program, "docs/likelihood.md", "exec"), names)  # noqa: S102 - the page is ours
    assert names["result"].mean.value is not None


def test_every_measure_is_on_the_page(repository: Path) -> None:
    page = (repository / "docs" / "likelihood.md").read_text(encoding="utf-8")
    for name in registry.names("likelihood_measure"):
        assert f"`{name}`" in page


def test_released_names_are_measures() -> None:
    for measure in registry.everything("likelihood_measure").values():
        assert measure.released in {"", *registry.names("likelihood_measure")}

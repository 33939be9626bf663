"""The page on robustness: its code runs, and it names every part of the result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from biasgauge.sensitivity.forms import FORMS
from biasgauge.sensitivity.result import PARTS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "robustness.md").read_text()


def test_the_code_runs(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    programs = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(programs) == 3
    for program in programs:
        exec(compile(program, "docs/robustness.md", "exec"), {})  # noqa: S102 - the page is ours
    shown = capsys.readouterr().out
    assert "{'nurse': 'no such form is given for it'}" in shown
    assert "OCC16 leans to he (DB/WA, he~she)" in shown


def test_every_part_and_form_is_named(page: str) -> None:
    for name in ("base_pairs", *PARTS, "means", "similarity", "reference", *FORMS):
        assert f"`{name}`" in page

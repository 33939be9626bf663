"""The page about comparisons, run as it is written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_the_program_of_the_page_runs(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (repository / "docs" / "compare.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(compile(program, "compare.md", "exec"), {})  # noqa: S102 - the page's own program
    told = capsys.readouterr().out
    assert "0 of 2 differences are shown" in told
    assert "for these very words: contrast = " in told

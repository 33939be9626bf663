"""The paper says what the tables of the studies say."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def test_every_number_of_the_paper_is_that_of_its_table(repository: Path) -> None:
    script = repository / "scripts" / "make_paper.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_number_is_typed_into_the_text(repository: Path) -> None:
    """Digits stand in names (Figure 1, Python 3.7), years and dates alone; all others are placeholders."""
    template = (repository / "paper" / "paper.template.md").read_text().split("# Summary", 1)[1]
    for allowed in ("Figure 1", "Python 3.7", "Python 3.11"):
        template = template.replace(allowed, "")
    words = template.split()
    assert [
        word for word in words if any(sign.isdigit() for sign in word) and "@" not in word and "{{" not in word
    ] == []

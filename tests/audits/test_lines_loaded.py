"""An audit of one test on one model loads the modules that it runs, and not the whole package."""

from __future__ import annotations

import runpy
from pathlib import Path

CEILING = 25_300
"""Lines of Python: a little over half of the 48,084 that such an audit once loaded.

The ceiling was 24,042. Since then the page explains its verdicts and rules (250 lines), draws a forest (141) and says
how certain each is (125); lexicons record how they were made (247); lists of near words count as groups (110).
"""
BENCH = Path(__file__).parents[2] / "bench" / "startup.py"


def test_an_audit_of_one_test_loads_few_lines() -> None:
    """Where this fails, import what only some audits need where it is used, as `audits/parts/on_request.py` does."""
    assert runpy.run_path(str(BENCH))["lines_loaded_by_an_audit"]() <= CEILING

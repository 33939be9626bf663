"""An audit of one test on one model loads the modules that it runs, and not the whole package."""

from __future__ import annotations

import runpy
from pathlib import Path

CEILING = 26_100
"""Lines of Python: a little over half of the 48,084 that such an audit once loaded.

They were 23,640 at their fewest. Since then an audit of one test also holds word frequency constant, counts near words
as fewer, sets each contrast against lists of random words and explains its verdicts, in modules that it runs.
"""
BENCH = Path(__file__).parents[2] / "bench" / "startup.py"


def test_an_audit_of_one_test_loads_few_lines() -> None:
    """Where this fails, import what only some audits need where it is used, as `audits/parts/on_request.py` does."""
    assert runpy.run_path(str(BENCH))["lines_loaded_by_an_audit"]() <= CEILING

"""Printed text and CSV files do not depend on the processor: two core types of OpenBLAS give the same characters."""

from __future__ import annotations

import datetime as dt
import os
import platform
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

from biasgauge.core import today
from biasgauge.io import csv_of_records, csv_text
from biasgauge.vectors.loading import DEFAULT_PATH

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """
import contextlib, io, sys
from threadpoolctl import threadpool_info
import numpy
from biasgauge.cli.entry import run
vectors = sys.argv[1]
for words in (
    ["weat", vectors, "--test", "weat7", "--out", "weat.csv"],
    ["lexicons", "quality", vectors, "--pairs", "weat7", "--shuffles", "5", "--out", "seeds.csv"],
    ["score", vectors, "--pairs", "bolukbasi2016", "--words", "occ16", "--csv", "score.csv", "--out", "store"],
    ["robustness", vectors, "--measures", "dbwa", "--forms", "none", "--pair-forms", "none", "--truths", "none",
     "--out", "robustness.csv"],
    ["bayes", vectors, "--lexicon", "religion", "--draws", "100", "--out", "bayes.csv"],
    ["audit", vectors, "--lexicon", "weat7", "--out", "page"],
):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        code = run(words)
    if code:
        sys.exit(f"{words} left with {code}")
    with open(words[0] + ".txt", "w", encoding="utf-8") as file:
        file.write("".join(line for line in text.getvalue().splitlines(True) if sys.argv[2] not in line))
print(*(entry["architecture"] for entry in threadpool_info() if entry["internal_api"] == "openblas"))
"""


def outputs(folder: Path, core: str, zone: str) -> tuple[str, dict[str, bytes]]:
    """Text and CSV files of some commands, and the core type that was used."""
    folder.mkdir()
    environment = {**os.environ, "OPENBLAS_CORETYPE": core, "TZ": zone, "NO_COLOR": "1", "COLUMNS": "120"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(DEFAULT_PATH), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environment,
        timeout=900,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in {".csv", ".txt"}]
    return done.stdout.strip(), {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.e2e
@pytest.mark.skipif(platform.machine() not in {"x86_64", "AMD64"}, reason="core types are named of x86-64 alone")
def test_text_and_tables_are_the_same_on_two_core_types(tmp_path: Path) -> None:
    used, expected = outputs(tmp_path / "first", "Haswell", "Pacific/Kiritimati")
    other, found = outputs(tmp_path / "second", "Prescott", "Pacific/Pago_Pago")
    if used == other:
        pytest.skip(f"NumPy's library has one core type ({used})")
    assert len(expected) >= 12
    assert expected.keys() == found.keys()
    for name, content in expected.items():
        assert found[name] == content, name


def test_numbers_of_csv_have_nine_digits() -> None:
    """It wrote all sixteen, of which the last differ from processor to processor."""
    number = 0.123456789012345
    for other in (number, np.nextafter(number, 1), number * (1 + 4e-16)):
        frame = pd.DataFrame({"a": [other, 1e-200, np.nan], "b": ["0.12345678901", "x", None], "n": [10**17, 2, 3]})
        assert csv_text(frame) == "a,b,n\n0.123456789,0.12345678901,100000000000000000\n1e-200,x,2\n,,3\n"
        assert csv_of_records(["a"], [{"a": other}, {"a": float("inf")}]) == "a\n0.123456789\ninf\n"
    assert csv_text(pd.DataFrame({"a": np.array([0.1, 16777216], np.float32)})) == "a\n0.100000001\n16777216.0\n"


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the system has no time zones of processes")
@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_dates_are_of_utc(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the two zones, which lie 25 hours apart, has another date at any time."""
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    before = dt.datetime.now(tz=dt.UTC).date()
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert before.isoformat() <= today() <= dt.datetime.now(tz=dt.UTC).date().isoformat()
    finally:
        monkeypatch.undo()
        time.tzset()

"""The page about gaps and correlation: its code and commands run, its table is true."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from biasgauge.applications import correlate
from biasgauge.cli.entry import run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def page(repository: Path) -> str:
    return (repository / "docs" / "correlate.md").read_text()


def test_code_and_commands_run(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    program = "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    exec(program, {})  # noqa: S102 - the page's own code
    told = capsys.readouterr().out
    assert "With 10 units a true r of 0.5 would be seen (p ≤ 0.05) 33 % of the time" in told
    assert "as a mean over 3 task seeds" in told
    commands = re.findall(r"^    biasgauge (.*)$", page, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        assert run(shlex.split(command)) == 0, command
    assert "r within strata" in capsys.readouterr().out
    assert (tmp_path / "figures" / "points.svg").is_file()


def number(text: str) -> float:
    return float(text.strip().replace("−", "-"))


@pytest.mark.shared
def test_the_table_of_the_authors_points_is_true(page: str, shared_data: Path) -> None:
    frame = pd.read_csv(shared_data / "goldfarb_tarrant_results" / "hsd_en.csv")
    by_name = frame.copy()
    by_name.loc[frame["Name"].str.contains(r"_twitter_en_(?:debias|overbias)_[678]"), "Method"] = "Preprocess"
    settings = [
        (frame, ["Test=9", "Name=[6-9]|all_tweets"]),
        (frame, ["Test=9"]),
        (by_name, ["Test=9"]),
    ]
    rows = re.findall(r"^\| (post|pre), .*?[^\\] \| (\d+) \| (.*) \|$", page, re.MULTILINE)
    assert [row[0] for row in rows] == ["post", "pre"] * 3
    for (method, n, cells), (points, drop) in zip(rows, [one for one in settings for _ in range(2)], strict=True):
        r, p, units, ends, unit_p = cells.split(" | ")
        asked = {"by": ["Metric", "Method"], "drop": drop}
        plain = correlate(points, "WEAT", "Performance Gap", **asked, resamples=20)  # type: ignore[arg-type]
        over = correlate(points, "WEAT", "Performance Gap", **asked, unit="Name")  # type: ignore[arg-type]
        one, other = (some.group(Metric="Recall", Method=f"{method.title()}process") for some in (plain, over))
        assert (one.n, other.units) == (int(n), int(units))
        assert (one.r, one.p) == pytest.approx((number(r), number(p)), abs=5.1e-5)
        low, high = (number(end) for end in ends.strip("[]").split(","))
        assert (other.estimate.low, other.estimate.high) == pytest.approx((low, high), abs=0.011)
        assert other.p == pytest.approx(number(unit_p), abs=0.006)

"""A calibration that is killed goes on where it was, and ends as one that was not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.crash, pytest.mark.slow]  # the same in a study is among the quick ones

RUN = """
import json, sys
import biasgauge as bg
text, work, out = sys.argv[1:]
result = bg.calibrate(
    text, {"dim": 8, "epochs": 1, "min_count": 1}, pairs=[("he", "she")], doses=[-1.5, 0.0, 1.5], per_dose=6, blanks=12,
    plantings=3, seeds=2, shuffled=1, others=0, measures=["dbwa"], tests=["weat"], sizes=[4], out=work, n_jobs=1,
)
open(out, "w").write(json.dumps(result.to_dict(), sort_keys=True))
"""


def test_killed_and_run_again_it_trains_only_what_is_missing(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    words = [f"w{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(120)]
    lines = [f"{' '.join(random.choice(words, 8))} {('he', 'she')[number % 2]}" for number in range(6_000)]
    (tmp_path / "text.txt").write_text("\n".join(lines), encoding="utf-8")

    def started(work: str) -> subprocess.Popen[bytes]:
        arguments = [str(tmp_path / "text.txt"), str(tmp_path / work), str(tmp_path / f"{work}.json")]
        return subprocess.Popen([sys.executable, "-c", RUN, *arguments])

    def models(work: str) -> dict[str, int]:
        """When each model was written; it is there once its recipe is."""
        return {
            path.relative_to(tmp_path / work).as_posix(): path.stat().st_mtime_ns
            for path in (tmp_path / work).glob("models-*/**/*.safetensors")
            if path.with_suffix(".json").exists()
        }

    killed = started("killed")
    end = time.monotonic() + 240
    while not models("killed"):
        assert killed.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < end
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    assert killed.wait(30) == -signal.SIGKILL
    before = models("killed")
    assert not (tmp_path / "killed.json").exists()

    assert started("killed").wait(300) == 0
    assert started("whole").wait(300) == 0
    after = models("killed")
    assert len(after) == 7
    assert len(before) < 7
    assert before.items() <= after.items(), "a model that was there was trained again"
    assert json.loads((tmp_path / "killed.json").read_bytes()) == json.loads((tmp_path / "whole.json").read_bytes())

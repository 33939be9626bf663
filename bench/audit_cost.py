"""What an audit costs by the number of its tests: seconds of processor, memory, and how both grow.

    python bench/audit_cost.py                 50, 100 and 200 tests of 16 words a list on the shipped GloVe vectors

Each size runs in a process of its own, so that its memory is its own. The audit with 200 tests should take at most 60
seconds and 1.5 GB on two cores.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import biasgauge as bg
from biasgauge.lexicons import parse_lexicon
from biasgauge.vectors import load_default

WORDS = 16
SIZES = (50, 100, 200)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", type=int, help="measure one size in this process")
    asked = parser.parse_args()
    if asked.tests:
        print(json.dumps(measured(asked.tests)))
        return
    print(f"{'tests':>6}{'seconds':>10}{'processor':>11}{'GB':>7}")
    rows = []
    for size in SIZES:
        run = subprocess.run(
            [sys.executable, __file__, "--tests", str(size)], check=True, capture_output=True, text=True
        )
        rows.append(json.loads(run.stdout))
        print(f"{size:>6}{rows[-1]['wall']:>10.1f}{rows[-1]['processor']:>11.1f}{rows[-1]['gb']:>7.2f}")
    grown = log(rows[-1]["processor"] / rows[0]["processor"]) / log(SIZES[-1] / SIZES[0])
    print(f"processor time grows with the number of tests to the power {grown:.2f}")


def measured(count: int) -> dict[str, float]:
    """Seconds and memory of one audit, page included."""
    model, random = load_default(), np.random.default_rng(0)
    tests = []
    for number in range(count):
        words = [model.words[row] for row in random.choice(len(model), 4 * WORDS, replace=False)]
        sets = {role: {"words": words[place * WORDS : (place + 1) * WORDS]} for place, role in enumerate("xyab")}
        tests.append(parse_lexicon({"name": f"test {number}", "kind": "test", **sets}))
    wall, processor = time.perf_counter(), time.process_time()
    result = bg.audit(model, lexicons=tests)
    with TemporaryDirectory() as folder:
        result.save(Path(folder) / "report.html")
    return {
        "wall": time.perf_counter() - wall,
        "processor": time.process_time() - processor,
        "gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


if __name__ == "__main__":
    main()

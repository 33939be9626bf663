"""What an audit costs by the number of its tests: seconds of processor, memory, and how both grow.

    python bench/audit_cost.py                 50, 100 and 200 tests of 16 words a list on the shipped GloVe vectors
    python bench/audit_cost.py --long          one test of 100, 200, 400 and 800 words a list on the same
    python bench/audit_cost.py --battery       the battery on all of GloVe 6B 50d (pip install "biasgauge[vectors]")

Each size runs in a process of its own, so that its memory is its own. The audit with 200 tests should take at most 60
seconds and 1.5 GB on two cores, the battery at most 20 seconds and 1.5 GB. Tables of similarities grow with the square
of the words a list, and so do time and memory of long lists.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import biasgauge as bg
from biasgauge.lexicons import Lexicon, language_of, lexicons_in_language, parse_lexicon
from biasgauge.vectors import load_default

WORDS = 16
TESTS = (50, 100, 200)
LONG = (100, 200, 400, 800)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--long", action="store_true", help="one test with longer and longer lists")
    parser.add_argument("--battery", action="store_true", help="the battery on all of GloVe 6B 50d")
    parser.add_argument("--size", type=int, nargs=2, metavar=("TESTS", "WORDS"), help="measure one size here")
    asked = parser.parse_args()
    if asked.size:
        print(json.dumps(measured_random(*asked.size)))
    elif asked.battery:
        print_row("battery", measured_battery())
    elif asked.long:
        print_curve("words", {words: (1, words) for words in LONG})
    else:
        print_curve("tests", {tests: (tests, WORDS) for tests in TESTS})


def print_curve(name: str, sizes: dict[int, tuple[int, int]]) -> None:
    """Measure each size in a process of its own, and say how processor time grows."""
    print(f"{name:>8}{'seconds':>10}{'processor':>11}{'GB':>7}")
    rows = []
    for number, size in sizes.items():
        command = [sys.executable, __file__, "--size", *map(str, size)]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        rows.append(json.loads(run.stdout))
        print_row(str(number), rows[-1])
    grown = log(rows[-1]["processor"] / rows[0]["processor"]) / log(max(sizes) / min(sizes))
    print(f"processor time grows with the number of {name} to the power {grown:.2f}")


def print_row(name: str, row: dict[str, float]) -> None:
    print(f"{name:>8}{row['wall']:>10.1f}{row['processor']:>11.1f}{row['gb']:>7.2f}", flush=True)


def measured_random(count: int, words: int) -> dict[str, float]:
    """Seconds and memory of one audit of tests with random words."""
    model, random = load_default(), np.random.default_rng(0)
    tests = []
    for number in range(count):
        drawn = [model.words[row] for row in random.choice(len(model), 4 * words, replace=False)]
        sets = {role: {"words": drawn[place * words : (place + 1) * words]} for place, role in enumerate("xyab")}
        tests.append(parse_lexicon({"name": f"test {number}", "kind": "test", **sets}))
    return measured(model, tests)


def measured_battery() -> dict[str, float]:
    """Seconds and memory of one audit of the battery."""
    from biasgauge_studies.vectors import glove_50d

    model = glove_50d()
    if model is None:
        raise SystemExit(1)
    english = lexicons_in_language(language_of("en"))
    return measured(model, [test for test in english if test.battery and test.kind == "test"])


def measured(model: bg.Embedding, tests: Sequence[Lexicon]) -> dict[str, float]:
    """Seconds and memory of one audit, page included."""
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

"""What a user waits for before anything happens: CPU time of whole processes, the limit being Python's own start.

    python bench/startup.py [--repeat 10]

Best of the repeats, user and system time together. Then the lines of biasgauge that an audit of one test loads.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import biasgauge": ["-c", "import biasgauge"],
    "import numpy": ["-c", "import numpy"],
    "biasgauge --help": ["-m", "biasgauge", "--help"],
    "biasgauge lexicons list": ["-m", "biasgauge", "lexicons", "list"],
}
AUDIT = """
import sys, tempfile
from pathlib import Path

import biasgauge as bg

with tempfile.TemporaryDirectory() as folder:
    bg.audit(bg.vectors.load_default(), lexicons=["weat7"]).save(Path(folder) / "page.html")
files = [Path(module.__file__) for name, module in sys.modules.items() if name.partition(".")[0] == "biasgauge"]
print(sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files))
"""
"""Audits one test on one model, saves the page, and counts the lines of the modules that were loaded for it."""


def lines_loaded_by_an_audit() -> int:
    run = subprocess.run([sys.executable, "-c", AUDIT], check=True, capture_output=True, text=True)
    return int(run.stdout)


def cpu_seconds(arguments: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=10)
    repeat = parser.parse_args().repeat
    best = {name: min(cpu_seconds(arguments) for _ in range(repeat)) for name, arguments in COMMANDS.items()}
    print(f"{'command':<26} {'CPU s':>6} {'× bare Python':>14}")
    for name, seconds in best.items():
        print(f"{name:<26} {seconds:6.2f} {seconds / best['python -c pass']:14.1f}")
    print(f"lines of biasgauge that an audit of one test loads: {lines_loaded_by_an_audit():,}")


if __name__ == "__main__":
    main()

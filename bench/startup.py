"""What a user waits for before anything happens: CPU time of whole processes, the limit being Python's own start.

    python bench/startup.py [--repeat 10]

Best of the repeats, user and system time together.
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


if __name__ == "__main__":
    main()

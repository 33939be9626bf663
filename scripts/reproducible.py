"""Same input, same bytes: run the same commands under other hash seeds, threads, workers, orders of files, Pythons.

Rows of scripts/freeze_outputs.py are run once plainly, and once under each setting; every number that they print or
write is compared to the last bit. Ends with a table of rows by settings; the exit status is 1 where anything differs.

    python scripts/reproducible.py --out /tmp/reproducible
    python scripts/reproducible.py --out /tmp/reproducible --only 'train-*' --setting 'four threads'
    python scripts/reproducible.py --out /tmp/reproducible --python 3.12=/env312/bin/python 3.13=/env313/bin/python
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from fnmatch import fnmatch
from pathlib import Path

import freeze_outputs
from compare_frozen import Findings, compare, read
from freeze_outputs import COMMANDS, THREADS

ROWS = (
    "audit-lexicons", "balance", "bayes", "bayes-weat7-crossed", "calibrate", "corpus-bias", "corpus-bias-folder",
    "correlate-by", "extrinsic-csv", "mitigate-attract-repel", "mitigate-hard", "null", "reliability-lists",
    "rnsb", "robustness-own", "score-first", "seeds-test", "study-run-small", "train-fasttext", "train-folder",
    "train-glove", "train-sgns", "weat-monte-carlo",
)  # fmt: skip
"""One of each kind of analysis, those first in doubt that compute in threads or draw at random."""
PLAIN = "one thread"
SETTINGS: dict[str, dict[str, str]] = {
    PLAIN: {"PYTHONHASHSEED": "0"},
    "another hash seed": {"PYTHONHASHSEED": "4242"},
    "four threads": {**dict.fromkeys((*THREADS, "NUMBA_NUM_THREADS"), "4"), "PYTHONHASHSEED": "0"},
    "two workers": {"PYTHONHASHSEED": "0"},
    "files made in another order": {"PYTHONHASHSEED": "0", "BIASGAUGE_BACKWARDS": "1"},
    "another time zone": {"PYTHONHASHSEED": "0", "TZ": "Pacific/Kiritimati"},
}
"""Variables of the environment."""
ASKED = re.compile(r"/settings/(n_jobs|workers)$")
"""What a setting changes because it was asked to."""
WORKERS = {"--workers 1": "--workers 2", "--n-jobs 1": "--n-jobs 2"}


def main() -> int:
    """Run, compare, show."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--out", type=Path, required=True, help="folder for all outputs")
    parser.add_argument("--only", nargs="*", default=["*"], help="rows of these names (* stands for anything)")
    parser.add_argument("--setting", nargs="*", default=list(SETTINGS), help="settings, by name")
    parser.add_argument("--python", nargs="*", default=[], help="NAME=INTERPRETER of other Pythons with the libraries")
    asked = parser.parse_args()
    rows = [name for name in ROWS if any(fnmatch(name, pattern) for pattern in asked.only)]
    settings = {PLAIN: SETTINGS[PLAIN]} | {name: SETTINGS[name] for name in asked.setting}
    settings |= {name: {"BIASGAUGE_PYTHON": place} for name, place in (pair.split("=", 1) for pair in asked.python)}
    for name, variables in settings.items():
        print(f"\n{name}", flush=True)
        run(rows, asked.out / name.replace(" ", "-"), variables, workers=name == "two workers")
    others = [name for name in settings if name != PLAIN]
    print(f"\n{'':<24}{'values':>9}   " + "   ".join(others))
    differ = 0
    for row in rows:
        found = [findings(row, asked.out, name) for name in others]
        differ += sum(len(one.numbers) + len(one.missing) for one in found)
        cells = (verdict(one).ljust(len(name)) for one, name in zip(found, others, strict=True))
        print(f"{row:<24}{max((one.compared for one in found), default=0):>9,}   " + "   ".join(cells))
    print(f"{differ:,} values differ")
    return int(differ > 0)


def run(rows: list[str], out: Path, variables: dict[str, str], *, workers: bool) -> None:
    """Run rows, and those that they need, in a folder of their own."""
    out.mkdir(parents=True, exist_ok=True)
    os.environ["BIASGAUGE_BACKWARDS"] = variables.get("BIASGAUGE_BACKWARDS", "0")
    tree = freeze_outputs.ROOT
    places = freeze_outputs.make_inputs(out.resolve(), tree)
    known = dict(COMMANDS)
    for old, new in WORKERS.items() if workers else ():
        known = {name: row.replace(old, new) for name, row in known.items()}
    environment = {**freeze_outputs.environment_of(out.resolve(), tree), **variables}
    freeze_outputs.run_all(known, freeze_outputs.with_needs(rows, known, out), places, out.resolve(), environment)


def findings(row: str, out: Path, setting: str) -> Findings:
    """What a row printed and wrote, compared with the plain run."""
    together = Findings()
    for name in (row, f"{row}.files"):
        plain, other = (read(out / folder.replace(" ", "-"), name) for folder in (PLAIN, setting))
        if plain is None:
            continue
        found = compare(plain, other, [])
        together.numbers += [pair for pair in found.numbers if not ASKED.search(pair[0])]
        together.missing += found.missing
        together.compared += found.compared
    return together


def verdict(found: Findings) -> str:
    """The number of values that differ, and by how much of their size at most."""
    if not found.numbers and not found.missing:
        return "same"
    sizes = [
        abs(old - new) / max(abs(old), abs(new), 1e-300)
        for _, old, new in found.numbers
        if isinstance(old, int | float) and isinstance(new, int | float)
    ]
    return f"{len(found.numbers) + len(found.missing)} differ" + (f" by {max(sizes):.0e}" if sizes else "")


if __name__ == "__main__":
    sys.exit(main())

"""Train coreference on several vectors and seeds at once, on one GPU, and gather the results in one file.

    python scripts/train_coref_many.py --vectors FILE… --data DIR --seeds 0 --minutes 7 --out DIR [--gather FILE]

DIR of --data holds ontogum_conll.tar.xz and litbank_coref_conll.tar.xz (any tar archives), winobias/ and, if wanted,
gap-test.tsv. Every pair of vectors and seed is one run of scripts/train_coref.py in a process and a folder of its own,
OUT/NAME-seed0; --jobs says how many at a time. The same command goes on where it stopped; what is finished is not done
again. --gather writes the results.json of all finished runs, with the training log, as one object: name to result.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ONE = Path(__file__).with_name("train_coref.py")


def arguments() -> tuple[argparse.Namespace, list[str]]:
    """What was asked for, and what train_coref.py is to be told beside."""
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0], epilog="Other options go to train_coref.py, such as --device cuda."
    )
    parser.add_argument("--vectors", type=Path, nargs="+", required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--minutes", type=float, help="of training, for each; judging it takes a minute or two more")
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--gather", type=Path)
    return parser.parse_known_args()


def run(options: argparse.Namespace, others: list[str], vectors: Path, seed: int) -> tuple[str, int, float]:
    """One training in a process of its own; its output goes to a file."""
    name = f"{vectors.stem}-seed{seed}"
    folder = options.out / name
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, str(ONE), "--vectors", str(vectors), "--out", str(folder), "--seed", str(seed)]
    command += ["--train", *(str(path) for path in sorted(options.data.glob("*.tar.*")))]
    command += ["--winobias", str(options.data / "winobias")]
    if (gap := options.data / "gap-test.tsv").is_file():
        command += ["--gap", str(gap)]
    if options.minutes is not None:
        command += ["--minutes", str(options.minutes)]
    asked = json.dumps([*command[1:], *others], indent=1) + "\n"
    told = folder / "command.json"
    if (folder / "results.json").is_file() and told.is_file() and told.read_text("utf-8") == asked:
        return name, 0, 0.0
    told.write_text(asked, "utf-8")
    start = time.monotonic()
    threads = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
    with (folder / "output.txt").open("w", encoding="utf-8") as output:
        code = subprocess.call(  # noqa: S603 - our own script
            [*command, *others], stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **threads}
        )
    return name, code, time.monotonic() - start


def gathered(out: Path) -> dict[str, Any]:
    """Every finished run by name, its log of epochs under "log"."""
    found = {}
    for results in sorted(out.glob("*/results.json")):
        log = json.loads(results.with_name("log.json").read_text("utf-8"))
        found[results.parent.name] = {**json.loads(results.read_text("utf-8")), "log": log}
    return found


def main() -> None:
    """Run them all; say which failed."""
    options, others = arguments()
    tasks = [(vectors, seed) for seed in options.seeds for vectors in options.vectors]
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, code, seconds in pool.map(lambda task: run(options, others, *task), tasks):
            lines = (options.out / name / "output.txt").read_text("utf-8").splitlines()
            told = next((line for line in reversed(lines) if line.startswith("CoNLL")), lines[-1] if lines else "")
            print(f"{name}: {'done' if not code else f'FAILED ({code})'} after {seconds:.0f} s; {told}", flush=True)
            failed += code != 0
            if options.gather is not None:
                options.gather.write_text(json.dumps(gathered(options.out), ensure_ascii=False) + "\n", "utf-8")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

"""Give every reader inputs that somebody broke: each must be read, or refused by one error of ours.

    python scripts/fuzz.py                       nightly, some minutes: 500 inputs a reader
    python scripts/fuzz.py --full                on request, some hours: a million inputs in all
    python scripts/fuzz.py --only lexicon points "scores-scores.npy, signed"
    python scripts/fuzz.py --list

Inputs are mutations of small sound files: those of `tests/fuzz/corpus`, one folder a reader, and those that are made on
the spot. An input that reaches lines of ours which none has reached before is kept for further mutations; --blind
leaves that out. A reader that is slow gets fewer. An input that raises anything else than `BiasgaugeError`, or takes
longer than --patience, is written to --out, with its traceback; the exit code is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT)]
from disturbance_table import show_table  # noqa: E402 - after the path
from fuzz_mutations import altered_json, mutated  # noqa: E402 - after the path
from fuzz_readers import group_of, reader_names, target_of  # noqa: E402 - after the path

if TYPE_CHECKING:
    from fuzz_target import Target

MEMORY = 4 * 2**30
NIGHTLY, FULL = 500, 16_000
"""Inputs for each reader that is not slow."""
STALE, SELDOM = 1_000, 10
"""After so many inputs without a new line, lines are looked at for one in so many inputs: looking takes most of the
time."""
HOURLY = 600
"""Seconds after which a reader is left, in the full campaign."""


class Reader:
    """One reader under test; `findings` are the inputs that it did not know how to refuse."""

    def __init__(self, name: str, target: Target, out: Path, patience: float) -> None:
        self.name, self._read, self._out, self._patience = name, target.read, out, patience
        self.inputs = 0
        self.refused = 0
        self.findings: dict[str, str] = {}
        self._folder = Path(tempfile.mkdtemp())

    def try_input(self, content: bytes) -> None:
        """Read one input."""
        from biasgauge.errors import LONGEST, BiasgaugeError

        self.inputs += 1
        path = self._folder / "input"
        path.write_bytes(content)
        signal.setitimer(signal.ITIMER_VIRTUAL, self._patience)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self._read(path)
        except BiasgaugeError as problem:
            self.refused += 1
            if any(len(line) > LONGEST for line in str(problem).split("\n")):
                self._keep(problem, content, f"a refusal of {len(str(problem)):,} characters: ")
        except Exception as problem:  # noqa: BLE001 - whatever it is, it is a finding
            self._keep(problem, content)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def _keep(self, problem: Exception, content: bytes, what: str = "") -> None:
        frames = traceback.extract_tb(problem.__traceback__)
        ours = next((frame for frame in reversed(frames) if "biasgauge" in frame.filename), frames[-1])
        where = f"{what}{type(problem).__name__} at {Path(ours.filename).name}:{ours.lineno}"
        if where not in self.findings:
            self.findings[where] = traceback.format_exc()
            self._out.mkdir(parents=True, exist_ok=True)
            stem = self._out / f"{self.name}-{len(self.findings)}"
            stem.with_name(f"{stem.name}.input").write_bytes(content)
            stem.with_name(f"{stem.name}.txt").write_text(self.findings[where], errors="backslashreplace")


class Lines:
    """Which lines of ours inputs reach."""

    def __init__(self) -> None:
        self.reached: set[tuple[Any, int]] = set()
        self._new = False

    def start(self) -> None:
        """Look from now on."""
        self._new = False
        sys.settrace(self._trace)

    def stop(self) -> bool:
        """Look no longer; whether a line was new."""
        sys.settrace(None)
        return self._new

    def _trace(self, frame: Any, event: str, _: object) -> Any:  # noqa: ANN401 - as the system gives them
        if "/biasgauge/" not in frame.f_code.co_filename:
            return None
        if event == "line" and (place := (frame.f_code, frame.f_lineno)) not in self.reached:
            self.reached.add(place)
            self._new = True
        return self._trace


def run_reader(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Try one reader in this process."""
    started = time.monotonic()
    target = target_of(name)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGVTALRM, _too_long)
    reader = Reader(name, target, arguments.out, arguments.patience)
    for seed in target.seeds:
        reader.try_input(seed)
    sound = reader.inputs - reader.refused
    lines = _mutate(reader, target, arguments, time.monotonic() + arguments.seconds)
    return {
        "reader": name,
        "inputs": reader.inputs,
        "sound": sound,
        "refused": reader.refused,
        "findings": sorted(reader.findings),
        "lines": lines,
        "seconds": round(time.monotonic() - started, 1),
    }


def _too_long(*_: object) -> None:
    raise TimeoutError("one input took too long")


def _mutate(reader: Reader, target: Target, arguments: argparse.Namespace, deadline: float) -> int:
    """Try mutations until there were enough; how many lines of ours they reached, if anybody looked."""
    chance = random.Random(f"{arguments.seed} {reader.name}")  # noqa: S311 - no secret
    seeds, pool, lines, stale = list(target.seeds), list(target.seeds), Lines(), 0
    while reader.inputs < arguments.runs * target.share and time.monotonic() < deadline:
        chosen = chance.choice(pool if chance.random() < 0.6 else seeds)
        content = altered_json(chosen, chance) if chance.random() < 0.5 else None
        if content is None:
            content = mutated(chosen, seeds, chance)
        looking = arguments.guided and (stale < STALE or reader.inputs % SELDOM == 0)
        if looking:
            lines.start()
        try:
            reader.try_input(content)
        finally:
            new = lines.stop() if looking else False
        stale = 0 if new else stale + 1
        if new:
            pool.append(content)
            if arguments.keep is not None:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"{reader.name}-{len(pool)}").write_bytes(content)
    return len(lines.reached)


def main() -> int:
    """Try all readers, each in a process of its own; print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help=f"{FULL:,} inputs for each reader in place of {NIGHTLY}")
    parser.add_argument("--runs", type=int, help="inputs for each reader")
    parser.add_argument("--seconds", type=float, default=HOURLY, help="after which a reader is left")
    parser.add_argument("--patience", type=float, default=10, help="seconds of processor time for one input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=None)
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"))
    parser.add_argument("--keep", type=Path, help="a folder for the inputs that reached new lines")
    parser.add_argument("--blind", dest="guided", action="store_false", help="do not look which lines are reached")
    parser.add_argument("--list", action="store_true", help="name the readers, and end")
    parser.add_argument("--docs", action="store_true", help="write the table to docs/hardening")
    parser.add_argument("--reader", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.runs = arguments.runs or (FULL if arguments.full else NIGHTLY)
    if arguments.reader:
        sys.stdout.write(json.dumps(run_reader(arguments.reader, arguments)) + "\n")
        return 0
    if arguments.list:
        sys.stdout.write("\n".join(reader_names()) + "\n")
        return 0
    failed = total = refused = 0
    groups: dict[str, dict[str, int]] = {}
    asked = [text for text in sys.argv[1:] if text not in {"--full", "--docs"}]
    for name in arguments.only or reader_names():
        told = _in_a_process(name, ["--runs", str(arguments.runs), *_without_only(asked)])
        failed += len(told["findings"])
        group = groups.setdefault(group_of(name), dict.fromkeys(("readers", "inputs", "refused", "other errors"), 0))
        numbers = (1, told.get("inputs", 0), told.get("refused", 0), len(told["findings"]))
        for key, number in zip(group, numbers, strict=True):
            group[key] += number
        total += told.get("inputs", 0)
        refused += told.get("refused", 0)
        sys.stdout.write(
            f"{name:33} {told.get('inputs', 0):>8,} inputs, {told.get('refused', 0):>8,} refused, "
            f"{told.get('lines', 0):>5,} lines, {told.get('seconds', 0):>7} s"
            f"{''.join(f'{chr(10)}    {finding}' for finding in told['findings'])}\n"
        )
        sys.stdout.flush()
    show_table("inputs", [{"of": name, **numbers} for name, numbers in groups.items()], docs=arguments.docs)
    sys.stdout.write(f"{total:,} inputs, {refused:,} refused, {failed} findings\n")
    return 1 if failed else 0


def _without_only(asked: list[str]) -> list[str]:
    """The arguments that were typed, less the readers that were named."""
    kept, inside = [], False
    for text in asked:
        inside = text == "--only" or (inside and not text.startswith("--"))
        if not inside:
            kept.append(text)
    return kept


def _in_a_process(name: str, asked: list[str]) -> dict[str, Any]:
    """Try one reader in a process of its own, with a folder for temporary files that goes with it."""
    memory = Path("/dev/shm")  # noqa: S108 - disks are several times as slow; mkdtemp makes a folder of our own
    scratch = tempfile.mkdtemp(prefix="biasgauge-fuzz-", dir=memory if memory.is_dir() else None)
    command = [sys.executable, __file__, "--reader", name, *asked]
    try:
        done = subprocess.run(  # noqa: S603 - this file itself
            command, capture_output=True, text=True, check=False, env={**os.environ, "TMPDIR": scratch}
        )
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if done.returncode:
        return {"findings": [f"the process ended with {done.returncode}: {done.stderr[-800:]}"]}
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


if __name__ == "__main__":
    sys.exit(main())

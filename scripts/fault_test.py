"""Disturb every job that writes: altered bits, a full disk, no rights, little memory, a second process beside it.

    python scripts/fault_test.py                            all of it, some minutes
    python scripts/fault_test.py --only score train --faults bits writers

After each fault the job is run again. Its files must then be those of a run that nobody disturbed; and a fault must be
told in one sentence of ours, never by a traceback. Prints a line for each job and fault; the exit code is 1 if
something else came of one.

    bits      in every file that the job leaves, a bit is flipped at several places: mended by the next run, or refused
    full      a disk with room for a part of the files (a small one in memory; the superuser alone can make one)
    readonly  the same disk, on which nothing may be written
    memory    600 MB of address space
    writers   two processes at once, several rounds
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT)]
from disturbance_table import show_table  # noqa: E402 - after the path
from kill_jobs import JOBS, MANY_PROCESSES, prepare, prepare_model  # noqa: E402 - after the path
from kill_test import contents  # noqa: E402 - after the path

from biasgauge.cli.entry import _OUT_OF_MEMORY as OUT_OF_MEMORY  # noqa: E402 - after the path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Job = Callable[[Path, Path], None]

NOTES = re.compile(rb', "recomputed": "[^"]*"')
ADDRESSES = 600 * 2**20
SHARES = (0.0, 0.3, 0.6, 0.9)
"""Of what a job writes, for which there is room on a full disk."""
ROUNDS = 6
OF_PROCESSES = ("full", "writers")
"""What is tried with studies of several processes."""
DONE, REFUSED, BROKEN = 0, 3, 1


def child(job: Job, given: Path, out: Path, said: Path, *, memory: int | None = None, gate: Path | None = None) -> int:
    """Start a job in a process of its own; its number. It ends with `DONE`, `REFUSED` in a sentence, or `BROKEN`."""
    process = os.fork()
    if process:
        return process
    code = BROKEN
    try:
        sys.stdout = sys.stderr = said.open("w")
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        while gate is not None and not gate.exists():
            time.sleep(0.001)
        code = _run(job, given, out)
    finally:
        sys.stdout.flush()
        os._exit(code)


def _run(job: Job, given: Path, out: Path) -> int:
    try:
        out.mkdir(exist_ok=True)
        job(given, out)
    except BaseException as problem:  # noqa: BLE001 - whatever it is, it is looked at
        if not _is_sentence(problem):
            traceback.print_exc()
            return BROKEN
        sys.stdout.write(f"{type(problem).__name__}: {problem}\n")
        return REFUSED
    return DONE


def _is_sentence(problem: BaseException) -> bool:
    """Whether the command tells it in one sentence, as no defect of ours."""
    from biasgauge.errors import InputError

    if isinstance(problem, OSError) and not isinstance(problem, InputError):
        return bool(problem.filename or problem.strerror)
    if isinstance(problem, ImportError):
        return any(text in str(problem) for text in OUT_OF_MEMORY)
    return isinstance(problem, InputError | MemoryError)


def ended(process: int) -> int:
    """How a process ended."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


class Trial:
    """One job, prepared, with the files of a run that nobody disturbed."""

    def __init__(self, name: str, folder: Path) -> None:
        self.job, self.folder, self.given = JOBS[name], folder, folder / "given"
        self.said = folder / "said"
        self.given.mkdir()
        prepare(self.given)
        if name == "encode":
            prepare_model(self.given)
        if name not in MANY_PROCESSES:
            (folder / "warm").mkdir()
            self.job(self.given, folder / "warm")
        self.out = folder / "out"
        self.run(self.out)
        self.expected = contents(self.out)
        self.out.rename(folder / "whole")  # whose files say that they lie in "out"
        self.problems: list[str] = []
        self.tried = self.refused = 0

    def run(self, out: Path, *, memory: int | None = None) -> int:
        """Run the job to its end."""
        return ended(child(self.job, self.given, out, self.said, memory=memory))

    def fault(self, what: str, code: int, *, may_refuse: bool = True) -> None:
        """Note how a job under a fault ended."""
        self.tried += 1
        self.refused += code == REFUSED
        if code != DONE and not (may_refuse and code == REFUSED):
            self.problems.append(f"{what}: ended with {code}: {self.said.read_text()[-400:]}")

    def settle(self, what: str, out: Path) -> None:
        """Run the job again where nothing is wrong any more; its files must be the expected ones."""
        code = self.run(out)
        other = _differing(contents(out), self.expected)
        if code != DONE or other:
            self.problems.append(
                f"{what}, then run again: ended with {code}, {other[:3]}, {self.said.read_text()[-300:]}"
            )


def _differing(given: dict[str, bytes], expected: dict[str, bytes]) -> list[str]:
    """Files that are not the expected ones; a note that something was damaged and made again is no difference."""
    given = {name: NOTES.sub(b"", content) for name, content in given.items()}
    return sorted(given.keys() ^ expected.keys()) or [name for name in expected if given[name] != expected[name]]


def bits(trial: Trial) -> None:
    """Flip a bit of every stored file at several places: the next run mends it, or says which file is damaged."""
    whole, out = trial.folder / "whole", trial.out
    for name in trial.expected:
        size = (whole / name).stat().st_size
        for place in sorted({0, size // 3, size // 2, 4 * size // 5, size - 1} & set(range(size))):
            shutil.copytree(whole, out)
            content = bytearray((out / name).read_bytes())
            content[place] ^= 0x04
            (out / name).write_bytes(content)
            code = trial.run(out)
            what = f"{name}, byte {place}"
            trial.fault(what, code)
            if code == DONE and (other := _differing(contents(out), trial.expected)):
                trial.problems.append(f"{what}: used as it is; {other[:3]}")
            if (
                code == REFUSED
                and Path(name).name not in trial.said.read_text()
                and name.split("/")[0] not in (trial.said.read_text())
            ):
                trial.problems.append(f"{what}: the refusal does not name it: {trial.said.read_text()[-200:]}")
            shutil.rmtree(out)


@contextmanager
def small_disk(place: Path) -> Iterator[Callable[[str], None]]:
    """A disk in memory, and how to give it other options."""
    place.mkdir()

    def mount(options: str) -> None:
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - a program of the system

    mount("size=64m")
    try:
        yield lambda options: mount(f"remount,{options}")
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)  # noqa: S603, S607 - a program of the system


def full(trial: Trial) -> None:
    """Room for a part of what the job writes."""
    total = sum(4096 + len(content) for content in trial.expected.values())
    for share in SHARES:
        with small_disk(trial.out) as remount:
            remount(f"size={max(8, int(share * total) // 4096 * 4)}k")
            trial.fault(f"room for {share:.0%}", trial.run(trial.out))
            remount("size=64m")
            trial.settle(f"room for {share:.0%}", trial.out)
        trial.out.rmdir()


def readonly(trial: Trial) -> None:
    """Nothing may be written, in an empty folder and in one with half of the files."""
    for before in (False, True):
        with small_disk(trial.out) as remount:
            if before:
                shutil.copytree(trial.folder / "whole", trial.out, dirs_exist_ok=True)
            remount("ro")
            trial.fault("read-only", trial.run(trial.out))
            remount("rw")
            trial.settle("read-only", trial.out)
        trial.out.rmdir()


def memory(trial: Trial) -> None:
    """Little address space, in a process of its own that imports everything anew."""
    command = [
        sys.executable,
        __file__,
        "--inner",
        trial.job.__name__,
        str(trial.given),
        str(trial.out),
        str(ADDRESSES),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - this file itself
    trial.said.write_text(done.stdout + done.stderr)
    trial.fault("600 MB of address space", done.returncode)
    trial.settle("600 MB of address space", trial.out)


def writers(trial: Trial) -> None:
    """Two processes at once: both end well, and nothing is mixed or lost."""
    for number in range(ROUNDS):
        out, gate = trial.out, trial.folder / f"gate{number}"
        others = [trial.folder / f"said{place}" for place in range(2)]
        processes = [child(trial.job, trial.given, out, said, gate=gate) for said in others]
        gate.touch()
        for process, said in zip(processes, others, strict=True):
            code = ended(process)
            trial.said.write_text(said.read_text())
            trial.fault(f"round {number}", code, may_refuse=False)
        if other := _differing(contents(out), trial.expected):
            trial.problems.append(f"round {number}: {other[:5]}")
        shutil.rmtree(out)


def large(folder: Path) -> list[str]:
    """Commands on 300 MB of vectors in 600 MB of address space: done, or one sentence and nothing written."""
    import numpy as np

    from biasgauge.vectors import Embedding, save

    prepare(folder)
    words = tuple(f"w{number}" for number in range(250_000))
    random = np.random.default_rng(0)
    model = Embedding(words, random.standard_normal((len(words), 300), np.float32))
    for name in ("large.safetensors", "large.bin.gz"):
        save(model, folder / name)
    sets = ["--x", "w0,w1", "--y", "w2,w3", "--a", "w4,w5", "--b", "w6,w7"]
    pairs = ["--pairs", str(folder / "pairs.toml")]
    problems = []
    for number, typed in enumerate(
        (
            ["weat", "large.safetensors", *sets],
            ["weat", "large.bin.gz", *sets],
            ["score", "large.safetensors", *pairs, "--words", "full", "--measures", "nbm", "--out", "out0"],
            ["score", "large.safetensors", *pairs, "--words", "w20,w21", "--measures", "dbwa", "--out", "out1"],
            ["mitigate", "large.safetensors", "--lexicon", "pairs.toml", "--equalize", "none", "--out", "out2.bin"],
            ["audit", "large.safetensors", "--lexicon", "test.toml", "--out", "out3"],
        )
    ):
        done = subprocess.run(  # noqa: S603 - this interpreter
            [sys.executable, "-m", "biasgauge", *typed, "--quiet"], cwd=folder, capture_output=True, text=True,
            check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES)),
        )  # fmt: skip
        lines = done.stderr.splitlines()
        sentence = done.returncode == 2 and len(lines) == 1 and "memory" in lines[0]
        if done.returncode != DONE and not sentence:
            problems.append(f"{' '.join(typed)}: ended with {done.returncode}: {done.stderr[-300:]}")
        sys.stdout.write(json.dumps({"large": number, "command": typed[0], "ended": done.returncode}) + "\n")
    return problems


FAULTS: dict[str, Callable[[Trial], None]] = {
    "bits": bits,
    "full": full,
    "readonly": readonly,
    "memory": memory,
    "writers": writers,
}


def main() -> int:
    """Try every job with every fault, each job in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=list(JOBS), choices=list(JOBS))
    parser.add_argument("--faults", nargs="*", default=list(FAULTS), choices=list(FAULTS))
    parser.add_argument("--large", action="store_true", help="also commands on 300 MB of vectors in little memory")
    parser.add_argument("--docs", action="store_true", help="write the table to docs/hardening")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    parser.add_argument("--inner", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inner:
        return _inner(*arguments.inner)
    if arguments.job:
        return _one_job(arguments.job, arguments.faults)
    failed = 0
    rows: list[dict[str, object]] = []
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    for name in arguments.only if arguments.faults else ():
        command = [sys.executable, __file__, "--job", name, "--faults", *arguments.faults]
        done = subprocess.run(  # noqa: S603 - this file itself
            command, check=False, env={**os.environ, **one_thread}, stdout=subprocess.PIPE, text=True
        )
        sys.stdout.write(done.stdout)
        sys.stdout.flush()
        failed += done.returncode != 0
        rows.append(_row(name, done.stdout.splitlines()))
    if arguments.large:
        with tempfile.TemporaryDirectory() as place:
            problems = large(Path(place))
        sys.stdout.write(json.dumps({"job": "large", "fault": "memory", "problems": problems}) + "\n")
        failed += len(problems)
    show_table("faults", rows, docs=arguments.docs)
    return 1 if failed else 0


def _row(job: str, lines: list[str]) -> dict[str, object]:
    """Of each fault: how often it was tried, how often the job refused, and problems if there are any."""
    row: dict[str, object] = {"job": job, **dict.fromkeys(FAULTS, "")}
    for fault in map(json.loads, lines):
        text = fault.get("not tried") or f"{fault['refused']} of {fault['tried']} refused"
        row[fault["fault"]] = text + (f"; {fault['problems']} problems" if fault.get("problems") else "")
    return row


def _inner(job: str, given: str, out: str, limit: str) -> int:
    """One job with little address space; what cannot even be imported is no finding."""
    resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit)))
    found = next(function for function in JOBS.values() if function.__name__ == job)
    return _run(found, Path(given), Path(out))


def _one_job(name: str, faults: list[str]) -> int:
    failed = 0
    for fault in faults:
        if name in MANY_PROCESSES and fault not in OF_PROCESSES:
            continue  # the same files as in one process, and many times as slow
        started = time.monotonic()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            try:
                trial = Trial(name, Path(place))
                FAULTS[fault](trial)
            except subprocess.CalledProcessError:
                sys.stdout.write(
                    json.dumps({"job": name, "fault": fault, "not tried": "no disk can be mounted"}) + "\n"
                )
                continue
        failed += len(trial.problems)
        told = {"job": name, "fault": fault, "tried": trial.tried, "refused": trial.refused}
        told |= {"problems": len(trial.problems), "such as": trial.problems[:3]}
        sys.stdout.write(json.dumps({**told, "seconds": round(time.monotonic() - started, 1)}) + "\n")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

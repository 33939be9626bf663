"""Kill a job at every point where it touches the disk, run it again, and compare the bytes with an undisturbed run.

    python scripts/kill_test.py                      every job, evenly chosen points up to --most of each
    python scripts/kill_test.py --only score train --most 500

A point is before a file is opened for writing, flushed, moved or removed, or a folder made or removed. There a process
is killed as by `kill -9`: the one that writes or, at every second point of a job of several processes, all of them.
The same job is then run to its end. Its files must be those of a run that nobody disturbed (but for seconds that
something took), and nothing of the killed one may be left. Prints a line for each job; the exit code is 1 if one
differs. Jobs run in copies of a process that has everything imported.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
HOOK = ROOT / "scripts" / "kill_hook"
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT)]
from disturbance_table import show_table  # noqa: E402 - after the path
from kill_jobs import JOBS, MANY_PROCESSES, prepare, prepare_model  # noqa: E402 - after the path
from kill_points import watch  # noqa: E402 - after the path

from biasgauge.io.json_file import has_valid_checksum as is_whole  # noqa: E402 - after the path

if TYPE_CHECKING:
    from collections.abc import Callable

TIMES = re.compile(rb'"(seconds|date|created|started|own_sha256)": ?("[^"]*"|[0-9.eE+-]+)')
OTHERWISE = frozenset({"run.json", "checksums.json"})
"""Files of a study that say how long something took and when files were written, and decide nothing."""


def child(job: Callable[[Path, Path], None], given: Path, out: Path, *, log: Path, point: int, everyone: bool) -> int:
    """Run a job in a process of its own that is killed at a point; 0 for never. How it ended."""
    process = os.fork()
    if process:
        return os.waitpid(process, 0)[1]
    code = 1
    try:
        os.setpgid(0, 0)
        out.mkdir(exist_ok=True)
        log.unlink(missing_ok=True)
        sys.stdout = sys.stderr = log.with_suffix(".said").open("w")
        told = {"folder": str(out), "log": str(log), "point": point, "everyone": everyone}
        os.environ["KILL_TEST"] = json.dumps(told)  # for processes that the job starts
        watch(str(out), str(log), point, everyone=everyone)
        job(given, out)
        code = 0
    except BaseException:  # noqa: BLE001 - whatever it is, the parent hears of it
        import traceback

        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def contents(out: Path) -> dict[str, bytes]:
    """All files of a run, hidden ones too, without seconds and the name of its folder.

    Locks are left out: they hold nobody up when they are free. A file whose own checksum differs is marked: seconds
    change it, so that it cannot be compared itself.
    """
    return {
        path.relative_to(out).as_posix(): _comparable(path.read_bytes(), out)
        for path in sorted(out.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock") and path.name not in OTHERWISE
    }


def _comparable(content: bytes, out: Path) -> bytes:
    damaged = b'"own_sha256"' in content and not is_whole(content)
    return TIMES.sub(b"", content.replace(os.fsencode(out), b"OUT")) + b"its checksum differs" * damaged


def try_job(name: str, folder: Path, most: int) -> dict[str, object]:
    """Kill one job at its points, evenly chosen where they are more than `most`."""
    job, given, started = JOBS[name], folder / "given", time.monotonic()
    given.mkdir()
    prepare(given)
    if name == "encode":
        prepare_model(given)
    (folder / "warm").mkdir()
    warm = JOBS["study-here"] if name in MANY_PROCESSES else job
    warm(given, folder / "warm")  # import and compile what its copies need
    if name == "study-dask":
        import_module("distributed")
    log = folder / "points"
    for whole in ("whole", "whole-again"):
        if child(job, given, folder / whole, log=log, point=0, everyone=False) != 0:
            said = log.with_suffix(".said").read_text()[-300:]
            return {"job": name, "points": 0, "differ": 1, "such as": [f"the undisturbed run failed: {said}"]}
    expected, total = contents(folder / "whole"), log.stat().st_size
    differ = _differences(contents(folder / "whole-again"), expected, "two undisturbed runs")
    count = min(most, total)
    points = sorted({1 + round(place * (total - 1) / max(1, count - 1)) for place in range(count)})
    killed = resumed = 0
    for number, point in enumerate(points if not differ else ()):
        out = folder / "out"
        everyone = name in MANY_PROCESSES and number % 2 == 0
        ended = child(job, given, out, log=log, point=point, everyone=everyone)
        killed += log.stat().st_size >= point
        again = child(job, given, out, log=log, point=0, everyone=False)
        if not everyone and ended != signal.SIGKILL and name not in MANY_PROCESSES:
            differ.append(f"point {point}: was not killed but ended with {ended}")
        if again:
            differ.append(f"point {point}: failed afterwards: {log.with_suffix('.said').read_text()[-300:]}")
        problems = _differences(contents(out), expected, f"point {point}")
        differ += problems
        resumed += not problems and not again
        shutil.rmtree(out)
    seconds = round(time.monotonic() - started, 1)
    told = {"job": name, "points": killed, "of": total, "resumed": resumed, "differ": len(differ)}
    return {**told, "such as": differ[:3], "seconds": seconds}


def _differences(given: dict[str, bytes], expected: dict[str, bytes], where: str) -> list[str]:
    other = sorted(given.keys() ^ expected.keys()) or [name for name in expected if given[name] != expected[name]]
    return [f"{where}: {', '.join(other[:5])}"] if other else []


def main() -> int:
    """Try every job, each in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=list(JOBS), choices=list(JOBS))
    parser.add_argument("--most", type=int, default=24, help="points for each job")
    parser.add_argument("--docs", action="store_true", help="write the table to docs/hardening")
    parser.add_argument("--job", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            sys.stdout.write(json.dumps(try_job(arguments.job, Path(place), arguments.most)) + "\n")
        return 0
    failed = total = 0
    rows = []
    path = os.pathsep.join(filter(None, [str(HOOK), str(HOOK.parent), os.environ.get("PYTHONPATH")]))
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    for name in arguments.only:
        command = [sys.executable, __file__, "--job", name, "--most", str(arguments.most)]
        done = subprocess.run(  # noqa: S603 - this file itself
            command, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": path, **one_thread}
        )
        lines = done.stdout.splitlines()
        told = json.loads(lines[-1]) if lines and not done.returncode else {"job": name, "died": done.stderr[-800:]}
        failed += int(told.get("differ", 1))
        total += int(told.get("points", 0))
        points = {"points tried": told.get("points", 0), "of": told.get("of", 0)}
        rows.append({"job": name, **points, "other bytes afterwards": told.get("differ", 1)})
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
    show_table("kills", rows, docs=arguments.docs)
    sys.stdout.write(f"{total} kills, {failed} differences\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

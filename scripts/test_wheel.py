"""Run the tests on the installed wheel, in an environment of the Python that is asked for, without src/ beside them.

Builds the sdist, and the wheel from it; installs the wheel with what tests need from wheels alone; unpacks the sdist
without src/ and runs its tests there. What the wheel lacks, or the sdist lacks beside the package, fails.

    python scripts/test_wheel.py 3.13
    python scripts/test_wheel.py 3.12 -- tests/stats tests/cli -m "not slow and not calibration"
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
from pathlib import Path

from environments import ROOT, built, empty_environment, install


def main() -> int:
    """Build, install, unpack, test."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("python", help="version of Python: 3.11, 3.12 or 3.13")
    parser.add_argument("pytest", nargs="*", default=["-m", "not slow"], help="what to hand to pytest, after --")
    asked = parser.parse_args()
    source, wheel = built()
    with empty_environment(asked.python) as folder:
        done = install(folder, f"{wheel}[dev]")
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        return tested(folder, source, asked.pytest)


def tested(folder: Path, source: Path, arguments: list[str]) -> int:
    """Run the tests of a source distribution beside an environment; how pytest left."""
    with tarfile.open(source) as packed:
        packed.extractall(folder, filter="data")
    (tree,) = (path for path in folder.iterdir() if path.name != "environment")
    (tree / "src").rename(folder / "not-importable")
    shared = os.environ.get("BIASGAUGE_SHARED", str(ROOT.parent / "shared" / "data"))
    left_out = {"PYTHONPATH", "VIRTUAL_ENV"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    python = str(folder / "environment" / "bin" / "python")
    return subprocess.run(  # noqa: S603 - pytest
        [python, "-m", "pytest", "-p", "no:cacheprovider", *arguments],
        cwd=tree,
        env={**environment, "BIASGAUGE_SHARED": shared},
        check=False,
    ).returncode


if __name__ == "__main__":
    sys.exit(main())

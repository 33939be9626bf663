"""Build the package, look at what is in it, and install it into empty environments as strangers would.

Builds the sdist, and the wheel from it; checks both with twine, check-wheel-contents and pyroma; holds the wheel to a
size, and to the files of the tree. Then, for each Python and each extra, makes an environment outside the tree,
installs the wheel with that extra from wheels alone (no compiler), and does in an empty folder what the extra is for.
Ends with a table; the exit status is 1 when anything failed.

    python scripts/check_package.py
    python scripts/check_package.py --python 3.11 3.13 --extra "" train figures
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tarfile
import time
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from environments import DIST, PYTHONS, ROOT, built, empty_environment, install, ran
from package_tries import EVERYWHERE, TRY, inputs

LARGEST = 25_000_000
"""Bytes of the wheel: what a registry of packages and a slow line can bear."""
DEVELOPERS = frozenset({"dev", "docs", "release"})
"""Extras for those who work on the package, who have the tree."""
MACHINES = {"gpu": "needs a GPU's libraries, gigabytes of them"}
"""Extras that are not tried unless they are asked for, and why."""


@dataclass(frozen=True)
class Tried:
    """One installation and what was done in it."""

    python: str
    extra: str
    failed: str = ""
    megabytes: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        name = f"biasgauge[{self.extra}]" if self.extra else "biasgauge"
        cost = f"works; {self.megabytes:,.0f} MB installed, {self.seconds:.0f} s"
        return f"{self.python:<7}{name:<26}{self.failed or cost}"


def main() -> int:
    """Build, look, install, try."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    users = [name for name in extras if name not in DEVELOPERS | MACHINES.keys()]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--python", nargs="*", default=PYTHONS, help="versions to install into")
    parser.add_argument("--extra", nargs="*", default=["", *users], help="extras to install; '' for none")
    parser.add_argument("--built", action="store_true", help="take what build/dist holds, instead of building it")
    asked = parser.parse_args()
    wheel = next(DIST.glob("*.whl")) if asked.built else looked_at(*built())
    tried = list(map(shown, (tried_in(wheel, python, extra) for python in asked.python for extra in asked.extra)))
    for name, reason in MACHINES.items():
        if name not in asked.extra:
            print(f"not tried: biasgauge[{name}] {reason}")
    return 1 if any(trial.failed for trial in tried) else 0


def looked_at(source: Path, wheel: Path) -> Path:
    """The wheel, once it and the source distribution have the form, the size and the files that they should."""
    ran([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(source)])
    ran([str(Path(sys.executable).with_name("check-wheel-contents")), str(wheel)])
    ran([sys.executable, "-m", "pyroma", "--min", "8", str(source)])  # 10 with a home page and an address of its own
    size = wheel.stat().st_size
    print(f"{wheel.name}: {size / 1e6:.1f} MB (at most {LARGEST / 1e6:.0f})")
    different = sorted(differences(source, wheel))
    if size > LARGEST or different:
        sys.exit(f"not as it should be: {size:,} bytes; differs from the tree in {different[:5] or 'nothing'}")
    return wheel


def differences(source: Path, wheel: Path) -> Iterator[str]:
    """Files of the package that the tree, the source distribution and the wheel do not have alike.

    The wheel was built from the source distribution, so one that lacks a file would make a wheel that lacks it, too.
    """
    listed = subprocess.run(["git", "ls-files", "src"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607 - git
    with tarfile.open(source) as packed, zipfile.ZipFile(wheel) as unpacked:
        sources, wheels = set(packed.getnames()), set(unpacked.namelist())
        top = next(iter(sources)).split("/", 1)[0]
        names = listed.stdout.splitlines()
        yield from wheels - {name.removeprefix("src/") for name in names} - {n for n in wheels if ".dist-info/" in n}
        for name in names:
            content, short = (ROOT / name).read_bytes(), name.removeprefix("src/")
            if f"{top}/{name}" not in sources or short not in wheels:
                yield name
                continue
            member = packed.extractfile(f"{top}/{name}")
            if member is None or member.read() != content or unpacked.read(short) != content:
                yield name


def tried_in(wheel: Path, python: str, extra: str) -> Tried:
    """Install the wheel into an environment of its own and use it there."""
    started = time.monotonic()
    try:
        with empty_environment(python) as folder:
            done = install(folder, f"{wheel}[{extra}]" if extra else str(wheel))
            if done.returncode:
                return Tried(python, extra, f"not installed: {last_line(done)}")
            files = (path for path in (folder / "environment").rglob("*") if path.is_file())
            megabytes = sum(path.stat().st_size for path in files) / 1e6
            inputs(folder)
            for command in [*EVERYWHERE, *TRY.get(extra, [])]:
                words = shlex.split(f"environment/bin/{command}")
                done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - ours
                if done.returncode:
                    return Tried(python, extra, f"{command} left with {done.returncode}: {last_line(done)}")
    except LookupError as error:
        return Tried(python, extra, str(error))
    return Tried(python, extra, "", megabytes, time.monotonic() - started)


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """The end of what a command said."""
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return lines[-1] if lines else "nothing said"


def shown(trial: Tried) -> Tried:
    """Print a row when it is known: the whole table takes half an hour."""
    print(trial, flush=True)
    return trial


if __name__ == "__main__":
    sys.exit(main())

"""Empty environments of every Python that the package says it runs on: made outside the tree, removed afterwards."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "build" / "dist"
PYTHONS = ("3.11", "3.12", "3.13")


def interpreter(version: str) -> Path | None:
    """A Python of this version on this machine: on the path, or among those of pyenv; a shim may start none."""
    pyenv = Path.home() / ".pyenv" / "versions"
    places = [shutil.which(f"python{version}"), *sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)]
    for place in filter(None, places):
        asked = [str(place), "-c", "import sys, ensurepip; print(sys.executable, *sys.version_info[:2])"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)  # noqa: S603 - a Python
        if done.returncode == 0:
            found, *numbers = done.stdout.rsplit(maxsplit=2)
            if ".".join(numbers) == version:
                return Path(found)
    return None


@contextmanager
def empty_environment(version: str) -> Iterator[Path]:
    """A folder of its own with nothing in it but `environment`, an environment of this Python; removed afterwards.

    Raises:
        LookupError: there is no such Python on this machine.
    """
    python = interpreter(version)
    if python is None:
        raise LookupError(f"there is no Python {version} on this machine")
    with tempfile.TemporaryDirectory(prefix="biasgauge-") as name:
        subprocess.run([str(python), "-m", "venv", f"{name}/environment"], check=True)  # noqa: S603 - a Python
        yield Path(name)


def install(folder: Path, *requirements: str) -> subprocess.CompletedProcess[str]:
    """Install wheels alone into the environment of a folder, under the constraints of the tree; nothing is compiled."""
    pip = [str(folder / "environment" / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    options = ["--quiet", "--no-compile", "--only-binary", ":all:", "--constraint", str(ROOT / "constraints.txt")]
    command = [*pip, "install", *options, *requirements]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - pip
    if done.returncode:
        return done
    return subprocess.run([*pip, "check"], capture_output=True, text=True, check=False)  # noqa: S603 - pip


def built() -> tuple[Path, Path]:
    """The source distribution of the tree, and the wheel that is built from it."""
    shutil.rmtree(DIST, ignore_errors=True)
    ran([sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT)])
    (wheel,) = DIST.glob("*.whl")
    (source,) = DIST.glob("*.tar.gz")
    return source, wheel


def ran(command: Sequence[str]) -> None:
    """Run a command that must work, and say which."""
    print("$", " ".join(Path(word).name if word.startswith("/") else word for word in command), flush=True)
    subprocess.run(command, check=True)  # noqa: S603 - the commands of these scripts

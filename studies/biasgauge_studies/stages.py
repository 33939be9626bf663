"""Stages that run as commands of their own: they end their process when they are done, or need a GPU to themselves."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


def run_module(name: str, *arguments: object) -> None:
    """Run a module of this package as a command, and wait for it."""
    _run("-m", f"biasgauge_studies.{name}", *arguments)


def run_script(name: str, *arguments: object) -> None:
    """Run a script of the repository, and wait for it."""
    _run(SCRIPTS / name, *arguments)


def _run(*arguments: object) -> None:
    subprocess.run([sys.executable, *map(str, arguments)], check=True)  # noqa: S603 - our own code

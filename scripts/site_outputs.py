"""Outputs of the site's pages: each page's blocks are run in a process and a folder of their own, and kept.

What is kept is found by the blocks themselves, the package's source and these scripts: a page whose prose was edited is
not run again, and one whose code was edited is the only one that is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

from site_blocks import Block

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SECONDS = 540
"""The longest that a page may take."""

Pieces = list[dict[str, str]]


class PageError(Exception):
    """A page could not be made; names page and line."""


def source_digest(package: Path) -> str:
    """One checksum of all that an output depends on: the package, and the scripts that make outputs."""
    whole = sha256()
    own = [HERE / f"site_{name}.py" for name in ("files", "outputs", "runner", "values")]
    for path in [*sorted(package.rglob("*")), *own]:
        if path.is_file() and "__pycache__" not in path.parts:
            whole.update(f"{path.name}\0".encode())
            whole.update(sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def made_outputs(
    pages: Mapping[str, Sequence[Block]],
    kept: Path,
    package: Path = ROOT / "src" / "biasgauge",
    *,
    example_files: bool = True,
) -> dict[str, list[Pieces]]:
    """The pieces of every page's blocks, from what is kept, or run now.

    Args:
        pages: blocks of each page, by its name.
        kept: the folder with what was made before.
        package: the source that examples use.
        example_files: whether a page's folder has the files that stand for a reader's own.

    Raises:
        PageError: a block failed.
    """
    digest = source_digest(package)
    kept.mkdir(parents=True, exist_ok=True)
    jobs = {name: [block for block in blocks if block.runs] for name, blocks in pages.items()}
    jobs = {name: blocks for name, blocks in jobs.items() if blocks}
    files = {name: kept / f"{_key(blocks, digest)}.json" for name, blocks in jobs.items()}
    missing = [name for name in jobs if not files[name].is_file()]
    if missing:
        examples = _examples(kept, digest, package) if example_files else None
        with ThreadPoolExecutor(max_workers=min(len(missing), os.cpu_count() or 1)) as pool:
            run = [pool.submit(_run_page, name, jobs[name], examples, files[name], package) for name in missing]
            failed = [str(job.exception()) for job in run if job.exception() is not None]
        if failed:
            raise PageError("\n".join(failed))
        _forget(kept, {*files.values()})
    return {name: json.loads(path.read_text(encoding="utf-8")) for name, path in files.items()}


def _key(blocks: Sequence[Block], digest: str) -> str:
    return sha256(json.dumps([digest, *(block.to_dict() for block in blocks)]).encode()).hexdigest()


def _forget(kept: Path, used: set[Path]) -> None:
    """Remove what was kept for pages and sources that are no more; as many as there are pages stay."""
    old = sorted({*kept.glob("*.json")} - used, key=lambda path: path.stat().st_mtime)
    for path in old[: max(0, len(old) - len(used))]:
        path.unlink()


def environment(package: Path, shim: Path) -> dict[str, str]:
    """Where examples run: this tree's package, one thread, no colors, nothing of this machine's data."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("BIASGAUGE_")}
    search = [str(package.parent), str(HERE), *filter(None, [own.get("PYTHONPATH", "")])]
    return own | {
        "PYTHONPATH": os.pathsep.join(search),
        "PATH": f"{shim}{os.pathsep}{own.get('PATH', '')}",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONHASHSEED": "0",
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "TERM": "dumb",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _shim(folder: Path) -> Path:
    """A folder with the command `biasgauge` of this tree."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, module in (("biasgauge", "-m biasgauge"), ("python", "")):
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        path.chmod(0o755)
    return folder


def _examples(kept: Path, digest: str, package: Path) -> Path:
    """The files that stand for a reader's own, made once for each version of the source."""
    folder = kept / f"files-{digest[:16]}"
    if not folder.is_dir():
        for old in kept.glob("files-*"):
            shutil.rmtree(old)
        with tempfile.TemporaryDirectory(dir=kept) as place:
            made = Path(place) / "files"
            own = environment(package, _shim(Path(place) / "bin"))
            subprocess.run([sys.executable, str(HERE / "site_files.py"), str(made)], env=own, check=True)  # noqa: S603 - our own script
            made.rename(folder)
    return folder


def _run_page(name: str, blocks: Sequence[Block], examples: Path | None, out: Path, package: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="site-") as place:
        folder = Path(place) / "page"
        folder.mkdir()
        if examples is not None:
            shutil.copytree(examples, folder, dirs_exist_ok=True)
        asked, made = Path(place) / "blocks.json", Path(place) / "outputs.json"
        asked.write_text(json.dumps([block.to_dict() for block in blocks]), encoding="utf-8")
        try:
            done = subprocess.run(  # noqa: S603 - our own script
                [sys.executable, str(HERE / "site_runner.py"), str(asked), str(made)],
                cwd=folder,
                env=environment(package, _shim(Path(place) / "bin")),
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise PageError(f"{name}: takes longer than {SECONDS} seconds") from None
        if not made.is_file():
            raise PageError(f"{name}: its process ended with {done.returncode}: {done.stderr[-2000:]}")
        content = json.loads(made.read_text(encoding="utf-8"))
    if "problem" in content:
        block = blocks[content["block"]]
        raise PageError(f"{name}:{block.line + content['line']}: {content['problem']}")
    half = out.with_suffix(".half")
    half.write_text(json.dumps(content["outputs"]), encoding="utf-8")
    half.rename(out)

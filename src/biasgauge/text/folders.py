"""Folders of corpora: written by one process at a time; a failed write is told of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from biasgauge.errors import CorpusError, InputError
from biasgauge.io import LOCK, short_name, writer_lock
from biasgauge.io import atomic_folder as atomic_output_folder


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what the system says about a failed write into one sentence that names `path`."""
    try:
        yield
    except OSError as problem:
        if isinstance(problem, InputError):
            raise  # it has its sentence
        raise CorpusError(
            f"the corpus cannot be written: {problem.strerror or problem}; free some space, or name another folder",
            path=path,
        ) from problem


@contextmanager
def exclusive_lock(target: Path) -> Iterator[None]:
    """Wait until no other process makes `target`, and keep others waiting meanwhile."""
    with ExitStack() as stack:
        with writing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(writer_lock(target.with_name(f".{short_name(target.name)}{LOCK}")))
        yield


@contextmanager
def atomic_folder(target: Path) -> Iterator[Path]:
    """Give a hidden folder beside `target`; move it into place when the block ends without an error."""
    with writing(target), atomic_output_folder(target) as part:
        yield part

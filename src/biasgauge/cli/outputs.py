"""Where commands write: tried before any work starts, so that no run ends in a sentence about its output.

Three rules hold for every command. An input is never overwritten. A result that is there already stays, unless --force
replaces it. A folder that is continued (scores, models, cells of a study) needs no --force: what is in it and fits is
used, and what does not fit is refused by whoever reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from biasgauge.core import JsonMapping
from biasgauge.errors import InputError
from biasgauge.io import check_output_file, check_output_folder, refuse_inputs

FORCE = "--force replaces it"


@dataclass(frozen=True)
class Output:
    """One place that a command writes to.

    Attributes:
        option: the option that names it.
        kind: "file"; "result": a file with what a page has beside it; "folder": some files in a folder; "continued": a
            folder that the same command goes on with.
        names: of "folder": the files that are written, as patterns.
        otherwise: gives the place from what was typed, where the option was left out; None: then nothing is written.
    """

    option: str
    kind: Literal["file", "result", "folder", "continued"] = "file"
    names: tuple[str, ...] = ()
    otherwise: Callable[[JsonMapping], Path] | None = None

    def place(self, typed: JsonMapping) -> Path | None:
        """Where it is written; None where nothing is, or on another machine."""
        named = typed.get(self.option)
        if named is None:
            return None if self.otherwise is None else self.otherwise(typed)
        return None if "://" in str(named) else Path(named)

    def files(self, place: Path) -> Iterator[Path]:
        """The files that would be written; of a folder's patterns, those that are there."""
        if self.kind == "result" and place.suffix.lower() == ".html":
            yield from (place.with_suffix(ending) for ending in (".json", ".csv"))
        if self.kind in {"file", "result"}:
            yield place
        elif self.kind == "folder" and place.is_dir():
            yield from (path for pattern in self.names for path in sorted(place.glob(pattern)))


RESULT = Output("out", "result")
FIGURES = Output("figures", "folder", ("*.svg", "*.png"))


def try_outputs(outputs: Sequence[Output], typed: JsonMapping, *, force: bool) -> None:
    """Refuse outputs that cannot be written, that are inputs, or that are there and may not be replaced.

    Args:
        outputs: where the command writes.
        typed: every argument and option as it was typed.
        force: whether results that are there may be replaced.

    Raises:
        InputError: one of them is refused.
    """
    names = {output.option for output in outputs}
    inputs = [path for name, value in typed.items() if name not in names for path in paths_in(value)]
    for output in outputs:
        place = output.place(typed)
        if place is None:
            continue
        refuse_inputs(place, (path for path in inputs if path.is_file()))
        if output.kind in {"folder", "continued"}:
            check_output_folder(place)
        for path in output.files(place):
            refuse_inputs(path, inputs)
            if output.kind == "folder" and not force:
                raise InputError(f"{path}: is there already; name another folder, or {FORCE}")
            check_output_file(path, force=force, hint=FORCE)


def paths_in(value: object) -> Iterator[Path]:
    """Files and folders that a typed value names: by itself, as one of several, as NAME=PATH or as PATH:SET."""
    if isinstance(value, Path):
        yield from _there([value])
    elif isinstance(value, str):
        parts = [value, *value.split(",")]
        parts += [part.partition("=")[2] for part in parts] + [part.rpartition(":")[0] for part in parts]
        yield from _there(Path(part.strip()) for part in parts if part.strip())
    elif isinstance(value, list | tuple):
        for item in value:
            yield from paths_in(item)


def what_is_kept(outputs: Sequence[Output], typed: JsonMapping) -> str:
    """What an interrupted command leaves, and how to go on."""
    for output in outputs:
        place = typed.get(output.option) or output.place(typed)
        if output.kind == "continued" and place is not None:
            return f"what was finished is kept in {place}; the same command goes on from there"
    return "nothing was written; the same command starts again" if outputs else ""


def _there(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        try:
            if path.exists():
                yield path
        except (OSError, ValueError):  # a name too long, or with a null byte: no file
            continue

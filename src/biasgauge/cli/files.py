"""Inputs and outputs of commands, checked before any work starts.

Inputs are looked for first, so that a mistyped path is the first thing that is reported. Then three rules hold for
every command. An input is never overwritten. A result that is there already stays, unless --force replaces it. A folder
that is continued (scores, models, cells of a study) needs no --force: what is in it and fits is used, and what does not
fit is refused by whoever reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from biasgauge.core import JsonMapping
from biasgauge.errors import InputError
from biasgauge.io import check_output_file, check_output_folder, refuse_inputs

FORCE = "--force replaces it"
_WORD_LIST_ENDINGS = (".toml", ".txt")
"""Endings of a text that names a word list of one's own, not a shipped one."""
_SOURCE = re.compile(r"\w[\w.+-]+:")
"""Start of an address, or of vectors of a registered encoder: s3://…, views:FOLDER. One letter is a Windows drive."""


def check_there(typed: object) -> None:
    """Refuse missing files: typed as a path, as one of several, or as a text that ends as a word list does.

    In a list of words, which has commas, only NAME=PATH names a file.

    Raises:
        InputError: there is no such file.
    """
    if isinstance(typed, str):
        texts = [typed] if "," not in typed else [text for text in typed.split(",") if "=" in text]
        check_files(Path(text.rpartition("=")[2]) for text in texts if text.endswith(_WORD_LIST_ENDINGS))
    elif isinstance(typed, Path):
        check_files([typed])
    elif isinstance(typed, list | tuple):
        for item in typed:
            check_there(item)


def check_files(paths: Iterable[Path]) -> None:
    """Refuse missing files and folders.

    Raises:
        InputError: there is no such file.
    """
    for path in paths:
        if _SOURCE.match(str(path)):
            continue
        try:
            exists = path.exists()
        except (OSError, ValueError):  # a name too long, or with a null byte: whoever reads it says so
            continue
        if not exists:
            raise InputError(f"{path}: there is no such file; check the path")


def check_named(typed: Iterable[str]) -> None:
    """Refuse missing files, each typed as NAME=PATH; a text of another form is left to whoever reads it.

    Raises:
        InputError: there is no such file.
    """
    check_files(Path(path) for text in typed if (path := text.partition("=")[2]))


def check_nothing(typed: object) -> None:
    """Accept texts that never name a file, whatever they end in."""


def check_stores(folders: Path | Iterable[Path]) -> None:
    """Refuse missing score stores.

    Raises:
        InputError: there is no such folder.
    """
    from biasgauge.scores import ABSENT

    for folder in [folders] if isinstance(folders, Path) else folders:
        if not folder.exists():
            raise InputError(f"{folder}: {ABSENT.format('there is no such folder')}")


def check_models(typed: Path | str | Iterable[Path] | None) -> None:
    """Refuse missing language models.

    Raises:
        InputError: there is no such folder or file.
    """
    from biasgauge.vectors.encoders import check_model_path

    for path in [typed] if isinstance(typed, str | Path) else typed or ():
        check_model_path(Path(path))


@dataclass(frozen=True)
class Output:
    """A file or folder that a command writes.

    Attributes:
        option: the option that names it.
        kind: "file"; "result": a file, and the files that a page has beside it; "folder": some files in a folder;
            "continued": a folder that the same command goes on with.
        names: of "folder": the files that are written, as patterns.
        otherwise: gives the path from what was typed, where the option was left out; None: then nothing is written.
    """

    option: str
    kind: Literal["file", "result", "folder", "continued"] = "file"
    names: tuple[str, ...] = ()
    otherwise: Callable[[JsonMapping], Path] | None = None

    def path(self, typed: JsonMapping) -> Path | None:
        """The path that is written to; None where nothing is, or on another machine."""
        named = typed.get(self.option)
        if named is None:
            return None if self.otherwise is None else self.otherwise(typed)
        return None if "://" in str(named) else Path(named)

    def files(self, path: Path) -> Iterator[Path]:
        """The files that would be written; of a folder's patterns, those that are there."""
        if self.kind == "result" and path.suffix.lower() == ".html":
            yield from (path.with_suffix(ending) for ending in (".json", ".csv"))
        if self.kind in {"file", "result"}:
            yield path
        elif self.kind == "folder" and path.is_dir():
            yield from (file for pattern in self.names for file in sorted(path.glob(pattern)))


RESULT = Output("out", "result")
FIGURES = Output("figures", "folder", ("*.svg", "*.png", "*.pdf"))


def try_outputs(outputs: Sequence[Output], typed: JsonMapping, *, force: bool) -> None:
    """Refuse outputs that cannot be written, that are inputs, or that are there and may not be replaced.

    Args:
        outputs: the files and folders that the command writes.
        typed: every argument and option as it was typed.
        force: whether results that are there may be replaced.

    Raises:
        InputError: one of them is refused.
    """
    names = {output.option for output in outputs}
    inputs = [path for name, value in typed.items() if name not in names for path in paths_in(value)]
    for output in outputs:
        target = output.path(typed)
        if target is None:
            continue
        refuse_inputs(target, (path for path in inputs if path.is_file()))
        if output.kind in {"folder", "continued"}:
            check_output_folder(target)
        for path in output.files(target):
            refuse_inputs(path, inputs)
            if output.kind == "folder" and not force:
                raise InputError(f"{path}: is there already; name another folder, or {FORCE}")
            check_output_file(path, force=force, hint=FORCE)


def paths_in(value: object) -> Iterator[Path]:
    """Files and folders that a typed value names: by itself, as one of several, as NAME=PATH or as PATH:SET."""
    if isinstance(value, Path):
        yield from _existing([value])
    elif isinstance(value, str):
        texts = [value, *value.split(",")]
        texts += [text.partition("=")[2] for text in texts] + [text.rpartition(":")[0] for text in texts]
        yield from _existing(Path(text.strip()) for text in texts if text.strip())
    elif isinstance(value, list | tuple):
        for item in value:
            yield from paths_in(item)


def describe_kept(outputs: Sequence[Output], typed: JsonMapping) -> str:
    """Say what an interrupted command leaves, and how to go on."""
    for output in outputs:
        path = typed.get(output.option) or output.path(typed)
        if output.kind == "continued" and path is not None:
            return f"what was finished is kept in {path}; the same command goes on from there"
    return "nothing was written; the same command starts again" if outputs else ""


def _existing(paths: Iterable[Path]) -> Iterator[Path]:
    for path in paths:
        try:
            if path.exists():
                yield path
        except (OSError, ValueError):  # a name too long, or with a null byte: no file
            continue

"""Blocks of a page: which code it shows, what is done with each, and on which line it stands.

What follows the language after three backticks says what is done when the site is built:

    python                     run it, in order, in one namespace a page; show what it prints and its last value
    python setup               the same, folded away: what a page needs first
    console                    run each line that begins with "$ "; show what it prints
    console exit 2             the same, where a command has to end with this exit code
    toml file: my_words.toml   write it into the page's folder, where later blocks find it
    python not run: REASON     show it, and the reason why nothing was run
    python needs: MODULE       run it where this package is installed; elsewhere show it, and say so
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any

FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}) *(?P<info>[^`]*)$")
PROGRAMS = frozenset({"python", "console"})
"""Languages that are run."""
SHELLS = frozenset({"sh", "bash", "shell", "py", "pycon", "python3"})
"""Other names of the same, which would go by without being run."""


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        line: the line of the page on which the fence stands, from 1.
        last: the line of the closing fence.
        indent: how far it is indented.
        language: what it is written in.
        source: its text.
        task: "run", "setup", "file", "leave" (not run, for a reason) or "show" (not a program).
        told: the name of the file, the reason, or nothing.
        exit_code: what its commands end with.
    """

    line: int
    last: int
    indent: int
    language: str
    source: str
    task: str
    told: str = ""
    exit_code: int = 0

    def to_dict(self) -> dict[str, Any]:
        """For the process that runs it; prose around it has no part in it."""
        return {name: value for name, value in asdict(self).items() if name not in {"line", "last", "indent"}}

    @property
    def runs(self) -> bool:
        """Whether something is done when the site is built."""
        return self.task in {"run", "setup", "file"}


class BlockError(ValueError):
    """A block that cannot be read; the line comes first."""


def blocks_of(markdown: str) -> tuple[Block, ...]:
    """The blocks of a page.

    Raises:
        BlockError: a fence is not closed, or says something that is not known.
    """
    return tuple(_blocks(markdown.splitlines()))


def _blocks(lines: list[str]) -> Iterator[Block]:
    number = 0
    while number < len(lines):
        opened = FENCE.match(lines[number])
        number += 1
        if opened is None:
            continue
        first = number
        indent, closing = len(opened["indent"]), opened["fence"]
        while number < len(lines) and lines[number].strip() != closing:
            number += 1
        if number == len(lines):
            raise BlockError(f"{first}: a block that begins here does not end")
        source = "\n".join(line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in lines[first:number])
        yield _block(first, number + 1, indent, opened["info"].strip(), source)
        number += 1


def _block(line: int, last: int, indent: int, info: str, source: str) -> Block:
    language, _, words = info.partition(" ")
    words = words.strip()

    def block(task: str, told: str = "", exit_code: int = 0) -> Block:
        return Block(line, last, indent, language, source, task, told, exit_code)

    if name := re.fullmatch(r"file: *([\w./-]+)", words):
        if name[1].startswith("/") or ".." in name[1].split("/"):
            raise BlockError(f"{line}: the file {name[1]!r} is not in the page's folder")
        return block("file", name[1])
    if language not in PROGRAMS:
        _no_program(line, language, words, source)
        return block("show")
    if reason := re.fullmatch(r"not run: *(\S.*)", words):
        return block("leave", reason[1])
    if language == "console":
        _commands_only(line, source)
    if code := re.fullmatch(r"exit (\d+)", words):
        return block("run", exit_code=int(code[1]))
    if needed := re.fullmatch(r"needs: *(\w+)", words):
        there = find_spec(needed[1]) is not None
        return block("run") if there else block("leave", f"it needs the Python package {needed[1]}")
    if words not in {"", "setup"}:
        raise BlockError(f"{line}: ```{info} says nothing that is known")
    return block("setup" if words else "run")


def _no_program(line: int, language: str, words: str, source: str) -> None:
    """Refuse what would go by without being run."""
    if language in SHELLS:
        raise BlockError(f"{line}: write ```python or ```console in the place of ```{language}")
    if not language and re.match(r"(\$ )?(biasgauge|python|pip) ", source):
        raise BlockError(f"{line}: commands stand in a ```console block")
    if words:
        raise BlockError(f"{line}: ```{language} {words} says nothing that is known")


def _commands_only(line: int, source: str) -> None:
    for number, text in enumerate(joined_lines(source), start=line + 1):
        if text.strip() and not text.startswith("$ "):
            raise BlockError(f"{number}: a line of a console block is a command ('$ …'); what it prints is made")


def joined_lines(source: str) -> list[str]:
    """Lines of a console block; one that ends in a backslash goes on in the next."""
    joined: list[str] = []
    goes_on = False
    for line in source.split("\n"):
        if goes_on:
            joined[-1] += "\n" + line
        else:
            joined.append(line)
        goes_on = line.endswith("\\")
    return joined

"""What a function takes, read from its signature and its docstring: settings of studies and options of commands."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, getdoc, getsource, signature
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

if TYPE_CHECKING:
    from collections.abc import Callable

_FREE = frozenset({"str", "int", "float", "bool", "object", "Any"})
_NAMED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


@dataclass(frozen=True)
class Setting:
    """A parameter of a function.

    Attributes:
        name: its name.
        default: what it is when nothing is said; `Parameter.empty` where something must be.
        annotation: its type, as the source has it.
        choices: the values that it may be, where it may be no other (but None).
        about: what the docstring says about it.
    """

    name: str
    default: Any
    annotation: str
    choices: tuple[Any, ...] = ()
    about: str = ""

    @property
    def types(self) -> tuple[str, ...]:
        """The parts of a union, as the source has them."""
        return tuple(_parts(self.annotation))

    @property
    def nullable(self) -> bool:
        """Whether it may be None."""
        return self.default is None or "None" in self.types or "object" in self.types

    @property
    def needed(self) -> bool:
        """Whether it has no default."""
        return self.default is Parameter.empty


def function_named(name: str | Callable[..., Any]) -> Callable[..., Any]:
    """The function of a "room:name", or of "room.module:name"; a function is handed back as it is."""
    if not isinstance(name, str):
        return name
    room, _, function = name.partition(":")
    found: Callable[..., Any] = getattr(import_module(f"biasgauge.{room}"), function)
    return found


def settings_of(function: Callable[..., Any]) -> dict[str, Setting]:
    """Every parameter of a function that has a name, in their order."""
    about = argument_texts(getdoc(function) or "")
    named = [parameter for parameter in signature(function).parameters.values() if parameter.kind in _NAMED]
    return {
        parameter.name: Setting(
            parameter.name,
            parameter.default,
            str(parameter.annotation),
            choices(str(parameter.annotation), function),
            about.get(parameter.name, ""),
        )
        for parameter in named
    }


def choices(annotation: str, owner: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a function or a class
    """The values of a type of fixed values; empty where other texts or numbers are allowed too.

    `owner` is what has the annotation: names are looked up where it was written. Classes beside fixed values are left
    aside: nobody types or writes one down.
    """
    values: list[Any] = []
    for part in _parts(annotation):
        if part in _FREE or part.endswith("Like") or "PathLike" in part:
            return ()
        if part.startswith("Literal["):
            values += ast.literal_eval(f"[{part[len('Literal[') : -1]}]")
        elif part.isidentifier() and get_origin(kind := _resolved(part, owner)) is Literal:
            values += get_args(kind)
    return tuple(values)


def _parts(annotation: str) -> list[str]:
    """The parts of a union."""
    return [part.strip() for part in re.split(r"\|(?![^\[]*\])", annotation)]


def _resolved(name: str, owner: Any) -> Any:  # noqa: ANN401 - whatever the name stands for
    """What a name of an annotation stands for, also where it is imported for type checkers alone; None if unknown."""
    module = sys.modules[owner.__module__]
    if hasattr(module, name):
        return getattr(module, name)
    home, original = _imported_for_types(owner.__module__).get(name, ("", ""))
    return getattr(import_module(home), original, None) if home else None


@cache
def _imported_for_types(module: str) -> dict[str, tuple[str, str]]:
    """Names that a module imports from this package, also for type checkers alone: module and name of each."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(ast.parse(getsource(sys.modules[module])))
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.module.startswith("biasgauge.")
        for alias in node.names
    }


def argument_texts(doc: str) -> dict[str, str]:
    """The `Args:` of a Google-style docstring, or the `Attributes:` of a class: name to text, on one line."""
    texts: dict[str, str] = {}
    parts = re.split(r"\n(?:Args|Attributes):\n", doc, maxsplit=1)
    if len(parts) == 1:
        return texts
    section = re.split(r"\n(?=\S)", parts[1], maxsplit=1)[0]
    for entry in re.split(r"\n(?=\S)", dedent(section)):
        name, colon, text = entry.partition(":")
        if colon:
            texts |= {part.strip(): " ".join(text.split()) for part in name.split(",")}
    return texts

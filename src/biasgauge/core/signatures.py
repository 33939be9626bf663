"""What a function takes, read from its signature and its docstring: settings of studies and options of commands.

A function given by its name, as "scores:weat", is read from the source of this package: explaining an option imports
neither the function's room nor the libraries that it computes with. What the source cannot say is asked of the function
itself.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import Parameter, getdoc, signature
from pathlib import Path
from textwrap import dedent
from typing import Any, Literal, get_args, get_origin

_FREE = frozenset({"str", "int", "float", "bool", "object", "Any"})
SAME_SIGNATURE = frozenset({"each_model"})
"""Decorators that leave a function's parameters as they are."""
_HERE = Path(__file__).parent


@dataclass(frozen=True)
class Setting:
    """A parameter of a function.

    Attributes:
        name: its name.
        default: what it is when nothing is said; `Parameter.empty` where something must be.
        annotation: its type, as the source has it.
        choices: the values that it may be, where it may be no other (but None).
        about: what the docstring says about it.
        open_ended: whether it stands for any further keyword, as `**settings` does.
    """

    name: str
    default: Any
    annotation: str
    choices: tuple[Any, ...] = ()
    about: str = ""
    open_ended: bool = False

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


@dataclass(frozen=True)
class Computed:
    """A default that is a record, such as `Rules()`, of which the source is known alone."""

    source: str


def function_named(name: str | Callable[..., Any]) -> Callable[..., Any]:
    """The function of a "room:name", or of "room.module:name"; a function is handed back as it is."""
    if not isinstance(name, str):
        return name
    room, _, function = name.partition(":")
    named: Callable[..., Any] = getattr(import_module(f"biasgauge.{room}"), function)
    return named


def settings_of(function: str | Callable[..., Any]) -> dict[str, Setting]:
    """Every parameter of a function that has a name, in their order; last what stands for any further keyword."""
    if isinstance(function, str):
        try:
            return _settings_in_source(function)
        except LookupError:
            function = function_named(function)
    about = argument_texts(getdoc(function) or "")
    return {
        name: Setting(
            name,
            parameter.default,
            str(parameter.annotation),
            choices(str(parameter.annotation), function),
            about.get(name, ""),
            parameter.kind is Parameter.VAR_KEYWORD,
        )
        for name, parameter in signature(function).parameters.items()
        if parameter.kind is not Parameter.VAR_POSITIONAL
    }


def choices(annotation: str, owner: Any) -> tuple[Any, ...]:  # noqa: ANN401 - a function or a class
    """The values of a type of fixed values; empty where other texts or numbers are allowed too.

    `owner` is what has the annotation: names are looked up where it was written. Classes beside fixed values are left
    aside: nobody types or writes one down.
    """
    return _choices(annotation, owner.__module__)


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


def _parts(annotation: str) -> list[str]:
    """The parts of a union."""
    return [part.strip() for part in re.split(r"\|(?![^\[]*\])", annotation)]


def _choices(annotation: str, module: str) -> tuple[Any, ...]:
    values: list[Any] = []
    for part in _parts(annotation):
        if part in _FREE or part.endswith("Like") or "PathLike" in part:
            return ()
        if part.startswith("Literal["):
            values += ast.literal_eval(f"[{part[len('Literal[') : -1]}]")
        elif part.isidentifier():
            values += _values_of(part, module)
    return tuple(values)


def _values_of(name: str, module: str) -> tuple[Any, ...]:
    """The values of a type that a module knows by name; none where it is no type of fixed values."""
    if hasattr(sys.modules.get(module), name):
        kind = getattr(sys.modules[module], name)
        return get_args(kind) if get_origin(kind) is Literal else ()
    try:
        _, node = _definition(module, name)
    except LookupError:
        return ()
    written = ast.unparse(node)
    return tuple(ast.literal_eval(f"[{written[len('Literal[') : -1]}]")) if written.startswith("Literal[") else ()


def _settings_in_source(name: str) -> dict[str, Setting]:
    """What `settings_of` gives for a function of this package, without importing it.

    Raises:
        LookupError: the source does not say it all.
    """
    room, _, function = name.partition(":")
    module, node = _definition(f"biasgauge.{room}", function)
    if not isinstance(node, ast.FunctionDef | ast.ClassDef):
        raise LookupError(name)  # noqa: TRY004 - then the function itself is asked
    about = argument_texts(ast.get_docstring(node) or "")
    settings = {}
    for argument, annotation, default, open_ended in _parameters(node):
        written = ast.unparse(annotation) if annotation else str(Parameter.empty)
        value = Parameter.empty if default is None else _constant(default, module)
        told = about.get(argument, "")
        settings[argument] = Setting(argument, value, written, _choices(written, module), told, open_ended)
    return settings


def _parameters(
    node: ast.FunctionDef | ast.ClassDef,
) -> Iterator[tuple[str, ast.expr | None, ast.expr | None, bool]]:
    """Name, type and default of what a function takes, or of the fields of a class without a parent."""
    if isinstance(node, ast.ClassDef):
        if node.bases:
            raise LookupError(node.name)
        for field in node.body:
            if isinstance(field, ast.AnnAssign):
                yield ast.unparse(field.target), field.annotation, field.value, False
        return
    if any(ast.unparse(decorator) not in SAME_SIGNATURE for decorator in node.decorator_list):
        raise LookupError(node.name)
    placed = [*node.args.posonlyargs, *node.args.args]
    lacking = [None] * (len(placed) - len(node.args.defaults))
    defaults = [*lacking, *node.args.defaults, *node.args.kw_defaults]
    for argument, default in zip([*placed, *node.args.kwonlyargs], defaults, strict=True):
        yield argument.arg, argument.annotation, default, False
    if node.args.kwarg is not None:
        yield node.args.kwarg.arg, node.args.kwarg.annotation, None, True


def _constant(node: ast.expr, module: str) -> Any:  # noqa: ANN401 - any constant
    """The value of a literal, or of a name that stands for one."""
    if isinstance(node, ast.Name):
        home, known = _definition(module, node.id)
        if isinstance(known, ast.expr):
            return _constant(known, home)
    if isinstance(node, ast.Tuple):
        return tuple(_constant(part, module) for part in node.elts)
    if isinstance(node, ast.Call):
        return Computed(ast.unparse(node))
    try:
        return ast.literal_eval(node)
    except ValueError as problem:
        raise LookupError(ast.unparse(node)) from problem


@cache
def _definition(module: str, name: str) -> tuple[str, ast.AST]:
    """The module in which a name is defined, and what it is; imports are followed within this package."""
    for node in _statements(module):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("biasgauge"):
            for alias in node.names:
                if (alias.asname or alias.name) == name:
                    return _definition(node.module, alias.name)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return module, node
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in (values := dict(_assigned(node))):
            return module, values[name]
    raise LookupError(f"{module}.{name}")


def _assigned(node: ast.Assign | ast.AnnAssign) -> Iterator[tuple[str, ast.expr]]:
    """Names and values of an assignment, of several at once too."""
    for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
        together = isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple)
        names, values = (target.elts, node.value.elts) if together else ([target], [node.value])  # type: ignore[attr-defined, union-attr]
        for named, value in zip(names, values, strict=True):
            if isinstance(named, ast.Name) and value is not None:
                yield named.id, value


@cache
def _statements(module: str) -> list[ast.stmt]:
    """The statements of a module's stub or source, those for type checkers alone among them."""
    home, *inner = module.split(".")
    if home == "biasgauge":
        place = _HERE.joinpath(*inner)
        paths = [place / "__init__.pyi", place / "__init__.py", place.with_suffix(".py")]
    else:
        paths = [Path(getattr(sys.modules.get(module), "__file__", None) or "")]
    for path in paths:
        if path.is_file():
            body = ast.parse(path.read_text(encoding="utf-8")).body
            return [part for node in body for part in (node.body if isinstance(node, ast.If) else [node])]
    raise LookupError(module)

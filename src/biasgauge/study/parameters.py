"""Settings held against the parameters of the functions that take them, before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from biasgauge.lexicons.nearest import meant
from biasgauge.lexicons.table import found, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

OURS = frozenset({"out", "store", "device", "n_jobs", "threads", "progress", "cache"})
"""What the study decides itself."""

LEVELS = ("level", "prob")
"""How sure intervals are, in every function."""

SEED = "random_state"
NONE = "none"
"""How TOML, which has no null, says None."""

_PLAIN: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "float": (int, float),
    "str": (str,),
    "None": (type(None),),
}
_WORDS = {"bool": "true or false", "int": "a whole number", "float": "a number", "str": "text", "None": '"none"'}


@dataclass(frozen=True)
class Known:
    """A setting that a function takes.

    Attributes:
        default: what it is when nothing is said; `Parameter.empty` where something must be.
        annotation: its type, as the source has it.
        choices: the texts that it may be, where it may be no other.
    """

    default: object
    annotation: str
    choices: tuple[str, ...] = ()

    @property
    def nullable(self) -> bool:
        """Whether it may be None."""
        return self.annotation == "object" or "None" in self.annotation

    @property
    def record(self) -> bool:
        """Whether it is given as a table: a frozen record with fields of its own."""
        return is_dataclass(self.default) and not isinstance(self.default, type)


def function_named(name: str) -> Callable[..., Any]:
    """The function of a "room:name"."""
    room, _, function = name.partition(":")
    found_there: Callable[..., Any] = getattr(import_module(f"biasgauge.{room}"), function)
    return found_there


def parameters(function: Callable[..., Any], skip: int = 0) -> dict[str, Known]:
    """What a function takes by name, after its first `skip` arguments, without what the study decides itself."""
    named = [
        one
        for one in list(signature(function).parameters.values())[skip:]
        if one.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY} and one.name not in OURS
    ]
    there = getattr(function, "__globals__", {})
    return {one.name: Known(one.default, str(one.annotation), _choices(str(one.annotation), there)) for one in named}


def _choices(annotation: str, there: Mapping[str, Any]) -> tuple[str, ...]:
    """Texts that a type of fixed texts allows; empty where others are allowed too, or the type is not known here."""
    names = annotation.split(" | ")
    if {"str", "object"} & set(names):
        return ()
    kinds = [there.get(name) for name in names]
    return tuple(text for kind in kinds if get_origin(kind) is Literal for text in get_args(kind))


def problems_in(
    settings: Mapping[str, Any], known: Mapping[str, Known], what: str, own: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """What is wrong with settings: the key, and a sentence; `own` are keys of the table beside them."""
    for name, value in settings.items():
        if name not in known:
            there = [*own, *known]
            reason = "; the study decides it" if name in OURS else meant(name, there) or f"; it has {', '.join(there)}"
            yield name, f"{what} has no setting {shown(name)}{reason}"
        elif known[name].record:
            yield from _record_problems(name, value, known[name])
        elif (expected := _mismatch(value, known[name])) is not None:
            yield name, f"{name!r} of {what} must be {expected}, found {found(value)}"
        elif name in LEVELS and isinstance(value, (int, float)) and not 0 < value < 1:
            yield name, f"{name!r} of {what} must lie between 0 and 1, found {found(value)}"
        elif _counts(known[name]) and isinstance(value, int) and value < 0:
            yield name, f"{name!r} of {what} must not be negative, found {found(value)}"


def _counts(one: Known) -> bool:
    """Whether it is a whole number: no function counts below 0."""
    return set(one.annotation.split(" | ")) <= {"int", "None"}


def filled(settings: Mapping[str, Any], known: Mapping[str, Known], seed: int) -> dict[str, Any]:
    """Settings as a cell keeps them: with the study's seed wherever something is random."""
    kept = dict(settings)
    for name, one in known.items():
        if name == SEED:
            kept.setdefault(name, seed)
        elif one.record and any(part.name == SEED for part in fields(one.default)):  # type: ignore[arg-type]
            given = kept.get(name, {})
            if isinstance(given, dict):
                kept[name] = {SEED: seed, **given}
    return kept


def arguments(settings: Mapping[str, Any], known: Mapping[str, Known]) -> dict[str, Any]:
    """Settings as the function takes them: tables to records, "none" to None."""
    return {name: _argument(value, known.get(name)) for name, value in settings.items()}


def needed(known: Mapping[str, Known]) -> Sequence[str]:
    """Names of settings without a default."""
    return [name for name, one in known.items() if one.default is Parameter.empty]


def _argument(value: Any, one: Known | None) -> Any:  # noqa: ANN401 - whatever the function takes
    if one is None:
        return value
    if value == NONE and one.nullable:
        return None
    if one.record and isinstance(value, dict):
        return replace(one.default, **value)  # type: ignore[type-var]
    return value


def _record_problems(name: str, value: object, one: Known) -> Iterator[tuple[str, str]]:
    there = vars(import_module(type(one.default).__module__))
    parts = {
        part.name: Known(None, str(part.type), _choices(str(part.type), there))
        for part in fields(one.default)  # type: ignore[arg-type]
    }
    if value == NONE and one.nullable:
        return
    if not isinstance(value, dict):
        yield name, f"{name!r} must be a table with {', '.join(parts)}, found {found(value)}"
        return
    for part, inner in value.items():
        if part in parts:
            if (expected := _mismatch(inner, parts[part])) is not None:
                yield name, f"{part!r} of {name!r} must be {expected}, found {found(inner)}"
        else:
            yield name, f"{name!r} has no setting {shown(part)}{meant(part, parts) or '; it has ' + ', '.join(parts)}"


def _mismatch(value: object, one: Known) -> str | None:
    """What the value should be, where the type is plain and the value is not of it."""
    names = one.annotation.split(" | ")
    if value == NONE and one.nullable:
        return None
    if one.choices and isinstance(value, str) and value not in one.choices:
        return " or ".join(repr(choice) for choice in one.choices)
    if not all(name in _PLAIN for name in names):
        return None
    for name in names:
        if isinstance(value, _PLAIN[name]) and (name == "bool" or not isinstance(value, bool)):
            return None
    return " or ".join(_WORDS[name] for name in names)

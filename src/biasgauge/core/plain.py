"""Records as plain data that JSON can hold, and back again by the types of their fields.

Written once for all results. Undefined numbers (NaN, infinities) become None; arrays become lists; tuples become
lists; keys become strings. `from_plain` reads the types of a record's fields, so that what was a tuple of records
comes back as a tuple of records.
"""

from __future__ import annotations

import math
import sys
import types
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from os import PathLike, fspath
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from biasgauge.core.json_types import JsonMapping
from biasgauge.errors import InputError

_SCALARS = (str, int, bool, type(None))


def to_plain(value: Any) -> Any:  # noqa: PLR0911 - one line for each type that a record may hold
    """A value as JSON holds it.

    Raises:
        TypeError: it is nothing that a record may hold.
    """
    if isinstance(value, Enum):
        return to_plain(value.value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, _SCALARS):
        return value
    if _numpy(type(value)):
        return _array_to_lists(value) if value.ndim else to_plain(value.item())
    if hasattr(value, "to_dict") and not isinstance(value, type):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return fields_to_plain(value)
    if isinstance(value, Mapping):
        return {_key(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Sequence | set | frozenset):
        return [to_plain(item) for item in (sorted(value) if isinstance(value, set | frozenset) else value)]
    raise TypeError(f"a record cannot hold {type(value).__name__}: {value!r}")


def fields_to_plain(record: Any, hidden: Collection[str] = ()) -> dict[str, Any]:
    """The fields of a dataclass by name, as JSON holds them, but for hidden ones.

    Under a name that ends in "interval" an estimate stands beside its number: only its interval is told there.
    """
    names = [field.name for field in fields(record) if field.name not in hidden]
    return {name: _field(name, getattr(record, name)) for name in names}


def _field(name: str, value: Any) -> Any:
    if name.endswith("interval") and callable(getattr(value, "interval", None)):
        return value.interval()
    return to_plain(value)


def _key(key: object) -> str:
    return f"{key:g}" if isinstance(key, float) else str(key)


def _numpy(kind: Any) -> bool:
    """Whether it is a type of NumPy, which is slow to import and need not be here to know that."""
    return getattr(kind, "__module__", "") == "numpy"


def _array_to_lists(array: Any) -> Any:
    import numpy as np

    if array.dtype.kind == "f" and not np.isfinite(array).all():
        held = array.astype(object)
        held[~np.isfinite(array)] = None
        return held.tolist()
    if array.dtype == object:
        return [to_plain(item) for item in array.tolist()]
    return array.tolist()


def from_plain(kind: Any, value: Any, where: str = "") -> Any:  # noqa: C901, PLR0911 - as to_plain
    """A value of type `kind` from what `to_plain` made of it.

    Raises:
        InputError: it is something else; says where.
    """
    if kind is Any or kind is object or isinstance(kind, str):
        return _finite(value, where)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return _one_of(arguments, value, where)
    if origin is Literal:
        if value not in arguments:
            raise InputError(f"{where or 'it'} must be one of {', '.join(map(repr, arguments))}. Got {value!r}.")
        return value
    if kind is type(None):
        if value is not None:
            raise InputError(f"{where or 'it'} must be empty. Got {value!r}.")
        return None
    if _numpy(origin or kind):
        return _array(kind, value)
    if isinstance(kind, type) and is_dataclass(kind):
        return value if isinstance(value, kind) else _record(kind, value, where)
    if origin is tuple or kind is tuple:
        return _tuple(arguments, _sequence(value, where), where)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(arguments, value, where)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Sequence | set | frozenset):
        items = [from_plain(arguments[0], item, where) for item in _sequence(value, where)]
        return items if origin in {list, Sequence} or not isinstance(origin, type) else _collected(origin, items)
    return _scalar(kind, value, where)


def _record(kind: type[Any], value: Any, where: str) -> Any:
    """A record by its own `from_dict`, if it has one; problems name the whole place."""
    reader = getattr(kind, "from_dict", None)
    if reader is None:
        return record_from_plain(kind, value, where)
    check_object(kind, value, where)
    try:
        return reader(value)
    except InputError as problem:
        raise InputError(f"{where}.{problem}" if where else str(problem)) from problem


def check_object(kind: type[Any], content: object, where: str = "") -> None:
    """Refuse what is no object with keys, of which a record could be made.

    Raises:
        InputError: it is something else.
    """
    if not isinstance(content, Mapping):
        raise InputError(f"{where or kind.__name__} must be an object with keys. Got {content!r:.60}.")


def record_from_plain(kind: type[Any], content: JsonMapping, where: str = "") -> Any:
    """A dataclass from its fields by name; keys that are no fields are left aside (newer versions add keys).

    Raises:
        InputError: a field is missing or of another type.
    """
    check_object(kind, content, where)
    hints: dict[str, Any] = type_hints(kind)  # type: ignore[arg-type]  # a class is hashable
    given: dict[str, Any] = {}
    for field in fields(kind):
        place = f"{where}.{field.name}" if where else field.name
        if field.name in content:
            given[field.name] = from_plain(hints[field.name], content[field.name], place)
        elif field.default is MISSING and field.default_factory is MISSING:
            raise InputError(f"{place} is missing: this is not the JSON of a {kind.__name__}.")
    return kind(**given)


@cache
def type_hints(kind: Any) -> dict[str, Any]:
    """Types of a class's fields."""
    return get_type_hints(kind)


def _one_of(kinds: Sequence[Any], value: Any, where: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    problems = []
    for kind in (kind for kind in kinds if kind is not type(None)):
        try:
            return from_plain(kind, value, where)
        except InputError as problem:
            problems.append(str(problem))
    raise InputError(problems[-1] if problems else f"{where or 'it'} must be empty. Got {value!r}.")


def _tuple(arguments: Sequence[Any], items: Sequence[Any], where: str) -> tuple[Any, ...]:
    if not arguments:
        return tuple(items)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return tuple(from_plain(arguments[0], item, f"{where}[{place}]") for place, item in enumerate(items))
    if len(items) != len(arguments):
        raise InputError(f"{where or 'it'} must have {len(arguments)} parts. Got {len(items)}.")
    return tuple(from_plain(one, item, where) for one, item in zip(arguments, items, strict=True))


def _mapping(arguments: Sequence[Any], value: Any, where: str) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{where or 'it'} must be an object with keys. Got {value!r:.60}.")
    keys, items = arguments or (Any, Any)
    reader = keys if keys in {int, float} else lambda key: key
    try:
        read = {key: reader(key) for key in value}
    except (ValueError, TypeError) as problem:
        raise InputError(f"the keys of {where or 'it'} must be numbers: {problem}.") from problem
    return {read[key]: from_plain(items, item, f"{where}.{key}") for key, item in value.items()}


def _sequence(value: Any, where: str) -> Sequence[Any]:
    if not isinstance(value, list | tuple):
        raise InputError(f"{where or 'it'} must be a list. Got {value!r:.60}.")
    return value


def _collected(kind: type[Any], items: list[Any]) -> Any:
    return kind(items) if kind in {set, frozenset} else items


def _array(kind: Any, value: Any) -> Any:
    import numpy as np

    arguments = get_args(kind)
    dtype = get_args(arguments[1])[0] if len(arguments) > 1 and get_args(arguments[1]) else np.float64
    if dtype is Any or not isinstance(dtype, type) or dtype is np.floating:
        dtype = np.float64
    return np.array(value, dtype=dtype) if value is not None else np.array([], dtype=dtype)


def _finite(value: Any, where: str) -> Any:
    """The value, if all of its numbers are finite: JSON of ours has no others."""
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{where or 'it'} must be a finite number. Got {value!r}.")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _finite(item, f"{where}.{key}")
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            _finite(item, f"{where}[{place}]")
    return value


_KINDS: dict[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def _scalar(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(kind, type):
        return value
    if issubclass(kind, Enum):
        return kind(value)
    if kind is float and value is None:
        return math.nan
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and number and abs(value) <= sys.float_info.max:
        return float(value)
    if kind in _KINDS and (kind is float or not isinstance(value, kind) or (kind is int and not number)):
        raise InputError(f"{where or 'it'} must be {_KINDS[kind]}. Got {str(value)[:40]!r}.")
    return value

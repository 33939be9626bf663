"""`Record`: frozen fields that go to JSON as plain data, and back again by their types.

Written once for all results. Undefined numbers (NaN, infinities) become None; arrays become lists; tuples become
lists; keys become strings. `from_plain` reads the types of a record's fields, so that what was a tuple of records
comes back as a tuple of records.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, lru_cache, partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, ClassVar, NotRequired, Self, get_type_hints

from biasgauge.errors import InputError

if TYPE_CHECKING:
    from pydantic_core import CoreSchema, ErrorDetails

JsonObject = dict[str, Any]
"""An object of JSON: what `to_dict` gives and `from_dict` takes."""
JsonMapping = Mapping[str, Any]
"""The same, only read: settings, provenance, what follows from the fields of a result."""
_CONFIG: Any = {"arbitrary_types_allowed": True, "allow_inf_nan": False}
_SCALARS = (str, int, bool, type(None))
INTERVAL = Mapping[str, str | int | float | None] | None
"""Type of what `Estimate.interval` gives, in JSON."""


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
    if is_numpy(type(value)):
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


def is_numpy(kind: Any) -> bool:
    """Return whether a type is one of NumPy, without importing NumPy."""
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


def from_plain(kind: Any, value: Any, path: str = "") -> Any:
    """Return the value of type `kind` from which `to_plain` made `value`.

    Args:
        kind: a class or any type annotation that a record may have.
        value: JSON, or what already is of that type.
        path: keys that lead to it, for the message.

    Raises:
        InputError: it is something else; the message names the path of the first offending key.
    """
    from pydantic import ValidationError

    try:
        return _validator(kind).validate_python(value)
    except ValidationError as error:
        raise InputError(_error_sentence(error.errors(include_url=False)[0], path)) from error


def record_from_plain(kind: type[Any], content: JsonMapping) -> Any:
    """Return a dataclass from its fields by name; other keys are ignored (newer versions add keys).

    Raises:
        InputError: a field is missing or of another type.
    """
    check_object(kind, content)
    return kind(**from_plain(_json_fields(kind), content))  # type: ignore[arg-type]  # a class is hashable


def check_object(kind: type[Any], content: object) -> None:
    """Refuse content that is not a JSON object.

    Raises:
        InputError: it is something else.
    """
    if not isinstance(content, Mapping):
        raise InputError(f"{kind.__name__} must be an object with keys. Got {content!r:.60}.")


@cache
def _json_fields(kind: Any) -> Any:
    """Typed dictionary of the fields of a dataclass that its JSON has; those with a default may be missing."""
    from typing_extensions import TypedDict  # pydantic needs this one before Python 3.12

    types_of_fields, hidden = get_type_hints(kind), getattr(kind, "hidden", ())
    content: dict[str, Any] = {}
    for field in fields(kind):
        if field.default is MISSING and field.default_factory is MISSING:
            content[field.name] = types_of_fields[field.name]
        elif field.name not in hidden:
            content[field.name] = NotRequired[types_of_fields[field.name]]
    shape: Any = TypedDict
    fields_of_json = shape(kind.__name__, content)
    fields_of_json.__pydantic_config__ = _CONFIG
    return fields_of_json


def check_json(kind: type[Any], content: JsonMapping) -> None:
    """Check the JSON of a class that leaves out what a record of it would need.

    The type of a key is that of the field or the property of its name, or the one in `json_types`; records inside are
    checked likewise. Fields that `to_dict` of `Record` writes must be there. Under other keys there may be any JSON.

    Raises:
        InputError: a key is missing or its value of another type; the message names the path of the key.
    """
    from pydantic import ValidationError

    check_object(kind, content)
    for key in required_keys(kind):  # type: ignore[arg-type]  # a class is hashable
        if key not in content:
            raise InputError(f"{key} is missing.")
    for key, value in content.items():
        expected = type_of_key(kind, key)  # type: ignore[arg-type]  # a class is hashable
        try:
            _validator(expected, check_nested).validate_python(value)
        except ValidationError as error:
            raise InputError(_error_sentence(error.errors(include_url=False)[0], key)) from error


@cache
def required_keys(kind: type[Any]) -> tuple[str, ...]:
    """Keys that the JSON of a class always has."""
    types: tuple[str, ...] = tuple(kind.json_types) if getattr(kind, "abridged", False) else ()
    if getattr(kind, "to_dict", Record.to_dict) is not Record.to_dict:
        return types
    hidden, renamed = getattr(kind, "hidden", ()), getattr(kind, "renamed", {})
    names = [field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING]
    return tuple(dict.fromkeys([*types, *(renamed.get(name, name) for name in names if name not in hidden)]))


@lru_cache(maxsize=4096)
def type_of_key(kind: type[Any], key: str) -> Any:
    """Type of the value under a key in the JSON of a class."""
    types: Mapping[str, Any] = getattr(kind, "json_types", {})
    if key in types:
        return types[key]
    name = {there: name for name, there in getattr(kind, "renamed", {}).items()}.get(key, key)
    member = getattr(kind, name, None)
    visible = name in {field.name for field in fields(kind)} - set(getattr(kind, "hidden", ()))
    function = member.fget if isinstance(member, property) else getattr(member, "func", None)
    if hasattr(function, "__annotations__"):
        source, name = function, "return"
    elif visible:
        source = next(base for base in kind.__mro__ if name in vars(base).get("__annotations__", {}))
    else:
        merged = getattr(kind, "merged", "")
        return type_of_key(type_of_key(kind, merged), key) if merged else Any  # type: ignore[arg-type]
    holder = type("Annotation", (), {"__annotations__": {name: source.__annotations__.get(name, Any)}})
    try:
        hint = get_type_hints(holder, vars(sys.modules[source.__module__]))[name]
    except NameError:  # a type that is imported for type checkers alone, which JSON cannot hold
        return Any
    return INTERVAL if key.endswith("interval") else hint


def check_nested(kind: type[Any], value: Any) -> Any:
    """Check the JSON of a nested record; one that reads itself in a way of its own does so."""
    from pydantic_core import PydanticCustomError

    if not isinstance(value, Mapping) or vars(kind).get("from_dict"):
        return read_record(kind, value)
    try:
        check_json(kind, value)
    except InputError as error:
        raise PydanticCustomError("record", "{sentence}", {"sentence": str(error)}) from error
    return value


def read_record(kind: type[Any], value: Any) -> Any:
    """Read a nested record by its own `from_dict`, if it has one; pydantic puts the path before its message."""
    from pydantic_core import PydanticCustomError

    if isinstance(value, kind):
        return value
    if not isinstance(value, Mapping):
        raise PydanticCustomError("object", "Input should be an object with keys")
    try:
        return kind.from_dict(value) if hasattr(kind, "from_dict") else record_from_plain(kind, value)
    except InputError as error:
        raise PydanticCustomError("record", "{sentence}", {"sentence": str(error)}) from error


@cache
def _validator(kind: Any, read: Callable[[type[Any], Any], Any] = read_record) -> Any:
    """Pydantic's validator of a type, adapted to our JSON; `read` reads the records inside."""
    from pydantic import TypeAdapter
    from pydantic_core import SchemaValidator

    has_config = is_dataclass(kind) or hasattr(kind, "__pydantic_config__")
    adapter = TypeAdapter(kind, config=None if has_config else _CONFIG)
    return SchemaValidator(_adapt_schema(adapter.core_schema, read))


def _adapt_schema(schema: Any, read: Callable[[type[Any], Any], Any]) -> Any:  # noqa: C901, PLR0911 - one line a type
    """Adapt a schema of pydantic: scalars are strict, null is an undefined float, a record reads itself."""
    from pydantic_core import core_schema

    if isinstance(schema, list):
        return [_adapt_schema(item, read) for item in schema]
    if not isinstance(schema, dict):
        return schema
    match schema.get("type"):
        case "float":
            return core_schema.no_info_wrap_validator_function(
                _read_float, {**schema, "strict": True, "allow_inf_nan": False}
            )
        case "str" | "int" | "bool":
            return {**schema, "strict": True}
        case "any":
            return core_schema.no_info_plain_validator_function(_check_finite)
        case "dataclass":
            return core_schema.no_info_plain_validator_function(partial(read, schema["cls"]), ref=schema["ref"])
        case "function-plain" if (read_class := _reader_of(schema)) is not None:
            return core_schema.no_info_plain_validator_function(partial(read, read_class))
        case "is-instance" if is_numpy(schema["cls"]):
            return core_schema.no_info_plain_validator_function(_read_array)
        case "union":  # the first that fits; an empty label keeps its type out of the path
            choices: list[Any] = [(_adapt_schema(choice, read), "") for choice in schema["choices"]]
            return core_schema.union_schema(choices, mode="left_to_right")
        case "dict":  # JSON has keys of text only, so that numbers are parsed
            return {**schema, "values_schema": _adapt_schema(schema["values_schema"], read)}
    return {name: _adapt_schema(part, read) for name, part in schema.items()}


def _reader_of(schema: Any) -> type[Any] | None:
    """Return the class of `schema_of_reader`; None for another function."""
    function = schema["function"]["function"]
    return function.args[0] if isinstance(function, partial) and function.func is read_record else None


def schema_of_reader(kind: type[Any]) -> CoreSchema:
    """Schema of a class that reads itself, whose fields pydantic does not look at."""
    from pydantic_core import core_schema

    return core_schema.no_info_plain_validator_function(partial(read_record, kind))


def _read_float(value: Any, validate: Callable[[Any], float]) -> float:
    return math.nan if value is None else validate(value)


def _read_array(value: Any) -> Any:
    import numpy as np

    try:
        array = np.array([] if value is None else value)
        return array.astype(np.float64) if array.dtype == object else array  # None becomes nan
    except (TypeError, ValueError, OverflowError) as problem:
        raise ValueError(f" must be an array of numbers. Got {value!r:.60}.") from problem


def _check_finite(value: Any, path: str = "") -> Any:
    """Return the value if all of its numbers are finite: our JSON has no others."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{path} must be a finite number. Got {value!r}.")
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check_finite(item, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            _check_finite(item, f"{path}[{index}]")
    return value


def _error_sentence(error: ErrorDetails, path: str) -> str:
    """One sentence of an error of pydantic: the path of the key, the expected type, the value."""
    for step in error["loc"]:
        path += f"[{step}]" if isinstance(step, int) else f".{step}" if step not in {"", "[key]"} else ""
    path, message = path.lstrip("."), error["msg"]
    if error["type"] == "record":
        return f"{path}.{message}".lstrip(".")
    if error["type"] == "value_error":
        return f"{path}{message.removeprefix('Value error, ')}".lstrip()
    if error["type"] == "missing":
        return f"{path} is missing."
    expected = message.removeprefix("Input should be ")
    for type_of_pydantic, type_of_json in _JSON_TYPES.items():
        expected = expected.replace(type_of_pydantic, type_of_json)
    return f"{path or 'it'} must be {expected}. Got {error['input']!r:.60}."


_JSON_TYPES = {
    "a valid string": "text",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "a valid boolean": "true or false",
    "a valid tuple": "a list",
    "a valid list": "a list",
    "a valid dictionary": "an object with keys",
}
"""Names of types in messages of pydantic, and how users of JSON say it."""


@dataclass(frozen=True)
class Record:
    """A part of a result: frozen fields that go to JSON and back.

    A class may set `renamed` where the key in JSON is not the field's name, leave fields out of JSON with `hidden`
    (they then need a default), and add keys that follow from the fields in `derived`. `json_types` holds the types of
    keys in JSON that are not those of the field or property of their name; `merged` names the field whose keys stand
    among those of the record.
    """

    renamed: ClassVar[Mapping[str, str]] = {}
    hidden: ClassVar[frozenset[str]] = frozenset()
    json_types: ClassVar[Mapping[str, Any]] = {}
    merged: ClassVar[str] = ""

    def derived(self) -> JsonMapping:
        """Keys of the JSON that follow from the fields; left aside when it is read back."""
        return {}

    def to_dict(self) -> JsonObject:
        """One JSON-ready object; undefined numbers are None beside their reason."""
        own = {self.renamed.get(name, name): value for name, value in fields_to_plain(self, self.hidden).items()}
        return {**own, **{name: to_plain(value) for name, value in self.derived().items()}}

    @classmethod
    def from_dict(cls, content: JsonMapping) -> Self:
        """The record of which `to_dict` made `content`.

        Raises:
            InputError: it is something else; names the key.
        """
        back = {key: name for name, key in cls.renamed.items()}
        check_object(cls, content)
        record: Self = record_from_plain(cls, {back.get(key, key): value for key, value in content.items()})
        return record

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> CoreSchema:
        """Inside another record, pydantic leaves reading to `from_dict`."""
        return schema_of_reader(cls)

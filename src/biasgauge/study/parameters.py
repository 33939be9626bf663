"""Settings held against the parameters of the functions that take them, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from biasgauge.core import JsonMapping, JsonObject, Setting, choices, did_you_mean, function_named, settings_of
from biasgauge.lexicons import Lexicon, found, shown

if TYPE_CHECKING:
    from biasgauge.text.training import Recipe

OURS = frozenset({"out", "store", "device", "n_jobs", "n_jobs_per_model", "progress", "say", "cache"})
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


def parameters(function: str | Callable[..., Any], skip: int = 0) -> dict[str, Setting]:
    """What a function takes by name, after its first `skip` arguments, without what the study decides itself."""
    named = list(settings_of(function_named(function)).values())[skip:]  # with records as they are, not as written
    return {setting.name: setting for setting in named if not setting.open_ended and setting.name not in OURS}


def _is_record(setting: Setting) -> bool:
    """Whether it is given as a table: a frozen record with fields of its own."""
    return is_dataclass(setting.default) and not isinstance(setting.default, type)


def problems_in(
    settings: JsonMapping, known: Mapping[str, Setting], what: str, own: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """What is wrong with settings: the key, and a sentence; `own` are keys of the table beside them."""
    for name, value in settings.items():
        if name not in known:
            there = [*own, *known]
            near = did_you_mean(name, there) or f"; it has {', '.join(there)}"
            yield name, f"{what} has no setting {shown(name)}{'; the study decides it' if name in OURS else near}"
        elif _is_record(known[name]):
            yield from _record_problems(name, value, known[name])
        elif (expected := _mismatch(value, known[name])) is not None:
            yield name, f"{name!r} of {what} must be {expected}, found {found(value)}"
        elif name in LEVELS and isinstance(value, (int, float)) and not 0 < value < 1:
            yield name, f"{name!r} of {what} must lie between 0 and 1, found {found(value)}"
        elif {*known[name].types} <= {"int", "None"} and isinstance(value, int) and value < 0:  # none counts below 0
            yield name, f"{name!r} of {what} must not be negative, found {found(value)}"


def filled(settings: JsonMapping, known: Mapping[str, Setting], seed: int) -> JsonObject:
    """Settings as a cell keeps them: with the study's seed wherever something is random."""
    kept = dict(settings)
    for name, setting in known.items():
        if name == SEED:
            kept.setdefault(name, seed)
        elif _is_record(setting) and any(part.name == SEED for part in fields(setting.default)):
            record = kept.get(name, {})
            if isinstance(record, dict):
                kept[name] = {SEED: seed, **record}
    return kept


def arguments(settings: JsonMapping, known: Mapping[str, Setting]) -> JsonObject:
    """Settings as the function takes them: tables to records, "none" to None."""
    return {name: _argument(value, known[name]) if name in known else value for name, value in settings.items()}


def _argument(value: Any, setting: Setting) -> Any:  # noqa: ANN401 - whatever the function takes
    if value == NONE and setting.nullable:
        return None
    return replace(setting.default, **value) if _is_record(setting) and isinstance(value, dict) else value


def _record_problems(name: str, value: object, setting: Setting) -> Iterator[tuple[str, str]]:
    owner = type(setting.default)
    parts = {
        part.name: Setting(part.name, part.default, str(part.type), choices(str(part.type), owner))
        for part in fields(setting.default)
    }
    if value == NONE and setting.nullable:
        return
    if not isinstance(value, dict):
        yield name, f"{name!r} must be a table with {', '.join(parts)}, found {found(value)}"
        return
    for part, inner in value.items():
        if part not in parts:
            near = did_you_mean(part, parts) or f"; it has {', '.join(parts)}"
            yield name, f"{name!r} has no setting {shown(part)}{near}"
        elif (expected := _mismatch(inner, parts[part])) is not None:
            yield name, f"{part!r} of {name!r} must be {expected}, found {found(inner)}"


def _mismatch(value: object, setting: Setting) -> str | None:
    """What the value should be, where the type is plain and the value is not of it."""
    if value == NONE and setting.nullable:
        return None
    if setting.choices and isinstance(value, str) and value not in setting.choices:
        return " or ".join(map(repr, setting.choices))
    if not all(name in _PLAIN for name in setting.types):
        return None
    for name in setting.types:
        if isinstance(value, _PLAIN[name]) and (name == "bool" or not isinstance(value, bool)):
            return None
    return " or ".join(_WORDS[name] for name in setting.types)


def recipe_of(settings: JsonMapping, *, seed: int, sample: int | None = None, corpus: str = "") -> Recipe:
    """The `Recipe` of what a cell of training is told."""
    from biasgauge.text.training import ALGORITHMS, Recipe

    apart = {"settings", "version", "sample_seed", "seed", "sample"}
    others = {name: value for name, value in settings.items() if name not in apart}
    others["remove"] = tuple(others["remove"])
    own = ALGORITHMS[settings["algorithm"]].settings_from(settings["settings"])
    drawn = 0 if sample is None else settings["sample_seed"]
    return Recipe(**{**others, "settings": own}, corpus=corpus, seed=seed, sample=sample, sample_seed=drawn)


def method_settings(method: str) -> dict[str, Setting]:
    """Settings of a mitigation."""
    from biasgauge.mitigation import mitigation_method

    return {name: Setting(name, value, "object") for name, value in mitigation_method(method).get_params().items()}


def groups_given(value: Any) -> Any:  # noqa: ANN401 - what a user wrote, and what tasks check
    """Words of groups as tasks take them: of a lexicon that was a file, its sets."""
    return value.sets if isinstance(value, Lexicon) else value

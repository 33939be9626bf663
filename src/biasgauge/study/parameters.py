"""Settings held against the parameters of the functions that take them, before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from biasgauge.lexicons import Lexicon
from biasgauge.lexicons.table import found, shown
from biasgauge.signatures import choices
from biasgauge.spelling import did_you_mean

if TYPE_CHECKING:
    from biasgauge.training.recipe import Recipe

OURS = frozenset({"out", "store", "device", "n_jobs", "n_jobs_per_model", "progress", "cache"})
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


def parameters(function: Callable[..., Any], skip: int = 0) -> dict[str, Known]:
    """What a function takes by name, after its first `skip` arguments, without what the study decides itself."""
    named = [
        one
        for one in list(signature(function).parameters.values())[skip:]
        if one.kind in {Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY} and one.name not in OURS
    ]
    return {one.name: Known(one.default, str(one.annotation), choices(str(one.annotation), function)) for one in named}


def problems_in(
    settings: Mapping[str, Any], known: Mapping[str, Known], what: str, own: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """What is wrong with settings: the key, and a sentence; `own` are keys of the table beside them."""
    for name, value in settings.items():
        if name not in known:
            there = [*own, *known]
            reason = (
                "; the study decides it"
                if name in OURS
                else did_you_mean(name, there) or f"; it has {', '.join(there)}"
            )
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
    owner = type(one.default)
    parts = {
        part.name: Known(None, str(part.type), choices(str(part.type), owner))
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
            yield (
                name,
                f"{name!r} has no setting {shown(part)}{did_you_mean(part, parts) or '; it has ' + ', '.join(parts)}",
            )


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


def recipe_of(settings: Mapping[str, Any], *, seed: int, sample: int | None = None, corpus: str = "") -> Recipe:
    """The `Recipe` of what a cell of training is told."""
    from biasgauge.training.algorithms import ALGORITHMS
    from biasgauge.training.recipe import Recipe

    others = {
        name: value
        for name, value in settings.items()
        if name not in {"settings", "version", "sample_seed", "seed", "sample"}
    }
    others["remove"] = tuple(others["remove"])
    own = ALGORITHMS[settings["algorithm"]].settings_from(settings["settings"])
    drawn = 0 if sample is None else settings["sample_seed"]
    return Recipe(**{**others, "settings": own}, corpus=corpus, seed=seed, sample=sample, sample_seed=drawn)


def method_settings(method: str) -> dict[str, Known]:
    """Settings of a mitigation."""
    from biasgauge.mitigation import mitigation_method

    return {name: Known(value, "object") for name, value in mitigation_method(method).get_params().items()}


def groups_given(value: Any) -> Any:  # noqa: ANN401 - what a user wrote, and what tasks check
    """Words of groups as tasks take them: of a lexicon that was a file, its sets."""
    return value.sets if isinstance(value, Lexicon) else value

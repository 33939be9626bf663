"""Settings of studies: what functions take by name, read from their signatures, and values checked before any work."""

from __future__ import annotations

import re
import sys
from ast import literal_eval
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import sha256
from inspect import Parameter, signature
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

from biasgauge import registry
from biasgauge.core import JsonMapping, JsonObject, LexiconLike, PairsLike, WordPolicy, WordsLike, did_you_mean
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Lexicon, Words, describe, lexicon, pairs_of, shown, treatment, words_of

if TYPE_CHECKING:
    from biasgauge.text.training import Recipe

DECIDED = frozenset({"out", "replaceable", "store", "device", "n_jobs", "n_jobs_per_model", "progress", "say", "cache"})
"""Parameters that the study itself decides."""
LEVELS = ("level", "prob")
"""Confidence levels, in every function."""
SEED = "random_state"
NONE = "none"
"""None in TOML, which has no null."""
POLICY = "policy"
"""Parameter that a study gives as the settings of `_POLICY_SETTINGS`."""
_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "true or false"),
    "int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "str": ((str,), "text"),
    "None": ((type(None),), '"none"'),
}
"""Plain types with their names in sentences."""


@dataclass(frozen=True)
class Setting:
    """A parameter of a function.

    Attributes:
        name: its name.
        default: its value by default; `Parameter.empty` where it has none.
        annotation: its type, as the source has it.
        choices: its only values (but None), where it has such.
    """

    name: str
    default: Any
    annotation: str
    choices: tuple[Any, ...] = ()

    @property
    def types(self) -> tuple[str, ...]:
        """Members of a union, as the source has them."""
        return _union(self.annotation)

    @property
    def nullable(self) -> bool:
        """True where it may be None."""
        return self.default is None or "None" in self.types or "object" in self.types

    @property
    def required(self) -> bool:
        """True where it has no default."""
        return self.default is Parameter.empty

    @property
    def is_record(self) -> bool:
        """True where it is given as a table: a frozen record with fields of its own."""
        return is_dataclass(self.default) and not isinstance(self.default, type)

    @property
    def record_settings(self) -> dict[str, Setting]:
        """Settings of the fields of such a record."""
        module = type(self.default).__module__
        return {field.name: _setting(field.name, field.default, field.type, module) for field in fields(self.default)}


_POLICY_SETTINGS = {
    "min_coverage": Setting("min_coverage", WordPolicy.min_coverage, "float"),
    "case_fallback": Setting("case_fallback", None, "bool"),
    "counterparts": Setting("counterparts", WordPolicy.counterparts, "str", ("balance", "keep", "as-published")),
}


def import_function(reference: str | Callable[..., Any]) -> Callable[..., Any]:
    """Import the function of a reference such as "biasgauge.scores:mac"; a function is returned as it is."""
    function: Callable[..., Any] = resolve_name(reference) if isinstance(reference, str) else reference
    return function


def parameters(reference: str | Callable[..., Any], skip: int = 0) -> dict[str, Setting]:
    """Settings of a function: its parameters after the first `skip`, without those that the study itself decides."""
    function = import_function(reference)
    settings: dict[str, Setting] = {}
    for name, parameter in list(signature(function).parameters.items())[skip:]:
        if name == POLICY:
            settings |= _POLICY_SETTINGS
        elif name not in DECIDED and parameter.kind not in {Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL}:
            settings[name] = _setting(name, parameter.default, parameter.annotation, function.__module__)
    return settings


def _setting(name: str, default: object, annotation: object, module: str) -> Setting:
    """A setting, with the values of its type where this has fixed values and allows no other texts or numbers."""
    values: list[Any] = []
    members = _union(str(annotation))
    for member in members:
        if member.startswith("Literal["):
            values += literal_eval(member.removeprefix("Literal"))
        else:
            kind = getattr(sys.modules[module], member, None)
            values += get_args(kind) if get_origin(kind) is Literal else ()
    free = any(member in {"str", "int", "float", "bool", "object", "Any"} or "Like" in member for member in members)
    return Setting(name, default, str(annotation), () if free else tuple(values))


def _union(annotation: str) -> tuple[str, ...]:
    return tuple(member.strip() for member in re.split(r"\|(?![^\[]*\])", annotation))


def setting_problems(
    settings: JsonMapping, parameters: Mapping[str, Setting], owner: str, table_keys: Sequence[str] = ()
) -> Iterator[tuple[str, str]]:
    """Yield the key and a sentence for each setting that cannot be used; `table_keys` are keys beside the settings."""
    for name, value in settings.items():
        if name not in parameters:
            near = "; the study decides it" if name in DECIDED else _nearest(name, [*table_keys, *parameters])
            yield name, f"{owner} has no setting {shown(name)}{near}"
        elif parameters[name].is_record:
            yield from ((name, sentence) for sentence in _record_problems(name, value, parameters[name]))
        elif expected := _expected(name, value, parameters[name]):
            yield name, f"{name!r} of {owner} must {expected}, found {describe(value)}"


def _nearest(name: str, names: Iterable[str]) -> str:
    return did_you_mean(name, list(names)) or f"; it has {', '.join(names)}"


def _record_problems(name: str, value: object, setting: Setting) -> Iterator[str]:
    record = setting.record_settings
    if value == NONE and setting.nullable:
        return
    if not isinstance(value, dict):
        yield f"{name!r} must be a table with {', '.join(record)}, found {describe(value)}"
        return
    for key, content in value.items():
        if key not in record:
            yield f"{name!r} has no setting {shown(key)}{_nearest(key, record)}"
        elif expected := _mismatch(content, record[key]):
            yield f"{key!r} of {name!r} must be {expected}, found {describe(content)}"


def _expected(name: str, value: object, setting: Setting) -> str:
    """Return what a value must be; empty where it is that."""
    if mismatch := _mismatch(value, setting):
        return f"be {mismatch}"
    if name in LEVELS and isinstance(value, (int, float)) and not 0 < value < 1:
        return "lie between 0 and 1"
    is_count = {*setting.types} <= {"int", "None"}  # counts and seeds
    return "not be negative" if is_count and isinstance(value, int) and value < 0 else ""


def _mismatch(value: object, setting: Setting) -> str:
    """Return what the value should be, where the type is plain and the value is not of it; otherwise empty."""
    if value == NONE and setting.nullable:
        return ""
    if setting.choices and isinstance(value, str) and value not in setting.choices:
        return " or ".join(map(repr, setting.choices))
    if not all(name in _TYPES for name in setting.types):
        return ""
    for name in setting.types:
        if isinstance(value, _TYPES[name][0]) and (name == "bool" or not isinstance(value, bool)):
            return ""
    return " or ".join(_TYPES[name][1] for name in setting.types)


def with_seed(settings: JsonMapping, parameters: Mapping[str, Setting], seed: int) -> JsonObject:
    """Settings as a cell stores them: with the study's seed wherever something is random."""
    stored = dict(settings)
    for name, setting in parameters.items():
        if name == SEED:
            stored.setdefault(name, seed)
        elif setting.is_record and SEED in setting.record_settings and isinstance(stored.get(name, {}), dict):
            stored[name] = {SEED: seed, **stored.get(name, {})}
    return stored


def arguments(settings: JsonMapping, parameters: Mapping[str, Setting]) -> JsonObject:
    """Settings as the function takes them: tables to records, "none" to None, those of a policy to a `WordPolicy`."""
    values = dict(settings)
    for name, value in settings.items():
        setting = parameters.get(name)
        if setting is not None and value == NONE and setting.nullable:
            values[name] = None
        elif setting is not None and setting.is_record and isinstance(value, dict):
            values[name] = replace(setting.default, **value)
    policy_values = {
        name: values.pop(name)
        for name, setting in _POLICY_SETTINGS.items()
        if name in values and parameters.get(name) is setting  # equal ones are a function's own
    }
    if policy_values:
        policy = WordPolicy.from_options(policy_values.get("min_coverage"), policy_values.get("case_fallback"))
        values[POLICY] = replace(policy, counterparts=policy_values.get("counterparts", policy.counterparts))
    return values


def training_recipe(settings: JsonMapping, *, seed: int, sample: int | None = None, corpus: str = "") -> Recipe:
    """`Recipe` of the settings of a training cell."""
    from biasgauge.text.training import ALGORITHMS, Recipe

    cell_keys = {"settings", "version", "sample_seed", "seed", "sample"}
    common = {name: value for name, value in settings.items() if name not in cell_keys}
    common["remove"] = tuple(common["remove"])
    common["settings"] = ALGORITHMS[settings["algorithm"]].settings_from(settings["settings"])
    sample_seed = 0 if sample is None else settings["sample_seed"]
    return Recipe(**common, corpus=corpus, seed=seed, sample=sample, sample_seed=sample_seed)


def mitigation_settings(method: str) -> dict[str, Setting]:
    """Settings of a mitigation."""
    from biasgauge.mitigation import mitigation_method

    return {name: Setting(name, value, "object") for name, value in mitigation_method(method).get_params().items()}


def group_sets(value: Any) -> Any:  # noqa: ANN401 - what a user wrote, and what tasks check
    """Words of groups as tasks take them: the sets of a lexicon that was a file."""
    return value.sets if isinstance(value, Lexicon) else value


# Checksums of the word lists that settings name: other words are another cell.


def implicit_checksum(names: Iterable[str]) -> dict[str, str]:
    """One checksum of lexicons that are read although no setting names them, as cells store it."""
    usable = registry.everything("lexicon")
    checksums = "".join(lexicon(name).checksum for name in names if name in usable)
    return {"unasked": sha256(checksums.encode()).hexdigest()} if checksums else {}


def check_lexicon(*kinds: str) -> Callable[[LexiconLike], str]:
    """Checksum of a lexicon by name or path, which must be of one of some kinds."""

    def check(value: LexiconLike) -> str:
        named = treatment(value) if "test" in kinds else lexicon(value)
        if kinds and named.kind not in kinds:
            wanted = " or ".join(map(repr, kinds))
            raise ParameterError(f"the lexicon {named.name!r} is of kind {named.kind!r}; {wanted} is needed")
        return named.checksum

    return check


def check_lexicons(*kinds: str) -> Callable[[Any], str]:
    """Checksums of one lexicon or several."""
    check = check_lexicon(*kinds)
    return lambda value: ",".join(check(name) for name in (value if isinstance(value, list) else [value]))


def check_words(value: WordsLike) -> str:
    """Checksum of the words that a reference means."""
    named = words_of(value)
    return Words(name=named.name, listed=tuple(dict.fromkeys(named.words))).checksum


def check_word_lists(value: Any) -> str:  # noqa: ANN401 - names, or a table of names and words
    """Checksums of one list of words or several."""
    lists = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return ",".join(check_words(words) for words in lists)


def check_pairs(value: PairsLike) -> str:
    """Checksum of base pairs."""
    return pairs_of(value).checksum


SETS = ("x", "y", "a", "b")
"""Settings that are the word sets of an association test."""
TEST_OR_SETS: Mapping[str, Callable[[Any], str]] = {"test": check_lexicon("test"), **dict.fromkeys(SETS, check_words)}
"""Checks of a test by its lexicon, or by its sets."""


def check_sets(settings: JsonMapping, sets: Iterable[str] = SETS) -> None:
    """Refuse settings that name neither a test nor all of its sets.

    Raises:
        ParameterError: a set is missing.
    """
    missing = [role for role in sets if role not in settings]
    if "test" not in settings and missing:
        raise ParameterError(f"a lexicon is needed ('test'), or the sets {', '.join(missing)}")

"""Words, names, numbers and settings as they are typed on the command line."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from cyclopts import Parameter

from biasgauge.core import JsonObject, WordPolicy, did_you_mean
from biasgauge.errors import ParameterError

NONE = "none"
"""None, as it is typed."""
_ANY = bool | int | float | str | None
"""Type of a setting that is not declared."""


@Parameter(name="*")
@dataclass(frozen=True)
class TypedSets:
    """The four sets of an association test.

    Attributes:
        x: first target set: words separated by commas, a file with one word per line, or NAME:SET,SET
        y: second target set
        a: first attribute set
        b: second attribute set
    """

    x: str | None = None
    y: str | None = None
    a: str | None = None
    b: str | None = None

    def read(self) -> JsonObject:
        """The sets that were typed, by name."""
        return {name: words for name, typed in vars(self).items() if (words := typed_words(typed)) is not None}


@Parameter(name="*")
@dataclass(frozen=True)
class WordLookup:
    """Rules for looking words up.

    Attributes:
        min_coverage: share of each set's words that must be in the vocabulary
        case_fallback: look up words not in the vocabulary in lower case, then capitalized; by default in a vocabulary
            in lower case
    """

    min_coverage: float = 0.8
    case_fallback: bool | None = None

    def policy(self, **rules: Any) -> WordPolicy:
        """The policy that was asked for."""
        return replace(WordPolicy.from_options(self.min_coverage, self.case_fallback), **rules)


NO_SETS, LOOKUP = TypedSets(), WordLookup()


def typed_words(typed: str | None, *, lexicons: bool = False) -> Any:
    """Read words: `he,him` are words, a file holds one a line, "none" is None, all else (NAME:SET,SET) is a reference.

    Args:
        typed: as typed.
        lexicons: whether a list may hold names of lexicons.

    Raises:
        LexiconError: the file holds no words, or is not UTF-8 text.
        ParameterError: a list of words holds the name of a lexicon.
    """
    if typed is None or typed == NONE:
        return None
    if "," not in typed and not typed.endswith(".toml") and Path(typed).is_file():
        from biasgauge.lexicons import read_words

        return read_words(Path(typed))
    from biasgauge import registry
    from biasgauge.lexicons import is_set_reference

    if "," not in typed or is_set_reference(typed):
        return typed
    words = typed_names(typed)
    names = [word for word in words if not word.isalpha() and word in registry.names("lexicon")]  # not "gender"
    if names and not lexicons:
        raise ParameterError(
            f"{names[0]!r} is the name of a lexicon, which stands alone, and not in a list of words: {typed!r}. "
            "Where an option takes several lists, repeat it."
        )
    return words


def typed_names(typed: str) -> list[str]:
    """Split names separated by commas."""
    return [name.strip() for name in typed.split(",") if name.strip()]


def typed_numbers(typed: str, option: str) -> list[float]:
    """Split numbers separated by commas.

    Raises:
        ParameterError: one of them is no number.
    """
    try:
        return [float(number) for number in typed_names(typed)]
    except ValueError:
        raise ParameterError(f"{option} takes numbers separated by commas. Got {typed!r}.") from None


def typed_field(typed: str | None) -> str | int | None:
    """Read a column: its number, or its name."""
    return int(typed) if typed is not None and typed.isdecimal() else typed


def typed_layers(typed: str) -> str | list[int]:
    """Read layers: all, or numbers separated by commas.

    Raises:
        ParameterError: it is neither.
    """
    if typed == "all":
        return typed
    names = typed_names(typed)
    if not names or not all(name.isdecimal() for name in names):
        raise ParameterError(f"--layers takes all, or numbers separated by commas. Got {typed!r}.")
    return [int(name) for name in names]


def typed_pooling(typed: str) -> str | list[str]:
    """Read poolings: all, or names separated by commas."""
    return typed if typed == "all" else typed_names(typed)


def typed_templates(typed: Iterable[str]) -> list[str] | None:
    """Look up every template; None for none typed."""
    from biasgauge.vectors.encoders import templates_of

    return [template for text in typed for template in templates_of(text)] or None


def read_settings(
    typed: Sequence[str],
    settings: Mapping[str, Any],
    command: str,
    *,
    options: Collection[str] = (),
    open_ended: bool = False,
) -> JsonObject:
    """Read the settings of --set, each typed as NAME=VALUE; NAME.KEY=VALUE for one that is a mapping.

    Args:
        typed: the texts.
        settings: by name, the type of a setting or a function that reads it.
        command: name of the command.
        options: names of the command's options, which --set does not change.
        open_ended: whether a name that is not in `settings` is a setting too.

    Raises:
        ParameterError: a text is something else, or there is no such setting.
    """
    values: JsonObject = {}
    for text in typed:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise ParameterError(f"--set takes NAME=VALUE, such as resamples=500. Got {text!r}.")
        name, _, key = name.partition(".")
        if name in options:
            raise ParameterError(f"--set: {name} has an option of its own, --{name.replace('_', '-')}.")
        if name not in settings and not open_ended:
            hint = did_you_mean(name, settings) or f"; it has {', '.join(settings)}"
            raise ParameterError(f"--set: {command} has no further setting {name!r}{hint}")
        if name in values and isinstance(values[name], dict) != bool(key):
            raise ParameterError(f"--set: {name} is set as a whole and by its parts; give one of the two.")
        if key:
            values.setdefault(name, {})[key] = value.strip()
        else:
            values[name] = _read_setting(value.strip(), settings.get(name, _ANY), name)
    return values


def _read_setting(text: str, kind: Any, name: str) -> Any:
    kinds = get_args(kind) or (kind,)
    if text == NONE and NoneType in kinds:
        return None
    for reader in kinds:
        if reader is bool and text in {"true", "false"}:
            return text == "true"
        if reader in (int, float):
            try:
                return reader(text)
            except ValueError:
                continue
        if reader not in (bool, NoneType):
            return reader(text)
    expected = " or ".join(sorted(reader.__name__ for reader in kinds if reader is not NoneType))
    raise ParameterError(f"--set: {name} must be of type {expected}. Got {text!r}.")

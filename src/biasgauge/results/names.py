"""Display names: what readers see instead of the names that registries, commands and files use.

`dbwa` is typed, stored and sorted by; DB/WA is read. Measures, tests and lexicons carry their display names; a name
that is not registered is shown as it is.
"""

from __future__ import annotations

import re
from typing import Any

from biasgauge import registry

GROUPS = {
    "asian": "Asian",
    "caucasian": "Caucasian",
    "christian": "Christian",
    "jew": "Jew",
    "muslim": "Muslim",
}
"""Groups of people whose names have a capital, which lists in lower case do not write."""
_OF_BANK = re.compile(r"(?P<set>.+)-(?P<paper>[A-Z]\w*_\d{4}[a-z]?)")
"""A set of the seed bank: definitional_male-Bolukbasi_et_al_2016."""


def measure_name(name: str) -> str:
    """Display name of a measure."""
    return _display_name("measure", name)


def test_name(name: str) -> str:
    """Display name of an association test."""
    return _display_name("association_test", name)


def registered_name(name: str) -> str:
    """Display name of a measure or an association test."""
    return test_name(name) if registry.has("association_test", name) else measure_name(name)


def _display_name(group: str, name: str) -> str:
    """Display name of a registered measure or test; any other name is shown as it is."""
    return registry.get(group, name).display_name or name if registry.has(group, name) else name


def group_name(name: str) -> str:
    """Display name of a group of people."""
    return GROUPS.get(name, name)


def lexicon_name(name: str) -> str:
    """Display name of a lexicon: "WEAT 7" for weat7."""
    return registry.get("lexicon", name).label if registry.has("lexicon", name) else name


def name_and_about(title: str) -> tuple[str, str]:
    """The two parts of a lexicon's title: "WEAT 7" and "math and arts, …"; the second is empty where there is one."""
    name, _, subject = title.partition(": ")
    return name, subject


def list_name(name: str) -> str:
    """Display name of one list of words: "math (WEAT 7)" for weat7:math."""
    words, source = _list_and_source(name)
    return f"{words} ({source})" if source else words


def lists_name(a: str, b: str) -> str:
    """Display name of two lists that are compared: "math / arts (WEAT 7)"."""
    (first, source), (second, second_source) = _list_and_source(a), _list_and_source(b)
    if source != second_source:
        return f"{list_name(a)} / {list_name(b)}"
    return f"{first} / {second} ({source})" if source else f"{first} / {second}"


def _list_and_source(name: str) -> tuple[str, str]:
    lexicon, colon, words = name.rpartition(":")
    if colon:
        return words, lexicon_name(lexicon)
    of_bank = _OF_BANK.fullmatch(name)
    if of_bank is not None:
        return of_bank["set"].replace("_", " "), of_bank["paper"].replace("_", " ").replace(" et al ", " et al. ")
    return lexicon_name(name), ""


def with_display_names(spec: Any) -> Any:  # noqa: ANN401 - any part of a chart
    """A copy of a chart's specification in which measures, and tests in fields of that name, have display names."""
    if isinstance(spec, str):
        return measure_name(spec)
    if isinstance(spec, list):
        return [with_display_names(item) for item in spec]
    if not isinstance(spec, dict):
        return spec
    return {
        key: test_name(item) if key == "test" and isinstance(item, str) else with_display_names(item)
        for key, item in spec.items()
    }

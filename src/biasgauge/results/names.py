"""Display names: what readers see in the place of the names that registries, commands and files use.

`dbwa` is typed, stored and sorted by; DB/WA is read. A name that is not in the table, such as that of someone's own
measure, is shown as it is.
"""

from __future__ import annotations

import re
from typing import Any

MEASURES = {
    "dbwa": "DB/WA",
    "ripa": "RIPA",
    "ripa_unit": "RIPA (unit length)",
    "nbm": "NBM",
    "nbm_du2021": "NBM (as in Du et al. 2021)",
    "nbm_zhang2020": "NBM (as in Zhang et al. 2020)",
}
TESTS = {
    "weat": "WEAT",
    "mac": "MAC",
    "rnsb": "RNSB",
    "rnd": "RND",
    "ect": "ECT",
    "set_ripa": "RIPA of sets",
    "same": "SAME",
    "nas": "NAS",
    "semaxis": "SemAxis",
}
LEXICONS = {
    "adj": "ADJ",
    "animals": "Animals",
    "bls2015": "BLS 2015",
    "bolukbasi2016": "Bolukbasi et al. 2016",
    "bsri": "BSRI",
    "de": "German",
    "de_occupations": "German occupations",
    "de_pairs": "German pairs",
    "du2021": "Du et al. 2021",
    "du2021_queries": "Du et al. 2021, queries",
    "equalize": "Bolukbasi et al. 2016, pairs to equalize",
    "en": "English",
    "es": "Spanish",
    "es_occupations": "Spanish occupations",
    "es_pairs": "Spanish pairs",
    "es_traits": "Spanish traits",
    "gender": "Manzini et al. 2019, gender",
    "it": "Italian",
    "it_occupations": "Italian occupations",
    "it_pairs": "Italian pairs",
    "occ16": "OCC16",
    "occ18": "OCC18",
    "race": "Manzini et al. 2019, race",
    "religion": "Manzini et al. 2019, religion",
    "weat6b": "WEAT 6b",
    "weat_es_gender": "Spanish gender test",
    "weat_es_migrant": "Spanish migrant test",
    "zhang2020": "Zhang et al. 2020",
}
GROUPS = {
    "asian": "Asian",
    "caucasian": "Caucasian",
    "christian": "Christian",
    "jew": "Jew",
    "muslim": "Muslim",
}
"""Groups of people whose names have a capital, which lists in lower case do not write."""
_NUMBERED = re.compile(r"(x?weat)(\d+)(_es)?")
_OF_BANK = re.compile(r"(?P<set>.+)-(?P<paper>[A-Z]\w*_\d{4}[a-z]?)")
"""A set of the seed bank: definitional_male-Bolukbasi_et_al_2016."""


def measure_name(name: str) -> str:
    """What a measure is called."""
    return MEASURES.get(name, name)


def test_name(name: str) -> str:
    """What an association test is called."""
    return TESTS.get(name, name)


def registered_name(name: str) -> str:
    """What a measure or an association test is called."""
    return MEASURES.get(name) or test_name(name)


def group_name(name: str) -> str:
    """What a group of people is called."""
    return GROUPS.get(name, name)


def lexicon_name(name: str) -> str:
    """What a lexicon is called: "WEAT 7" for weat7."""
    numbered = _NUMBERED.fullmatch(name)
    if numbered is None:
        return LEXICONS.get(name, name)
    test, number, spanish = numbered.groups()
    return f"{test.upper()} {number}{' (Spanish)' if spanish else ''}"


def name_and_about(title: str) -> tuple[str, str]:
    """The two parts of a lexicon's title: "WEAT 7" and "math and arts, …"; the second is empty where there is one."""
    name, _, about = title.partition(": ")
    return name, about


def list_name(name: str) -> str:
    """What one list of words is called: "math (WEAT 7)" for weat7:math."""
    words, source = _list_and_source(name)
    return f"{words} ({source})" if source else words


def lists_name(a: str, b: str) -> str:
    """What two lists that are set against each other are called: "math / arts (WEAT 7)"."""
    (first, source), (second, other) = _list_and_source(a), _list_and_source(b)
    if source != other:
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
        return [with_display_names(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    return {
        key: test_name(part) if key == "test" and isinstance(part, str) else with_display_names(part)
        for key, part in spec.items()
    }

"""HateCheck (Röttger et al. 2021, 2022): written cases that a classifier should get right, by target group.

A challenge set: nothing is learned from it. English `test_suite_cases.csv` and other languages
`hatecheck_cases_final_LANGUAGE.csv`, columns test_case, label_gold and target_ident; cases about nobody have no group.
"""

from __future__ import annotations

from pathlib import Path

from biasgauge.applications.text.data import Texts
from biasgauge.applications.text.tables import find_file, read_table

NAMES = {"hateful": "hateful", "non-hateful": "not hateful"}
FILES = {
    "en": ("test_suite_cases.csv", "hatecheck_en_test_suite_cases.csv"),
    "es": ("hatecheck_cases_final_spanish.csv",),
}


def load_hatecheck(data: Path, language: str) -> Texts:
    """The cases of one language, hateful or not.

    Raises:
        InputError: the file is missing or is not what it should be.
    """
    table = read_table(find_file(data, FILES[language], "HateCheck's cases"))
    groups = [group or None for group in table.cells("target_ident")]
    return Texts.of(table, table.cells("test_case"), table.coded("label_gold", NAMES), groups)

"""Davidson et al. 2017: tweets that are hate speech, offensive language or neither.

One file `labeled_data.csv`, columns class (0, 1, 2) and tweet. It names no groups.
"""

from __future__ import annotations

from pathlib import Path

from biasgauge.applications.text.data import TextData, Texts, split_up
from biasgauge.applications.text.data_set import DataSet
from biasgauge.applications.text.tables import find_file, read_table

NAMES = {"0": "hate_speech", "1": "offensive_language", "2": "neither"}


def load_davidson(data: Path, *, split_seed: int = 0) -> TextData:
    """Davidson's tweets, split 80 : 10 : 10 with labels spread alike.

    Raises:
        InputError: the file is missing or is not what it should be.
    """
    table = read_table(find_file(data, ("labeled_data.csv", "davidson_labeled_data.csv"), "Davidson's file"))
    whole = Texts.of(table, table.cells("tweet"), table.coded("class", NAMES))
    return TextData("davidson", split_up(whole, split_seed), positive="hate_speech")


DATA_SET = DataSet(
    "davidson",
    "hate speech, offensive language or neither, English tweets (Davidson); groups by words",
    load_davidson,
    frozenset({"split_seed"}),
)

"""Founta et al. 2018, for those who hold it: abusive, hateful, normal or spam.

Two layouts. As given out: one file without a header, separated by tabs: text, label, number of votes; it is split
80 : 10 : 10. As the English study of Goldfarb-Tarrant et al. 2021 had it: `train.csv`, `dev.csv` and `test.csv` with
columns text, label and, in the test file, gender (male, female, neutral); its gap is male − female.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from biasgauge.applications.loaders.own_csv import load_csv
from biasgauge.applications.text.data import TextData, Texts, split_up
from biasgauge.applications.text.data_set import DataSet
from biasgauge.applications.text.tables import find_file, read_table

NAMES = {name: name for name in ("abusive", "hateful", "normal", "spam")}
COLUMNS = ("text", "label", "votes")
ORDER = ("male", "female")
_FILES = ("hatespeech_text_label_vote_RESTRICTED_100K.csv", "hatespeech_text_label_vote.csv", "founta.tsv")


def load_founta(data: Path, *, split_seed: int = 0, positive: str | None = None) -> TextData:
    """Founta's tweets in either layout.

    Raises:
        InputError: the file is missing or is not what it should be.
    """
    if data.is_dir() and any(data.glob("train.csv*")):
        found = load_csv(data, split_seed=split_seed, group_column="gender", positive=positive)
        order = ORDER if set(ORDER) <= set(found.parts["test"].groups) else None
        return replace(found, name="founta", order=order)
    table = read_table(find_file(data, _FILES, "Founta's tweets"), COLUMNS)
    whole = Texts.of(table, table.cells("text"), table.coded("label", NAMES))
    return TextData("founta", split_up(whole, split_seed), positive="hateful")


DATA_SET = DataSet(
    "founta",
    "abusive, hateful, normal or spam, English tweets (Founta), for those who hold it; gap: male − female",
    load_founta,
    frozenset({"split_seed"}),
    asks_positive=True,
)

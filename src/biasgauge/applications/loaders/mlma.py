"""MLMA (Ousidhoum et al. 2019): tweets with what they express and whom they are about.

One file `en_dataset.csv`, columns tweet, sentiment and group. `sentiment` joins several by `_`; a tweet counts as
hateful where one of them is hateful. `group` names 14 groups, and "other" and "individual", which are none.
"""

from __future__ import annotations

from pathlib import Path

from biasgauge.applications.text.data import TextData, Texts, split_up
from biasgauge.applications.text.data_set import DataSet
from biasgauge.applications.text.tables import find_file, read_table

NO_GROUP = frozenset({"other", "individual", ""})
FEELINGS = frozenset({"abusive", "disrespectful", "fearful", "hateful", "normal", "offensive"})


def load_mlma(data: Path, *, split_seed: int = 0) -> TextData:
    """MLMA's English tweets, split 80 : 10 : 10 with labels spread alike.

    Raises:
        InputError: the file is missing or is not what it should be.
    """
    table = read_table(find_file(data, ("en_dataset.csv", "mlma_en_dataset.csv"), "MLMA's English file"))
    seen = {cell for cell in table.cells("sentiment") if FEELINGS.issuperset(cell.split("_"))}
    names = {cell: "hateful" if "hateful" in cell.split("_") else "not hateful" for cell in sorted(seen)}
    groups = [None if group in NO_GROUP else group for group in table.cells("group")]
    whole = Texts.of(table, table.cells("tweet"), table.coded("sentiment", names), groups)
    return TextData("mlma", split_up(whole, split_seed), positive="hateful")


DATA_SET = DataSet(
    "mlma",
    "hate speech, English tweets (MLMA); gaps between 14 target groups",
    load_mlma,
    frozenset({"split_seed"}),
)

"""EDOS, SemEval-2023 task 10 (Kirk et al. 2023): is a post sexist?

One file `edos_labelled_aggregated.csv`, columns text, label_sexist and split. It names no groups.
"""

from __future__ import annotations

from pathlib import Path

from biasgauge.applications.text.data import TextData, Texts, split_by
from biasgauge.applications.text.data_set import DataSet
from biasgauge.applications.text.tables import find_file, read_table

NAMES = {"sexist": "sexist", "not sexist": "not sexist"}
PARTS = {"train": "train", "dev": "dev", "test": "test"}


def load_edos(data: Path) -> TextData:
    """EDOS in its own split.

    Raises:
        InputError: the file is missing or is not what it should be.
    """
    table = read_table(find_file(data, ("edos_labelled_aggregated.csv",), "EDOS's file"))
    whole = Texts.of(table, table.cells("text"), table.coded("label_sexist", NAMES))
    return TextData("edos", split_by(whole, table.coded("split", PARTS)), positive="sexist")


DATA_SET = DataSet("edos", "sexism, English posts (EDOS); groups by words", load_edos)

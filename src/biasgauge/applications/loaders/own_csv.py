"""Anyone's table: a text, a label and, if there is one, a group.

A file, which is split 80 : 10 : 10 unless it has a column `split` (train, dev, test), or a folder with `train.csv`,
`test.csv` and, if there is one, `dev.csv`; without it a tenth of the training texts takes its place.
"""

from __future__ import annotations

from pathlib import Path

from biasgauge.applications.text.data import WITHOUT_DEV, TextData, Texts, split_by, split_up
from biasgauge.applications.text.data_set import DataSet
from biasgauge.applications.text.tables import TextTable, find_file, read_table
from biasgauge.errors import CorpusError, ParameterError

SPLIT = "split"
PARTS = {"train": "train", "dev": "dev", "validation": "dev", "test": "test"}
MOST = 100
"""Labels and groups: a column with more is something else, such as the texts."""
POSITIVE = ("1", "yes", "true", "positive", "hateful", "toxic")
"""What the positive class is taken to be called where the user does not say, first match."""


def load_csv(
    data: Path,
    *,
    split_seed: int = 0,
    text_column: str = "text",
    label_column: str = "label",
    group_column: str = "group",
    positive: str | None = None,
) -> TextData:
    """Texts of one's own; an empty cell of the group, or no such column, means that there is none.

    The positive class is found among usual names where `positive` is None.
    """
    names = (text_column, label_column, group_column)
    if data.is_file():
        table = read_table(data)
        whole = _texts(table, *names)
        parts = split_by(whole, table.coded(SPLIT, PARTS)) if SPLIT in table.columns else split_up(whole, split_seed)
    else:
        wanted = [part for part in ("train", "dev", "test") if part != "dev" or any(data.glob("dev.[ct]sv*"))]
        files = {part: find_file(data, (f"{part}.csv", f"{part}.tsv"), f"file of {part} texts") for part in wanted}
        parts = {part: _texts(read_table(path), *names) for part, path in files.items()}
    for part in ("train", "test"):
        if part not in parts:
            raise CorpusError(f"the column {SPLIT!r} names no texts for {part}", path=data)
    if "dev" not in parts:
        parts = {**split_up(parts["train"], split_seed, WITHOUT_DEV), "test": parts["test"]}
    classes = sorted({label for part in parts.values() for label in part.labels})
    groups = {group for part in parts.values() for group in part.groups}
    for column, values in ((label_column, classes), (group_column, groups)):
        if len(values) > MOST:
            problem = (
                f"the column {column!r} has {len(values):,} different values; labels and groups are {MOST} at most"
            )
            raise CorpusError(problem, path=data)
    return TextData("csv", parts, positive=_positive(classes, positive))


def _texts(table: TextTable, text: str, label: str, group: str) -> Texts:
    texts, labels = table.cells(text), tuple(cell.strip() for cell in table.cells(label))
    if "" in labels:
        raise CorpusError(f"{label!r} is empty", path=table.path, line=table.lines[labels.index("")])
    groups = [cell.strip() or None for cell in table.cells(group)] if group in table.columns else None
    return Texts.of(table, texts, labels, groups)


def _positive(classes: list[str], given: str | None) -> str:
    if given in classes:
        return given
    if given is None and len(classes) == 1:  # what follows says that one label is too few
        return classes[0]
    likely = [name for name in POSITIVE if name in classes]
    if given is None and likely:
        return likely[0]
    asked = "which class is positive must be said ('positive')" if given is None else f"nothing is labeled {given!r}"
    raise ParameterError(f"Of these labels {asked}: {', '.join(classes[:20])}.")


DATA_SET = DataSet(
    "csv",
    "your own table with text, label and group",
    load_csv,
    frozenset({"split_seed", "text_column", "label_column", "group_column"}),
    asks_positive=True,
)

"""Labeled texts of published data sets, and anyone's own table; `DATA_SET` lists them for the registry.

HatEval, SemEval-2019 task 5 (Basile et al. 2019): files `hateval2019_en_train.csv`, `…_dev.csv`, `…_test.csv`, columns
id, text, HS, TR, AG. The target of a tweet is not a column. The test files are two halves: English has migrants first,
Spanish has women first; training files are not ordered. Groups are therefore known in the official test order only.

The others come as one table: Davidson et al. 2017, Founta et al. 2018, EDOS (2023), MLMA (2019), and `csv`: a file,
split 80 : 10 : 10 unless it has a column `split` (train, dev, test), or a folder with `train.csv`, `test.csv` and
optionally `dev.csv`; without it a tenth of the training texts is set apart. Whatever is wrong with a file is said by
line; texts are often offensive, so no sentence quotes them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from biasgauge.applications.classification.task import DataSet
from biasgauge.applications.classification.texts import WITHOUT_DEV, TextData, Texts, split_by, split_up
from biasgauge.core import did_you_mean
from biasgauge.errors import CorpusError, InputError, ParameterError
from biasgauge.io import ByteSource, csv_rows
from biasgauge.text import whole_lines

HATEVAL_HALVES = {"en": ("migrants", "women"), "es": ("women", "migrants")}
HATEVAL_TEST_SIZES = {"en": 3000, "es": 1600}
FOUNTA_FILES = ("hatespeech_text_label_vote_RESTRICTED_100K.csv", "hatespeech_text_label_vote.csv", "founta.tsv")
MLMA_SENTIMENTS = frozenset({"abusive", "disrespectful", "fearful", "hateful", "normal", "offensive"})
SPLIT = "split"
SPLITS = {"train": "train", "dev": "dev", "test": "test"}
MAX_CLASSES = 100
"""Labels and groups: a column with more is something else, such as the texts."""
POSITIVE = ("1", "yes", "true", "positive", "hateful", "toxic")
"""Names of the positive class, tried in this order where the user does not name it."""
_GENDERS = ("male", "female")
_LONGEST_NAME = 40
_PACKED = ("", ".gz", ".xz", ".zst")


@dataclass(frozen=True)
class DelimitedTable:
    """Rows of text under named columns; `lines` are those of the file where each row starts, from 1."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def cells(self, column: str) -> tuple[str, ...]:
        """One column; where there is none of that name, the error suggests the nearest."""
        if column not in self.columns:
            names = f"its columns are {', '.join(self.columns)}"
            if max(map(len, self.columns)) > _LONGEST_NAME:
                names = "the first line does not look like a header"
            problem = f"expected a column {column!r}{did_you_mean(column, self.columns) or ';'} {names}"
            raise CorpusError(problem, path=self.path, line=1)
        index = self.columns.index(column)
        return tuple(row[index] for row in self.rows)

    def coded(self, column: str, names: Mapping[str, str]) -> tuple[str, ...]:
        """One column of labels, each by the name that `names` gives it; nothing else may stand there."""
        cells = [cell.strip() for cell in self.cells(column)]
        for cell, line in zip(cells, self.lines, strict=True):
            if cell not in names:
                problem = f"{column!r} must be one of {', '.join(names)}; found something else"
                raise CorpusError(problem, path=self.path, line=line)
        return tuple(names[cell] for cell in cells)


def read_table(path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> DelimitedTable:
    """Read a table: comma, tab or semicolon, compressed or not; its first line names the columns unless `columns` does.

    Raises:
        CorpusError: the file cannot be read, is not UTF-8, has no rows, or a row has too few or too many fields.
    """
    names = None if columns is None else tuple(columns)
    rows: list[tuple[str, ...]] = []
    starts: list[int] = []
    start = 1
    with ByteSource(path, error=CorpusError) as source:
        lines = (line.removesuffix("\r") + "\n" for _, line in whole_lines(source))
        first = next(lines, "")
        if not first.strip():
            raise CorpusError("expected a table with a header, found nothing", path=path, line=1)
        separator = max(",\t;", key=first.count)
        for cells, end in csv_rows(chain([first], lines), path, error=CorpusError, separator=separator):
            if names is None:
                names = tuple(name.strip() for name in cells)
                check_names(names, path, line=1)
            elif cells:
                if len(cells) != len(names):
                    raise CorpusError(f"expected {len(names)} fields, found {len(cells)}", path=path, line=start)
                rows.append(tuple(cells))
                starts.append(start)
            start = end + 1
    if not rows or names is None:
        raise CorpusError("expected rows below the header, found none", path=path)
    return DelimitedTable(Path(path), names, tuple(rows), tuple(starts))


def check_names(names: tuple[str, ...], path: str | os.PathLike[str], line: int | None = None) -> None:
    """Columns must have names, no two the same."""
    if not any(names):
        raise CorpusError("expected a header with the names of columns, found nothing", path=path, line=line)
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise CorpusError(f"the column {twice[0]!r} stands there twice; rename one of them", path=path, line=line)


def find_file(data: Path, names: Sequence[str], description: str) -> Path:
    """The first file of those names in a folder, also compressed; a file is taken as it is."""
    if data.is_file():
        return data
    if not data.is_dir():
        raise InputError(f"{data}: there is no such folder; name the folder with {description}")
    for name in names:
        for ending in _PACKED:
            if (path := data / f"{name}{ending}").is_file():
                return path
    raise InputError(f"{data}: has no {description}; expected a file {' or '.join(names)}, plain or compressed")


def load_hateval(data: Path, language: str) -> TextData:
    """HatEval in one language; the published gap is women − migrants."""
    if data.is_file():
        raise InputError(f"{data}: is a file; name the folder with HatEval's train, dev and test files")
    parts: dict[str, Texts] = {}
    warnings: list[str] = []
    for split in SPLITS:
        names = (f"hateval2019_{language}_{split}.csv", f"{split}_{language}.csv", f"{split}.csv")
        table = read_table(find_file(data, names, f"HatEval's {split} file"))
        groups = _hateval_targets(table, language, warnings) if split == "test" else None
        labels = table.coded("HS", {"0": "not hateful", "1": "hateful"})
        parts[split] = Texts.of(table.path, table.cells("text"), labels, groups)
    order = None if warnings else ("women", "migrants")
    return TextData(f"hateval-{language}", parts, positive="hateful", order=order, warnings=tuple(warnings))


def _hateval_targets(table: DelimitedTable, language: str, warnings: list[str]) -> list[str] | None:
    """Target of each tweet of the test file, by its row; None where the file is not the official one."""
    ids = table.cells("id")
    official = len(table) == HATEVAL_TEST_SIZES[language]
    if not official or list(ids) == sorted(ids, key=lambda tweet: (len(tweet), tweet)):
        state = "sorted by id" if official else f"of {len(table):,} tweets"
        order = f"{table.path.name} is {state}, not HatEval's test file in its own order"
        warnings.append(f"{order}, so the target of a tweet is not known")
        return None
    half = len(table) // 2
    return [HATEVAL_HALVES[language][row >= half] for row in range(len(table))]


def load_davidson(data: Path, *, split_seed: int = 0) -> TextData:
    """Tweets that are hate speech, offensive language or neither: `labeled_data.csv`, columns class and tweet.

    It names no groups; it is split 80 : 10 : 10, stratified by label.
    """
    table = read_table(find_file(data, ("labeled_data.csv", "davidson_labeled_data.csv"), "Davidson's file"))
    labels = table.coded("class", {"0": "hate_speech", "1": "offensive_language", "2": "neither"})
    texts = Texts.of(table.path, table.cells("tweet"), labels)
    return TextData("davidson", split_up(texts, split_seed), positive="hate_speech")


def load_edos(data: Path) -> TextData:
    """Posts that are sexist or not (Kirk et al. 2023), in their own split: columns text, label_sexist and split."""
    table = read_table(find_file(data, ("edos_labelled_aggregated.csv",), "EDOS's file"))
    labels = table.coded("label_sexist", {name: name for name in ("sexist", "not sexist")})
    texts = Texts.of(table.path, table.cells("text"), labels)
    return TextData("edos", split_by(texts, table.coded(SPLIT, SPLITS)), positive="sexist")


def load_mlma(data: Path, *, split_seed: int = 0) -> TextData:
    """Tweets with sentiments and target group (Ousidhoum et al. 2019): columns tweet, sentiment, group.

    `sentiment` joins several by `_`; a tweet is hateful where one of them is. `group` names 14 groups, and "other" and
    "individual", which are none. It is split 80 : 10 : 10, stratified by label.
    """
    table = read_table(find_file(data, ("en_dataset.csv", "mlma_en_dataset.csv"), "MLMA's English file"))
    cells = {cell for cell in table.cells("sentiment") if MLMA_SENTIMENTS.issuperset(cell.split("_"))}
    labels = {cell: "hateful" if "hateful" in cell.split("_") else "not hateful" for cell in sorted(cells)}
    groups = [None if group in {"other", "individual", ""} else group for group in table.cells("group")]
    texts = Texts.of(table.path, table.cells("tweet"), table.coded("sentiment", labels), groups)
    return TextData("mlma", split_up(texts, split_seed), positive="hateful")


def load_founta(data: Path, *, split_seed: int = 0, positive: str | None = None) -> TextData:
    """Tweets that are abusive, hateful, normal or spam, for those who hold them, in one of two layouts.

    As distributed: one file without a header, separated by tabs: text, label, number of votes; split 80 : 10 : 10.
    As the English study of Goldfarb-Tarrant et al. 2021 had it: `train.csv`, `dev.csv` and `test.csv` with columns
    text, label and, in the test file, gender (male, female, neutral); its gap is male − female.
    """
    if data.is_dir() and any(data.glob("train.csv*")):
        tweets = load_csv(data, split_seed=split_seed, group_column="gender", positive=positive)
        order = _GENDERS if set(_GENDERS) <= set(tweets.parts["test"].groups) else None
        return replace(tweets, name="founta", order=order)
    table = read_table(find_file(data, FOUNTA_FILES, "Founta's tweets"), ("text", "label", "votes"))
    labels = table.coded("label", {name: name for name in ("abusive", "hateful", "normal", "spam")})
    texts = Texts.of(table.path, table.cells("text"), labels)
    return TextData("founta", split_up(texts, split_seed), positive="hateful")


def load_csv(
    data: Path,
    *,
    split_seed: int = 0,
    text_column: str = "text",
    label_column: str = "label",
    group_column: str = "group",
    positive: str | None = None,
) -> TextData:
    """The user's own texts; an empty cell of the group, or no such column, means that there is none.

    Without `positive` the positive class is recognized by its name (`POSITIVE`).
    """
    columns = (text_column, label_column, group_column)
    if data.is_file():
        table = read_table(data)
        texts = _own_texts(table, *columns)
        splits = {**SPLITS, "validation": "dev"}
        parts = split_by(texts, table.coded(SPLIT, splits)) if SPLIT in table.columns else split_up(texts, split_seed)
    else:
        names = [split for split in SPLITS if split != "dev" or any(data.glob("dev.[ct]sv*"))]
        files = {split: find_file(data, (f"{split}.csv", f"{split}.tsv"), f"file of {split} texts") for split in names}
        parts = {split: _own_texts(read_table(path), *columns) for split, path in files.items()}
    for split in ("train", "test"):
        if split not in parts:
            raise CorpusError(f"the column {SPLIT!r} names no texts for {split}", path=data)
    if "dev" not in parts:
        parts = {**split_up(parts["train"], split_seed, WITHOUT_DEV), "test": parts["test"]}
    classes = sorted({label for split in parts.values() for label in split.labels})
    groups = {group for split in parts.values() for group in split.groups}
    for column, values in ((label_column, classes), (group_column, groups)):
        if len(values) > MAX_CLASSES:
            problem = f"the column {column!r} has {len(values):,} different values"
            raise CorpusError(f"{problem}; at most {MAX_CLASSES} labels or groups are possible", path=data)
    return TextData("csv", parts, positive=_positive_class(classes, positive))


def _own_texts(table: DelimitedTable, text: str, label: str, group: str) -> Texts:
    texts, labels = table.cells(text), tuple(cell.strip() for cell in table.cells(label))
    if "" in labels:
        raise CorpusError(f"{label!r} is empty", path=table.path, line=table.lines[labels.index("")])
    groups = [cell.strip() or None for cell in table.cells(group)] if group in table.columns else None
    return Texts.of(table.path, texts, labels, groups)


def _positive_class(classes: list[str], name: str | None) -> str:
    if name in classes:
        return name
    candidates = [candidate for candidate in POSITIVE if candidate in classes]
    if name is None and (candidates or len(classes) == 1):  # one label is too few: `TextData.checked` says so
        return (candidates or classes)[0]
    problem = "name the positive class ('positive')" if name is None else f"nothing is labeled {name!r}"
    raise ParameterError(f"The labels are {', '.join(classes[:20])}: {problem}.")


_SPLIT_SEED = frozenset({"split_seed"})
_HATEVAL = "hate speech about women or migrants, {} tweets (HatEval); gap: women − migrants"
_FOUNTA = "abusive, hateful, normal or spam, English tweets (Founta), for those who hold it; gap: male − female"
_DAVIDSON = "hate speech, offensive language or neither, English tweets (Davidson); groups by words"
_MLMA = "hate speech, English tweets (MLMA); gaps between 14 target groups"
_CSV_SETTINGS = _SPLIT_SEED | {"text_column", "label_column", "group_column"}
DATA_SET = (
    DataSet("hateval-en", _HATEVAL.format("English"), partial(load_hateval, language="en")),
    DataSet("hateval-es", _HATEVAL.format("Spanish"), partial(load_hateval, language="es")),
    DataSet("davidson", _DAVIDSON, load_davidson, _SPLIT_SEED),
    DataSet("founta", _FOUNTA, load_founta, _SPLIT_SEED, asks_positive=True),
    DataSet("edos", "sexism, English posts (EDOS); groups by words", load_edos),
    DataSet("mlma", _MLMA, load_mlma, _SPLIT_SEED),
    DataSet("csv", "your own table with text, label and group", load_csv, _CSV_SETTINGS, asks_positive=True),
)

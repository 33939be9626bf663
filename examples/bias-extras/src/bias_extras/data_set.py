"""A data set of labeled texts: lines "group<TAB>label<TAB>text". Its task has the name of the data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.applications import DataSet, TextData, Texts, split_up

if TYPE_CHECKING:
    from pathlib import Path


def load(data: Path, *, split_seed: int = 0) -> TextData:
    """Texts, what is true of each, and whom it is about; split 80 : 10 : 10."""
    rows = [line.split("\t") for line in data.read_text(encoding="utf-8").splitlines()]
    groups, labels, texts = (tuple(column) for column in zip(*rows, strict=True))
    return TextData("reviews", split_up(Texts(texts, labels, groups, str(data)), split_seed), positive="bad")


DATA_SET = DataSet("reviews", "reviews by two groups of people", load, frozenset({"split_seed"}))

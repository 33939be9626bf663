"""Labeled texts: what a classifier learns from, stops by and is judged on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from biasgauge.errors import InputError

if TYPE_CHECKING:
    from biasgauge.applications.text.tables import TextTable

SHARES = MappingProxyType({"train": 0.8, "dev": 0.1, "test": 0.1})
"""Of a data set that comes in one part."""
WITHOUT_DEV = MappingProxyType({"train": 0.9, "dev": 0.1})
"""Of the texts to learn from, where only those to be judged on are set apart."""


@dataclass(frozen=True)
class Texts:
    """Some texts with their labels.

    Attributes:
        texts: as they were written.
        labels: what is true of each.
        groups: whom each is about; None where that is nobody's group or not known.
        source: the file.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    groups: tuple[str | None, ...]
    source: str

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def of(
        cls, table: TextTable, texts: Sequence[str], labels: Sequence[str], groups: Sequence[str | None] | None = None
    ) -> Texts:
        """Texts of a table; without groups nobody has one."""
        given = tuple(groups) if groups is not None else (None,) * len(texts)
        return cls(tuple(texts), tuple(labels), given, str(table.path))

    def take(self, places: Iterable[int]) -> Texts:
        """Some of them, in the order given."""
        kept = [int(one) for one in places]
        return replace(
            self,
            texts=tuple(self.texts[one] for one in kept),
            labels=tuple(self.labels[one] for one in kept),
            groups=tuple(self.groups[one] for one in kept),
        )

    def relabeled(self, labels: Sequence[str]) -> Texts:
        """The same texts with other labels."""
        return replace(self, labels=tuple(labels))


@dataclass(frozen=True)
class TextData:
    """A data set: train, dev and test.

    Attributes:
        name: of the data set.
        parts: texts for "train", "dev" and "test".
        positive: the class that counts as positive.
        order: groups in the order in which they are subtracted; None for sorted.
        warnings: what to know before reading results.
    """

    name: str
    parts: Mapping[str, Texts]
    positive: str
    order: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = field(default=())

    @property
    def classes(self) -> tuple[str, ...]:
        """All labels, sorted."""
        return tuple(sorted({label for part in self.parts.values() for label in part.labels}))

    def checked(self) -> TextData:
        """The same data, if a classifier can learn from it.

        Raises:
            InputError: a part is empty, or the texts to learn from carry one label only.
        """
        for name, part in self.parts.items():
            if not len(part):
                raise InputError(f"{part.source}: {self.name} has no texts for {name}")
        learned = self.parts["train"]
        if len(set(learned.labels)) < 2:
            raise InputError(
                f"{learned.source}: all {len(learned):,} texts to learn from are labeled {learned.labels[0]!r}; a "
                "classifier needs two labels at least"
            )
        if self.positive not in self.classes:
            raise InputError(
                f"{learned.source}: nothing is labeled {self.positive!r}; labels are {', '.join(self.classes)}"
            )
        return self


def stratified(labels: Sequence[str], shares: Sequence[float], random_state: int) -> list[list[int]]:
    """Places of texts in parts of these shares, each label spread alike; the same for the same seed.

    What rounding leaves over goes to the first part. Places are in the order of the file.
    """
    random = np.random.default_rng(random_state)
    parts: list[list[int]] = [[] for _ in shares]
    for label in sorted(set(labels)):
        places = random.permutation([at for at, one in enumerate(labels) if one == label]).tolist()
        counts = [int(share * len(places) + 1e-9) for share in shares[1:]]
        bounds = np.cumsum([0, len(places) - sum(counts), *counts]).tolist()
        for part, (start, stop) in zip(parts, pairwise(bounds), strict=True):
            part.extend(places[start:stop])
    return [sorted(part) for part in parts]


def split_up(texts: Texts, random_state: int, shares: Mapping[str, float] = SHARES) -> dict[str, Texts]:
    """Texts in parts of these shares, each label spread alike."""
    places = stratified(texts.labels, list(shares.values()), random_state)
    return {name: texts.take(own) for name, own in zip(shares, places, strict=True)}


def split_by(texts: Texts, column: Sequence[str]) -> dict[str, Texts]:
    """Texts in the parts that a column names."""
    return {name: texts.take([at for at, one in enumerate(column) if one == name]) for name in SHARES if name in column}

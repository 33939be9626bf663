"""WinoBias: is a pronoun resolved as well when it contradicts a stereotype of an occupation?

Zhao et al. 2018: sentences with two occupations and a pronoun, each with the pronoun of the gender that dominates the
right occupation (pro) and with the other (anti). Type 1 needs knowledge of the world, type 2 only syntax. The gaps are
those of Goldfarb-Tarrant et al. 2021: 100 × (pro − anti), types apart.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from biasgauge.applications.coref.conll import read_conll
from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.model import CorefModel, prediction_sums
from biasgauge.applications.coref.paired import PairedGap, paired_gaps, paired_table
from biasgauge.applications.group_gaps.result import headline
from biasgauge.applications.tasks.figures import winobias_charts
from biasgauge.core import Floats, JsonObject
from biasgauge.errors import CorpusError
from biasgauge.results import Result, Summary
from biasgauge.stats import BootstrapMethod, bootstrap_settings

if TYPE_CHECKING:
    import pandas as pd

_FILE = re.compile(r"(?P<split>dev|test)_type(?P<type>[12])_(?P<version>pro|anti)_stereotype.*conll$")
VERSIONS = ("pro", "anti")


@dataclass(frozen=True, repr=False)
class WinoBiasResult(Result):
    """Gaps between pro- and anti-stereotypical sentences.

    Attributes:
        gaps: for each part ("dev 1", "test 2") and metric; `first` is pro, `second` anti, positive where a model does
            better when the stereotype holds.
        settings: what was asked for.
        warnings: what to know before reading the table.
    """

    tables: ClassVar[tuple[str, ...]] = ("gaps",)

    gaps: tuple[PairedGap, ...]
    settings: JsonObject
    warnings: tuple[str, ...] = ()

    def gap(self, of: str, metric: str) -> PairedGap:
        """Find one gap, e.g. `gap("test 1", "precision")`."""
        return next(gap for gap in self.gaps if (gap.of, gap.metric) == (of, metric))

    def to_frame(self) -> pd.DataFrame:
        """One row a gap."""
        return super().to_frame().rename(columns=lambda name: name.replace("first", "pro").replace("second", "anti"))

    def summary(self) -> Summary:
        """How many gaps are clear, and each of them."""
        return Summary(
            title="WinoBias",
            headline=headline(self.gaps, "gaps pro − anti"),
            tables=(paired_table(self.gaps, VERSIONS),),
            charts=winobias_charts(self),
            warnings=self.warnings,
        )


def is_winobias(path: Path) -> bool:
    """Whether a file is one of WinoBias, by its name."""
    return _FILE.match(path.name) is not None


def winobias(
    model: CorefModel,
    folder: str | os.PathLike[str],
    *,
    splits: Sequence[str] = ("dev", "test"),
    interval: BootstrapMethod = "percentile",
    level: float = 0.95,
    resamples: int = 10_000,
    random_state: int = 0,
) -> WinoBiasResult:
    """Gaps of a model on WinoBias.

    Args:
        model: from `train_coref`.
        folder: with the CoNLL files of WinoBias, such as test_type1_pro_stereotype.v4_auto_conll, or a folder above.
        splits: which of "dev" and "test".
        interval: "percentile" or "bca", pairs of sentences drawn again.
        level: nominal coverage of intervals.
        resamples: bootstrap samples, and random swaps for p.
        random_state: seed.

    Raises:
        CorpusError: files are missing, or the two versions do not have the same sentences.
    """
    how = bootstrap_settings("winobias", method=interval, level=level, resamples=resamples, random_state=random_state)
    gaps: list[PairedGap] = []
    for name, both in read_winobias(folder, splits).items():
        gaps += paired_gaps(paired_sums(model, both), name, VERSIONS, how)
    return WinoBiasResult(tuple(gaps), {"splits": list(splits), **how.to_settings()})


def paired_sums(model: CorefModel, both: tuple[list[Document], list[Document]]) -> Floats:
    """What each sentence adds: pairs × (pro, anti) × METRICS × SUMS."""
    return np.stack([prediction_sums(model, side) for side in both], axis=1)


def read_winobias(
    folder: str | os.PathLike[str], splits: Sequence[str] = ("dev", "test")
) -> dict[str, tuple[list[Document], list[Document]]]:
    """Pro and anti versions by part, e.g. "test 1", sentence by sentence; errors as in `winobias`."""
    files = {
        match.group("split", "type", "version"): path
        for path in sorted(Path(folder).rglob("*"))
        if (match := _FILE.match(path.name))
    }
    parts = {}
    for split in splits:
        for kind in "12":
            sides = []
            for version in VERSIONS:
                path = files.get((split, kind, version))
                if path is None:
                    name = f"{split}_type{kind}_{version}_stereotype….conll"
                    raise CorpusError(f"holds no file {name}; the folder of WinoBias is needed", path=folder)
                documents = read_conll(path)
                sides.append({document.name.rsplit("/", 1)[-1]: document for document in documents})
                if len(sides[-1]) != len(documents):
                    raise CorpusError("two of its sentences have the same number", path=path)
            if set(sides[0]) != set(sides[1]):
                odd = min(set(sides[0]) ^ set(sides[1]))
                raise CorpusError(f"sentence {odd!r} of {split} type {kind} has no partner", path=folder)
            names = sorted(sides[0], key=lambda name: (len(name), name))
            parts[f"{split} {kind}"] = ([sides[0][name] for name in names], [sides[1][name] for name in names])
    return parts

"""WinoBias: is a pronoun resolved as well when it contradicts a stereotype of an occupation?

Zhao et al. 2018: sentences with two occupations and a pronoun, each with the pronoun of the gender that dominates the
right occupation (pro) and with the other (anti). Type 1 needs knowledge of the world, type 2 only syntax. The gaps are
those of Goldfarb-Tarrant et al. 2021: 100 × (pro − anti), types apart. `paired_gaps` serves Winogender, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from biasgauge import stats
from biasgauge.applications.coref.conll import read_conll
from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.model import CorefModel, prediction_sums
from biasgauge.applications.coref.scores import METRICS, RATES, conll_rates, rates
from biasgauge.applications.gap_result import gap_headline
from biasgauge.applications.task_figures import winobias_charts
from biasgauge.core import Estimate, Floats, JsonObject, LabeledEstimate
from biasgauge.errors import CorpusError
from biasgauge.results import Column, Result, Summary, Table

if TYPE_CHECKING:
    import pandas as pd

_FILE = re.compile(r"(?P<split>dev|test)_type(?P<type>[12])_(?P<version>pro|anti)_stereotype.*conll$")
VERSIONS = ("pro", "anti")
PERCENT = 100
LINKED = "linked"
PAIRED = (*RATES, LINKED)
_UNDEFINED = {"precision": "nothing was found", "f1": "there is nothing"}


@dataclass(frozen=True, kw_only=True)
class PairedGap(LabeledEstimate):
    """Difference of a rate between two versions of the same sentences, first − second, in percentage points.

    0 where both versions have the same rate. Intervals are over pairs of sentences.

    Attributes:
        subset: which sentences; `of` in JSON and frames.
        metric: "precision", "recall" and "f1" are means of MUC, B³ and CEAFφ4; "linked" is the share of gold links that
            were found, which, with one pair of mentions a sentence, is the share of sentences that were resolved.
        first, second: the rate in each version, from 0 to 100; None when undefined.
        p_value: probability of a gap at least as large, in either direction, if versions were exchangeable.
        p_method: its method.
        n: pairs of sentences.
    """

    renamed: ClassVar[Mapping[str, str]] = {**Estimate.renamed, "value": "gap", "subset": "of"}
    intervals_of: ClassVar[tuple[str, ...]] = ("first", "second")

    subset: str
    metric: str
    first: Estimate | None
    second: Estimate | None
    p_value: float | None = None
    p_method: str | None = None


@dataclass(frozen=True, repr=False)
class WinoBiasResult(Result):
    """Gaps between pro- and anti-stereotypical sentences.

    Attributes:
        gaps: for each part ("dev 1", "test 2") and metric; `first` is pro, `second` anti, positive where a model does
            better when the stereotype holds.
        settings: arguments of `winobias`.
        warnings: caveats.
    """

    tables: ClassVar[tuple[str, ...]] = ("gaps",)

    gaps: tuple[PairedGap, ...]
    settings: JsonObject
    warnings: tuple[str, ...] = ()

    def gap(self, subset: str, metric: str) -> PairedGap:
        """Find one gap, e.g. `gap("test 1", "precision")`."""
        return next(gap for gap in self.gaps if (gap.subset, gap.metric) == (subset, metric))

    def to_frame(self) -> pd.DataFrame:
        """One row per gap."""
        return super().to_frame().rename(columns=lambda name: name.replace("first", "pro").replace("second", "anti"))

    def summary(self) -> Summary:
        """Number of gaps whose interval excludes 0, and each gap."""
        return Summary(
            title="WinoBias",
            headline=gap_headline(self.gaps, "gaps pro − anti"),
            tables=(paired_table(self.gaps, VERSIONS),),
            charts=winobias_charts(self),
            warnings=self.warnings,
        )


def paired_table(gaps: Sequence[PairedGap], versions: tuple[str, str]) -> Table:
    """Rates of both versions, and their difference."""
    columns = ["sentences", "metric", *(Column(name, "estimate", 1) for name in versions)]
    columns += [Column(" − ".join(versions), "estimate", 1), Column("p", "p"), Column("pairs", "count")]
    rows = [(gap.subset, gap.metric, gap.first, gap.second, gap, gap.p_value, gap.n) for gap in gaps]
    return Table.of("gaps", f"{versions[0]} − {versions[1]}, in percent", columns, rows)


def paired_values(sums: Floats) -> Floats:
    """PAIRED (last axis), in percent, from sums of the shape (…, METRICS, SUMS)."""
    links = rates(sums[..., METRICS.index("muc"), :])[..., RATES.index("recall")]
    values: Floats = PERCENT * np.concatenate([conll_rates(sums), links[..., None]], axis=-1)
    return values


def paired_gaps(
    sums: Floats,
    subset: str,
    versions: tuple[str, str],
    resampling: stats.Resampling,
    values: Callable[[Floats], Floats] = paired_values,
    metrics: tuple[str, ...] = PAIRED,
) -> list[PairedGap]:
    """Gaps in every metric between two versions of some sentences, from pairs × versions × what each adds.

    `values` computes metrics (last axis), in percent, from sums over pairs; NaN where undefined.
    """

    def gaps(pair_sums: Floats) -> Floats:
        return values(pair_sums[:, 0]) - values(pair_sums[:, 1])

    def rates_and_gaps(pair_sums: Floats) -> Floats:
        first, second = np.moveaxis(values(pair_sums), -2, 0)
        return np.concatenate([first, second, first - second], axis=-1)

    reasons = [
        f"{_UNDEFINED.get(metric, 'there is nothing to find')} in the {name} sentences"
        for name in (*versions, "")
        for metric in metrics
    ]
    estimates = stats.estimates_of_sums(sums, rates_and_gaps, resampling, "pairs of sentences", reasons)
    p_values = stats.swapped_sums_p(sums, gaps, resampling)
    size = len(metrics)
    rows = []
    for index, (metric, p) in enumerate(zip(metrics, p_values, strict=True)):
        first, second, gap = estimates[index::size]
        labels: dict[str, Any] = {"subset": subset, "metric": metric, "n": len(sums)}
        labels |= {name: side if side.defined else None for name, side in (("first", first), ("second", second))}
        if gap.defined:
            labels |= {"p_value": float(p), "p_method": stats.SWAPPED}
        estimate = gap if gap.defined else second if first.defined else first
        rows.append(PairedGap.of_estimate(estimate, **labels))
    return rows


def winobias(
    model: CorefModel,
    folder: str | os.PathLike[str],
    *,
    splits: Sequence[str] = ("dev", "test"),
    interval: stats.BootstrapMethod = "percentile",
    level: float = 0.95,
    resamples: int = 10_000,
    random_state: int = 0,
) -> WinoBiasResult:
    """Gaps of a model on WinoBias.

    `folder` holds the CoNLL files of WinoBias, such as test_type1_pro_stereotype.v4_auto_conll, or is above their
    folder; `splits` are "dev", "test" or both. Intervals are over pairs of sentences drawn again; their settings are
    those of `score_coref`, and `resamples` is also the number of random swaps for p.

    Raises:
        CorpusError: files are missing, or the two versions do not have the same sentences.
    """
    resampling = stats.bootstrap_settings(
        "winobias", method=interval, level=level, resamples=resamples, random_state=random_state
    )
    gaps: list[PairedGap] = []
    for name, versions in read_winobias(folder, splits).items():
        gaps += paired_gaps(paired_sums(model, versions), name, VERSIONS, resampling)
    return WinoBiasResult(tuple(gaps), {"splits": list(splits), **resampling.to_settings()})


def paired_sums(model: CorefModel, versions: tuple[list[Document], list[Document]]) -> Floats:
    """Sums that each sentence adds: pairs × (pro, anti) × METRICS × SUMS."""
    return np.stack([prediction_sums(model, version) for version in versions], axis=1)


def is_winobias(path: Path) -> bool:
    """Return True for a file of WinoBias, by its name."""
    return _FILE.match(path.name) is not None


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
            versions = []
            for version in VERSIONS:
                path = files.get((split, kind, version))
                if path is None:
                    name = f"{split}_type{kind}_{version}_stereotype….conll"
                    raise CorpusError(f"holds no file {name}; the folder of WinoBias is needed", path=folder)
                documents = read_conll(path)
                versions.append({document.name.rsplit("/", 1)[-1]: document for document in documents})
                if len(versions[-1]) != len(documents):
                    raise CorpusError("two of its sentences have the same number", path=path)
            pro, anti = versions
            if set(pro) != set(anti):
                unpaired = min(set(pro) ^ set(anti))
                raise CorpusError(f"sentence {unpaired!r} of {split} type {kind} has no partner", path=folder)
            names = sorted(pro, key=lambda name: (len(name), name))
            parts[f"{split} {kind}"] = ([pro[name] for name in names], [anti[name] for name in names])
    return parts

"""From a table of rows to the columns of the regression, as Du et al. 2021 built them (appendix F, and their R script).

Numbers are standardized over all rows (standard deviation with n − 1), the square is that of the standardized logarithm
of frequency and not scaled again, categories are compared with the first in the alphabet, the outcome is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtr

from biasgauge.analyses.reliability.features import NUMBERS
from biasgauge.core import Floats, Integers, JsonMapping
from biasgauge.errors import ParameterError
from biasgauge.stats.mixed_models import MixedFit

if TYPE_CHECKING:
    import pandas as pd


INTERCEPT = "(intercept)"
GROUPS = ("algorithm", "corpus")
_SQUARE = "log_frequency_squared"
_ROWS = 32_768


@dataclass(frozen=True, eq=False)
class Regression:
    """Columns, groups and outcome, of complete rows only; `words` has the number of each row's word.

    Each of the `factors` has the columns that leave the model with it; the rest is as in `FactorsResult`.
    """

    y: Floats
    x: Floats
    names: tuple[str, ...]
    groups: JsonMapping
    words: Integers
    factors: Mapping[str, tuple[str, ...]]
    scales: Mapping[str, tuple[float, float]]
    references: Mapping[str, str]
    lost: Mapping[str, int]
    absent: Mapping[str, str]


def regression(table: pd.DataFrame) -> Regression:
    """Build the regression.

    Raises:
        ParameterError: a column is missing, no row is complete, or neither random effect has two levels.
    """
    import pandas as pd

    missing = [name for name in ("word", "score", *GROUPS) if name not in table]
    if missing:
        raise ParameterError(
            f"A table of factors needs the columns word, score, algorithm and corpus. {missing} missing."
        )
    numbers, absent = _usable_numbers(table)
    kinds = [name for name in ("measure", "pos") if name in table and not table[name].isna().all()]
    complete = table[["score", *numbers, *kinds]].notna().all(axis=1).to_numpy()
    lost = _lost(table, complete)
    rows = table.loc[complete]
    if not len(rows):
        raise ParameterError("No row has a reliability and all features: there is nothing to fit.")
    groups = {name: rows[name].to_numpy() for name in GROUPS if len(rows[name].unique()) > 1}
    absent |= {name: "all rows have the same" for name in GROUPS if name not in groups}
    if not groups:
        raise ParameterError("The regression needs scores of at least two algorithms or two corpora. Got one of each.")
    columns: dict[str, Floats] = {INTERCEPT: np.ones(len(rows))}
    factors: dict[str, tuple[str, ...]] = {}
    scales: dict[str, tuple[float, float]] = {}
    references: dict[str, str] = {}
    for name in ("measure", *NUMBERS[:2], "pos", *NUMBERS[2:]):  # in the order of the paper's formula
        if name in numbers:
            added = _standardized(name, rows[name].to_numpy(np.float64), scales)
        elif name in kinds:
            added = _indicators(name, rows[name].astype(str).to_numpy(), references)
        else:
            continue
        columns |= added
        if added:
            factors[name] = tuple(added)
    if _SQUARE in columns:
        factors[_SQUARE] = (_SQUARE,)
    return Regression(
        y=rows["score"].to_numpy(np.float64),
        x=np.column_stack(list(columns.values())),
        names=tuple(columns),
        groups=groups,
        words=pd.factorize(rows["word"])[0].astype(np.int64),
        factors=factors,
        scales=scales,
        references=references,
        lost=lost,
        absent=absent,
    )


def _usable_numbers(table: pd.DataFrame) -> tuple[list[str], dict[str, str]]:
    """Features that rows of every algorithm and corpus have."""
    usable, absent = [], {}
    for name in NUMBERS:
        if name not in table:
            absent[name] = "the table has no such column"
            continue
        held = table[name].notna().groupby([table[group] for group in GROUPS], observed=True).any()
        if held.all():
            usable.append(name)
        else:
            where = ", ".join(":".join(map(str, key)) for key in held.index[~held].tolist())
            absent[name] = f"no row of {where} has it"
    return usable, absent


def _lost(table: pd.DataFrame, complete: np.ndarray[Any, Any]) -> dict[str, int]:
    if "undefined" not in table:
        return {"a feature or the reliability is undefined": int((~complete).sum())} if not complete.all() else {}
    reasons = table.loc[~complete, "undefined"].replace("", "a feature is undefined")
    counts: dict[str, int] = {str(name): int(count) for name, count in reasons.value_counts().items()}
    return counts


def _standardized(name: str, values: Floats, scales: dict[str, tuple[float, float]]) -> dict[str, Floats]:
    mean, spread = float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0
    scales[name] = (mean, spread)
    scaled = (values - mean) / spread if spread > 0 else values - mean
    return {name: scaled, _SQUARE: scaled**2} if name == "log_frequency" else {name: scaled}


def _indicators(name: str, labels: np.ndarray[Any, Any], references: dict[str, str]) -> dict[str, Floats]:
    levels = sorted(set(labels.tolist()))
    references[name] = levels[0]
    return {f"{name}[{level}]": (labels == level).astype(np.float64) for level in levels[1:]}


def errors_by_word(rows: Regression, fit: MixedFit) -> dict[str, tuple[float, float]]:
    """For each coefficient but the intercept, which depends on few groups: standard error and two-sided p.

    The regression of the paper has no effect of words, though rows of one word are alike: its standard errors are too
    small. These hold whatever the dependence within a word (Liang & Zeger 1986), given the algorithms and corpora.
    """
    import pandas as pd

    solution = fit.solution
    words = int(rows.words.max()) + 1
    held = [rows.names.index(name) for name in solution.sums.names]
    estimates = solution.sums.back @ solution.scaled + solution.sums.offset
    levels = [pd.factorize(np.asarray(rows.groups[group.name]), sort=True)[0] for group in solution.sums.groups]
    totals = np.zeros((words, len(held)))
    for start in range(0, len(rows.y), _ROWS):
        part = slice(start, start + _ROWS)
        x = rows.x[part][:, held]
        left = rows.y[part] - x @ estimates
        for group, codes in zip(solution.sums.groups, levels, strict=True):
            left -= solution.effects[group.columns][codes[part]]
        size = len(left)
        owner = csr_array((np.ones(size), rows.words[part], np.arange(size + 1)), shape=(size, words))
        totals += np.asarray(owner.T @ (x * left[:, None]))
    bread = fit.covariance / solution.sigma2
    meat = totals.T @ totals
    spread = np.sqrt(np.diag(bread @ meat @ bread) * words / max(words - 1, 1))
    ratios = np.divide(estimates, spread, out=np.zeros(len(spread)), where=spread > 0)
    chances = 2 * stdtr(max(words - 1, 1), -np.abs(ratios))
    return {
        name: (float(spread[column]), float(chances[column]))
        for column, name in enumerate(solution.sums.names)
        if column != solution.sums.constant
    }

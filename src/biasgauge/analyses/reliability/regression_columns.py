"""Columns of the regression of reliability: standardized numbers, categories, interactions, groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from biasgauge.analyses.reliability.features import NUMBERS
from biasgauge.core import Flags, Floats, Integers, JsonMapping
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd

INTERCEPT = "(intercept)"
GROUPS = ("algorithm", "corpus")
FACTORS = ("measure", *NUMBERS[:2], "pos", *NUMBERS[2:])
"""Fixed factors, in the order of the paper's formula."""
ALL_INTERACTIONS = "all"
_SQUARE = "log_frequency_squared"


@dataclass(frozen=True, eq=False)
class RegressionData:
    """Outcome, columns and groups of complete rows; `words` has the number of each row's word.

    Each of the `factors` has the columns that leave the model with it; the others are as in `FactorsResult`.
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


def build_regression(table: pd.DataFrame, interactions: Sequence[str] | str = ()) -> RegressionData:
    """Build outcome, columns and groups from a table of factors; columns of an interaction are products of columns.

    Raises:
        ParameterError: a column is missing, no row is complete, neither random effect has two levels, or an interaction
            is not of two factors.
    """
    import pandas as pd

    missing = [name for name in ("word", "score", *GROUPS) if name not in table]
    if missing:
        raise ParameterError(
            f"A table of factors needs the columns word, score, algorithm and corpus. {missing} missing."
        )
    numbers, absent = _usable_numbers(table)
    categories = [name for name in ("measure", "pos") if name in table and not table[name].isna().all()]
    complete = table[["score", *numbers, *categories]].notna().all(axis=1).to_numpy()
    rows = table.loc[complete]
    if not len(rows):
        raise ParameterError("No row has a reliability and all features: there is nothing to fit.")
    groups = {name: rows[name].to_numpy() for name in GROUPS if len(rows[name].unique()) > 1}
    absent |= {name: "all rows have the same" for name in GROUPS if name not in groups}
    if not groups:
        raise ParameterError("The regression needs scores of at least two algorithms or two corpora. Got one of each.")
    columns, factors, scales, references = _factor_columns(rows, numbers, categories)
    products = _interaction_columns(columns, factors, interactions, absent)
    for name, added in products.items():
        columns |= added
        for factor in name.split(":"):  # a factor leaves with its interactions
            factors[factor] += tuple(added)
    factors |= {name: tuple(added) for name, added in products.items()}
    if _SQUARE in columns:
        factors[_SQUARE] = (_SQUARE,)
    return RegressionData(
        y=rows["score"].to_numpy(np.float64),
        x=np.column_stack(list(columns.values())),
        names=tuple(columns),
        groups=groups,
        words=pd.factorize(rows["word"])[0].astype(np.int64),
        factors=factors,
        scales=scales,
        references=references,
        lost=_count_lost(table, complete),
        absent=absent,
    )


class _FactorColumns(NamedTuple):
    """Columns by name; those of each factor, the scales of numbers, and the references of categories."""

    columns: dict[str, Floats]
    factors: dict[str, tuple[str, ...]]
    scales: dict[str, tuple[float, float]]
    references: dict[str, str]


def _factor_columns(rows: pd.DataFrame, numbers: Sequence[str], categories: Sequence[str]) -> _FactorColumns:
    """Standardize numbers, square the logarithm of frequency, and code categories against their first level."""
    columns: dict[str, Floats] = {INTERCEPT: np.ones(len(rows))}
    factors: dict[str, tuple[str, ...]] = {}
    scales: dict[str, tuple[float, float]] = {}
    references: dict[str, str] = {}
    for name in FACTORS:
        added: dict[str, Floats] = {}
        if name in numbers:
            values = rows[name].to_numpy(np.float64)
            mean, sd = scales[name] = (float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0)
            added[name] = (values - mean) / sd if sd > 0 else values - mean
            if name == "log_frequency":
                added[_SQUARE] = added[name] ** 2
        elif name in categories:
            labels = rows[name].astype(str).to_numpy()
            references[name], *levels = sorted(set(labels.tolist()))
            added = {f"{name}[{level}]": (labels == level).astype(np.float64) for level in levels}
        columns |= added
        if added:
            factors[name] = tuple(added)
    return _FactorColumns(columns, factors, scales, references)


def _interaction_columns(
    columns: Mapping[str, Floats],
    factors: Mapping[str, tuple[str, ...]],
    interactions: Sequence[str] | str,
    absent: dict[str, str],
) -> dict[str, dict[str, Floats]]:
    """Products of the columns of two factors, by interaction; those of factors that the table lacks become `absent`.

    The square of the logarithm of frequency is in none.
    """
    if interactions == ALL_INTERACTIONS:
        pairs = list(combinations(factors, 2))
    else:
        names = [interactions] if isinstance(interactions, str) else interactions
        pairs = [_interaction(name) for name in names]
    products: dict[str, dict[str, Floats]] = {}
    for first, second in pairs:
        name = f"{first}:{second}"
        lacking = [factor for factor in (first, second) if factor not in factors]
        if lacking:
            absent[name] = f"{' and '.join(lacking)} was left out"
            continue
        sides = ([column for column in factors[factor] if column != _SQUARE] for factor in (first, second))
        products[name] = {f"{one}:{other}": columns[one] * columns[other] for one, other in product(*sides)}
    return products


def _interaction(name: str) -> tuple[str, str]:
    first, colon, second = name.partition(":")
    if not colon or first == second or not {first, second} <= set(FACTORS):
        raise ParameterError(
            f"An interaction must be of two of {', '.join(FACTORS)}, such as measure:log_frequency. Got {name!r}."
        )
    return first, second


def _usable_numbers(table: pd.DataFrame) -> tuple[list[str], dict[str, str]]:
    """Numeric features that rows of every algorithm and corpus have, and the reasons against the others."""
    usable, absent = [], {}
    for name in NUMBERS:
        if name not in table:
            absent[name] = "the table has no such column"
            continue
        present = table[name].notna().groupby([table[group] for group in GROUPS], observed=True).any()
        if present.all():
            usable.append(name)
        else:
            cells = ", ".join(":".join(map(str, key)) for key in present.index[~present].tolist())
            absent[name] = f"no row of {cells} has it"
    return usable, absent


def _count_lost(table: pd.DataFrame, complete: Flags) -> dict[str, int]:
    """Number of incomplete rows by reason."""
    if "undefined" not in table:
        return {"a feature or the reliability is undefined": int((~complete).sum())} if not complete.all() else {}
    reasons = table.loc[~complete, "undefined"].replace("", "a feature is undefined")
    return {str(name): int(count) for name, count in reasons.value_counts().items()}

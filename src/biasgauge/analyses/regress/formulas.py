"""Formulas: target words on the left, covariates of documents on the right; designs of documents and of chosen values.

The right side is Wilkinson notation as formulaic reads it: factors, numbers, interactions (`*`, `:`), `C(party,
contr.treatment(base="R"))`, `center(year)`, `poly(year, 2)`, `log(year)`. Formulas may come from files, and formulaic
evaluates Python in them, so that nothing but names, numbers, arithmetic and the functions below is let through.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.core import Flags, Floats, did_you_mean
from biasgauge.errors import InputError, ParameterError
from biasgauge.results import words_text

if TYPE_CHECKING:
    import pandas as pd

INTERCEPT = "Intercept"
FUNCTIONS = ("C", "center", "scale", "poly", "bs", "cs", "log", "log10", "log2", "exp", "I")
CONTRASTS = ("treatment", "sum", "helmert", "diff", "poly")
_NODES = (
    ast.Expression, ast.Call, ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop,
    ast.keyword, ast.Load, ast.List, ast.Tuple,
)  # fmt: skip
_QUOTED = re.compile(r"`([^`]*)`")
_ALL = re.compile(r"(?<![\w.`)\]])\.(?![\w.`])")
_MARK = re.compile(r"\[(?:T\.)?([^\]]*)\]")
_FACTOR = re.compile(r"C\(\s*([^\s,()]+)[^:]*\)(?=\[)")


@dataclass(frozen=True)
class Formula:
    """A formula in two parts.

    Attributes:
        text: as it was given.
        words: what stands on the left, joined by +: target words, or the name of a list of them.
        right: the right side.
        variables: covariates that it needs.
    """

    text: str
    words: tuple[str, ...]
    right: str
    variables: tuple[str, ...]


def parse_formula(text: str) -> Formula:
    """Split a formula, and let through what may stand in one.

    Raises:
        InputError: formulaic is not installed.
        ParameterError: it is no formula, or calls something else.
    """
    if not isinstance(text, str) or text.count("~") != 1:
        raise ParameterError(
            f"A formula has one ~ between target words and covariates: 'immigration ~ party + year'. Got {text!r}."
        )
    left, right = (side.strip() for side in text.split("~"))
    words = tuple(word.strip().strip("\"'") for word in left.split("+"))
    if not all(words) or any(re.search(r"\s", word) for word in words):
        raise ParameterError(f"The left side of a formula holds target words joined by +. Got {left!r}.")
    if not right or "|" in right:
        raise ParameterError(f"The right side of a formula holds covariates: 'party * year'. Got {right!r}.")
    variables: dict[str, None] = {}
    for expression, is_name in _factor_expressions(right, text):
        variables.update(dict.fromkeys([expression] if is_name else _checked_names(expression, text)))
    if not variables:
        raise ParameterError(f"The formula {text!r} has no covariate; there is nothing to compare.")
    return Formula(text, tuple(dict.fromkeys(words)), right, tuple(variables))


def _factor_expressions(right: str, text: str) -> list[tuple[str, bool]]:
    """Expressions of the factors of all terms that are no numbers, and whether each is the name of a covariate."""
    try:
        import formulaic
    except ImportError as problem:
        raise InputError('Formulas need formulaic. Install it with: pip install "biasgauge[regress]"') from problem
    if _ALL.search(right):
        raise ParameterError(f"The formula {text!r} has a dot for all covariates; name the covariates.")
    try:
        factors = [factor for term in formulaic.Formula(right) for factor in term.factors]
        return [(f.expr, f.eval_method.value == "lookup") for f in factors if f.eval_method.value != "literal"]
    except Exception as problem:
        raise ParameterError(f"The formula {text!r} cannot be read: {_first_line(problem)}") from problem


def _first_line(problem: Exception) -> str:
    """First line of an error of formulaic, as the end of a sentence."""
    reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
    return f"{reason[:200].rstrip('.')}."


def _checked_names(expression: str, text: str) -> list[str]:
    """Names of covariates in the expression of a factor; an error where it holds more than arithmetic and FUNCTIONS."""
    # Python reads covariate_0, covariate_1 … in the place of names in backticks.
    quoted = list(dict.fromkeys(_QUOTED.findall(expression)))
    python = _QUOTED.sub(lambda name: f" covariate_{quoted.index(name[1])} ", expression)
    allowed = f"may hold covariates, arithmetic and {', '.join(FUNCTIONS)}"
    try:
        tree = ast.parse(python.strip(), mode="eval")
    except SyntaxError as problem:
        raise ParameterError(f"The formula {text!r} {allowed}. Got {expression!r}.") from problem
    functions: set[ast.AST] = set()
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise ParameterError(f"The formula {text!r} {allowed}. Got {expression!r}.")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not _is_power(node):
            raise ParameterError(f"The formula {text!r} may raise covariates to numbers. Got {expression!r}.")
        if isinstance(node, ast.Attribute):
            is_contrast = isinstance(node.value, ast.Name) and node.value.id == "contr" and node.attr in CONTRASTS
            if not is_contrast:
                raise ParameterError(f"The formula {text!r} {allowed}. Got {expression!r}.")
            functions.add(node.value)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id not in FUNCTIONS:
                raise ParameterError(f"The formula {text!r} {allowed}. Got {node.func.id!r}.")
            if not isinstance(node.func, ast.Name | ast.Attribute):
                raise ParameterError(f"The formula {text!r} {allowed}. Got {expression!r}.")
            functions.add(node.func)
    names = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in functions]
    names_of = {f"covariate_{number}": name for number, name in enumerate(quoted)}
    return [names_of.get(name, name) for name in names]


def _is_power(node: ast.BinOp) -> bool:
    """Return whether a covariate is raised to a plain number: 9**9**9 would be computed for ever."""
    exponent = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
    return isinstance(exponent, ast.Constant) and any(isinstance(part, ast.Name) for part in ast.walk(node.left))


def term_name(column: str) -> str:
    """Name of a column as in a table: party[T.R] is party_R, C(party, …)[T.R] is party_R too."""
    return _MARK.sub(lambda mark: f"_{mark[1]}", _FACTOR.sub(lambda factor: factor[1], column))


@dataclass(frozen=True, eq=False)
class Design:
    """The design of some documents.

    Attributes:
        frame: covariates of these documents.
        weights: weight of each document in means over covariates: its occurrences.
        matrix: documents × columns.
        columns: names of columns; the first is the intercept.
        spec: formulaic's model, which turns further covariates into rows of the same columns.
    """

    frame: pd.DataFrame
    weights: Floats
    matrix: Floats
    columns: tuple[str, ...]
    spec: Any

    @property
    def terms(self) -> tuple[str, ...]:
        """Columns without the intercept."""
        return self.columns[1:]

    def index(self, term: str) -> int:
        """Column of a term.

        Raises:
            ParameterError: there is none of this name.
        """
        if term not in self.columns:
            listing = ", ".join(self.columns)
            near = did_you_mean(term, self.columns) or "."
            raise ParameterError(f"There is no term {term!r}{near} The terms are {listing}.")
        return self.columns.index(term)

    @cached_property
    def levels(self) -> Mapping[str, tuple[str, ...]]:
        """Values of each covariate that is not a number."""
        text = {name: column for name, column in self.frame.items() if column.dtype.kind not in "fiu"}
        return {str(name): tuple(sorted(set(column))) for name, column in text.items()}

    @cached_property
    def interactions_far_from_zero(self) -> Mapping[str, tuple[float, float]]:
        """Numbers that stand in an interaction as they are and are never near 0, with their range.

        The other terms of the interaction are differences where the number is 0, beyond all data.
        """
        ranges = {}
        for term in self.spec.formula:
            for name in (factor.expr for factor in term.factors if len(term.factors) > 1):
                if name in self.frame and name not in self.levels:
                    low, high = float(self.frame[name].min()), float(self.frame[name].max())
                    if low > 0 or high < 0:
                        ranges[name] = (low, high)
        return ranges

    def row(self, values: Mapping[str, Any]) -> Floats:
        """Row of the design at chosen values of covariates; over the others it is a mean over occurrences.

        Raises:
            ParameterError: a covariate or a value of one is not in the data.
        """
        frame = self.frame.copy()
        for name, value in values.items():
            if name not in frame:
                listing = ", ".join(map(str, frame))
                near = did_you_mean(name, map(str, frame)) or "."
                raise ParameterError(f"The formula has no covariate {name!r}{near} It has {listing}.")
            if name in self.levels:
                if str(value) not in self.levels[name]:
                    listing = ", ".join(self.levels[name][:10])
                    raise ParameterError(f"The covariate {name!r} has no value {value!r} in the data: {listing}.")
                frame[name] = str(value)
            else:
                try:
                    frame[name] = float(value)
                except (TypeError, ValueError):
                    frame[name] = np.nan
                if not np.isfinite(frame[name].iloc[0]):
                    raise ParameterError(f"The covariate {name!r} is a number. Got {value!r}.")
        if not self.covers(frame).all():
            chosen = ", ".join(f"{name} = {value}" for name, value in values.items())
            raise ParameterError(
                f"The formula knows nothing of {chosen}: C() takes numbers that are in the data, splines end with them."
            )
        if len(values) == len(frame.columns):  # every row is the same
            single: Floats = self.matrix_of(frame.iloc[:1])[0]
            return single
        row: Floats = self.weights @ self.matrix_of(frame) / self.weights.sum()
        return row

    def slope(self, name: str, values: Mapping[str, Any]) -> Floats:
        """Change of the row per unit of a number, from its least to its largest value, at chosen values of others.

        Raises:
            ParameterError: it is not a number, or always the same.
        """
        if name not in self.frame or name in self.levels:
            raise ParameterError(f"A trend runs along a covariate that is a number. Got {name!r}.")
        low, high = float(self.frame[name].min()), float(self.frame[name].max())
        change: Floats = (self.row({**values, name: high}) - self.row({**values, name: low})) / (high - low)
        return change

    def covers(self, frame: pd.DataFrame) -> Flags:
        """Rows whose values the design knows: levels of factors, also of numbers in C(), and ranges of splines."""
        known = np.ones(len(frame), bool)
        for name, levels in self.levels.items():
            known &= frame[name].isin(levels).to_numpy(bool)
        for expression in (factor.expr for term in self.spec.formula for factor in term.factors):
            function = expression.partition("(")[0]
            if function in {"C", "bs", "cs"}:
                for name in _checked_names(expression, expression):
                    column = frame[name]
                    values = self.frame[name]
                    inside = column.isin(values) if function == "C" else column.between(values.min(), values.max())
                    known &= inside.to_numpy(bool)
        return known

    def matrix_of(self, frame: pd.DataFrame) -> Floats:
        """Rows of the design for further covariates.

        Raises:
            ParameterError: the formula cannot be applied, or a row is not finite.
        """
        try:
            with np.errstate(all="ignore"):
                matrix: Floats = np.asarray(self.spec.get_model_matrix(frame), np.float64)
        except Exception as problem:
            reason = f"The formula cannot be applied at these values: {_first_line(problem)}"
            raise ParameterError(reason) from problem
        if not np.isfinite(matrix).all():
            raise ParameterError("The formula is not finite at these values; choose values within the data.")
        return matrix


def complete_rows(frame: pd.DataFrame) -> Flags:
    """Rows without a missing covariate."""
    complete: Flags = frame.notna().all(axis=1).to_numpy(bool)
    return complete


def build_design(formula: Formula, frame: pd.DataFrame, weights: Floats) -> Design:
    """Build the design of documents whose covariates are complete.

    Args:
        formula: the formula.
        frame: covariates, one row per document.
        weights: occurrences of each document.

    Raises:
        ParameterError: a covariate is always the same, or the formula cannot be applied to them.
    """
    import formulaic

    for name in formula.variables:
        if frame[name].nunique() < 2:
            value = str(frame[name].iloc[0]) if len(frame) else "nothing"
            raise ParameterError(
                f"The covariate {name!r} is {value!r} in every document that has a target word; it cannot be compared."
            )
        if frame[name].dtype.kind not in "fiu" and frame[name].nunique() == len(frame) > 2:
            raise ParameterError(
                f"The covariate {name!r} has another value in each of the {len(frame):,} documents that have a target "
                "word; a factor groups documents, and a number is written in digits alone."
            )
    frame = frame[list(formula.variables)].reset_index(drop=True)
    context = {"log": np.log, "log10": np.log10, "log2": np.log2, "exp": np.exp}
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused below
            matrix = formulaic.model_matrix(formula.right, frame, context=context, na_action="ignore")
    except Exception as problem:
        raise ParameterError(f"The formula {formula.text!r} cannot be applied: {_first_line(problem)}") from problem
    values = np.asarray(matrix, np.float64)
    columns = tuple(term_name(str(column)) for column in matrix.columns)
    if columns[0] != INTERCEPT:
        raise ParameterError(
            f"The formula {formula.text!r} needs an intercept: terms are differences. Leave out the 0."
        )
    if not np.isfinite(values).all():
        column = columns[int(np.flatnonzero(~np.isfinite(values).all(axis=0))[0])]
        raise ParameterError(f"The term {column!r} of the formula is not finite in every document; check its function.")
    _check_independence(values, columns, formula.text)
    return Design(frame, np.asarray(weights, np.float64), values, columns, matrix.model_spec)


def _check_independence(values: Floats, columns: tuple[str, ...], text: str) -> None:
    """Refuse a column that those before it make up."""
    lengths = np.linalg.norm(values, axis=0)
    scaled = values / np.where(lengths > 0, lengths, 1.0)
    if len(columns) > len(values):
        raise ParameterError(
            f"The formula {text!r} makes {len(columns):,} columns of {len(values):,} documents that have a target "
            "word; join values of a factor into fewer groups."
        )
    # On the diagonal of R stands the length of what a column adds to those before it.
    added = np.abs(np.diag(np.linalg.qr(scaled, mode="r")))
    dependent = np.flatnonzero(added <= len(values) * np.finfo(float).eps)
    if not len(dependent):
        return
    index = int(dependent[0])
    shares = np.linalg.lstsq(scaled[:, :index], scaled[:, index], rcond=None)[0]
    others = [name for name, share in zip(columns, np.abs(shares), strict=False) if share > 1e-8]
    others = [name for name in others if name != INTERCEPT] or [INTERCEPT]
    raise ParameterError(
        f"The term {columns[index]!r} of the formula {text!r} is a linear combination of {words_text(others, 3)} in "
        "the documents that have a target word; leave one of them out."
    )

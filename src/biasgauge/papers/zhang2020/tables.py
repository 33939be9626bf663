"""What Zhang, Sneyd and Stevenson (2020) printed: Tables 1 to 6 and Figure 2, as rows.

A positive score is female in the paper. Its pairs are (female, male); ours are (male, female), which turns the sign of
every score and changes no kappa. Digits beyond those of the paper are from the output of the authors' notebook.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from biasgauge.papers.row import Row

MEASURES = {"dbwa": "DB/WA", "ripa": "RIPA", "nbm": "NBM"}
PAIRS = ("he~she", "his~her", "man~woman", "john~mary", "himself~herself", "son~daughter", "father~mother", "guy~gal",
         "boy~girl", "male~female")  # fmt: skip
MEAN = "mean"

TABLE_1 = {"dbwa": (-0.001, 0.053), "ripa": (0.024, 0.239), "nbm": (-0.038, 0.431)}
"""Mean and standard deviation of all scores."""
SD = {"dbwa": 0.0525342, "ripa": 0.2385657, "nbm": 0.4309060}
"""The standard deviations with the digits of the notebook."""
LIMITED, NEUTRAL, SCORES = 48_088, 26_145, 480_880
"""Frequent words that are scored, those that may be neighbors, and scores."""

TABLE_2 = {"dbwa": (0.45, 0.69, 25.9375), "ripa": (0.42, 0.66, 24.0625), "nbm": (0.29, 0.71, 14.6875)}
"""Fleiss' kappa, "magnitude", and the percentage of professions on which all pairs agree (the notebook's)."""

PROFESSIONS, WITH_ALL_FORMS = 320, 230
TRUTHS = {"bsri": 58, "animals": 26}


class Line(NamedTuple):
    """A line of Tables 3 to 6: what is compared with what, and kappas of the ten pairs and their mean."""

    table: int
    measure: str
    against: str
    kappas: Sequence[float]

    def row_id(self, pair: str) -> str:
        """Id of the row of one cell."""
        return f"table{self.table}.{self.measure}.{self.against}.{pair}"


LINES = (
    Line(3, "dbwa", "capitalized", (0.65, 0.53, 0.56, 0.32, 0.60, 0.28, 0.40, 0.03, 0.49, 0.38, 0.42)),
    Line(3, "ripa", "capitalized", (0.80, 0.56, 0.58, 0.32, 0.59, 0.27, 0.31, 0.04, 0.49, 0.35, 0.43)),
    Line(3, "nbm", "capitalized", (0.58, 0.65, 0.61, 0.19, 0.69, 0.18, 0.23, 0.10, 0.53, 0.18, 0.39)),
    Line(4, "dbwa", "plural", (0.50, 0.51, 0.53, 0.35, 0.47, 0.33, 0.42, 0.47, 0.52, 0.53, 0.46)),
    Line(4, "ripa", "plural", (0.57, 0.58, 0.63, 0.39, 0.53, 0.46, 0.44, 0.53, 0.53, 0.50, 0.52)),
    Line(4, "nbm", "plural", (0.69, 0.57, 0.72, 0.38, 0.65, 0.32, 0.50, 0.59, 0.60, 0.62, 0.56)),
    Line(4, "dbwa", "capitalized", (0.61, 0.66, 0.59, 0.42, 0.67, 0.79, 0.61, 0.50, 0.50, 0.44, 0.58)),
    Line(4, "ripa", "capitalized", (0.60, 0.60, 0.54, 0.36, 0.59, 0.69, 0.61, 0.54, 0.53, 0.45, 0.55)),
    Line(4, "nbm", "capitalized", (0.77, 0.63, 0.68, 0.54, 0.74, 0.68, 0.61, 0.71, 0.65, 0.63, 0.66)),
    Line(4, "dbwa", "upper", (0.19, 0.35, 0.43, 0.17, 0.29, 0.48, 0.18, 0.20, 0.34, 0.30, 0.29)),
    Line(4, "ripa", "upper", (0.35, 0.38, 0.40, 0.16, 0.35, 0.53, 0.22, 0.20, 0.30, 0.27, 0.32)),
    Line(4, "nbm", "upper", (0.50, 0.52, 0.49, 0.25, 0.52, 0.40, 0.22, 0.46, 0.54, 0.13, 0.40)),
    Line(5, "dbwa", "bsri", (0.35, 0.37, 0.07, -0.03, 0.14, 0.03, 0.45, 0.39, -0.08, 0.01, 0.17)),
    Line(5, "ripa", "bsri", (0.44, 0.40, 0.09, -0.08, 0.12, 0.16, 0.45, 0.39, -0.08, 0.01, 0.19)),
    Line(5, "nbm", "bsri", (0.27, 0.32, -0.01, 0.01, 0.27, 0.17, 0.46, 0.14, 0.18, -0.04, 0.18)),
    Line(5, "dbwa", "animals", (0.54, 0.38, 0.54, 0.54, 0.54, 0.31, 0.23, 0.46, 0.54, 0.08, 0.42)),
    Line(5, "ripa", "animals", (0.31, 0.38, 0.31, 0.46, 0.46, 0.23, 0.23, 0.54, 0.46, 0.08, 0.35)),
    Line(5, "nbm", "animals", (0.31, 0.08, 0.15, 0.15, 0.15, 0.00, 0.08, 0.46, 0.15, 0.00, 0.15)),
    Line(6, "dbwa", "ripa", (0.69, 0.86, 0.64, 0.90, 0.82, 0.79, 0.92, 0.85, 0.89, 0.96, 0.83)),
    Line(6, "dbwa", "nbm", (0.54, 0.37, 0.62, 0.44, 0.55, 0.54, 0.46, 0.34, 0.48, 0.47, 0.48)),
    Line(6, "ripa", "nbm", (0.52, 0.42, 0.66, 0.41, 0.57, 0.57, 0.47, 0.29, 0.47, 0.50, 0.49)),
)  # fmt: skip

FIGURE_2 = dict(
    zip(PAIRS, (0.9669, 0.9468, 0.9118, 0.9671, 0.9365, 0.8080, 0.9595, 0.9091, 0.9408, 0.9776), strict=True)
)
"""Pearson's r of likeness and agreement of each pair with the others."""

_TWO_DECIMALS, _THREE_DECIMALS = 0.005, 0.0005
_COMPARED = {
    3: "the pair and its capitalized form",
    4: "{measure} of a profession and of its {against} form",
    5: "{measure} and the known gender of the words ({against})",
    6: "{measure} and {against}",
}


def theirs(pair: str) -> str:
    """The pair as the paper writes it, (she, he) for he~she."""
    male, female = pair.split("~")
    return f"({female}, {male})"


def kappa_rows(table: int) -> tuple[Row, ...]:
    """The rows of one of Tables 3 to 6."""
    return tuple(row for line in LINES if line.table == table for row in _of_line(line))


def _of_line(line: Line) -> Iterator[Row]:
    against = MEASURES.get(line.against, line.against)
    compared = _COMPARED[line.table].format(measure=MEASURES[line.measure], against=against)
    for pair, kappa in zip((*PAIRS, MEAN), line.kappas, strict=True):
        of = "mean over the ten pairs" if pair == MEAN else theirs(pair)
        by = f" by {MEASURES[line.measure]}" if line.table == 3 else ""
        yield Row(
            line.row_id(pair),
            f"Cohen's κ of {compared}{by}, {of}",
            f"Table {line.table}",
            kappa,
            tolerance=_TWO_DECIMALS,
        )


def table_1_rows() -> tuple[Row, ...]:
    """Mean and standard deviation by measure, and how many words they rest on."""
    rows = [
        Row(
            f"table1.{measure}.{name}",
            f"{statistic} of the {MEASURES[measure]} of frequent words on ten pairs; + is female",
            "Table 1",
            value,
            tolerance=_THREE_DECIMALS,
        )
        for measure, values in TABLE_1.items()
        for name, statistic, value in zip(("mean", "sd"), ("mean", "standard deviation"), values, strict=True)
    ]
    counts = (
        ("words", "frequent words without digits and signs", "§5", LIMITED),
        ("scores", "scores by each measure", "§5", SCORES),
        ("neutral", "gender-neutral words that may be neighbors", "§4", NEUTRAL),
    )
    return (*rows, *(Row(f"table1.{name}", what, where, count, tolerance=0) for name, what, where, count in counts))


def table_2_rows() -> tuple[Row, ...]:
    """Agreement over pairs, magnitude, and professions on which all pairs agree."""
    rows = []
    for measure, (kappa, magnitude, unanimous) in TABLE_2.items():
        name = MEASURES[measure]
        rows += [
            Row(f"table2.{measure}.kappa", f"Fleiss' κ of {name} over the ten pairs", "Table 2", kappa,
                tolerance=_TWO_DECIMALS),
            Row(f"table2.{measure}.magnitude", f"share of changes of the pair that move {name} by one sd", "Table 2",
                magnitude, tolerance=_TWO_DECIMALS),
            Row(f"table2.{measure}.unanimous", f"% of professions on whose {name} direction all pairs agree",
                "§6; digits of the notebook", unanimous, tolerance=0.00005),
        ]  # fmt: skip
    return tuple(rows)


def figure_2_rows() -> tuple[Row, ...]:
    """Likeness of difference vectors, and how it goes with agreement."""
    rows = [
        Row(f"figure2.{pair}", f"Pearson's r of the likeness of {theirs(pair)} to the other pairs and its κ with them",
            "Figure 2", r, tolerance=0.00005)
        for pair, r in FIGURE_2.items()
    ]  # fmt: skip
    return (
        *rows,
        Row("figure2.largest_p", "largest p of these correlations", "§7", 0.005, tolerance=_THREE_DECIMALS),
        Row("figure2.mean_cosine", "mean cosine of two pairs' difference vectors", "§7", 0.5, tolerance=0.05),
        Row("figure2.random_mean", "mean cosine of two random difference vectors", "footnote 5", 0.00,
            tolerance=_TWO_DECIMALS),
        Row("figure2.random_sd", "its standard deviation", "footnote 5", 0.09, tolerance=_TWO_DECIMALS),
    )  # fmt: skip

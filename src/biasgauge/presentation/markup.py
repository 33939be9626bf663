"""Summaries as text for other programs: Markdown, LaTeX, CSV, plain text."""

from __future__ import annotations

import re
from io import StringIO
from math import isfinite
from typing import TYPE_CHECKING

from biasgauge.presentation.tables import csv_text
from biasgauge.presentation.text import NUMERIC, cell_text
from biasgauge.wording import figures_text

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.results.summary import Summary, Table

# ruff: noqa: RUF001 - letters that look like others are meant
_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$", "…": r"\dots{}", "×": r"$\times$",
    "<": "$<$", ">": "$>$", "→": r"$\rightarrow$", "≤": r"$\leq$", "≥": r"$\geq$", "±": r"$\pm$", "≈": r"$\approx$",
    "·": r"$\cdot$", "½": r"$\frac{1}{2}$", "²": "$^2$", "∞": r"$\infty$", "–": "--", "—": "---", "\u00a0": "~",
    "\u2009": r"\,", "“": "``", "”": "''", "‘": "`", "’": "'", "κ": r"$\kappa$", "ρ": r"$\rho$", "α": r"$\alpha$",
    "Φ": r"$\Phi$", "φ": r"$\varphi$", "σ": r"$\sigma$", "χ": r"$\chi$", "β": r"$\beta$", "λ": r"$\lambda$",
}  # fmt: skip
"""What LaTeX would take for a command, or has no letter for."""


_ONE_LINE = 40
"""Characters of a cell in LaTeX beyond which its lines are broken."""


def markdown(summary: Summary, depth: int = 1) -> str:
    """The whole summary as Markdown."""
    lines = [f"{'#' * min(depth, 6)} {summary.title}", ""]
    if summary.headline:
        lines += [f"**{_escaped(summary.headline)}**", ""]
    lines += [f"> {_escaped(warning)}\n" for warning in (*filter(None, [summary.caveat]), *summary.warnings)]
    lines += [f"- {tile.value} {_escaped(tile.label)}" for tile in summary.tiles] + [""] * bool(summary.tiles)
    if summary.forest is not None:
        lines += [markdown_table(summary.forest.table()), ""]
    if summary.sentences:
        lines += [*(f"- {_escaped(sentence)}" for sentence in summary.sentences), ""]
    for table in summary.tables:
        lines += [markdown_table(table), ""]
    for quote in summary.quotes:
        lines += [f"{_escaped(quote.title)}: {_escaped(quote.text)} *{_escaped(quote.caveat)}*", ""]
    for listing in summary.listings:
        lines += [f"{_escaped(listing.title)}:", "", *(f"    {line}" for line in listing.text.split("\n")), ""]
    lines += [markdown(part, depth + 1) for part in summary.parts]
    return "\n".join(lines)


def markdown_table(table: Table) -> str:
    """One table with its title above and its note below."""
    rules = ["---:" if column.kind in NUMERIC else "---" for column in table.columns]
    rows = [[column.name for column in table.columns], rules]
    rows += [[_escaped(text) for text in row] for row in _texts(table)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(
        [*([f"*{table.title}*", ""] if table.title else []), *lines, *(["", table.note] if table.note else [])]
    )


def latex(summary: Summary, frame: pd.DataFrame | None = None) -> str:
    """All tables of a summary as LaTeX (package booktabs); of a single row of numbers, a table of its own first."""
    tables = [latex_table(table) for table in summary.all_tables() if table.rows]
    if frame is not None and len(frame) == 1:
        tables.insert(0, _latex_numbers(summary.title, frame))
    return "\n\n".join(tables) + "\n"


def _latex_numbers(title: str, frame: pd.DataFrame) -> str:
    """The numbers of a result that is one row, a line each."""
    cells = {str(name): values.iloc[0] for name, values in frame.items() if values.dtype.kind in "if"}
    rows = [
        f"{_tex(name.replace('_', ' '))} & {_tex(figures_text(value, 4))} \\\\"
        for name, value in cells.items()
        if isfinite(value)
    ]
    return "\n".join([
        r"\begin{table}", r"\centering", rf"\caption{{{_tex(title)}}}", r"\label{tab:numbers}", r"\begin{tabular}{lr}",
        r"\toprule", *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ])  # fmt: skip


def latex_table(table: Table) -> str:
    """One table for a paper: booktabs rules, title as caption, note below."""
    texts = _texts(table)
    longest = [max((len(row[at]) for row in texts), default=0) for at in range(len(table.columns))]
    columns = "".join(
        "r" if column.kind in NUMERIC else "l" if length <= _ONE_LINE else r"p{5cm}"
        for column, length in zip(table.columns, longest, strict=True)
    )
    rows = [" & ".join(_tex(text) for text in row) + r" \\" for row in texts]
    head = " & ".join(_tex(column.name) for column in table.columns) + r" \\"
    note = [rf"\par\smallskip {_tex(table.note)}"] if table.note else []
    return "\n".join([
        r"\begin{table}", r"\centering",
        rf"\caption{{{_tex(table.title or table.name)}}}", rf"\label{{tab:{_slug(table.name)}}}",
        rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}",
        *note, r"\end{table}",
    ])  # fmt: skip


def table_csv(table: Table) -> str:
    """One table as CSV: numbers as they are, an estimate as its value, ends and reason in columns of their own."""
    import pandas as pd

    rows = []
    for row in table.rows:
        found: dict[str, object] = {}
        for value, column in zip(row, table.columns, strict=True):
            if column.kind == "estimate":
                for name in ("value", "low", "high", "reason"):
                    key = column.name if name == "value" else f"{column.name} {name}"
                    found[key] = None if value is None else getattr(value, name)
            else:
                plain = getattr(value, "value", value)
                found[column.name] = cell_text(plain, column) if column.kind == "words" and plain is not None else plain
        rows.append(found)
    return csv_text(pd.DataFrame(rows))


def plain_text(summary: Summary, width: int = 100) -> str:
    """What the terminal would show, without colors."""
    from rich.console import Console

    from biasgauge.presentation.terminal import print_summary

    held = StringIO()
    print_summary(Console(file=held, width=width, highlight=False, emoji=False, color_system=None), summary)
    return held.getvalue()


def _texts(table: Table) -> list[list[str]]:
    return [[cell_text(value, column) for value, column in zip(row, table.columns, strict=True)] for row in table.rows]


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_|<>])", r"\\\1", text)


def _slug(name: str) -> str:
    """A name that a label of LaTeX can hold."""
    return re.sub(r"[^\w.:-]+", "-", name, flags=re.ASCII).strip("-")


def _tex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)

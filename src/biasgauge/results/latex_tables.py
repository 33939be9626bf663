"""Tables for LaTeX: booktabs rules, and text that any engine typesets, whatever words a list holds."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import isfinite
from typing import TYPE_CHECKING

from biasgauge.results.wording import NUMERIC, figures_text, table_texts

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.results.summary import Summary
    from biasgauge.results.tables import Table

# ruff: noqa: RUF001 - letters that look like others are meant
_COMMANDS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "−": "$-$", "…": r"\dots{}", "×": r"$\times$",
    "<": "$<$", ">": "$>$", "→": r"$\rightarrow$", "≤": r"$\leq$", "≥": r"$\geq$", "±": r"$\pm$", "≈": r"$\approx$",
    "·": r"$\cdot$", "½": r"$\frac{1}{2}$", "²": "$^2$", "∞": r"$\infty$", "–": "--", "—": "---", "\u00a0": "~",
    "\u2009": r"\,", "“": "``", "”": "''", "‘": "`", "’": "'", "κ": r"$\kappa$", "ρ": r"$\rho$", "α": r"$\alpha$",
    "Φ": r"$\Phi$", "φ": r"$\varphi$", "σ": r"$\sigma$", "χ": r"$\chi$", "β": r"$\beta$", "λ": r"$\lambda$",
    "ω": r"$\omega$", "|": r"$|$", '"': "''", "←": r"$\leftarrow$", "≠": r"$\neq$", "√": r"$\surd$",
}  # fmt: skip
"""What LaTeX would take for a command, or has no letter for."""
_LETTERS = frozenset("ßæÆøØœŒłŁ")
"""Letters beyond ASCII that are no ASCII letter with an accent, and that every engine has."""
_ACCENTS = frozenset("\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327")
"""Combining accents that every engine sets."""
_ONE_LINE = 40
"""Characters of a cell beyond which its lines are broken."""
_LONG_CELLS = 0.6
"""Share of the width of a line that columns with such cells have together."""
_ONE_PAGE = 40
"""Rows beyond which a table goes over several pages."""


def latex(summary: Summary, frame: pd.DataFrame | None = None) -> str:
    """All tables of a summary (packages booktabs and longtable); of a result that is one row, its numbers first."""
    tables = [latex_table(table) for table in _numbered(table for table in _captioned(summary) if table.rows)]
    if frame is not None and len(frame) == 1:
        tables.insert(0, _numbers(summary.title, frame))
    return "\n\n".join(tables) + "\n"


def _captioned(summary: Summary, section: str = "") -> Iterator[Table]:
    """Yield all tables of a summary; the title of the section that a table stands in begins its caption."""
    forest = () if summary.forest is None else (summary.forest.table(),)
    for table in (*forest, *summary.tables):
        yield replace(table, title=_caption(section, table.title) or summary.title)
    for part in summary.parts:
        yield from _captioned(part, part.title)


def _numbered(tables: Iterable[Table]) -> Iterator[Table]:
    """Yield tables with captions and labels that no other has: the second of a kind is (2)."""
    titles, names = Counter[str](), Counter[str]()
    for table in tables:
        titles[table.title] += 1
        names[table.name] += 1
        number, place = titles[table.title], names[table.name]
        title = f"{table.title} ({number})" if number > 1 else table.title
        yield replace(table, title=title, name=f"{table.name}-{place}" if place > 1 else table.name)


def _caption(section: str, title: str) -> str:
    """Title of a section and of a table in it, each once."""
    if not section or title[: len(section)] == section:
        return title
    end = "" if section[-1] in ".?!" else "."
    return f"{section}{end} {title}" if title else section


def latex_table(table: Table) -> str:
    """One table for a paper: booktabs rules, title as caption, note below; over several pages where it is long."""
    texts = table_texts(table)
    columns = _columns(table, texts)
    caption = rf"\caption{{{escaped(table.title or table.name)}}}", rf"\label{{tab:{_slug(table.name)}}}"
    head = " & ".join(escaped(column.name) for column in table.columns) + r" \\"
    rows = [" & ".join(escaped(text) for text in row) + r" \\" for row in texts]
    note = [rf"\par\smallskip {escaped(table.note)}"] if table.note else []
    if len(rows) > _ONE_PAGE:
        return "\n".join([
            rf"{{\footnotesize\begin{{longtable}}{{{columns}}}", *caption, r"\\ \toprule", head,
            r"\midrule\endhead", r"\bottomrule\endfoot", *rows, r"\end{longtable}", *note, "}",
        ])  # fmt: skip
    return "\n".join([
        r"\begin{table}", r"\centering\footnotesize", *caption,
        rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule", r"\end{tabular}",
        *note, r"\end{table}",
    ])  # fmt: skip


def escaped(text: str) -> str:
    """Text that every engine of LaTeX typesets as it stands; letters of other scripts by their numbers."""
    return "".join(map(_character, text))


def _character(character: str) -> str:
    if character in _COMMANDS:
        return _COMMANDS[character]
    if (character.isascii() and (character.isprintable() or character.isspace())) or character in _LETTERS:
        return character
    base, *accents = list(unicodedata.normalize("NFD", character))
    if base.isascii() and len(accents) == 1 and accents[0] in _ACCENTS:
        return character
    return rf"\texttt{{U+{ord(character):04X}}}"


def _columns(table: Table, texts: list[list[str]]) -> str:
    """Column specification: numbers on the right, long text broken into lines."""
    longest = [max((len(row[at]) for row in texts), default=0) for at in range(len(table.columns))]
    long = [
        length > _ONE_LINE and column.kind not in NUMERIC for column, length in zip(table.columns, longest, strict=True)
    ]
    width = _LONG_CELLS / max(sum(long), 1)
    paragraph = rf"p{{{width:.2g}\linewidth}}"
    return "".join(
        "r" if column.kind in NUMERIC else paragraph if broken else "l"
        for column, broken in zip(table.columns, long, strict=True)
    )


def _numbers(title: str, frame: pd.DataFrame) -> str:
    """The numbers of a result that is one row, a line each."""
    cells = {str(name): values.iloc[0] for name, values in frame.items() if values.dtype.kind in "if"}
    rows = [
        f"{escaped(name.replace('_', ' '))} & {escaped(figures_text(value, 4))} \\\\"
        for name, value in cells.items()
        if isfinite(value)
    ]
    return "\n".join([
        r"\begin{table}", r"\centering", rf"\caption{{{escaped(title)}}}", r"\label{tab:numbers}",
        r"\begin{tabular}{lr}", r"\toprule", *rows, r"\bottomrule", r"\end{tabular}", r"\end{table}",
    ])  # fmt: skip


def _slug(name: str) -> str:
    """A name that a label can hold."""
    return re.sub(r"[^\w.:-]+", "-", name, flags=re.ASCII).strip("-")

"""Terms of the field in one line each, for whoever meets them first here: in a page, a terminal, a help text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from textwrap import wrap
from typing import TYPE_CHECKING

from biasgauge.results.wording import cell_text

if TYPE_CHECKING:
    from biasgauge.results.summary import Summary
    from biasgauge.results.tables import Table

_ROWS = 60
"""Rows of a table in which terms are looked for."""
_IN_WORDS = ("text", "name", "lexicon", "mark")


@dataclass(frozen=True)
class Term:
    """A term that a reader may not know.

    Attributes:
        name: as it is written.
        line: what it means, in one line.
        page: where the documentation says more: a file of docs/, and a heading of it.
        pattern: how it is met in a text; by default its name as a word of its own.
    """

    name: str
    line: str
    page: str
    pattern: str = ""

    @property
    def key(self) -> str:
        """Its name in letters that an address can hold."""
        return KEYS.get(self.name) or re.sub(r"\W+", "-", self.name.lower())

    def met(self, text: str) -> bool:
        """Return whether a text mentions it."""
        return re.search(self.pattern or rf"(?<!\w){re.escape(self.name)}(?!\w)", text) is not None


KEYS = {"Φ": "phi", "κ": "kappa"}
TERMS = (
    Term(
        "contrast",
        "how much closer the first list of words is to the first attributes than to the second, less the same for the "
        "second list; 0: no difference",
        "measures/verdicts.md#what-is-measured-the-contrast",
        r"\b[Cc]ontrasts?\b",
    ),
    Term(
        "replicate",
        "the same model trained again, from another random seed or another sample of the text",
        "text/replicates.md",
        r"\b[Rr]eplicates?\b",
    ),
    Term(
        "WEAT",
        "Word Embedding Association Test: compares two word lists in their association with two attribute lists",
        "measures/association.md#weat",
        r"\bX?WEAT\b",
    ),
    Term(
        "MAC",
        "mean cosine distance of target words from attributes; 1: unrelated, less: closer",
        "measures/association.md#mac",
    ),
    Term(
        "DB/WA",
        "direct bias, or word association: cosine of a word with the first word of a pair less that with the second",
        "measures/scores.md#measures",
    ),
    Term(
        "RIPA",
        "relational inner product association: length of a word's vector along the direction of a pair; 0: none",
        "measures/scores.md#measures",
    ),
    Term(
        "NBM",
        "neighborhood bias metric: among a word's nearest neighbors, the share nearer to the first word of a pair less "
        "the share nearer to the second",
        "measures/scores.md#measures",
    ),
    Term(
        "ICC",
        "intraclass correlation: share of the variance of scores that lies between words; 1: no measurement error",
        "reliability/reliability.md#estimators",
        r"\bICC\b",
    ),
    Term(
        "Φ",
        "dependability: reliability of a mean score over other pairs, replicates and measures; 1: perfect",
        "reliability/reliability.md#estimators",
    ),
    Term(
        "κ",
        "kappa: agreement beyond chance; 0: chance level, 1: perfect agreement",
        "reliability/robustness.md",
        r"κ|\b[Kk]appa\b",
    ),
    Term(
        "ROPE",
        "region of practical equivalence: differences too small to matter",
        "reliability/bayes.md#the-answers",
        r"\bROPE\b",
    ),
    Term(
        "HPDI",
        "highest posterior density interval: the narrowest interval that holds the stated probability",
        "reliability/bayes.md",
    ),
)


def explained(names: Iterable[str], width: int = 78) -> str:
    """Some terms as the end of a help text: a line each, broken where it is too long."""
    by_name = {term.name: term for term in TERMS}
    lines = [
        line
        for name in names
        for line in wrap(
            f"{name}: {by_name[name].line}",
            width,
            initial_indent="  ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
    ]
    return "\nTerms:\n" + "\n".join(lines) + "\n" if lines else ""


def terms_in(texts: Iterable[str]) -> tuple[Term, ...]:
    """The terms that some texts mention."""
    text = "\n".join(texts)
    return tuple(term for term in TERMS if term.met(text))


def first_met(texts: Iterable[str], explained: set[str]) -> tuple[Term, ...]:
    """The terms of some texts that are not yet known; from then on they are."""
    new = tuple(term for term in terms_in(texts) if term.name not in explained)
    explained.update(term.name for term in new)
    return new


def texts_of(summary: Summary, *, folded: bool = True) -> Iterator[str]:
    """Everything that a summary says by itself, without its parts; `folded`: also what is left to a page."""
    yield from (summary.title, summary.question, summary.headline, *summary.sentences, *summary.warnings)
    if folded:
        yield from (summary.about, summary.caveat, *summary.more)
        for chart in summary.charts:
            yield from (chart.title, chart.remark)
        for drawing in summary.drawings:
            yield from (drawing.title, drawing.remark, drawing.axis)
    if summary.forest is not None:
        yield from (summary.forest.remark, summary.forest.axis)
        for row in summary.forest.rows:
            yield from (row.claim, row.detail)
    for table in summary.tables:
        if folded or not table.folded:
            yield from _texts_of_table(table)


def printed_texts(summary: Summary) -> Iterator[str]:
    """Texts that a terminal prints of a summary and its parts."""
    yield from texts_of(summary, folded=False)
    for section in summary.other_parts:
        yield from printed_texts(section)


def _texts_of_table(table: Table) -> Iterator[str]:
    yield from (table.title, table.note)
    for column in table.columns:
        yield from (column.name, column.about)
    for row in islice(table.rows, _ROWS):
        for value, column in zip(row, table.columns, strict=True):
            if value is not None and column.kind in _IN_WORDS:
                yield cell_text(value, column)

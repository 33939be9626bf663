"""Terms of the field in one line each, for whoever meets them first here: in a page, a terminal, a help text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from textwrap import wrap


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
        "verdicts.md#what-is-measured-the-contrast",
        r"\b[Cc]ontrasts?\b",
    ),
    Term(
        "replicate",
        "the same model trained again, from another random seed or another sample of the text",
        "replicates.md",
        r"\b[Rr]eplicates?\b",
    ),
    Term(
        "WEAT",
        "Word Embedding Association Test: do two word lists differ in their association with two attribute lists?",
        "association.md#weat",
        r"\bX?WEAT\b",
    ),
    Term(
        "MAC", "mean cosine distance of target words from attributes; 1: unrelated, less: closer", "association.md#mac"
    ),
    Term(
        "DB/WA",
        "direct bias, or word association: cosine of a word with the first word of a pair less that with the second",
        "scores.md#measures",
    ),
    Term(
        "RIPA",
        "relational inner product association: length of a word's vector along the direction of a pair; 0: none",
        "scores.md#measures",
    ),
    Term(
        "NBM",
        "neighborhood bias metric: among a word's nearest neighbors, the share nearer to the first word of a pair less "
        "the share nearer to the second",
        "scores.md#measures",
    ),
    Term(
        "ICC",
        "intraclass correlation: share of the differences between words that is not noise; 1: no noise",
        "reliability.md#the-estimators",
        r"\bICC\b",
    ),
    Term(
        "Φ",
        "dependability: how far a mean score stays where it is with other pairs, replicates and measures; 1: fully",
        "reliability.md#the-estimators",
    ),
    Term(
        "κ",
        "kappa: agreement beyond what chance would give; 0: as by chance, 1: full agreement",
        "robustness.md",
        r"κ|\b[Kk]appa\b",
    ),
    Term(
        "ROPE", "region of practical equivalence: differences too small to matter", "bayes.md#the-answers", r"\bROPE\b"
    ),
    Term("HPDI", "highest posterior density interval: the narrowest that holds so much probability", "bayes.md"),
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

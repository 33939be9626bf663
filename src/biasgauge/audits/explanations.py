"""Explanations of verdicts and of the rules that they rest on: one text for terminal, page and documentation.

`explanations.toml` holds the texts; `python scripts/make_explanations.py` writes them into the documentation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal

from biasgauge import registry
from biasgauge.audits.parts.extrinsic import TRACKING
from biasgauge.audits.verdicts import DECISIONS, Verdict
from biasgauge.core import JsonMapping, Record, did_you_mean
from biasgauge.errors import ParameterError
from biasgauge.io import read_toml
from biasgauge.results import Column, RecordTable, Result, Summary, Table

SECTION = "explanations"
"""Name of the section of a page that has them."""
TEXTS = Path(__file__).with_name("explanations.toml")
"""The texts that ship."""


@dataclass(frozen=True)
class VerdictExplanation(Record):
    """Meaning of one verdict.

    Attributes:
        id: the verdict, as it stands everywhere.
        when: the evidence that leads to it.
        means: what it says about the question.
        write: what may be written.
        next: what to do.
    """

    kind: ClassVar[str] = "verdict"

    id: str
    when: str
    means: str
    write: str
    next: str

    @property
    def name(self) -> str:
        """The verdict."""
        return self.id

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything about it, a sentence each."""
        return (f"It means: {self.means}.", f"You may write: {self.write}.", self.next)

    @property
    def headline(self) -> str:
        """When it is given."""
        return f"The verdict {self.id} is given when {self.when}."


@dataclass(frozen=True)
class RuleExplanation(Record):
    """Question of one rule.

    Attributes:
        id: name of the evidence, with hyphens.
        of: the kinds of verdict that it belongs to.
        passes: when it passes.
        points: when it passes for points, where that is something else.
        protects: what it protects against.
        otherwise: the verdict where it does not pass.
        do: what to do then.
    """

    kind: ClassVar[str] = "rule"

    id: str
    of: str
    passes: str
    protects: str
    otherwise: str = ""
    do: str = ""
    points: str = ""

    @property
    def whole(self) -> str:
        """When it passes, for points too."""
        return f"{self.passes}. Of points: {self.points}" if self.points else self.passes

    @property
    def name(self) -> str:
        """Name of the evidence, as pages and JSON have it."""
        return self.id.replace("-", " ").replace("held out", "held-out")

    @property
    def sentences(self) -> tuple[str, ...]:
        """Everything about it, a sentence each."""
        texts = (f"It protects against: {self.protects}.", f"Otherwise: {self.otherwise}.", self.do)
        return tuple(text for text, given in zip(texts, (self.protects, self.otherwise, self.do), strict=True) if given)

    @property
    def headline(self) -> str:
        """When it passes."""
        return f"The rule {self.name!r} (of {self.of}) passes when: {self.whole}."


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(Result):
    """One verdict or one rule, explained.

    Attributes:
        id: stable id: a verdict, or the name of a rule with hyphens.
        kind: "verdict" or "rule".
        text: what it means and what to do.
    """

    id: str
    kind: Literal["verdict", "rule"]
    text: VerdictExplanation | RuleExplanation

    def summary(self) -> Summary:
        """The page of it."""
        return Summary(title=self.text.name, headline=self.text.headline, sentences=self.text.sentences, name=self.id)


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(Result):
    """Every verdict and rule, by the ids that `explain` takes."""

    tables: ClassVar[tuple[str, ...]] = ("verdicts", "rules")
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable("verdicts", "Verdicts", ("id", "when")),
        RecordTable("rules", "Rules", ("id", "of", Column("protects against", source="protects"))),
    )

    verdicts: tuple[VerdictExplanation, ...]
    rules: tuple[RuleExplanation, ...]

    def _title(self) -> str:
        return "Verdicts and rules"

    def _headline(self) -> str:
        return f"{len(self.verdicts)} verdicts, and {len(self.rules)} rules that they rest on"


def _shipped() -> Explanations:
    tables = read_toml(TEXTS)
    return Explanations(
        tuple(VerdictExplanation(**texts) for texts in tables["verdicts"]),
        tuple(RuleExplanation(**texts) for texts in tables["rules"]),
    )


SHIPPED = _shipped()
"""Those of this package."""


def rule_id(rule: str) -> str:
    """Return the id of a rule: the name of its evidence, in small letters with hyphens."""
    return rule.strip().lower().replace(" ", "-").replace("_", "-")


def explanations() -> Explanations:
    """Return every verdict and rule, those of installed packages included."""
    known = {rule.id for rule in SHIPPED.rules}
    added = (registry.get("verdict_rule", name) for name in registry.added("verdict_rule"))
    extra = (RuleExplanation(rule_id(rule.name), "an audit", rule.about, "") for rule in added)
    return Explanations(SHIPPED.verdicts, (*SHIPPED.rules, *(rule for rule in extra if rule.id not in known)))


def explain(name: str | None = None) -> Explanation | Explanations:
    """Explain a verdict, or a rule that verdicts rest on.

    Args:
        name: a verdict ("inconclusive"), or a rule as pages and JSON name it ("word frequency", "word-frequency");
            None: all of them.

    Raises:
        ParameterError: there is no such verdict or rule.
    """
    everything = explanations()
    if name is None:
        return everything
    texts: dict[str, VerdictExplanation | RuleExplanation] = {text.id: text for text in everything.rules}
    texts |= {text.id: text for text in everything.verdicts}
    key = rule_id(name)
    if key not in texts:
        hint = did_you_mean(key, texts) or "; `biasgauge explain` lists them"
        raise ParameterError(f"There is no verdict or rule called {name!r}{hint}")
    text = texts[key]
    return Explanation(key, "verdict" if key in DECISIONS else "rule", text)


def explanation_section(verdicts: Iterable[Verdict]) -> Summary | None:
    """Section of a page on the verdicts and rules that it has; None without any."""
    decisions, rules, points = set[str](), set[str](), False
    for verdict in verdicts:
        points |= verdict.test == TRACKING
        decisions.add(verdict.decision)
        rules |= {rule_id(piece.rule) for piece in verdict.evidence}
    if not decisions:
        return None
    found = explanations()
    met = [text for text in found.verdicts if text.id in decisions]
    asked = [text for text in found.rules if text.id in rules]
    return Summary(
        title="Definitions of verdicts and rules",
        headline="Definitions of the verdicts and rules on this page; biasgauge explain NAME prints each of them",
        name=SECTION,
        tables=(
            Table.of("verdict-words", "Verdicts", ("verdict", "when", "you may write"),
                     [(text.id, text.when, text.write) for text in met]),
            Table.of("rule-words", "Rules", ("rule", "passes when", "protects against"),
                     [(text.name, text.whole if points else text.passes, text.protects) for text in asked]),
        ),
        appendix=True,
    )  # fmt: skip


def documentation_tables() -> dict[str, str]:
    """Tables of the documentation in Markdown, by their names."""
    found = SHIPPED
    main = [rule for rule in found.rules if rule.of.startswith("an audit")]
    points = [rule for rule in found.rules if rule.of.startswith("points")]
    by_kind: JsonMapping = {"rules": main, "points": points}
    tables = {
        name: _markdown(
            ("evidence", "passes when", "protects against"),
            [(f"`{rule.name}`", rule.whole, rule.protects) for rule in rules],
        )
        for name, rules in by_kind.items()
    }
    tables["verdicts"] = _markdown(("verdict", "when"), [(f"`{text.id}`", text.when) for text in found.verdicts])
    tables["meanings"] = _markdown(
        ("verdict", "means", "you may write"), [(f"`{text.id}`", text.means, text.write) for text in found.verdicts]
    )
    return tables


def _markdown(heads: Iterable[str], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [tuple(heads)]
    lines += [("---",) * len(lines[0]), *rows]
    return "\n".join(f"| {' | '.join(line)} |" if line[0] != "---" else f"|{'|'.join(line)}|" for line in lines)

"""Are the word lists fit to measure anything with these vectors: a card for each pair of sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.report.figures import figures
from biasgauge.report.page.section import Cell, Section, Table, between, cell, charts_of, number, undefined

if TYPE_CHECKING:
    from biasgauge.audit import AuditResult
    from biasgauge.seeds import FitnessCard
    from biasgauge.seeds.intervals import Measured

ABOUT = (
    "Every pair of word sets that a test or a list of pairs sets against each other, and pairings of the seed bank "
    "(after Antoniak & Mimno 2021 and its reproduction of 2022). Coherence is the distance of the two sets' mean ranks "
    "when the whole vocabulary is ranked along their subspace, as a share of the vocabulary; held out, each word is "
    "ranked along the subspace of the others, so that 0 means that the sets are not told apart."
)
COLUMNS = ("Sets", "Verdict", "Held out", "95 % interval", "Coherence", "Similarity", "First component")
MARKS = {"no objection": "good", "doubtful": "part", "unfit": "bad"}
CHARTS = ("coherence", "coherence_similarity", "explained_variance")


def seeds_section(result: AuditResult) -> Section | None:
    """Cards as a table, coherence against similarity."""
    if result.seeds is None:
        return None
    cards = sorted(result.seeds.cards, key=lambda card: list(MARKS).index(card.verdict), reverse=True)
    return Section(
        title="Are the word lists fit for it?",
        about=ABOUT,
        sentences=result.seeds.verdicts,
        charts=charts_of("seeds", figures(result.seeds), only=CHARTS),
        tables=(
            Table(
                "Each pair of sets with what to beware of; first component: its share of the variance of the pairs",
                COLUMNS,
                tuple(_row(card) for card in cards),
                frozenset(COLUMNS[2:7]),
            ),
        ),
    )


def _row(card: FitnessCard) -> tuple[Cell, ...]:
    first, second, paper = card.short_names
    told = "; ".join(one.sentence for one in card.advice)
    start = (
        cell(f"{first} – {second}{f', {paper}' if paper else ''}", told),
        cell(card.verdict, mark=MARKS[card.verdict]),
    )
    if card.coherence.value is None:
        return (*start, *undefined(None if told else card.coherence.reason, 5))
    return (
        *start,
        _number(card.held_out),
        _interval(card.held_out),
        _number(card.coherence),
        _number(card.similarity),
        _number(card.pairing.first),
    )


def _number(one: Measured) -> Cell:
    return cell(None, one.reason or "") if one.value is None else number(one.value)


def _interval(one: Measured) -> Cell:
    ends = one.interval
    return cell(None) if ends is None or ends.low is None else between(ends.low, ends.high)

"""What of Badder Seeds needs no models: its bank of seed sets, its lists, and whether its numbers fit each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgauge.lexicons import check, seed_bank
from biasgauge.papers.badderseeds2022.tables import (
    CORPORA,
    FEMALE_SETS,
    FIGURE_2,
    HIGHLIGHTED,
    OTHER_SETS,
    REVIEWS,
    SHUFFLED_FIGURE_1,
    SHUFFLES,
    TABLE_A1,
)
from biasgauge.papers.row import Recomputed, Row

if TYPE_CHECKING:
    from biasgauge.lexicons import SeedBank
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress

_DATA = "released data"
BANK = (
    Row("bank.sets", "seed sets", "§3.4", 178, tolerance=0),
    Row("bank.papers", "works that they were gathered from", "§3.4", 18, tolerance=0),
    Row("bank.categories", "categories", _DATA, 156, tolerance=0),
    Row("bank.seeds", "seeds", _DATA, 7_213, tolerance=0),
    Row("bank.seeds_left", "seeds of one word, after cleaning", _DATA, 6_620, tolerance=0),
    Row("bank.sets_left", "sets of at least two such seeds", _DATA, 159, tolerance=0),
    Row("bank.pairs", "pairs of sets that belong together", _DATA, 90, tolerance=0),
    Row("bank.unequal", "of them with sets of unequal size", _DATA, 34, tolerance=0),
    Row("bank.overlapping", "of them with a seed in both sets", _DATA, 10, tolerance=0),
    Row("bank.duplicates", "sets that list a seed twice", _DATA, 22, tolerance=0),
    *(
        Row(
            f"lists.{name}", f"seeds that the appendix prints for {name}", "appendix, list of seeds", count, tolerance=0
        )
        for name, count in {**FEMALE_SETS, **OTHER_SETS}.items()
    ),
)
_CLEANED = (
    "the cleaning that was meant for labels is applied to the seeds too: digits are deleted, “_” and “/” become "
    "spaces, and the compounds that this makes are dropped; corrected keeps them"
)
_PAIRED = "of the cleaned sets; corrected: of the sets as they should have been cleaned"


def fill_bank(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Count the seed bank that ships with biasgauge, cleaned as published and corrected."""
    raw, theirs, ours = (seed_bank(kind) for kind in ("none", "published", "corrected"))
    cleaned, corrected = _counts(theirs.bank), _counts(ours.bank)
    found = {
        "bank.sets": _counted(len(raw.bank.seeds)),
        "bank.papers": _counted(len({one.paper for one in raw.bank.seeds})),
        "bank.categories": _counted(len(raw.bank.categories)),
        "bank.seeds": _counted(raw.bank.total),
        "bank.seeds_left": Recomputed(
            theirs.seeds_left, ours.seeds_left, note=f"{_CLEANED}; {theirs.bank.total:,} are in the sets that remain"
        ),
        "bank.sets_left": Recomputed(len(theirs.bank.seeds), len(ours.bank.seeds), note=_CLEANED),
    }
    found |= {name: Recomputed(cleaned[name], corrected[name], note=_PAIRED) for name in cleaned}
    sets = theirs.bank.sets
    return found | {f"lists.{name}": _counted(len(sets[name])) for name in (*FEMALE_SETS, *OTHER_SETS)}


def _counted(number: int) -> Recomputed:
    """A count that no rule changes."""
    return Recomputed(number, number)


def _counts(bank: SeedBank) -> dict[str, int]:
    found = check(bank)
    return {
        "bank.pairs": len(bank.pairings),
        "bank.unequal": len(found.unequal),
        "bank.overlapping": len(found.overlaps),
        "bank.duplicates": sum(bool(one.duplicates) for one in found.sets),
    }


_BOOKS = {"romance": 389, "history": 270}
SUMS = (
    *(
        Row(
            f"sums.mean_length.{corpus}.{study}",
            f"words divided by documents, {name}, {study}",
            "Table A.1",
            sizes[3],
            tolerance=0.5,
        )
        for corpus, name in CORPORA.items()
        for study, sizes in zip(("reproduction", "original"), TABLE_A1[corpus], strict=True)
    ),
    *(
        Row(f"sums.books.{corpus}", f"books of {REVIEWS} reviews, {CORPORA[corpus]}", "Table A.1", None)
        for corpus in _BOOKS
    ),
    *(
        Row(f"sums.pairs.{name}", f"pairs by position, {name}", "Figure 2", pairs, tolerance=0)
        for name, (_, _, pairs) in FIGURE_2.items()
    ),
    *(
        Row(f"sums.shuffled.{name}", f"pairs that the printed shuffle leaves as they were, {name}", "appendix", None)
        for name in (*SHUFFLES, "figure1")
    ),
)


def fill_sums(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Compute again what follows from numbers and lists that are printed."""
    found = {}
    for corpus in CORPORA:
        for study, sizes in zip(("reproduction", "original"), TABLE_A1[corpus], strict=True):
            found[f"sums.mean_length.{corpus}.{study}"] = Recomputed(sizes[1] / sizes[0])
    for corpus in _BOOKS:
        ours, theirs = (sizes[0] / REVIEWS for sizes in TABLE_A1[corpus])
        found[f"sums.books.{corpus}"] = Recomputed(
            ours, note=f"the original study's documents are those of {theirs:g} books"
        )
    sets = seed_bank("published").bank.sets
    for name, ((a, first), (b, second)) in SHUFFLES.items():
        pairs = set(zip(sets[a], sets[b], strict=False))
        rest = max(len(sets[a]), len(sets[b])) - len(pairs)
        found[f"sums.pairs.{name}"] = Recomputed(
            len(pairs), note=f"{rest} words of the longer list have no partner and are cut off" if rest else ""
        )
        found[f"sums.shuffled.{name}"] = _left_as_they_were(pairs, first, second)
    ((a, _), (b, _)) = SHUFFLES["gender"]
    pairs = set(zip(sets[a], sets[b], strict=True))
    found["sums.shuffled.figure1"] = _left_as_they_were(pairs, *SHUFFLED_FIGURE_1)
    return found


def _left_as_they_were(pairs: set[tuple[str, str]], first: str, second: str) -> Recomputed:
    kept = [pair for pair in zip(first.split(), second.split(), strict=False) if pair in pairs]
    note = f"{', '.join(' and '.join(pair) for pair in kept)}; " if kept else ""
    return Recomputed(len(kept), note=f"{note}a random order leaves one in the mean")


def _name(pair: tuple[str, str]) -> str:
    """The two sets and their paper, in short: "white_names and black_names (Knoche)"."""
    (a, _, paper), (b, _, _) = (one.rpartition("-") for one in pair)
    return f"{a} and {b} ({paper.partition('_')[0]})"


LABELS = (
    *(
        Row(
            f"figure4.{name}.row",
            f"row of “{label}” among the pairs as released",
            "notebook of Figure 4",
            row,
            tolerance=0,
        )
        for name, (row, label, _) in HIGHLIGHTED.items()
    ),
    *(
        Row(f"figure4.{name}.drawn", f"pair of sets drawn as “{label}”", "Figure 4", _name(pair), tolerance=0)
        for name, (_, label, pair) in HIGHLIGHTED.items()
    ),
)


def fill_labels(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Which pairs the rows that Figure 4 highlights are, in the list that they are taken from."""
    pairings = seed_bank("published").bank.pairings
    ordered = sorted(pairings)
    found = {}
    for name, (row, _, pair) in HIGHLIGHTED.items():
        found[f"figure4.{name}.row"] = Recomputed(
            pairings.index(pair), ordered.index(pair), note="corrected: its row in the sorted list that is drawn"
        )
        found[f"figure4.{name}.drawn"] = Recomputed(
            _name(ordered[row]),
            _name(pair),
            note="rows of the pairs as released are looked up in a sorted list, so that another pair is highlighted",
        )
    return found

"""Numbers of Badder Seeds that need no models: its bank of seed sets, its lists, and sums of its own numbers."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from biasgauge.errors import LexiconError
from biasgauge.io import read_json, read_records
from biasgauge.lexicons import FEWEST, check, published_label, seed_bank
from biasgauge.papers.badderseeds2022.published import APPENDIX, CORPORA, PRINTED, REVIEWS
from biasgauge.papers.row import Recomputed

if TYPE_CHECKING:
    from biasgauge.lexicons import SeedBank
    from biasgauge.papers.paper import Data, Progress


_CLEANED = (
    "the cleaning that was meant for labels is applied to the seeds too: digits are deleted, “_” and “/” become "
    "spaces, and the compounds that this makes are dropped; corrected keeps them"
)
_PAIRED = "of the cleaned sets; corrected: of the sets as they should have been cleaned"


def fill_bank(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Count the seed bank that ships with biasgauge, cleaned as published and corrected."""
    raw, theirs, ours = (seed_bank(kind) for kind in ("none", "published", "corrected"))
    cleaned, corrected = _counts(theirs.bank), _counts(ours.bank)
    rows = {
        "bank.sets": Recomputed.both(len(raw.bank.seeds)),
        "bank.papers": Recomputed.both(len({seed_set.paper for seed_set in raw.bank.seeds})),
        "bank.categories": Recomputed.both(len(raw.bank.categories)),
        "bank.seeds": Recomputed.both(raw.bank.total),
        "bank.seeds_left": Recomputed(
            theirs.seeds_left, ours.seeds_left, note=f"{_CLEANED}; {theirs.bank.total:,} are in the sets that remain"
        ),
        "bank.sets_left": Recomputed(len(theirs.bank.seeds), len(ours.bank.seeds), note=_CLEANED),
    }
    rows |= {name: Recomputed(cleaned[name], corrected[name], note=_PAIRED) for name in cleaned}
    printed = (name for name in PRINTED if name.startswith("lists."))
    return rows | {name: Recomputed.both(len(theirs.bank.sets[name.removeprefix("lists.")])) for name in printed}


def _counts(bank: SeedBank) -> dict[str, int]:
    problems = check(bank)
    return {
        "bank.pairs": len(bank.pairings),
        "bank.unequal": len(problems.unequal),
        "bank.overlapping": len(problems.overlaps),
        "bank.duplicates": sum(bool(seed_set.duplicates) for seed_set in problems.sets),
    }


def fill_sums(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Compute again what follows from numbers and lists that are printed."""
    rows = {}
    for corpus in CORPORA:
        documents, words = (PRINTED[f"tableA1.{corpus}.{size}"] for size in ("documents", "words"))
        original_documents, original_words = APPENDIX["original"][corpus]
        rows[f"sums.mean_length.{corpus}.reproduction"] = Recomputed(words / documents)
        rows[f"sums.mean_length.{corpus}.original"] = Recomputed(original_words / original_documents)
        if corpus in {"romance", "history"}:
            note = f"the original study's documents are those of {original_documents / REVIEWS:g} books"
            rows[f"sums.books.{corpus}"] = Recomputed(documents / REVIEWS, note=note)
    sets = seed_bank("published").bank.sets
    for name, shuffle in APPENDIX["shuffles"].items():
        a, b = (sets[seed_set] for seed_set in shuffle["sets"])
        pairs = set(zip(a, b, strict=False))
        unpaired = max(len(a), len(b)) - len(pairs)
        note = f"{unpaired} words of the longer list have no partner and are cut off" if unpaired else ""
        rows[f"sums.pairs.{name}"] = Recomputed(len(pairs), note=note)
        rows[f"sums.shuffled.{name}"] = _left_as_they_were(pairs, *shuffle["orders"])
        if name == "gender":
            rows["sums.shuffled.figure1"] = _left_as_they_were(pairs, *APPENDIX["figure1"]["shuffled"])
    return rows


def _left_as_they_were(pairs: set[tuple[str, str]], first: str, second: str) -> Recomputed:
    unchanged = [pair for pair in zip(first.split(), second.split(), strict=False) if pair in pairs]
    note = f"{', '.join(' and '.join(pair) for pair in unchanged)}; " if unchanged else ""
    return Recomputed(len(unchanged), note=f"{note}a random order leaves one in the mean")


def fill_labels(_data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Pairs of the rows that Figure 4 highlights, in the list that they are taken from."""
    pairings = seed_bank("published").bank.pairings
    ordered = sorted(pairings)
    rows = {}
    for name, (a, b) in APPENDIX["highlighted"].items():
        drawn = ordered[int(PRINTED[f"figure4.{name}.row"])]
        rows[f"figure4.{name}.row"] = Recomputed(
            pairings.index((a, b)), ordered.index((a, b)), note="corrected: its row in the sorted list that is drawn"
        )
        rows[f"figure4.{name}.drawn"] = Recomputed(
            _name(drawn),
            _name((a, b)),
            note="rows of the pairs as released are looked up in a sorted list, so that another pair is highlighted",
        )
    return rows


def _name(pair: tuple[str, str]) -> str:
    """The two sets and their paper, in short: "white_names and black_names (Knoche)"."""
    (a, _, paper), (b, _, _) = (name.rpartition("-") for name in pair)
    return f"{a} and {b} ({paper.partition('_')[0]})"


SEEDS, PAIRS = "seed_sets", "seed_pairs"


def fill_files(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Count the files that are there."""
    rows: dict[str, Recomputed] = {}
    bank = seed_bank("none").bank
    if path := data.find(SEEDS):
        printed = _printed_sets(path)
        lists = {name: _parsed(text, path) for name, (text, _) in printed.items()}
        cleaned = [
            [word for word in _parsed(published_label(text), path) if len(word.split()) == 1]
            for text, _ in printed.values()
        ]
        rows |= {
            "files.sets": Recomputed(len(printed)),
            "files.papers": Recomputed(len({paper for _, paper in printed.values()})),
            "files.seeds": Recomputed(sum(map(len, lists.values()))),
            "files.seeds_left": Recomputed(sum(map(len, cleaned))),
            "files.sets_left": Recomputed(sum(len(words) >= FEWEST for words in cleaned)),
            "files.shipped": Recomputed(sum(bank.sets.get(name) == words for name, words in lists.items())),
        }
    if path := data.find(PAIRS):
        pairs = _pairs(path)
        same = sum(pair == shipped for pair, shipped in zip(pairs, bank.pairings, strict=False))
        rows |= {"files.pairs": Recomputed(len(pairs)), "files.pairs_shipped": Recomputed(same)}
    return rows


class _SeedSet(BaseModel):
    name: str = Field(alias="Seeds ID")
    seeds: str = Field(alias="Seeds")
    paper: str = Field(alias="Used in Paper")


def _printed_sets(path: Path) -> dict[str, tuple[str, str]]:
    """The printed form of each list of seeds, and the work that it is from, by id."""
    try:
        sets = TypeAdapter(list[_SeedSet]).validate_python(read_json(path, error=LexiconError))
    except ValidationError as problem:
        why = "is not the released list of seed sets: no Seeds ID, Seeds, Used in Paper"
        raise LexiconError(why, path=path) from problem
    return {seed_set.name: (seed_set.seeds, seed_set.paper) for seed_set in sets}


def _parsed(printed: str, path: Path) -> tuple[str, ...]:
    try:
        return tuple(str(word) for word in ast.literal_eval(printed))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as problem:
        raise LexiconError(f"has seeds that are no printed list: {printed[:60]!r}", path=path) from problem


def _pairs(path: Path) -> tuple[tuple[str, str], ...]:
    records = read_records(path, needed=("ID_A", "ID_B"), error=LexiconError)
    return tuple((row["ID_A"], row["ID_B"]) for row in records)

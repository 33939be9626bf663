"""The released files of Badder Seeds and Bad Seeds: is the bank that ships with biasgauge the published one?"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from biasgauge.errors import LexiconError
from biasgauge.io import read_json, read_records
from biasgauge.lexicons import FEWEST, published_label, seed_bank
from biasgauge.papers.row import Recomputed

if TYPE_CHECKING:
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress

SEEDS, PAIRS = "seed_sets", "seed_pairs"


def fill(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
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

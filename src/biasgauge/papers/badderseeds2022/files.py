"""The released files of Badder Seeds and Bad Seeds: is the bank that ships with biasgauge the published one?"""

from __future__ import annotations

import ast
import csv
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from biasgauge.errors import LexiconError
from biasgauge.lexicons import seed_bank
from biasgauge.lexicons.bank import FEWEST, published_label
from biasgauge.papers.data import Need
from biasgauge.papers.row import Recomputed, Row

if TYPE_CHECKING:
    from biasgauge.papers.data import Data
    from biasgauge.papers.paper import Progress

SEEDS, PAIRS = "seed_sets", "seed_pairs"
NEEDS = (
    Need(
        SEEDS,
        "the gathered seed sets of Bad Seeds",
        "From the GitHub repository maria-antoniak/bad-seeds (no license file) fetch gathered_seeds.json and put it "
        "into the folder. The sets ship with biasgauge; the file is only needed to see that they are the same.",
        ("gathered_seeds.json", "seeds_bad_seeds/gathered_seeds.json", "**/gathered_seeds.json"),
    ),
    Need(
        PAIRS,
        "the pairs of seed sets of Badder Seeds",
        "From the GitHub repository thesofakillers/badder-seeds (no license file) fetch seed_set_pairings.csv and put "
        "it into the folder. The pairs ship with biasgauge; the file is only needed to see that they are the same.",
        ("seed_set_pairings.csv", "badder_seeds_pairings/seed_set_pairings.csv", "**/seed_set_pairings.csv"),
    ),
)
_FILE = "released data"
ROWS = (
    Row("files.sets", "seed sets in the released file", "§3.4", 178, tolerance=0, needs=SEEDS),
    Row("files.papers", "works that they were gathered from", "§3.4", 18, tolerance=0, needs=SEEDS),
    Row("files.seeds", "seeds", _FILE, 7_213, tolerance=0, needs=SEEDS),
    Row("files.seeds_left", "seeds of one word, when the printed lists are cleaned", _FILE, 6_620, tolerance=0,
        needs=SEEDS),
    Row("files.sets_left", "sets of at least two such seeds", _FILE, 159, tolerance=0, needs=SEEDS),
    Row("files.shipped", "sets that ship with biasgauge word by word", _FILE, 178, tolerance=0, needs=SEEDS),
    Row("files.pairs", "pairs in the released file", _FILE, 90, tolerance=0, needs=PAIRS),
    Row("files.pairs_shipped", "pairs that ship with biasgauge, in the same place", _FILE, 90, tolerance=0,
        needs=PAIRS),
)  # fmt: skip


def fill(data: Data, _seed: int, _progress: Progress | None) -> dict[str, Recomputed]:
    """Count the files that are there."""
    found: dict[str, Recomputed] = {}
    bank = seed_bank("none").bank
    if path := data.find(SEEDS):
        printed = _printed_sets(path)
        lists = {name: _parsed(text, path) for name, (text, _) in printed.items()}
        cleaned = [
            [word for word in _parsed(published_label(text), path) if len(word.split()) == 1]
            for text, _ in printed.values()
        ]
        found |= {
            "files.sets": Recomputed(len(printed)),
            "files.papers": Recomputed(len({paper for _, paper in printed.values()})),
            "files.seeds": Recomputed(sum(map(len, lists.values()))),
            "files.seeds_left": Recomputed(sum(map(len, cleaned))),
            "files.sets_left": Recomputed(sum(len(words) >= FEWEST for words in cleaned)),
            "files.shipped": Recomputed(sum(bank.sets.get(name) == words for name, words in lists.items())),
        }
    if path := data.find(PAIRS):
        pairs = _pairs(path)
        same = sum(one == other for one, other in zip(pairs, bank.pairings, strict=False))
        found |= {"files.pairs": Recomputed(len(pairs)), "files.pairs_shipped": Recomputed(same)}
    return found


class _SeedSet(BaseModel):
    name: str = Field(alias="Seeds ID")
    seeds: str = Field(alias="Seeds")
    paper: str = Field(alias="Used in Paper")


def _printed_sets(path: Path) -> dict[str, tuple[str, str]]:
    """The printed form of each list of seeds, and the work that it is from, by id."""
    try:
        sets = TypeAdapter(list[_SeedSet]).validate_json(path.read_bytes())
    except ValidationError as problem:
        why = "is not the released list of seed sets: no Seeds ID, Seeds, Used in Paper"
        raise LexiconError(why, path=path) from problem
    return {one.name: (one.seeds, one.paper) for one in sets}


def _parsed(printed: str, path: Path) -> tuple[str, ...]:
    try:
        return tuple(str(word) for word in ast.literal_eval(printed))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as problem:
        raise LexiconError(f"has seeds that are no printed list: {printed[:60]!r}", path=path) from problem


def _pairs(path: Path) -> tuple[tuple[str, str], ...]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        if not {"ID_A", "ID_B"} <= set(rows.fieldnames or ()):
            raise LexiconError("has no columns ID_A and ID_B", path=path, line=1)
        return tuple((row["ID_A"], row["ID_B"]) for row in rows)

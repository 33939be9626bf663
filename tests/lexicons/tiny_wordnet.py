"""A database of a few meanings in the format of WordNet's files, written with offsets that are right."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NAMES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}


@dataclass
class Meaning:
    """One meaning: its words, the lexicographer's file, and pointers (symbol, key of another meaning)."""

    words: list[str]
    file: int = 3
    pointers: list[tuple[str, str]] = field(default_factory=list)
    part: str = "n"


MEANINGS = {
    "plant": Meaning(["plant"], pointers=[("~", "flower")]),
    "flower": Meaning(["flower", "bloom"], pointers=[("@", "plant"), ("~", "rose"), ("~", "tulip"), ("~", "day_lily")]),
    "rose": Meaning(["rose"], pointers=[("@", "flower"), ("~", "tea_rose")]),
    "tulip": Meaning(["tulip"], pointers=[("@", "flower")]),
    "day_lily": Meaning(["day_lily"], pointers=[("@", "flower")]),
    "tea_rose": Meaning(["tea_rose", "noisette"], pointers=[("@", "rose")]),
    "pink": Meaning(["pink", "rose"]),
    "factory": Meaning(["factory", "plant"]),
    "science": Meaning(["science"], pointers=[("-c", "sum"), ("-c", "add")]),
    "sum": Meaning(["sum"], pointers=[(";c", "science")]),
    "add": Meaning(["add", "sum"], 30, [(";c", "science")], "v"),
    "paris": Meaning(["Paris"], 15, [("@i", "factory")]),
    "ada": Meaning(["Ada"], 18, [("@i", "factory")]),
}
ORDER = {"plant": ["factory", "plant"], "rose": ["rose", "pink"]}
"""Meanings of words that have several, the most frequent first."""
TAGGED = {("plant", "factory"): 9, ("plant", "plant"): 2, ("rose", "rose"): 1}
"""How often a word was tagged with a meaning."""


def write_wordnet(folder: Path) -> Path:
    """Write the database files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    header = "  1 This is no license, but lines of it begin with two blanks.\n"

    def line(key: str, offsets: dict[str, int]) -> str:
        meaning = MEANINGS[key]
        words = " ".join(f"{word} 0" for word in meaning.words)
        pointers = "".join(
            f"{symbol} {offsets.get(to, 0):08d} {MEANINGS[to].part} 0000 " for symbol, to in meaning.pointers
        )
        count = len(meaning.words)
        return (
            f"{offsets.get(key, 0):08d} {meaning.file:02d} {meaning.part} {count:02x} {words} "
            f"{len(meaning.pointers):03d} {pointers}| a gloss\n"
        )

    offsets: dict[str, int] = {}
    for part in NAMES:
        place = len(header)
        for key, meaning in MEANINGS.items():
            if meaning.part == part:
                offsets[key] = place
                place += len(line(key, {}))
    for part, name in NAMES.items():
        keys = [key for key, meaning in MEANINGS.items() if meaning.part == part]
        (folder / f"data.{name}").write_text(header + "".join(line(key, offsets) for key in keys))
        senses: dict[str, list[str]] = {}
        for key in keys:
            for word in MEANINGS[key].words:
                senses.setdefault(word.lower(), []).append(key)
        rows = []
        for word, meanings in sorted(senses.items()):
            ordered = sorted(meanings, key=ORDER.get(word, meanings).index)
            listed = " ".join(f"{offsets[key]:08d}" for key in ordered)
            rows.append(f"{word} {part} {len(ordered)} 1 @ {len(ordered)} 0 {listed}\n")
        (folder / f"index.{name}").write_text(header + "".join(rows))
    _write_tagged_counts(folder)
    return folder


def _write_tagged_counts(folder: Path) -> None:
    numbers = {part: number for number, part in enumerate(NAMES, 1)}
    lines = []
    for key, meaning in MEANINGS.items():
        for word in meaning.words:
            # Offsets of another edition, as they may be: meanings are told by their numbers.
            number = ORDER.get(word, [key]).index(key) + 1
            tagged = TAGGED.get((word, key), 0)
            lines.append(f"{word.lower()}%{numbers[meaning.part]}:03:00:: 00000001 {number} {tagged}\n")
    (folder / "index.sense").write_text("".join(lines))

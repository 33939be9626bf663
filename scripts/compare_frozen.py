"""Compare two folders of frozen outputs number by number.

`scripts/freeze_outputs.py` makes such folders. Every output of OLD is walked beside the same output of NEW:

- numbers, true, false, null and exit codes that differ are listed, and so are keys that NEW lacks;
- texts that differ are counted, and listed with `--strings`: sentences may be reworded;
- keys that only NEW has are counted;
- what changes from run to run is passed over: times, dates, versions, places of files (`TEXTS` and `TIMES`).

    python scripts/compare_frozen.py frozen/before frozen/after
    python scripts/compare_frozen.py frozen/before frozen/after --only 'bayes*' --strings
    python scripts/compare_frozen.py frozen/before frozen/after --moves moves.toml --rtol 1e-12

Places are JSON pointers: /gaps/3/interval/low; a / in a key is written ~1, a ~ is written ~0; /gaps/length is how long
a list is. A file of moves says which keys have another name in NEW:

    [[move]]
    old = "/gaps/*/p_value"          # * stands for one key or place in a list, or for a part of one
    new = "/gaps/*/p"                # the same * again; whatever lies below moves too

    [[move]]
    output = "weat*"                 # only in these outputs; in all when left out
    old = "/**/interval/generalises_over"    # ** stands for any number of keys, also none
    new = "/**/interval/over"

    [[move]]
    old = "/settings/ties"           # without new: gone on purpose

Moves apply one after another, each to what those before it gave. Exit code 1: numbers differ, or keys are missing.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Leaf = str | float | bool | None | tuple[()]

TEXTS = frozenset({"version", "path", "data_path", "out", "page", "log", "date", "created"})
TIMES = frozenset({"seconds"})
ABSENT = object()
WIDTH = 100


@dataclass(frozen=True)
class Move:
    """A key that has another name: its old place and its new one, None where it is gone on purpose."""

    old: re.Pattern[str]
    new: str | None
    output: str = "*"

    def apply(self, place: str) -> str | None:
        """The new place of an old one; None where it is gone."""
        found = self.old.fullmatch(place)
        if found is None:
            return place
        if self.new is None:
            return None
        *kept, below = found.groups(default="")
        parts = iter(kept)
        return re.sub(r"/\*\*|\*", lambda _: next(parts, ""), self.new) + below


@dataclass
class Findings:
    """What is different in one output."""

    numbers: list[tuple[str, object, object]] = field(default_factory=list)
    strings: list[tuple[str, object, object]] = field(default_factory=list)
    missing: list[tuple[str, int]] = field(default_factory=list)
    compared: int = 0
    passed_over: int = 0
    removed: int = 0
    added: int = 0


def main() -> int:
    """Compare, print what differs, and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--rtol", type=float, default=0.0, help="relative difference of numbers that is let pass")
    parser.add_argument("--moves", type=Path, help="a TOML file of keys that have another name")
    parser.add_argument("--strings", action="store_true", help="list texts that differ, too")
    parser.add_argument("--only", action="append", help="only outputs of this name (* stands for anything)")
    parser.add_argument("--most", type=int, default=20, help="differences to list of each output and kind; 0 for all")
    asked = parser.parse_args()
    moves = [] if asked.moves is None else read_moves(asked.moves)
    outputs = sorted(path.stem for path in asked.old.glob("*.json"))
    chosen = [name for name in outputs if any(fnmatch(name, one) for one in asked.only or ["*"])]
    if not chosen:
        parser.error(f"{asked.old} has no such output")
    total = Findings()
    for name in chosen:
        own = [one for one in moves if fnmatch(name, one.output)]
        found = compare(read(asked.old, name), read(asked.new, name), own, asked.rtol)
        show(name, found, asked.most or sys.maxsize, strings=asked.strings)
        for kind, value in vars(found).items():
            setattr(total, kind, getattr(total, kind) + value)
    print(f"{len(chosen)} outputs, {total.compared:,} values compared, {total.passed_over:,} volatile passed over")
    print(f"numbers that differ: {len(total.numbers):,}")
    print(f"keys missing: {len(total.missing):,} ({sum(count for _, count in total.missing):,} values)")
    print(f"texts that differ: {len(total.strings):,}")
    print(f"only in the new one: {total.added:,}; gone on purpose: {total.removed:,}")
    return 1 if total.numbers or total.missing else 0


def read_moves(path: Path) -> list[Move]:
    """The moves of a TOML file."""
    rules = tomllib.loads(path.read_text(encoding="utf-8")).get("move", [])
    return [Move(_pattern(one["old"]), one.get("new"), one.get("output", "*")) for one in rules]


def _pattern(old: str) -> re.Pattern[str]:
    """A place with * and ** as a regular expression; the last group is what lies below."""
    parts = re.split(r"(/\*\*|\*)", old)
    known = {"/**": r"((?:/[^/]*)*?)", "*": r"([^/]*)"}
    return re.compile("".join(known.get(one, re.escape(one)) for one in parts) + r"((?:/[^/]*)*)")


def read(folder: Path, name: str) -> dict[str, Any] | None:
    """What a command printed, and its exit code; None if it was not run. What is no JSON counts as nothing printed.

    The folder itself, which some outputs name, counts as the same place in both.
    """
    found: dict[str, Any] = {}
    printed, about = folder / f"{name}.json", folder / f"{name}.err"
    if not printed.is_file():
        return None
    if about.is_file():
        found["exit code"] = int(about.read_text(encoding="utf-8").split("\n", 1)[0].rpartition(" ")[2])
    try:
        content = json.loads(printed.read_text(encoding="utf-8").replace(str(folder.resolve()), "."))
    except json.JSONDecodeError:
        content = {}
    return {**found, **content} if isinstance(content, dict) else {**found, "content": content}


def leaves(value: Any, place: str = "") -> Iterator[tuple[str, Leaf]]:  # noqa: ANN401 - JSON
    """Every value of a JSON with its place; also how long lists are."""
    if isinstance(value, dict):
        for key, one in value.items():
            name = key.replace("~", "~0").replace("/", "~1")
            yield from leaves(one, f"{place}/{name}")
        if not value:
            yield place, ()
    elif isinstance(value, list):
        yield f"{place}/length", len(value)
        for at, one in enumerate(value):
            yield from leaves(one, f"{place}/{at}")
    else:
        yield place, value


def is_volatile(place: str, value: Leaf) -> bool:
    """Whether a value may change from run to run; a word that is a key is none of these, for its value is a number."""
    key = place.rpartition("/")[2]
    return key in TIMES or (key in TEXTS and isinstance(value, str))


def compare(old: dict[str, Any] | None, new: dict[str, Any] | None, moves: list[Move], rtol: float = 0.0) -> Findings:
    """What of an output is different in another one."""
    if new is None:
        return Findings(missing=[("/", sum(1 for _ in leaves(old)))])
    found = Findings()
    theirs = dict(leaves(new))
    above = {place[:at] for place in theirs for at in _ends(place)}
    lost: dict[str, int] = {}
    seen = set()
    for before, value in leaves(old):
        place: str | None = before
        for move in moves:
            place = None if place is None else move.apply(place)
        if place is None:
            found.removed += 1
            continue
        seen.add(place)
        other = theirs.get(place, () if place in above and value == () else ABSENT)
        if is_volatile(before, value):
            found.passed_over += 1
        elif other is ABSENT:
            top = next((place[:at] for at in (*_ends(place), len(place)) if place[:at] not in above), place)
            lost[top] = lost.get(top, 0) + 1
        else:
            found.compared += 1
            if not _same(value, other, rtol):
                both = isinstance(value, str) and isinstance(other, str)
                (found.strings if both else found.numbers).append((before, value, other))
    found.missing = list(lost.items())
    found.added = len(theirs.keys() - seen)
    return found


def _ends(place: str) -> list[int]:
    """Where the places above a place end, the highest first."""
    return [at for at, sign in enumerate(place) if sign == "/" and at]


def _same(old: object, new: object, rtol: float) -> bool:
    """Equal texts, or numbers equal to the last bit, or nearly so where that is asked for; 1 and 1.0 are equal."""
    numbers = not (isinstance(old, bool) or isinstance(new, bool))
    if numbers and isinstance(old, int | float) and isinstance(new, int | float):
        if isinstance(old, int) and isinstance(new, int):
            return old == new
        near = rtol > 0 and abs(old - new) <= rtol * max(abs(old), abs(new))
        return near or repr(float(old)) == repr(float(new))
    return type(old) is type(new) and old == new


def show(name: str, found: Findings, most: int, *, strings: bool) -> None:
    """Print what differs in one output, each kind up to a number of lines."""
    listed = [f"  {place}: {_short(old)} → {_short(new)}" for place, old, new in found.numbers]
    missing = [f"  missing {place}{f' ({count:,} values)' if count > 1 else ''}" for place, count in found.missing]
    texts = [f"  text {place}: {_short(old)} → {_short(new)}" for place, old, new in found.strings] if strings else []
    if not (listed or missing or texts):
        return
    print(name)
    for lines in (listed, missing, texts):
        print("".join(f"{line}\n" for line in lines[:most]), end="")
        if len(lines) > most:
            print(f"  … and {len(lines) - most:,} more")


def _short(value: object) -> str:
    text = "(empty)" if value == () else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


if __name__ == "__main__":
    sys.exit(main())

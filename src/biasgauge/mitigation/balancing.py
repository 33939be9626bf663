"""`balance`: sub-sample a corpus so that stereotypical lines become rarer (debias) or prevail (overbias).

A line is classified by the sets it has a word of: X and Y are the targets, A and B the attributes of a test.

    pro 1   X and A            anti 1  Y and A            mixed    words of three or four sets
    pro 2   Y and B            anti 2  X and B            neutral  anything else

The classes are disjoint. Throughout, `sets` is the sum of the powers of two of the sets that a line has a word of.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from biasgauge.core import Flags, Integers, JsonMapping, Record, check_choice, check_number, check_whole
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import atomic_file, refuse_inputs
from biasgauge.mitigation.balancing_text import (
    A,
    B,
    BalanceSets,
    SetFinder,
    X,
    Y,
    balance_sets,
    compressor,
    copy_without,
    read_units,
)
from biasgauge.results import Column, RecordTable, Result, figures_text, share_text
from biasgauge.text import Layout, tokenizer_named, writing

if TYPE_CHECKING:
    from biasgauge.io import Progress
    from biasgauge.lexicons import AssociationTest

Direction = Literal["debias", "overbias"]
Degree = float | Literal["max"]
Keep = Literal["random", "earliest"]

CLASSES = {"pro 1": X | A, "pro 2": Y | B, "anti 1": Y | A, "anti 2": X | B}
"""The sets that a line of each class has, and no other."""
MIXED = [sets for sets in range(16) if sets.bit_count() > 2]
REMOVED_FROM = {"debias": ("pro 1", "pro 2"), "overbias": ("anti 1", "anti 2")}
OPPOSITE = {"pro 1": "anti 1", "pro 2": "anti 2"}
PUBLISHED_SHARE = 0.05
"""The share of removed lines that the paper says it stayed below; its code prints it and enforces nothing."""


@dataclass(frozen=True)
class LineClass(Record):
    """Lines of one class. They are counts of the whole text, not estimates, so they have no intervals.

    Attributes:
        name: "pro 1", "pro 2", "anti 1", "anti 2", "mixed" or "neutral"; every line is in one of them.
        holds: names of the two sets that a line of it has a word of; empty for mixed and neutral.
        before: lines before.
        after: lines after.
        mixed_before: mixed lines that hold both of these sets too; None for mixed and neutral.
        mixed_after: the same after.
    """

    name: str
    holds: tuple[str, ...]
    before: int
    after: int
    mixed_before: int | None = None
    mixed_after: int | None = None

    @property
    def removed(self) -> int:
        """Lines removed."""
        return self.before - self.after

    def derived(self) -> JsonMapping:
        """Number of lines removed."""
        return {"removed": self.removed}


@dataclass(frozen=True, repr=False)
class BalanceResult(Result):
    """A balanced corpus, and the lines removed from it.

    Attributes:
        path: the corpus that was written.
        source: the corpus that was read.
        lexicon: name of the test whose words classify lines.
        classes: lines of each class, before and after.
        asked: how many lines the degree asks to remove.
        limit: how many lines may be removed; None where the published rule has no limit.
        coverage: how many words of the sets occur in the corpus, and which do not.
        settings: all that the result depends on.
        warnings: caveats.
    """

    tables: ClassVar[tuple[str, ...]] = ("classes",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "classes",
            "",
            (
                Column("lines", source="name"),
                *(Column(name, "count") for name in ("before", "removed", "after")),
                Column("hold", source=lambda row: " + ".join(row.holds)),
            ),
            name="lines",
        ),
    )

    path: str
    source: str
    lexicon: str
    classes: tuple[LineClass, ...]
    asked: int
    limit: int | None
    coverage: JsonMapping
    settings: JsonMapping
    warnings: tuple[str, ...]

    @property
    def lines(self) -> int:
        """Lines before."""
        return sum(line_class.before for line_class in self.classes)

    @property
    def removed(self) -> int:
        """Lines removed."""
        return sum(line_class.removed for line_class in self.classes)

    @property
    def reached(self) -> float | None:
        """Removed lines as a share of those that the degree asks to remove; None where it asks for none."""
        return self.removed / self.asked if self.asked else None

    def derived(self) -> JsonMapping:
        """Numbers of lines, and the share of the requested removals with the reason why there is none."""
        return {
            "changed": self.removed,
            "lines": {"before": self.lines, "after": self.lines - self.removed},
            "reached": self.reached,
            **({} if self.asked else {"reason": "the degree asks for no line to be removed"}),
        }

    def _title(self) -> str:
        return f"Balanced corpus {self.path}"

    def _headline(self) -> str:
        share = share_text(self.removed / self.lines, 2)
        return f"{self.removed:,} of {self.lines:,} lines removed ({share}): {self.path}"


def balance(  # noqa: PLR0913 - settings, each with a name and a default
    corpus: str | os.PathLike[str],
    lexicon: str | os.PathLike[str] | AssociationTest | Mapping[str, Any],
    *,
    out: str | os.PathLike[str],
    direction: Direction = "debias",
    degree: Degree = 1.0,
    keep: Keep = "random",
    max_removed: float = 0.05,
    tokenizer: str | Callable[[str], Iterable[str]] | None = None,
    layout: str = "auto",
    field: str | int | None = None,
    as_published: bool = False,
    random_state: int = 0,
    progress: Progress | None = None,
) -> BalanceResult:
    """Write a corpus without some of its stereotypical lines, or without some of those against the stereotype.

    A line is *pro* when it has words of X and A (pro 1) or of Y and B (pro 2), *anti* with Y and A (anti 1) or X and B
    (anti 2). A line with words of three or four sets is *mixed*, counted apart and never removed. The remaining lines
    are the same bytes in the same order. The corpus is read twice and never changed.

    Args:
        corpus: a text file, plain or compressed with gzip, xz or zstd.
        lexicon: an association test by name or file, or a mapping of "x", "y", "a", "b" to words.
        out: the file to write, whole or not at all; compressed if it ends in .gz, .xz or .zst.
        direction: "debias" removes pro lines, "overbias" anti lines.
        degree: debias: the share of the surplus to remove; at 1, pro 1 is as frequent as anti 1 and pro 2 as anti 2,
            where they were more frequent. Overbias: the share of all anti lines. "max": every pro (anti) line.
        keep: which lines of a class remain: a "random" sample, or the "earliest".
        max_removed: the largest share of all lines that may be removed; fewer are removed where the degree asks for
            more, with a warning.
        tokenizer: splits lines and words of the lexicon, as in `read_corpus`; "words" by default, which ignores case
            and punctuation; "whitespace" with `as_published`.
        layout: as in `read_corpus`; a unit is a line, in tables and JSON lines a row, in "paragraphs" a paragraph.
        field: the column or field of the text in a table, as in `read_corpus`.
        as_published: the rule of the released code of Goldfarb-Tarrant et al. 2021: the earliest lines remain, mixed
            lines may be removed, a line that is pro 1 and pro 2 counts as pro 1, and there is no limit. Degree 1 or
            "max".
        random_state: seed of the sample.
        progress: called with (done, total), in bytes of two readings.

    Returns:
        counts of every class before and after, and warnings.

    Raises:
        CorpusError: the corpus cannot be read, or changes meanwhile.
        LexiconError: there is no such lexicon.
        ParameterError: an argument is impossible.
    """
    check_choice(get_args(Direction), direction=direction)
    check_choice(get_args(Keep), keep=keep)
    check_degree(degree, as_published=as_published)
    check_number(0, 1, max_removed=max_removed)
    check_whole(0, random_state=random_state)
    rule = tokenizer_named(tokenizer or ("whitespace" if as_published else "words"))
    reader = Layout(layout, field=field, documents="line", keeps_marks=rule.keeps_marks)
    sets = balance_sets(lexicon, rule)
    source, target = Path(corpus), Path(out)
    if source.is_dir():
        raise CorpusError("is a folder; balance its files one by one", path=source)
    refuse_inputs(target, [source])
    compress = compressor(target)

    finder, removable = SetFinder(sets.words, rule), _removable(direction)
    counts = np.zeros(16, np.int64)
    blocks = [np.empty((0, 3), np.int64)]  # first line, number of lines and sets of the units that could be removed

    def count(raw: bytes, first: Integers, sizes: Integers) -> None:
        found_sets = finder.find(raw)
        counts[:] += np.bincount(found_sets, minlength=16)
        blocks.append(np.stack([first, sizes, found_sets], axis=1)[removable[found_sets]])

    with writing(target), atomic_file(target) as temporary:
        digest = read_units(source, reader, count, _half_progress(progress, 0))
        if not counts.sum():
            raise CorpusError("holds no lines", path=source)
        first, sizes, movable = np.concatenate(blocks).T
        if as_published:
            removal = plan_as_published(counts, movable, direction=direction, degree=degree)
        else:
            removal = plan_removal(
                counts, movable, direction=direction, degree=degree, keep=keep, max_removed=max_removed,
                random_state=random_state,
            )  # fmt: skip
        first, sizes = first[removal.removed], sizes[removal.removed]
        lines = np.repeat(first - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())  # every line of the units
        with temporary.open("wb") as file, compress(file) as copy:
            copy_without(source, copy, lines, digest, _half_progress(progress, 1))

    after = counts - np.bincount(movable[removal.removed], minlength=16)
    coverage = sets.coverage(finder.seen)
    settings = {
        "corpus": str(source), "lexicon": sets.name, "direction": direction, "degree": degree,
        "keep": "earliest" if as_published else keep, "max_removed": None if as_published else max_removed,
        "tokenizer": rule.to_dict(), "layout": reader.choose(source.name), "field": field, "as_published": as_published,
        "random_state": random_state,
    }  # fmt: skip
    return BalanceResult(
        path=str(target),
        source=str(source),
        lexicon=sets.name,
        classes=line_classes(counts, after, sets.labels),
        asked=removal.requested,
        limit=removal.limit,
        coverage=coverage,
        settings=settings,
        warnings=tuple(_warnings(counts, removal, sets, coverage["lost"], direction, degree)),
    )


def _half_progress(progress: Progress | None, reading: int) -> Progress | None:
    """Progress of one of two readings."""
    if progress is None:
        return None
    return lambda done, total: progress(reading * total + done, 2 * total)


def _warnings(
    counts: Integers, removal: LineRemoval, sets: BalanceSets, lost: JsonMapping, direction: Direction, degree: Degree
) -> Iterator[str]:
    lines, removed = int(counts.sum()), int(removal.removed.sum())
    if removed < removal.requested:
        reached = removed / removal.requested
        degree_reached = "" if degree == "max" else f", which is degree {figures_text(degree * reached, 3)}"
        yield (
            f"Only {removed:,} of the {removal.requested:,} lines that the degree asks for were removed"
            f"{degree_reached}: no more than {removal.limit:,} of {lines:,} lines may be removed (max_removed)."
        )
    elif removal.limit is None and removed > PUBLISHED_SHARE * lines:
        yield (
            f"{share_text(removed / lines, 1)} of the lines were removed: the paper says that it stayed below "
            f"{share_text(PUBLISHED_SHARE)}, but its code does not enforce that."
        )
    for role, words in lost.items():
        if len(words) == len(set(sets.sets[role].words)):
            yield f"No word of the set {role} ({sets.sets[role].name}) occurs in the corpus."
    if sets.shared:
        yield (
            f"Words in both targets or in both attributes make a line mixed wherever they meet others: "
            f"{', '.join(sets.shared[:8])}."
        )
    for name in REMOVED_FROM[direction]:
        count, opposite = int(counts[CLASSES[name]]), OPPOSITE.get(name)
        if degree != "max" and removal.limit is not None and opposite and count < counts[CLASSES[opposite]]:
            yield f"{name} is rarer than {opposite} already ({count:,} lines); nothing of it was removed."


def line_classes(before: Integers, after: Integers, labels: Mapping[int, str]) -> tuple[LineClass, ...]:
    """Classes from counts of lines by their sets; `labels` names each set."""
    classes = []
    for name, sets in CLASSES.items():
        mixed = [sums for sums in MIXED if _holding(name)[sums]]
        holds = tuple(label for role, label in labels.items() if sets & role)  # the target first, then the attribute
        counts = (before[sets], after[sets], before[mixed].sum(), after[mixed].sum())
        classes.append(LineClass(name, holds, *map(int, counts)))
    neutral = [sets for sets in range(16) if sets not in {*MIXED, *CLASSES.values()}]
    for name, sums in (("mixed", MIXED), ("neutral", neutral)):
        classes.append(LineClass(name, (), int(before[sums].sum()), int(after[sums].sum())))
    return tuple(classes)


@dataclass(frozen=True)
class LineRemoval:
    """For each candidate whether it is removed, how many the degree requests, and how many may be (None: all)."""

    removed: Flags
    requested: int
    limit: int | None


def _holding(name: str) -> Flags:
    """For each sum of sets, True if a line with it holds both sets of a class, mixed lines included."""
    both = CLASSES[name]
    return np.array([sets & both == both for sets in range(16)])


def _removable(direction: Direction) -> Flags:
    """For each sum of sets, True if a line with it could be removed in this direction, under any rule."""
    first, second = REMOVED_FROM[direction]
    return _holding(first) | _holding(second)


def plan_removal(
    counts: Integers, sets: Integers, *, direction: Direction, degree: Degree, keep: Keep, max_removed: float,
    random_state: int,
) -> LineRemoval:  # fmt: skip
    """Choose lines of the classes to remove; mixed lines remain. Settings are those of `balance`.

    `counts` are lines of the corpus by their sets, `sets` those of the candidates, in order. With the same seed a
    smaller degree removes a subset of the lines that a larger one removes. Where the degree requests more than
    `max_removed` allows, both classes are cut in proportion.
    """
    names = REMOVED_FROM[direction]
    allowed = requested = [_requested(counts, name, degree) for name in names]
    limit = _exact_share(max_removed, int(counts.sum()))
    if sum(requested) > limit:
        second = requested[1] * limit // sum(requested)
        allowed = [limit - second, second]
    removed = np.zeros(len(sets), np.bool_)
    for index, (name, number) in enumerate(zip(names, allowed, strict=True)):
        members = np.flatnonzero(sets == CLASSES[name])[::-1]
        if keep == "random":
            members = np.random.default_rng([random_state, index]).permutation(members[::-1])
        removed[members[:number]] = True
    return LineRemoval(removed, sum(requested), limit)


def plan_as_published(counts: Integers, sets: Integers, *, direction: Direction, degree: Degree) -> LineRemoval:
    """Choose lines by the rule of the released code of Goldfarb-Tarrant et al. 2021.

    Debias: the earliest lines with X and A remain, as many as there are lines with Y and A; of the others, the earliest
    lines with Y and B remain, as many as there are lines with X and B. A line of all kinds counts for each. Degree
    "max" drops them all. Overbias drops every line with Y and A or with X and B. There is no limit.
    """
    if direction == "overbias":
        removed = _removable("overbias")[sets]
        return LineRemoval(removed, int(removed.sum()), None)
    removed = np.zeros(len(sets), np.bool_)
    first = _holding("pro 1")[sets]
    for name, members in (("pro 1", first), ("pro 2", _holding("pro 2")[sets] & ~first)):
        remaining = 0 if degree == "max" else int(counts[_holding(OPPOSITE[name])].sum())
        removed[np.flatnonzero(members)[remaining:]] = True
    return LineRemoval(removed, int(removed.sum()), None)


def check_degree(degree: object, *, as_published: bool) -> None:
    """Refuse anything but a share or "max"."""
    share = isinstance(degree, (int, float)) and not isinstance(degree, bool) and 0 <= degree <= 1
    if degree != "max" and not (share and (degree == 1 or not as_published)):
        choices = '1 or "max": the released code has no others' if as_published else 'from 0 to 1, or "max"'
        raise ParameterError(f"The 'degree' parameter must be {choices}. Got {degree!r}.")


def _requested(counts: Integers, name: str, degree: Degree) -> int:
    """Lines of a class that the degree asks to remove: a share of its surplus, or of all where it has no opposite."""
    lines = int(counts[CLASSES[name]])
    if degree == "max":
        return lines
    surplus = max(lines - int(counts[CLASSES[OPPOSITE[name]]]), 0) if name in OPPOSITE else lines
    return _exact_share(degree, surplus)


def _exact_share(share: float, number: int) -> int:
    """Share of a number, in decimal arithmetic, rounded down: .29 of 100 is 29."""
    return int(Fraction(str(share)) * number)

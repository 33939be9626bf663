"""Dataset balancing: sub-sample a corpus so that stereotypical lines become rarer (debias) or rule (overbias)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from biasgauge.core import Flags, Integers, check_choice, check_number, check_whole
from biasgauge.errors import CorpusError
from biasgauge.io import atomic_file, refuse_inputs
from biasgauge.mitigation.balancing.lines import check_ending, copy_without, packed, read_units
from biasgauge.mitigation.balancing.plan import (
    CLASSES,
    OPPOSITE,
    REMOVED_FROM,
    BalanceResult,
    Degree,
    Direction,
    Keep,
    Plan,
    check_degree,
    line_classes,
    plan,
    published_plan,
    removable,
)
from biasgauge.mitigation.balancing.words import BalanceSets, SetFinder, balance_sets
from biasgauge.results import figures_text, share_text
from biasgauge.text import Layout, tokenizer_named, writing

if TYPE_CHECKING:
    from biasgauge.io import Progress
    from biasgauge.lexicons import AssociationTest

PUBLISHED_SHARE = 0.05
"""The share of lines below which the paper says that it stayed; its code prints it and enforces nothing."""


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
    (anti 2). A line with words of three or four sets is both: it is *mixed*, counted apart and never removed. The lines
    that stay are the same bytes in the same order. The corpus is read twice and never movable.

    Args:
        corpus: a text file, plain or compressed with gzip, xz or zstd.
        lexicon: an association test by name or file, or a mapping of "x", "y", "a", "b" to words.
        out: the file to write, whole or not at all; compressed if it ends in .gz, .xz or .zst.
        direction: "debias" removes pro lines, "overbias" anti lines.
        degree: debias: the share of the surplus that goes; at 1, pro 1 is as frequent as anti 1 and pro 2 as anti 2,
            where they were more frequent. Overbias: the share of all anti lines. "max": every pro (anti) line.
        keep: which lines of a class stay: a "random" sample, or the "earliest".
        max_removed: the largest share of all lines that may go; fewer are removed where the degree asks for more, with
            a warning that says how far it got.
        tokenizer: what makes words of a line and of the lexicon, as in `read_corpus`; "words" by default, so case does
            not matter, nor punctuation; "whitespace" with `as_published`.
        layout: as in `read_corpus`; a unit is a line, in tables and JSON lines a row, in "paragraphs" a paragraph.
        field: the column or field of the text in a table, as in `read_corpus`.
        as_published: the rule of the released code of Goldfarb-Tarrant et al. 2021: the earliest lines stay, mixed
            lines may go, a line that is pro 1 and pro 2 counts as pro 1, and nothing limits how many go. Degree 1 or
            "max".
        random_state: seed of the sample.
        progress: called with (done, total), in bytes of two readings.

    Returns:
        counts of every class before and after, and what to beware of.

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
    how = Layout(layout, field=field, documents="line", keeps_marks=rule.keeps_marks)
    sets = balance_sets(lexicon, rule)
    source, target = Path(corpus), Path(out)
    if source.is_dir():
        raise CorpusError("is a folder; balance its files one by one", path=source)
    refuse_inputs(target, [source])
    check_ending(target)

    tally = _Tally(SetFinder(sets.words, rule), removable(direction))
    with writing(target), atomic_file(target) as part:
        digest = read_units(source, how, tally.take, _half(progress, 0))
        if not tally.counts.sum():
            raise CorpusError("holds no lines", path=source)
        first, sizes, movable = tally.kept()
        if as_published:
            planned = published_plan(tally.counts, movable, direction=direction, degree=degree)
        else:
            planned = plan(
                tally.counts, movable, direction=direction, degree=degree, keep=keep, max_removed=max_removed,
                random_state=random_state,
            )  # fmt: skip
        gone = _line_numbers(first[planned.gone], sizes[planned.gone])
        with packed(part, target.suffix) as copy:
            copy_without(source, copy, gone, digest, _half(progress, 1))

    after = tally.counts - np.bincount(movable[planned.gone], minlength=16)
    settings = {
        "corpus": str(source), "lexicon": sets.name, "direction": direction, "degree": degree,
        "keep": "earliest" if as_published else keep, "max_removed": None if as_published else max_removed,
        "tokenizer": rule.to_dict(), "layout": how.choose(source.name), "field": field, "as_published": as_published,
        "random_state": random_state,
    }  # fmt: skip
    return BalanceResult(
        path=str(target),
        source=str(source),
        lexicon=sets.name,
        classes=line_classes(tally.counts, after, sets.labels),
        asked=planned.asked,
        limit=planned.limit,
        coverage=sets.coverage(tally.finder.seen),
        settings=settings,
        warnings=tuple(_warnings(tally, planned, sets, direction, degree)),
    )


class _Tally:
    """Counts the units of a corpus by their sum of sets, and keeps where those stand that could go."""

    def __init__(self, finder: SetFinder, wanted: Flags) -> None:
        self.finder = finder
        self.counts = np.zeros(16, np.int64)
        self._wanted = wanted
        self._kept: list[tuple[Integers, Integers, NDArray[np.uint8]]] = []

    def take(self, raw: bytes, first: Integers, sizes: Integers) -> None:
        """Look at some units."""
        sets = self.finder.find(raw)
        self.counts += np.bincount(sets, minlength=16)
        here = np.flatnonzero(self._wanted[sets])
        if len(here):
            self._kept.append((first[here], sizes[here], sets[here]))

    def kept(self) -> tuple[Integers, Integers, NDArray[np.uint8]]:
        """First line, number of lines and sets of the units that could go, in the order of the corpus."""
        none = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.uint8)
        first, sizes, sets = zip(none, *self._kept, strict=True)
        return np.concatenate(first), np.concatenate(sizes), np.concatenate(sets)


def _line_numbers(first: Integers, sizes: Integers) -> Integers:
    """Every line of some units."""
    before = np.cumsum(sizes) - sizes
    lines: Integers = np.repeat(first - before, sizes) + np.arange(sizes.sum())
    return lines


def _half(progress: Progress | None, pass_: int) -> Progress | None:
    """Progress of one of two readings."""
    if progress is None:
        return None
    return lambda done, total: progress(pass_ * total + done, 2 * total)


def _warnings(tally: _Tally, planned: Plan, sets: BalanceSets, direction: Direction, degree: Degree) -> Iterator[str]:
    lines, removed = int(tally.counts.sum()), int(planned.gone.sum())
    if removed < planned.asked:
        reached = removed / planned.asked
        degree_reached = "" if degree == "max" else f", which is degree {figures_text(degree * reached, 3)}"
        yield (
            f"Only {removed:,} of the {planned.asked:,} lines that the degree asks for were removed{degree_reached}: "
            f"no more than {planned.limit:,} of {lines:,} lines may go (max_removed)."
        )
    elif planned.limit is None and removed > PUBLISHED_SHARE * lines:
        yield (
            f"{share_text(removed / lines, 1)} of the lines were removed: the paper says that it stayed below "
            f"{share_text(PUBLISHED_SHARE)}, but its code does not see to that."
        )
    for role, words in sets.coverage(tally.finder.seen)["lost"].items():
        if len(words) == len(set(sets.sets[role].words)):
            yield f"No word of the set {role} ({sets.sets[role].name}) occurs in the corpus."
    if sets.shared:
        yield (
            f"Words in both targets or in both attributes make a line mixed wherever they meet others: "
            f"{', '.join(sets.shared[:8])}."
        )
    for name in REMOVED_FROM[direction]:
        there, against = int(tally.counts[CLASSES[name]]), OPPOSITE.get(name)
        if degree != "max" and planned.limit is not None and against and there < tally.counts[CLASSES[against]]:
            yield f"{name} is rarer than {against} already ({there:,} lines); nothing of it was removed."

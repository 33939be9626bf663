"""Is a lexicon fit for use, by itself and with a given embedding?

Severities: an *error* means that a measurement with it cannot be computed or would be meaningless, a *warning* that a
result will be distorted, a *note* that there is something to know.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, Any, ClassVar, cast

from biasgauge.core import ENOUGH, JsonMapping, Record, WordPolicy
from biasgauge.lexicons.by_name import lexicon
from biasgauge.lexicons.findings import (
    Finding,
    Severity,
    gender_findings,
    in_order,
    listed_words,
    spelling_findings,
)
from biasgauge.lexicons.language import Language, language_of
from biasgauge.lexicons.model import AssociationTest, Lexicon, Pairs, Stereotypes, WordSets
from biasgauge.lexicons.overlap import shared_words
from biasgauge.lexicons.queries import TOGETHER
from biasgauge.lexicons.seed_sets import SeedBank
from biasgauge.results import Result, counted, level_text, number_text

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.core import WordVectors

AS_WRITTEN = WordPolicy(case="exact")
"""Words count where they are in the vocabulary as they are written; four in five must be found."""


@dataclass(frozen=True)
class SetCheck(Record):
    """One set: how many words it asks for, and which of them are repeated, multi-word or lost.

    `duplicates` are the words that occur more than once, `case_duplicates` those that differ from another by case
    alone. `lost` is None when no vocabulary was given; otherwise it has each lost word once.
    """

    name: str
    asked: int
    unique: int
    duplicates: tuple[str, ...]
    case_duplicates: tuple[str, ...]
    multiword: tuple[str, ...]
    lost: tuple[str, ...] | None

    @property
    def found(self) -> int | None:
        """Number of different words found, None when no vocabulary was given."""
        return None if self.lost is None else self.unique - len(self.lost)


@dataclass(frozen=True)
class Overlap(Record):
    """Words that two sets have in common."""

    a: str
    b: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Unequal(Record):
    """Two sets that are compared with each other and differ in size."""

    a: str
    b: str
    sizes: tuple[int, int]


@dataclass(frozen=True, repr=False)
class LexiconCheck(Result):
    """All that was found. `ok` means no error; warnings and notes may remain."""

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {
        "duplicates": JsonMapping,
        "case_duplicates": JsonMapping,
        "multiword": JsonMapping,
    }
    hidden: ClassVar[frozenset[str]] = frozenset({"sets"})

    name: str
    kind: str
    sets: tuple[SetCheck, ...]
    findings: tuple[Finding, ...]
    overlaps: tuple[Overlap, ...]
    unequal: tuple[Unequal, ...]

    @property
    def ok(self) -> bool:
        """Return whether there is no finding of severity "error"."""
        return all(finding.severity != "error" for finding in self.findings)

    def derived(self) -> JsonMapping:
        """Odd words by set; `coverage` is there when a vocabulary was given."""
        kinds = ("duplicates", "case_duplicates", "multiword")
        shape: dict[str, Any] = {
            kind: {row.name: words for row in self.sets if (words := getattr(row, kind))} for kind in kinds
        }
        if all(row.lost is not None for row in self.sets):
            shape["coverage"] = {
                "asked": sum(row.unique for row in self.sets),
                "found": sum(row.found or 0 for row in self.sets),
                "lost": {row.name: row.lost for row in self.sets if row.lost},
            }
        return {"ok": self.ok, **shape}

    def to_frame(self) -> pd.DataFrame:
        """One row per set with its counts; found and lost are None without a vocabulary."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"set": row.name, "asked": row.asked, "unique": row.unique, "found": row.found}
                | {"lost": None if row.lost is None else len(row.lost)}
                | {"duplicates": len(row.duplicates), "multiword": len(row.multiword)}
                for row in self.sets
            ]
        )

    def _title(self) -> str:
        return f"{self.name} ({self.kind})"

    def _headline(self) -> str:
        in_vocabulary = [row.found for row in self.sets if row.found is not None]
        words = counted(sum(row.unique for row in self.sets), "word")
        counts = f"{sum(in_vocabulary):,} of {words} found" if in_vocabulary else words
        return f"{counts}, {'usable' if self.ok else 'not usable'}"

    def _sentences(self) -> Sequence[str]:
        return [f"{finding.severity}: {finding.sentence}" for finding in self.findings]


def check(
    reference: str | os.PathLike[str] | Lexicon,
    vocabulary: Container[str] | None = None,
    *,
    policy: WordPolicy = AS_WRITTEN,
    language: Language | None = None,
) -> LexiconCheck:
    """Look for duplicates, overlap, unequal sizes and multi-word items, and for lost words if a vocabulary is given.

    In a language with rules for it, also for sets that differ in grammatical gender and words without their other form.

    A lexicon is usable where a measurement with the same policy would be defined.

    Args:
        reference: name of a lexicon, or path of your own file.
        vocabulary: anything that answers `word in vocabulary`: a set, a dict; of an embedding, a word whose vector is
            zero counts as lost.
        policy: share of each set's words that must be found, and, for an embedding, the cases that are tried.
        language: the record of the lexicon's language; by default the registered one.
    """
    checked = lexicon(reference)
    language_record = language_of(checked.language) if language is None else language
    sets = tuple(
        _check_set(name, words, None if vocabulary is None else _lost(checked, words, vocabulary, policy))
        for name, words in checked.sets.items()
    )
    shared = ((a, b, shared_words(checked.sets[a], checked.sets[b]).words) for a, b in _compared(checked))
    overlaps = tuple(Overlap(a, b, words) for a, b, words in shared if words)
    unequal = tuple(_unequal(checked))
    findings = [
        *(_findings_of_pairs(checked) if isinstance(checked, Pairs) else ()),
        *(_overlap_finding(checked, overlap) for overlap in overlaps),
    ]
    for row in sets:
        enough = ENOUGH if checked.battery else inf
        needed = min(enough, policy.min_coverage * row.unique)
        findings += _findings_of_set(row, together=checked.kind in TOGETHER, needed=needed, policy=policy)
    lost = dict.fromkeys(word for row in sets for word in row.lost or ())
    findings += [
        *(_unequal_finding(checked, pair) for pair in unequal),
        *spelling_findings(checked, lost, vocabulary),
        *gender_findings(checked, language_record, checked.words if vocabulary is None else vocabulary),
    ]
    return LexiconCheck(checked.name, checked.kind, sets, in_order(findings), overlaps, unequal)


def _lost(checked: Lexicon, words: tuple[str, ...], vocabulary: Container[str], policy: WordPolicy) -> tuple[str, ...]:
    """Words that a measurement would do without: those that are not there, and with them their counterparts."""
    if hasattr(vocabulary, "lookup"):
        from biasgauge.core import resolve_sets

        lost = set(resolve_sets({"words": words}, [cast("WordVectors", vocabulary)], policy)["words"].lost)
    else:
        lost = {word for word in words if word not in vocabulary}
    pairs = checked.counterparts if isinstance(checked, AssociationTest) else ()
    lost |= {word for pair in pairs for word, counterpart in (pair, pair[::-1]) if counterpart in lost}
    return tuple(word for word in dict.fromkeys(words) if word in lost)


def _check_set(name: str, words: tuple[str, ...], lost: tuple[str, ...] | None) -> SetCheck:
    counts = Counter(words)
    folded = Counter(word.casefold() for word in counts)
    return SetCheck(
        name=name,
        asked=len(words),
        unique=len(counts),
        duplicates=tuple(word for word, count in counts.items() if count > 1),
        case_duplicates=tuple(word for word in counts if folded[word.casefold()] > 1),
        multiword=tuple(word for word in counts if "_" in word.strip("_") or len(word.split()) > 1),
        lost=lost,
    )


def _compared(checked: Lexicon) -> Iterator[tuple[str, str]]:
    """Names of the sets that a measurement sets against each other."""
    match checked:
        case AssociationTest() | WordSets():
            yield from combinations(checked.sets, 2)
        case Pairs():
            yield checked.ends
        case Stereotypes():
            for kind in ("protected", "attributes"):
                yield from combinations([f"{group.name}.{kind}" for group in checked.groups], 2)
        case SeedBank():
            yield from checked.pairings


def _unequal(checked: Lexicon) -> Iterator[Unequal]:
    compared = checked.pairings if isinstance(checked, SeedBank) else ()
    sizes = {name: len(words) for name, words in checked.sets.items()}
    for a, b in (("x", "y"), ("a", "b")) if isinstance(checked, AssociationTest) else compared:
        if sizes[a] != sizes[b]:
            yield Unequal(a, b, (sizes[a], sizes[b]))


def _findings_of_pairs(pairs: Pairs) -> Iterator[Finding]:
    for first, second in pairs.pairs:
        if first == second:
            yield Finding("error", f"The pair ({first}, {second}) has equal ends, so it has no direction.")
    counts = Counter(pairs.pairs)
    for pair, count in counts.items():
        if count > 1:
            yield Finding("warning", f"The pair ({', '.join(pair)}) is there {count} times and weighs as much.")
    for first, second in counts:
        if first < second and (second, first) in counts:
            yield Finding("warning", f"The pair ({first}, {second}) is there in both directions, which cancel.")


def _overlap_finding(checked: Lexicon, overlap: Overlap) -> Finding:
    between = f"Sets '{overlap.a}' and '{overlap.b}' share {listed_words(overlap.words)}"
    severity: Severity = "warning"
    match checked:
        case AssociationTest() if (overlap.a, overlap.b) == ("x", "y"):
            severity, why = "error", "a word cannot be in both targets of a test"
        case AssociationTest() if (overlap.a, overlap.b) == ("a", "b"):
            why = "a word in both attributes cannot tell them apart"
        case AssociationTest():
            why = "a target's similarity with itself is 1"
        case Stereotypes() if overlap.a.endswith(".protected"):
            severity, why = "error", "a protected word must belong to one group"
        case Stereotypes():
            why = "an attribute of two groups cannot tell them apart"
        case Pairs():
            why = "a word stands on both sides"
        case SeedBank():
            most = shared_words(checked.sets[overlap.a], checked.sets[overlap.b]).most_apart
            why = f"shared words cancel, so that the two can differ by at most {number_text(most)} of the range"
        case _:
            severity, why = "note", "their results are not independent"
    return Finding(severity, f"{between}: {why}.")


def _unequal_finding(checked: Lexicon, pair: Unequal) -> Finding:
    sizes = f"Sets '{pair.a}' and '{pair.b}' differ in size, {pair.sizes[0]} and {pair.sizes[1]}"
    if isinstance(checked, AssociationTest) and pair.a == "x":
        return Finding("warning", f"{sizes}: published code cuts the longer one.")
    if isinstance(checked, SeedBank):
        return Finding("note", f"{sizes}: pairing by position drops the end of the longer one.")
    return Finding("note", f"{sizes}.")


def _findings_of_set(row: SetCheck, *, together: bool, needed: float, policy: WordPolicy) -> Iterator[Finding]:
    """Findings about a set of which words are `needed`; of sets measured `together` one that is short spoils all."""
    if not row.asked:
        yield Finding("note", f"Set '{row.name}' is empty.")
    if row.duplicates:
        yield Finding("warning", f"Set '{row.name}' has {listed_words(row.duplicates)} more than once.")
    if row.case_duplicates:
        differing = counted(row.case_duplicates, "word that differs", "words that differ")
        yield Finding("note", f"Set '{row.name}' has {differing} by case alone.")
    subject = f"of {row.unique} words of set '{row.name}' are"
    if row.multiword:
        named = listed_words(row.multiword)
        yield Finding("note", f"{len(row.multiword)} {subject} multi-word ({named}): most embeddings lack them.")
    if row.lost:
        short = row.found is not None and row.found < needed
        severity: Severity = "note"
        if not row.found or (short and together):
            severity = "error"
        elif short:
            severity = "warning"
        share = f"; {level_text(policy.min_coverage)} must be found" if short else ""
        yield Finding(severity, f"{len(row.lost)} {subject} not in the vocabulary: {listed_words(row.lost)}{share}.")

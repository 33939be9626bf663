"""`check_language`: is what a language brings complete, spelled as the vectors do, and balanced?"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from biasgauge.core import Estimate, JsonMapping, Record
from biasgauge.errors import LexiconError
from biasgauge.lexicons.by_language.findings import (
    GenderShares,
    compared_sets,
    gender_shares,
    other_spellings,
    set_label,
)
from biasgauge.lexicons.by_language.record import ROLES, TEMPLATE, Language, language_of, lexicons_in_language
from biasgauge.lexicons.by_name import lexicon
from biasgauge.lexicons.checking import MIN_COVERAGE, LexiconCheck, check
from biasgauge.lexicons.findings import Finding, in_order
from biasgauge.lexicons.model import AssociationTest, Lexicon, Pairs
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.stats import auc_estimate

WANTED = {
    "base_pairs": "warning",
    "scored_words": "warning",
    "other_pairs": "note",
    "occupations": "note",
    "concepts": "note",
}
"""Roles without which a part of an audit has no answer; the others refine one."""
FEWEST_PAIRS = 5
"""Base pairs below which agreement over pairs says next to nothing."""


@dataclass(frozen=True)
class RoleCheck(Record):
    """One need, the lists that the language names for it, and which of those cannot be found."""

    role: str
    meaning: str
    lists: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class FrequencyBalance(Record):
    """How often two sets that are set against each other occur.

    Attributes:
        list, a, b: the lexicon, and what its two sets are about.
        frequency: chance that a word of the first set stands before one of the second in the vector file, which usually
            means that it is more frequent; .5 is balanced. Undefined without vectors.
    """

    list: str
    a: str
    b: str
    frequency: Estimate


@dataclass(frozen=True, eq=False, repr=False)
class LanguageCheck(Result):
    """What a language brings, list by list, and what is uneven about it. `ok` means no error."""

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("roles",)

    language: str
    title: str
    roles: tuple[RoleCheck, ...]
    checks: tuple[LexiconCheck, ...]
    genders: tuple[GenderShares, ...]
    frequencies: tuple[FrequencyBalance, ...]
    findings: tuple[Finding, ...]
    settings: JsonMapping

    @property
    def ok(self) -> bool:
        """Whether neither the language nor one of its lists has a finding of severity "error"."""
        return all(check.ok for check in self.checks) and all(one.severity != "error" for one in self.findings)

    def derived(self) -> JsonMapping:
        """Whether it can be used."""
        return {"ok": self.ok}

    def summary(self) -> Summary:
        """Needs with their lists, what is uneven, then list by list what was found."""
        named = sum(bool(role.lists) for role in self.roles)
        usable = sum(check.ok for check in self.checks)
        lists = counted(self.checks, "list is", "lists are")
        told = f"{usable} of {lists} usable; {named} of {len(self.roles)} needs have a list"
        needs = [(role.meaning, ", ".join(role.lists) or "none", ", ".join(role.missing)) for role in self.roles]
        uneven = [
            (
                shares.list,
                f"{shares.a} / {shares.b}",
                _counts(shares.first),
                _counts(shares.second),
                shares.unknown,
                shares.apart,
            )
            for shares in self.genders
        ]
        often = [
            (row.list, f"{row.a} / {row.b}", row.frequency.value, row.frequency.low, row.frequency.high)
            for row in self.frequencies
            if row.frequency.value is not None
        ]
        sets = ["list", "sets"]
        shares = [*sets, "first set", "second set", Column("not told", "count"), Column("apart", "number", 2)]
        chances = [*sets, Column("first set before second", "number", 2), *(Column(end, "number", 2) for end in ENDS)]
        tables = [Table.of("roles", "What an analysis may need", ["need", "lists", "not found"], needs)]
        if uneven:
            note = "By the rules of the language's file; words whose gender they do not tell are only counted."
            tables.append(Table.of("genders", "Grammatical gender of compared sets", shares, uneven, note=note))
        if often:
            note = "Chance that a word of the first set stands before one of the second in the file: .5 is balanced."
            tables.append(Table.of("frequencies", "Frequency of compared sets", chances, often, note=note))
        return Summary(
            title=f"Check of the language {self.language} ({self.title})",
            headline=f"{told}.",
            sentences=tuple(f"{finding.severity}: {finding.sentence}" for finding in self.findings),
            tables=tuple(tables),
            parts=tuple(check.summary() for check in self.checks),
        )


ENDS = ("low", "high")


def check_language(
    language: str | os.PathLike[str] | Language,
    vocabulary: Container[str] | None = None,
    *,
    min_coverage: float = MIN_COVERAGE,
    case_fallback: bool = False,
) -> LanguageCheck:
    """Check a language and all its lists: needs that have none, coverage, spelling, balance, grammatical gender.

    Args:
        language: code of a registered language, or the file of one of your own, whose lists lie beside it.
        vocabulary: anything that answers `word in vocabulary`; of an embedding, frequencies are compared too.
        min_coverage: share of each set's words that must be found.
        case_fallback: look words up in lower case, then capitalized, when they are not there as written.

    Raises:
        LexiconError: there is no such language, or a file is not what it should be.
    """
    record = language_of(language)
    if record.path is None:
        raise LexiconError(
            f"there is no language {record.name!r}: copy the template {TEMPLATE} to {record.name}.toml and give "
            "its path"
        )
    lists, roles = lists_of(record)
    rules: dict[str, Any] = {"min_coverage": min_coverage, "case_fallback": case_fallback}
    checks = tuple(check(one, vocabulary, language=record, **rules) for one in lists)
    return LanguageCheck(
        language=record.name,
        title=record.title,
        roles=roles,
        checks=checks,
        genders=tuple(shares for one in lists for shares in gender_shares(one, record)),
        frequencies=tuple(_frequencies(lists, vocabulary, case_fallback=case_fallback)),
        findings=in_order(_findings(record, roles, lists)),
        settings=rules,
    )


def lists_of(record: Language) -> tuple[list[Lexicon], tuple[RoleCheck, ...]]:
    """Every list in a language, and what became of the names in its roles."""
    found = {one.name: one for one in lexicons_in_language(record)}
    roles = []
    for role, meaning in ROLES.items():
        missing = []
        for name, reference in zip(dict(record.roles).get(role, ()), record.named(role), strict=True):
            source, _, part = name.partition(":")
            try:
                known = found.setdefault(source, lexicon(reference.removesuffix(f":{part}") if part else reference))
            except LexiconError:
                missing.append(name)
                continue
            labels = [members.name for members in known.roles.values()] if isinstance(known, AssociationTest) else []
            if part and part not in {*known.sets, *labels}:
                missing.append(name)
        roles.append(RoleCheck(role, meaning, dict(record.roles).get(role, ()), tuple(missing)))
    return [one for one in found.values() if one.words], tuple(roles)


def words_to_look_up(record: Language) -> set[str]:
    """Words that a check of a language looks for in vectors: its lists, their other forms and other spellings."""
    words = {word for one in lists_of(record)[0] for word in one.words}
    return words | {form for word in words for form in (*record.gender.other_forms(word), *other_spellings(word))}


def _findings(record: Language, roles: tuple[RoleCheck, ...], lists: list[Lexicon]) -> Iterator[Finding]:
    yield from _role_findings(record, roles, lists)
    if not any(one.kind in ("test", "stereotypes") for one in lists):
        yield Finding(
            "note", "There is no association test and no stereotype set: an audit has nothing to ask unless given one."
        )
    if not record.gender:
        yield Finding(
            "note",
            "The file states no rules of grammatical gender: sets are not compared in it. Leave that so where nouns "
            "and adjectives have none.",
        )
    if not record.templates:
        yield Finding("note", "There are no templates: a transformer reads words by themselves, without a sentence.")


def _role_findings(record: Language, roles: tuple[RoleCheck, ...], lists: list[Lexicon]) -> Iterator[Finding]:
    for role in roles:
        if role.missing:
            yield Finding("error", f"The role '{role.role}' names what there is not: {', '.join(role.missing)}.")
        elif not role.lists and role.role in WANTED:
            yield Finding(
                "warning" if WANTED[role.role] == "warning" else "note",
                f"The role '{role.role}' has no list: no {role.meaning}, so that parts of an audit have no answer.",
            )
        strangers = [one.name for one in lists if one.name in role.lists and one.language != record.name]
        if strangers:
            yield Finding("error", f"The role '{role.role}' names lists in another language: {', '.join(strangers)}.")
    by_name = {one.name: one for one in lists}
    for name in dict(record.roles).get("base_pairs", ()):
        pairs = by_name.get(name)
        if pairs is not None and not isinstance(pairs, Pairs):
            yield Finding("error", f"The base pairs '{name}' are of kind {pairs.kind}, but pairs are wanted.")
        elif pairs is not None and len(pairs.pairs) < FEWEST_PAIRS:
            yield Finding(
                "warning",
                f"'{name}' has {counted(pairs.pairs, 'pair')}: with fewer than {FEWEST_PAIRS}, agreement over pairs "
                "says next to nothing.",
            )


def _frequencies(
    lists: list[Lexicon], vocabulary: Container[str] | None, *, case_fallback: bool
) -> Iterator[FrequencyBalance]:
    if vocabulary is None or not hasattr(vocabulary, "lookup"):
        return
    for one in lists:
        pairs = [one.ends] if isinstance(one, Pairs) else list(compared_sets(one))
        for a, b in pairs:
            # a smaller row is more frequent
            rows = [
                -vocabulary.lookup(dict.fromkeys(one.sets[name]), case_fallback=case_fallback).rows.astype(np.float64)
                for name in (a, b)
            ]
            yield FrequencyBalance(one.name, set_label(one, a), set_label(one, b), auc_estimate(rows[0], rows[1]))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {gender}" for gender, count in counts.items())

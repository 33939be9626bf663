"""`check_language`: is what a language brings complete, spelled as the vectors do, and balanced?"""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from biasgauge.core import Estimate, JsonMapping, Record, WordPolicy, WordVectors
from biasgauge.errors import LexiconError
from biasgauge.lexicons.by_name import lexicon
from biasgauge.lexicons.checking import AS_WRITTEN, LexiconCheck, check
from biasgauge.lexicons.findings import (
    Finding,
    GenderShares,
    Severity,
    compared_sets,
    gender_shares,
    in_order,
    other_spellings,
    set_label,
)
from biasgauge.lexicons.language import ROLES, TEMPLATE, Language, language_of, lexicons_in_language
from biasgauge.lexicons.model import AssociationTest, Lexicon, Pairs
from biasgauge.results import Column, RecordTable, Result, Summary, counted
from biasgauge.stats import auc_estimate

WANTED: Mapping[str, Severity] = {
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
    """Balance of the frequencies of two compared sets.

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
    """Lists of a language for each need, and imbalances between compared sets. `ok` means no error."""

    abridged: ClassVar[bool] = True
    tables: ClassVar[tuple[str, ...]] = ("roles",)
    record_tables: ClassVar[tuple[RecordTable, ...]] = (
        RecordTable(
            "roles",
            "What an analysis may need",
            (
                Column("need", source="meaning"),
                Column("lists", source=lambda role: ", ".join(role.lists) or "none"),
                Column("not found", source=lambda role: ", ".join(role.missing)),
            ),
        ),
        RecordTable(
            "genders",
            "Grammatical gender of compared sets",
            (
                "list",
                Column("sets", source=lambda shares: f"{shares.a} / {shares.b}"),
                Column("first set", source=lambda shares: _counts(shares.first)),
                Column("second set", source=lambda shares: _counts(shares.second)),
                Column("gender unknown", "count", source="unknown"),
                Column("difference", "number", source="apart"),
            ),
            note="By the rules of the language's file; words whose gender they do not tell are only counted.",
        ),
        RecordTable(
            "known_frequencies",
            "Frequency of compared sets",
            (
                "list",
                Column("sets", source=lambda balance: f"{balance.a} / {balance.b}"),
                Column("first set before second [{level}]", "estimate", source="frequency"),
            ),
            note="Chance that a word of the first set stands before one of the second in the file: .5 is balanced.",
            name="frequencies",
        ),
    )

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
        """Return whether neither the language nor one of its lists has a finding of severity "error"."""
        return all(check.ok for check in self.checks) and all(finding.severity != "error" for finding in self.findings)

    @property
    def known_frequencies(self) -> tuple[FrequencyBalance, ...]:
        """Compared sets whose frequencies are known."""
        return tuple(balance for balance in self.frequencies if balance.frequency.defined)

    def derived(self) -> JsonMapping:
        """`ok`."""
        return {"ok": self.ok}

    def _title(self) -> str:
        return f"Check of the language {self.language} ({self.title})"

    def _headline(self) -> str:
        usable, lists = sum(check.ok for check in self.checks), counted(self.checks, "list is", "lists are")
        named = sum(bool(role.lists) for role in self.roles)
        return f"{usable} of {lists} usable; {named} of {len(self.roles)} needs have a list."

    def _sentences(self) -> Sequence[str]:
        return [f"{finding.severity}: {finding.sentence}" for finding in self.findings]

    def summary(self) -> Summary:
        """Needs with their lists, imbalances between compared sets, then the check of each list."""
        return replace(super().summary(), parts=tuple(check.summary() for check in self.checks))


def check_language(
    language: str | os.PathLike[str] | Language,
    vocabulary: Container[str] | None = None,
    *,
    policy: WordPolicy = AS_WRITTEN,
) -> LanguageCheck:
    """Check a language and all its lists: needs that have none, coverage, spelling, balance, grammatical gender.

    Args:
        language: code of a registered language, or the file of one of your own, whose lists lie beside it.
        vocabulary: anything that answers `word in vocabulary`; of an embedding, frequencies are compared too.
        policy: share of each set's words that must be found, and, for an embedding, the cases that are tried.

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
    models = [cast("WordVectors", vocabulary)] if hasattr(vocabulary, "lookup") else []
    settings = policy.settings(models)
    fallback = settings["case_fallback"]
    return LanguageCheck(
        language=record.name,
        title=record.title,
        roles=roles,
        checks=tuple(check(checked, vocabulary, policy=policy, language=record) for checked in lists),
        genders=tuple(shares for checked in lists for shares in gender_shares(checked, record)),
        frequencies=tuple(balance for model in models for balance in _frequencies(lists, model, fallback=fallback)),
        findings=in_order(_findings(record, roles, lists)),
        settings=settings,
    )


def lists_of(record: Language) -> tuple[list[Lexicon], tuple[RoleCheck, ...]]:
    """Every list in a language, and what became of the names in its roles."""
    by_name = {listed.name: listed for listed in lexicons_in_language(record)}
    roles = []
    for role, meaning in ROLES.items():
        missing = []
        for name, reference in zip(dict(record.roles).get(role, ()), record.named(role), strict=True):
            source, _, set_name = name.partition(":")
            try:
                named = by_name.setdefault(
                    source, lexicon(reference.removesuffix(f":{set_name}") if set_name else reference)
                )
            except LexiconError:
                missing.append(name)
                continue
            labels = [members.name for members in named.roles.values()] if isinstance(named, AssociationTest) else []
            if set_name and set_name not in {*named.sets, *labels}:
                missing.append(name)
        roles.append(RoleCheck(role, meaning, dict(record.roles).get(role, ()), tuple(missing)))
    return [listed for listed in by_name.values() if listed.words], tuple(roles)


def words_to_look_up(record: Language) -> set[str]:
    """Words that a check of a language looks for in vectors: its lists, their other forms and other spellings."""
    words = {word for listed in lists_of(record)[0] for word in listed.words}
    return words | {form for word in words for form in (*record.gender.other_forms(word), *other_spellings(word))}


def _findings(record: Language, roles: tuple[RoleCheck, ...], lists: list[Lexicon]) -> Iterator[Finding]:
    yield from _role_findings(record, roles, lists)
    if not any(listed.kind in ("test", "stereotypes") for listed in lists):
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
                WANTED[role.role],
                f"The role '{role.role}' has no list: no {role.meaning}, so that parts of an audit have no answer.",
            )
        strangers = [listed.name for listed in lists if listed.name in role.lists and listed.language != record.name]
        if strangers:
            yield Finding("error", f"The role '{role.role}' names lists in another language: {', '.join(strangers)}.")
    by_name = {listed.name: listed for listed in lists}
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


def _frequencies(lists: list[Lexicon], model: WordVectors, *, fallback: bool) -> Iterator[FrequencyBalance]:
    for listed in lists:
        for pair in [listed.ends] if isinstance(listed, Pairs) else list(compared_sets(listed)):
            found = (model.lookup(dict.fromkeys(listed.sets[name]), case_fallback=fallback) for name in pair)
            first, second = (-words.rows.astype(np.float64) for words in found)  # a smaller row is more frequent
            a, b = (set_label(listed, name) for name in pair)
            yield FrequencyBalance(listed.name, a, b, auc_estimate(first, second))


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {gender}" for gender, count in counts.items())

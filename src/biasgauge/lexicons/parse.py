"""A dictionary with the keys of a lexicon file -> a Lexicon, with every rule of the format checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from biasgauge.core import WordSet, did_you_mean
from biasgauge.errors import LexiconError
from biasgauge.lexicons.by_language.record import ROLES, GenderRules, Language
from biasgauge.lexicons.model import (
    DEFAULT_LANGUAGE,
    METADATA,
    AssociationTest,
    Group,
    Lexicon,
    Pairs,
    Stereotypes,
    Translations,
    Values,
    Words,
    WordSets,
)
from biasgauge.lexicons.seed_sets import SeedBank, SeedSet
from biasgauge.lexicons.table import Table, describe, read_text, read_toml, shown

Metadata = dict[str, Any]
"""What all kinds share, as keyword arguments."""


def read_lexicon(path: str | os.PathLike[str]) -> Lexicon:
    """Read a user's TOML file, or a plain list (.txt). Raises LexiconError, and nothing else, if something is wrong."""
    if os.fspath(path).endswith(".txt"):
        words = read_words(path)
        return parse_lexicon({"kind": "words", "words": list(dict.fromkeys(words))}, path=path)
    return parse_lexicon(read_toml(path), path=path)


def read_words(path: str | os.PathLike[str]) -> list[str]:
    """The words of a plain text file, one per line; blank lines are passed over.

    Raises:
        LexiconError: the file cannot be read, is not UTF-8 text, or holds no words.
    """
    text = read_text(path, "a text file with one word per line")
    words = [line.strip() for line in text.splitlines() if line.strip()]
    if not words:
        raise LexiconError("holds no words; write one word per line", path=path)
    return words


def parse_lexicon(
    data: Mapping[str, object], *, path: str | os.PathLike[str] | None = None, shipped: bool = False
) -> Lexicon:
    """Make a lexicon from a dictionary with the keys of the file format.

    `name` defaults to the stem of `path`, `language` to "en"; the other common keys may be missing.
    """
    table = Table(data, path)
    kind = table.take("kind", f"one of {', '.join(_KINDS)}")
    if not isinstance(kind, str):
        table.fail(f"'kind' must be a string, found {describe(kind)}")
    if kind not in _KINDS:
        table.fail(f"unknown kind {shown(kind)}: expected one of {', '.join(_KINDS)}{did_you_mean(kind, _KINDS)}")
    default = Path(os.fspath(path)).stem if path is not None else "unnamed"
    metadata: Metadata = {"name": table.word(table.text("name", default=default), "name")}
    metadata |= {key: table.text(key, default=DEFAULT_LANGUAGE if key == "language" else "") for key in METADATA}
    if not metadata["language"].strip():
        table.fail("'language' must not be empty; leave the key out for English")
    metadata |= {"beware": table.words("beware", optional=True), "shipped": shipped}
    lexicon = _KINDS[kind](table, metadata | {"path": None if path is None else os.fspath(path)})
    table.finish()
    return lexicon


def _words(table: Table, metadata: Metadata) -> Words:
    return Words(**metadata, listed=table.words("words"))


def _pairs(table: Table, metadata: Metadata) -> Pairs:
    ends = table.words("ends") if "ends" in table else ("first", "second")
    if len(ends) != 2 or len(set(ends)) != 2:
        table.fail(f"'ends' must be two different names, found {', '.join(ends)}")
    pairs = tuple((first, second) for first, second in table.rows("pairs", 2, "pairs of words"))
    return Pairs(**metadata, ends=(ends[0], ends[1]), pairs=pairs)


def _sets(table: Table, metadata: Metadata) -> WordSets:
    inner = table.table("sets", "named sets of words")
    return WordSets(**metadata, members=tuple(WordSet(name, inner.words(name)) for name in inner.names("sets")))


def _test(table: Table, metadata: Metadata) -> AssociationTest:
    x, y, a, b = (_role(table, role) for role in ("x", "y", "a", "b"))
    rows = table.rows("counterparts", 2, "pairs of forms", optional=True)
    pairs = tuple((first, second) for first, second in rows)
    together = [{*members.words} for members in (x, y, a, b)]
    for number, pair in enumerate(pairs, 1):
        if not any(members.issuperset(pair) for members in together):
            table.fail(f"'counterparts, item {number}' has {shown(pair[0])} and {shown(pair[1])}, not both in one set")
    return AssociationTest(**metadata, x=x, y=y, a=a, b=b, counterparts=pairs)


def _role(table: Table, role: str) -> WordSet:
    inner = table.table(role, f'name and words, as in {role} = {{ name = "math", words = ["algebra", "geometry"] }}')
    members = WordSet(inner.text("name", default=role) or role, inner.words("words"))
    inner.finish()
    return members


def _stereotypes(table: Table, metadata: Metadata) -> Stereotypes:
    inner = table.table("groups", "groups")
    groups = tuple(_group(inner, name) for name in inner.names("groups"))
    group_order = table.words("group_order", optional=True)
    rows = table.rows("defining_sets", len(groups), "defining sets", optional=True)
    _check_defining_sets(table, groups, group_order, rows)
    targets = table.words("eval_targets", optional=True)
    protected = {word for group in groups for word in group.protected}
    for word in targets:
        if word not in protected:
            table.fail(f"'eval_targets' has {shown(word)}, which is no protected word of any group")
    controls = table.table("controls", "human and neutral", optional=True)
    human, neutral = controls.text("human", default=""), controls.text("neutral", default="")
    controls.finish()
    metadata |= {"human": human or None, "neutral": neutral or None}
    return Stereotypes(**metadata, groups=groups, group_order=group_order, defining_sets=rows, eval_targets=targets)


def _group(groups: Table, name: str) -> Group:
    inner = groups.table(name, "protected and attributes")
    group = Group(name, inner.words("protected"), inner.words("attributes"))
    inner.finish()
    return group


def _check_defining_sets(
    table: Table, groups: tuple[Group, ...], group_order: tuple[str, ...], rows: tuple[tuple[str, ...], ...]
) -> None:
    """Each row must have one protected word of each group, in the stated order of groups."""
    if not group_order and not rows:
        return
    by_name = {group.name: group for group in groups}
    if sorted(group_order) != sorted(by_name):
        named = ", ".join(by_name)
        table.fail(f"'group_order' must name each group once ({named}), found {', '.join(group_order) or 'nothing'}")
    for number, row in enumerate(rows, 1):
        for name, word in zip(group_order, row, strict=True):
            if word not in by_name[name].protected:
                problem = f"'defining_sets, item {number}' has {shown(word)} for the group {shown(name)}"
                table.fail(f"{problem}, which is not among its protected words")


def _values(table: Table, metadata: Metadata) -> Values:
    unit, inner = table.text("unit"), table.table("values", "numbers by word")
    return Values(**metadata, unit=unit, items=tuple((word, inner.number(word)) for word in inner.names("words")))


def _translations(table: Table, metadata: Metadata) -> Translations:
    to = table.text("to")
    if to == metadata["language"]:
        table.fail(f"'to' must be another language than 'language', found {shown(to)} for both")
    entries = []
    for inner in table.tables("entries", "word and forms"):
        word = inner.word(inner.take("word", "a word"), inner.key("word"))
        entries.append((word, inner.words("forms")))
        inner.finish()
    _unique(table, "entries", (word for word, _ in entries))
    return Translations(**metadata, to=to, entries=tuple(entries))


def _seeds(table: Table, metadata: Metadata) -> SeedBank:
    seeds = tuple(_seed_set(inner) for inner in table.tables("seeds", "a seed set"))
    _unique(table, "seeds", (seed_set.id for seed_set in seeds))
    ids = {seed_set.id: None for seed_set in seeds}
    pairings = []
    for number, (a, b) in enumerate(table.rows("pairings", 2, "pairs of ids", optional=True), 1):
        for name in (a, b):
            if name not in ids:
                problem = f"'pairings, item {number}' names {shown(name)}, which is no id of a seed set"
                table.fail(f"{problem}{did_you_mean(name, ids)}")
        pairings.append((a, b))
    return SeedBank(**metadata, seeds=seeds, pairings=tuple(pairings))


def _seed_set(inner: Table) -> SeedSet:
    identifier = inner.word(inner.take("id", "a name for the set"), inner.key("id"))
    texts = {key: inner.text(key, default="") for key in SeedSet.texts}
    seed_set = SeedSet(id=identifier, **texts, words=inner.words("words", empty=True))
    inner.finish()
    return seed_set


def _language(table: Table, metadata: Metadata) -> Language:
    """A language's file is named after its code, so that lists find it by the language that they state."""
    if metadata["name"] != metadata["language"]:
        names = f"{shown(metadata['name'])} and {shown(metadata['language'])}"
        table.fail(f"the name of a language must be its code: 'name' (or the file's name) and 'language' are {names}")
    inner = table.table("roles", "lists by role", optional=True)
    named = {role: inner.words(role, optional=True) for role in ROLES}
    roles = tuple((role, names) for role, names in named.items() if names)
    inner.finish()
    templates = table.words("templates", optional=True)
    for template in templates:
        if template.count("{}") != 1:
            table.fail(f"'templates' must be sentences with one gap, {{}}, found {shown(template)}")
    spelled = table.words("spelled_forms", optional=True)
    return Language(**metadata, roles=roles, templates=templates, spelled_forms=spelled, gender=_gender(table))


def _gender(table: Table) -> GenderRules:
    inner = table.table("gender", "endings, words and counterparts", optional=True)
    capitals = inner.take("nouns_have_capitals", "true or false", default=False)
    if not isinstance(capitals, bool):
        table.fail(f"'gender.nouns_have_capitals' must be true or false, found {describe(capitals)}")
    pairs = tuple((first, second) for first, second in inner.rows("counterparts", 2, "pairs of endings", optional=True))
    endings, words = (_by_gender(inner, key) for key in ("endings", "words"))
    inner.finish()
    return GenderRules(endings=endings, words=words, counterparts=pairs, nouns_have_capitals=capitals)


def _by_gender(table: Table, key: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    if key not in table:
        return ()
    inner = table.table(key, f"{key} by gender")
    return tuple((gender, inner.words(gender)) for gender in inner.names("genders"))


def _unique(table: Table, key: str, names: Iterable[str]) -> None:
    seen = set()
    for name in names:
        if name in seen:
            table.fail(f"'{key}' has {shown(name)} twice; each must be there once")
        seen.add(name)


_KINDS: dict[str, Callable[[Table, Metadata], Lexicon]] = {
    "words": _words,
    "pairs": _pairs,
    "sets": _sets,
    "test": _test,
    "stereotypes": _stereotypes,
    "values": _values,
    "translations": _translations,
    "seeds": _seeds,
    "language": _language,
}

KINDS = tuple(_KINDS)
"""The kinds of lexicon, as written in a file."""

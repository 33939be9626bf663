"""A dictionary with the keys of a lexicon file -> a Lexicon, with every rule of the format checked."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from biasgauge.core import TEST_ROLES, WordSet, did_you_mean
from biasgauge.errors import LexiconError
from biasgauge.lexicons import model
from biasgauge.lexicons.language import ROLES, GenderRules, Language
from biasgauge.lexicons.provenance import made_from_table
from biasgauge.lexicons.seed_sets import SeedBank, SeedSet
from biasgauge.lexicons.table import TomlTable, describe, read_text, read_toml, shown

Metadata = dict[str, Any]
"""What all kinds share, as keyword arguments."""


def read_lexicon(path: str | os.PathLike[str]) -> model.Lexicon:
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
) -> model.Lexicon:
    """Make a lexicon from a dictionary with the keys of the file format.

    `name` defaults to the stem of `path`, `language` to "en"; the other common keys may be missing.
    """
    table = TomlTable(data, path)
    kind = table.take("kind", f"one of {', '.join(_KINDS)}")
    if not isinstance(kind, str):
        table.fail(f"'kind' must be a string, found {describe(kind)}")
    if kind not in _KINDS:
        table.fail(f"unknown kind {shown(kind)}: expected one of {', '.join(_KINDS)}{did_you_mean(kind, _KINDS)}")
    default = Path(os.fspath(path)).stem if path is not None else "unnamed"
    metadata: Metadata = {"name": table.word(table.text("name", default=default), "name")}
    metadata |= {
        key: table.text(key, default=model.DEFAULT_LANGUAGE if key == "language" else "") for key in model.METADATA
    }
    if not metadata["language"].strip():
        table.fail("'language' must not be empty; leave the key out for English")
    metadata |= {"beware": table.words("beware", optional=True), "made": made_from_table(table), "shipped": shipped}
    metadata |= {key: table.take(key, "true or false", bool, default=False) for key in model.FLAGS}
    metadata |= {key: table.text(key, default="") for key in model.REFERENCES}
    lexicon = _KINDS[kind](table, metadata | {"path": None if path is None else os.fspath(path)})
    table.finish()
    return lexicon


def _words(table: TomlTable, metadata: Metadata) -> model.Words:
    return model.Words(**metadata, listed=table.words("words"))


def _pairs(table: TomlTable, metadata: Metadata) -> model.Pairs:
    ends = table.words("ends") if "ends" in table else ("first", "second")
    if len(ends) != 2 or len(set(ends)) != 2:
        table.fail(f"'ends' must be two different names, found {', '.join(ends)}")
    return model.Pairs(**metadata, ends=(ends[0], ends[1]), pairs=table.pairs("pairs", "pairs of words"))


def _sets(table: TomlTable, metadata: Metadata) -> model.WordSets:
    members = [WordSet(name, words) for name, words in _lists_by_name(table, "sets", "named sets of words", "sets")]
    known = {member.name for member in members}
    inner = table.table("treatments", "x, y, a and b by name", optional=True)
    treatments = []
    for name in inner.names("treatments") if "treatments" in table else ():
        roles = inner.table(name, "names of sets for x, y, a and b")
        treatments.append((name, tuple((role, roles.words(role)) for role in TEST_ROLES)))
        for role, sets in treatments[-1][1]:
            if unknown := [part for part in sets if part not in known]:
                table.fail(f"'treatments.{name}.{role}' names {shown(unknown[0])}, which is none of the sets")
    return model.WordSets(**metadata, members=tuple(members), treatments=tuple(treatments))


def _lists_by_name(table: TomlTable, key: str, noun: str, names: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Lists of words under names that the user chooses."""
    inner = table.table(key, noun)
    return tuple((name, inner.words(name)) for name in inner.names(names))


def _test(table: TomlTable, metadata: Metadata) -> model.AssociationTest:
    sets: dict[str, Any] = {}
    for role in TEST_ROLES:
        example = f'name and words, as in {role} = {{ name = "math", words = ["algebra", "geometry"] }}'
        inner = table.table(role, example)
        sets[role] = WordSet(inner.text("name", default=role) or role, inner.words("words"))
    counterparts = table.pairs("counterparts", "pairs of forms", optional=True)
    for number, pair in enumerate(counterparts, 1):
        if not any(set(pair) <= set(members.words) for members in sets.values()):
            table.fail(f"'counterparts, item {number}' has {shown(pair[0])} and {shown(pair[1])}, not both in one set")
    return model.AssociationTest(**metadata, **sets, counterparts=counterparts)


def _stereotypes(table: TomlTable, metadata: Metadata) -> model.Stereotypes:
    inner = table.table("groups", "groups")
    groups = {}
    for name in inner.names("groups"):
        lists = inner.table(name, "protected and attributes")
        groups[name] = model.StereotypeGroup(name, lists.words("protected"), lists.words("attributes"))
    group_order = table.words("group_order", optional=True)
    rows = table.rows("defining_sets", len(groups), "defining sets", optional=True)
    if (group_order or rows) and sorted(group_order) != sorted(groups):
        listed = ", ".join(group_order) or "nothing"
        table.fail(f"'group_order' must name each group once ({', '.join(groups)}), found {listed}")
    for number, row in enumerate(rows, 1):
        for name, word in zip(group_order, row, strict=True):
            if word not in groups[name].protected:
                problem = f"'defining_sets, item {number}' has {shown(word)} for the group {shown(name)}"
                table.fail(f"{problem}, which is not among its protected words")
    targets = table.words("eval_targets", optional=True)
    for word in targets:
        if not any(word in group.protected for group in groups.values()):
            table.fail(f"'eval_targets' has {shown(word)}, which is no protected word of any group")
    controls = table.table("controls", "human and neutral", optional=True)
    metadata |= {key: controls.text(key, default="") or None for key in ("human", "neutral")}
    metadata |= {"group_order": group_order, "defining_sets": rows, "eval_targets": targets}
    return model.Stereotypes(**metadata, groups=tuple(groups.values()))


def _values(table: TomlTable, metadata: Metadata) -> model.Values:
    unit, inner = table.text("unit"), table.table("values", "numbers by word")
    return model.Values(**metadata, unit=unit, items=tuple((word, inner.number(word)) for word in inner.names("words")))


def _translations(table: TomlTable, metadata: Metadata) -> model.Translations:
    to = table.text("to")
    if to == metadata["language"]:
        table.fail(f"'to' must be another language than 'language', found {shown(to)} for both")
    entries = []
    for inner in table.tables("entries", "word and forms"):
        word = inner.word(inner.take("word", "a word"), inner.key("word"))
        entries.append((word, inner.words("forms")))
    _refuse_repeated(table, "entries", (word for word, _ in entries))
    return model.Translations(**metadata, to=to, entries=tuple(entries))


def _seeds(table: TomlTable, metadata: Metadata) -> SeedBank:
    seeds = []
    for inner in table.tables("seeds", "a seed set"):
        identifier = inner.word(inner.take("id", "a name for the set"), inner.key("id"))
        texts = {key: inner.text(key, default="") for key in SeedSet.texts}
        seeds.append(SeedSet(id=identifier, **texts, words=inner.words("words", empty=True)))
    ids = [seed_set.id for seed_set in seeds]
    _refuse_repeated(table, "seeds", ids)
    pairings = table.pairs("pairings", "pairs of ids", optional=True)
    known = frozenset(ids)
    for number, pair in enumerate(pairings, 1):
        for name in pair:
            if name not in known:
                problem = f"'pairings, item {number}' names {shown(name)}, which is no id of a seed set"
                table.fail(f"{problem}{did_you_mean(name, ids)}")
    return SeedBank(**metadata, seeds=tuple(seeds), pairings=pairings)


def _language(table: TomlTable, metadata: Metadata) -> Language:
    """A language's file is named after its code, so that lists find it by the language that they state."""
    if metadata["name"] != metadata["language"]:
        names = f"{shown(metadata['name'])} and {shown(metadata['language'])}"
        table.fail(f"the name of a language must be its code: 'name' (or the file's name) and 'language' are {names}")
    inner = table.table("roles", "lists by role", optional=True)
    named = {role: inner.words(role, optional=True) for role in ROLES}
    roles = tuple((role, names) for role, names in named.items() if names)
    templates = table.words("templates", optional=True)
    for template in templates:
        if template.count("{}") != 1:
            table.fail(f"'templates' must be sentences with one gap, {{}}, found {shown(template)}")
    spelled = table.words("spelled_forms", optional=True)
    rules = table.table("gender", "endings, words and counterparts", optional=True)
    gender = GenderRules(
        endings=_lists_by_name(rules, "endings", "endings by gender", "genders") if "endings" in rules else (),
        words=_lists_by_name(rules, "words", "words by gender", "genders") if "words" in rules else (),
        counterparts=rules.pairs("counterparts", "pairs of endings", optional=True),
        nouns_have_capitals=rules.take("nouns_have_capitals", "true or false", bool, default=False),
    )
    return Language(**metadata, roles=roles, templates=templates, spelled_forms=spelled, gender=gender)


def _refuse_repeated(table: TomlTable, key: str, names: Iterable[str]) -> None:
    seen = set()
    for name in names:
        if name in seen:
            table.fail(f"'{key}' has {shown(name)} twice; each must be there once")
        seen.add(name)


_KINDS: dict[str, Callable[[TomlTable, Metadata], model.Lexicon]] = {
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

"""A recipe: a TOML file -> the lists that it asks for, with every rule of the format checked."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, get_args

from biasgauge.core import TEST_ROLES, did_you_mean
from biasgauge.errors import LexiconError
from biasgauge.lexicons import DEFAULT_LANGUAGE, FLAGS, METADATA, REFERENCES, TomlTable, describe, read_toml, shown

RecipeKind = Literal["words", "pairs", "sets", "test"]
Choice = Literal["first", "frequent", "random"]
MatchMethod = Literal["optimal", "greedy"]
OtherMeaning = Literal["word", "place", "person"]

NEEDED_LISTS = {"words": ("words",), "pairs": ("first", "second"), "test": TEST_ROLES}
"""Lists that a recipe of each kind must have; one of sets has as many as it likes, under any names."""
SHIPPED = Path(__file__).parent / "shipped"
"""Folder of the recipes that ship."""
DEFAULT_DIFFERENCE = 0.3
"""Largest difference of log10 frequency within a matched pair: a factor of two."""


@dataclass(frozen=True)
class Filters:
    """Conditions on each word of a list.

    Attributes:
        one_per_family: of several forms of one lemma, only the word that stands first.
        not_a: refuse words that have another meaning in WordNet, in whatever case: as a "word" (a meaning that is no
            single person, place or thing), as a "place", as a famous "person". For lists of names.
        min_sense_share: share of the meaning that is meant, in WordNet's tagged text; of the most frequent meaning
            where the source knows none.
        max_sd: largest standard deviation of the ratings.
        per_million: frequency, from and to, in a million words of the reference list of the language.
        ranks: rank in the first of the vectors, from and to; the most frequent word has 1.
        min_coverage: share of the vectors that must have the word.
        min_letters: fewest letters.
    """

    one_per_family: bool = True
    not_a: tuple[OtherMeaning, ...] = ()
    min_sense_share: float = 0.0
    max_sd: float | None = None
    per_million: tuple[float, float] | None = None
    ranks: tuple[float, float] | None = None
    min_coverage: float = 1.0
    min_letters: int = 2


@dataclass(frozen=True)
class ListRecipe:
    """One list: `sources` are tables with the name of a word source and its settings.

    Attributes:
        key: name of the list in the recipe.
        role: list of the lexicon that it is, or is a part of: x, y, a, b of a test, first and second of pairs, any name
            of a set. Parts are joined in the order of the recipe.
        label: name of what its words stand for.
        size: words that are wanted; None for all.
        sources: where candidates come from.
        also_in: sources that must offer the word, too, in whatever case.
        not_in: sources that must not offer it.
        choose: which candidates are preferred: the "first" ones of the source, the most "frequent", or "random" ones.
        exclude: words that a reader has thrown out, each with the reason.
        filters: conditions on its words.
    """

    key: str
    role: str
    label: str
    size: int | None
    sources: tuple[TomlTable, ...]
    also_in: tuple[TomlTable, ...]
    not_in: tuple[TomlTable, ...]
    choose: Choice
    exclude: Mapping[str, str]
    filters: Filters


@dataclass(frozen=True)
class Match:
    """Two lists whose words are matched on log frequency, one to one.

    Attributes:
        lists: the two.
        method: "optimal": pairs with the least sum of differences; "greedy": each word of the first list, in order of
            preference, with the nearest word of the second.
        max_difference: largest difference of log10 frequency within a pair.
        pool: words of each list among which pairs are sought, in order of preference; by default three times the size.
    """

    lists: tuple[str, str]
    method: MatchMethod = "optimal"
    max_difference: float = DEFAULT_DIFFERENCE
    pool: int | None = None


@dataclass(frozen=True)
class LexiconRecipe:
    """Lists to be made, and the metadata of the lexicon. `path` is the file it was read from, None for a dictionary."""

    name: str
    kind: RecipeKind
    language: str
    metadata: Mapping[str, Any]
    random_state: int
    lists: Mapping[str, ListRecipe]
    matches: tuple[Match, ...]
    checksum: str
    path: Path | None

    @property
    def opposed(self) -> frozenset[frozenset[str]]:
        """Pairs of lists that are compared with each other, so that a word of both would belong to neither."""
        roles = {key: wanted.role for key, wanted in self.lists.items()}
        compared = [{"x", "y"}, {"a", "b"}] if self.kind == "test" else []
        # Parts of one list are compared, too: they are apart for a reason, as men's and women's names are.
        return frozenset(
            frozenset({one, two})
            for one, two in combinations(roles, 2)
            if self.kind != "test" or roles[one] == roles[two] or {roles[one], roles[two]} in compared
        )


def read_recipe(recipe: str | os.PathLike[str] | Mapping[str, object]) -> LexiconRecipe:
    """Read a recipe from its file, or from a dictionary with the same keys.

    Settings of word sources are checked by the sources, when they are asked.

    Raises:
        LexiconError: it cannot be read, or something in it is wrong; names the file and the key.
    """
    path = None if isinstance(recipe, Mapping) else Path(recipe)
    data = _with_lists_of_others(recipe if isinstance(recipe, Mapping) else read_toml(recipe), path)
    table = TomlTable(data, path, noun="a recipe")
    kind: RecipeKind = _choice(table, "kind", get_args(RecipeKind))
    name = table.word(table.text("name", default=path.name.partition(".")[0] if path else "unnamed"), "name")
    language = table.text("language", default=DEFAULT_LANGUAGE)
    metadata: dict[str, Any] = {key: table.text(key, default="") for key in METADATA if key != "language"}
    metadata["beware"] = table.words("beware", optional=True)
    metadata |= {key: table.take(key, "true or false", bool, default=False) for key in FLAGS}
    metadata |= {key: table.text(key, default="") for key in REFERENCES}
    random_state = table.whole("random_state", default=0)
    if random_state < 0:
        table.fail(f"'random_state' must be a whole number of at least 0, found {random_state}")
    shared = _filters(table.table("filters", "filters of all lists", optional=True), Filters())
    inner = table.table("lists", "lists")
    keys = inner.names("lists")
    needed = NEEDED_LISTS.get(kind, ())
    lists = {key: _list_recipe(inner.table(key, "source and size"), key, shared) for key in keys}
    roles = [wanted.role for wanted in lists.values()]
    for role in (*roles, *needed):
        if needed and role not in needed:
            hint = did_you_mean(role, needed)
            table.fail(f"'lists' has {shown(role)}; a recipe of kind {kind} has {', '.join(needed)}{hint}")
        if role not in roles:
            table.fail(f"the table 'lists.{role}' is missing: a recipe of kind {kind} has {', '.join(needed)}")
    matches = tuple(_match(row, lists) for row in table.table_or_tables("match", "lists to be matched"))
    _refuse_double_matches(table, matches)
    if kind == "pairs" and not matches:
        table.fail("the table 'match' is missing: a recipe of kind pairs says how first and second are matched")
    table.finish()
    canonical = json.dumps(data, ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str)
    checksum = hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()
    return LexiconRecipe(name, kind, language, metadata, random_state, lists, matches, checksum, path)


def _with_lists_of_others(data: Mapping[str, object], path: Path | None) -> Mapping[str, object]:
    """Replace each list that is `like` one of another recipe, as in "gender_valence:a", by that one with its changes.

    The other recipe stands beside this one, or ships; its list is written out, so that no list is like itself.
    """
    lists = data.get("lists")
    if not isinstance(lists, Mapping):
        return data
    expanded = dict(lists)
    for key, table in lists.items():
        reference = table.get("like") if isinstance(table, Mapping) else None
        if reference is None:
            continue
        name, _, other_key = reference.partition(":") if isinstance(reference, str) else ("", "", "")
        folders = [*([path.parent] if path else []), SHIPPED]
        file = next((folder / f"{name}.toml" for folder in folders if (folder / f"{name}.toml").is_file()), None)
        tables = read_toml(file).get("lists") if file else None
        other = tables.get(other_key) if isinstance(tables, Mapping) else None
        if not isinstance(other, Mapping) or "like" in other:
            raise LexiconError(
                f"'lists.{key}.like' must name a list that another recipe writes out, as in gender_valence:a; "
                f"found {shown(reference)}",
                path=path,
            )
        changes = {name: value for name, value in table.items() if name != "like"}
        expanded[key] = {**other, **changes}
    return {**data, "lists": expanded}


def _choice(table: TomlTable, key: str, allowed: tuple[Any, ...], default: str | None = None) -> Any:  # noqa: ANN401 - one of `allowed`
    value = table.text(key, default=default)
    if value not in allowed:
        hint = did_you_mean(value, allowed)
        table.fail(f"'{table.key(key)}' must be one of {', '.join(allowed)}, found {shown(value)}{hint}")
    return value


def _list_recipe(table: TomlTable, key: str, shared: Filters) -> ListRecipe:
    size = table.whole("size") if "size" in table else None
    for key_that_may_be_missing in ("size", "also_in", "not_in"):
        table.allow(key_that_may_be_missing)
    if size is not None and size < 1:
        table.fail(f"'{table.key('size')}' must be a whole number of at least 1, found {size}")
    sources = _sources(table, "source")
    if not sources:
        table.fail(f"'{table.key('source')}' must hold at least one source, found an empty array")
    return ListRecipe(
        key,
        table.text("part_of", default=key) or key,
        table.text("label", default=key) or key,
        size,
        sources,
        _sources(table, "also_in") if "also_in" in table else (),
        _sources(table, "not_in") if "not_in" in table else (),
        _choice(table, "choose", get_args(Choice), default="first"),
        _exclusions(table),
        _filters(table.table("filters", "filters", optional=True), shared),
    )


def _sources(table: TomlTable, key: str) -> tuple[TomlTable, ...]:
    """Tables of sources under a key, one or an array of them; the sources take them apart."""
    value = table.take(key, "a table with the name of a word source and its settings", (dict, list))
    rows = value if isinstance(value, list) else [value]
    for row in rows:
        if not isinstance(row, dict):
            example = '{ name = "us_births", male_share = [0.99, 1] }'
            table.fail(f"'{table.key(key)}' must be a table, as in {example}, found {describe(row)}")
    return tuple(table.beside(row, key) for row in rows)


def _exclusions(table: TomlTable) -> dict[str, str]:
    """Words thrown out by a reader, in lower case, with the reason where it is stated."""
    value = table.take("exclude", "an array of words, or a table of words with reasons", (list, dict), [])
    if isinstance(value, dict):
        reasons = {}
        for word, reason in value.items():
            if not isinstance(reason, str):
                table.fail(f"'{table.key('exclude')}.{word}' must be the reason, as text, found {describe(reason)}")
            reasons[word.lower()] = reason
        return reasons
    return {word.lower(): "" for word in table.words("exclude", optional=True, empty=True)}


def _filters(table: TomlTable, defaults: Filters) -> Filters:
    changes = {key: read(table, key) for key, read in _FILTERS.items() if key in table}
    # A mistyped key gets the nearest of all filters as a hint, not only of those that are stated.
    for key in _FILTERS:
        table.allow(key)
    return replace(defaults, **changes)


def _share(table: TomlTable, key: str) -> float:
    value = table.number(key)
    if not 0 <= value <= 1:
        table.fail(f"'{table.key(key)}' must be a number from 0 to 1, found {value:g}")
    return value


def _deviation(table: TomlTable, key: str) -> float:
    value = table.number(key)
    if value < 0:
        table.fail(f"'{table.key(key)}' must be a number of at least 0, found {value:g}")
    return value


def _meanings(table: TomlTable, key: str) -> tuple[str, ...]:
    meanings = table.words(key, empty=True)
    for meaning in meanings:
        if meaning not in get_args(OtherMeaning):
            table.fail(f"'{table.key(key)}' may hold {', '.join(get_args(OtherMeaning))}, found {shown(meaning)}")
    return meanings


_FILTERS: dict[str, Callable[[TomlTable, str], Any]] = {
    "one_per_family": lambda table, key: table.take(key, "true or false", bool),
    "not_a": _meanings,
    "min_sense_share": _share,
    "max_sd": _deviation,
    "per_million": lambda table, key: table.bounds(key, 0, math.inf),
    "ranks": lambda table, key: table.bounds(key, 1, math.inf),
    "min_coverage": _share,
    "min_letters": TomlTable.whole,
}
"""A reader of each filter's value, by its key."""


def _match(table: TomlTable, lists: Mapping[str, ListRecipe]) -> Match:
    names = table.words("lists")
    if len(names) != 2 or len(set(names)) != 2:
        table.fail(f"'{table.key('lists')}' must name two different lists, found {', '.join(names)}")
    for name in names:
        if name not in lists:
            hint = did_you_mean(name, lists) or f"; there are {', '.join(lists)}"
            table.fail(f"'{table.key('lists')}' names {shown(name)}, which is no list of the recipe{hint}")
    first, second = names
    if lists[first].size != lists[second].size:
        table.fail(f"'{table.key('lists')}': matched lists must have one size, found {lists[first].size or 'none'} "
                   f"for {first} and {lists[second].size or 'none'} for {second}")  # fmt: skip
    difference = table.number("max_difference", default=DEFAULT_DIFFERENCE)
    pool = table.whole("pool") if "pool" in table else None
    table.allow("pool")
    if difference < 0 or (pool is not None and pool < 1):
        table.fail(f"'{table.key('max_difference')}' must be at least 0, and 'pool' at least 1")
    return Match((first, second), _choice(table, "method", get_args(MatchMethod), "optimal"), difference, pool)


def _refuse_double_matches(table: TomlTable, matches: tuple[Match, ...]) -> None:
    names = [name for match in matches for name in match.lists]
    for name in names:
        if names.count(name) > 1:
            table.fail(f"'match' names the list {shown(name)} twice; a list can be matched with one other list")

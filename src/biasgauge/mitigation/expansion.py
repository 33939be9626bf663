"""Larger word lists: the nearest neighbors of each set of a lexicon in a reference embedding."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from biasgauge import lexicons
from biasgauge.core import (
    DEFAULT_POLICY,
    Floats,
    JsonMapping,
    LexiconLike,
    Places,
    Record,
    VectorsLike,
    WordPolicy,
    WordsLike,
    check_choice,
    check_whole,
    resolve_sets,
    unit_rows,
)
from biasgauge.errors import LexiconError
from biasgauge.io import write_text
from biasgauge.lexicons import (
    AssociationTest,
    Lexicon,
    WordSet,
    WordSets,
    lexicon_toml,
    record_neighbors,
    words_of,
)
from biasgauge.results import Column, Result, Summary, Table, counted
from biasgauge.vectors import Coverage, Embedding, load

Linkage = Literal["mean", "any"]

_MEANING = {"mean": "the mean cosine with the words of the set", "any": "the cosine with the nearest word of the set"}
_DIGITS = 12
"""Decimals to which similarities are rounded, so that equal vectors tie on every machine."""


@dataclass(frozen=True)
class Neighbor(Record):
    """A word that was added to a set, how near it is to it (a cosine), and to which of its words it is nearest."""

    set_name: str
    word: str
    similarity: float
    nearest: str


@dataclass(frozen=True, eq=False, repr=False)
class Expansion(Result):
    """A larger lexicon, and where its new words come from.

    Attributes:
        lexicon: the words of each set and then its neighbors, nearest first, with a record of how it was made.
        added: the neighbors, set by set, nearest first.
        coverage: which words of the original sets the embedding has; read back, what JSON says of it.
        warnings: what the reader should know first.
    """

    tables: ClassVar[tuple[str, ...]] = ("added",)

    lexicon: AssociationTest | WordSets
    added: tuple[Neighbor, ...]
    coverage: Coverage | Mapping[str, Any]
    warnings: tuple[str, ...]

    def derived(self) -> JsonMapping:
        """The lexicon with its checksum."""
        return {"lexicon": {**self.lexicon.to_dict(), "checksum": self.lexicon.checksum}}

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it whole or not at all: .html, .json and so on as every result, anything else as the lexicon in TOML.

        `lexicon(path)` reads the TOML back.
        """
        if Path(path).suffix in {".html", ".json", ".csv", ".md", ".tex"}:
            return super().save(path)
        write_text(path, lexicon_toml(self.lexicon))
        return Path(path)

    def summary(self) -> Summary:
        """Words added to each set."""
        columns: list[Column | str] = ["word", Column("similarity", "number"), "nearest"]
        tables = []
        for name in self.lexicon.sets:
            rows = [(row.word, row.similarity, row.nearest) for row in self.added if row.set_name == name]
            tables.append(Table.of(name, f"{name} ({len(rows)} added)", columns, rows, most=30))
        headline = f"{self.lexicon.name}: {counted(self.added, 'word')} added to {counted(tables, 'set')}"
        return Summary(self.lexicon.name, headline, tables=tuple(tables), warnings=self.warnings)


def expand_lexicon(
    lexicon: LexiconLike,
    vectors: VectorsLike,
    *,
    n: int = 100,
    to: Linkage = "mean",
    exclude: WordsLike = (),
    name: str | None = None,
    policy: WordPolicy = DEFAULT_POLICY,
) -> Expansion:
    """Add to each set of a lexicon the words that are nearest to it in an embedding.

    A word goes to the set that it is nearest to, so no two sets get the same word. Words of the lexicon, words that
    differ from a chosen one by case alone, and those excluded are not added. Ties go to the first set, and to the word
    that stands first in the embedding.

    Args:
        lexicon: a lexicon of kind "test" or "sets", by name, file or as it is.
        vectors: the reference, an `Embedding` or anything `load` takes; a frequent-words part of a large one gives
            fewer misspellings (`load(limit=…)`).
        n: how many words to add to each set.
        to: how near a word is to a set: "mean" is its mean cosine with the words of the set, "any" its cosine with the
            nearest of them, which brings in what lies beside a word of the set in another of its meanings.
        exclude: words that must not be added: a list, or the name or file of a lexicon; case does not matter.
        name: of the new lexicon; by default that of the old one with "_expanded".
        policy: how words of the lexicon are looked up; one word of each set must be found.

    Raises:
        LexiconError: there is no such lexicon, it is of another kind, or the embedding has no word of a set.
        ParameterError: an argument is impossible.
    """
    base, embedding = lexicons.lexicon(lexicon), load(vectors)
    if not isinstance(base, (AssociationTest, WordSets)):
        raise LexiconError(f"{base.name!r} holds {base.kind}; only lexicons of kind test or sets can be expanded")
    check_whole(1, n=n)
    check_choice(get_args(Linkage), to=to)
    empty = isinstance(exclude, (list, tuple, set, frozenset)) and not exclude
    excluded = () if empty else tuple(sorted(set(words_of(exclude).words)))
    coverage = Coverage.from_resolved(resolve_sets(base.sets, [embedding], policy))
    for set_name, lookup in coverage.sets.items():
        if not lookup.words:
            raise LexiconError(f"no word of the set {set_name!r} of {base.name!r} has a vector in {embedding.name}")
    words, rows = embedding.words, [lookup.rows for lookup in coverage.sets.values()]
    similarity, nearest = set_similarities(embedding, rows, to)
    used = {word.casefold() for word in (*excluded, *base.words)} | {words[row].casefold() for row in chain(*rows)}
    chosen = _select_neighbors(words, similarity, n, used)
    added = tuple(
        Neighbor(set_name, words[row], float(similarity[index, row]), words[int(nearest[index, row])])
        for index, set_name in enumerate(coverage.sets)
        for row in chosen[index]
    )
    seeds = [words[row] for row in chain(*rows)]
    record = _record(base, embedding, f"its {n} nearest words", _MEANING[to], excluded, coverage)
    record["made"] = (*base.made, record_neighbors(embedding, seeds))
    expanded = replace(_extend_sets(base, added), name=name or f"{base.name}_expanded", **record)
    return Expansion(expanded, added, coverage, tuple(_warnings(coverage, chosen, n)))


def _select_neighbors(words: tuple[str, ...], similarity: Floats, n: int, used: set[str]) -> dict[int, list[int]]:
    """Rows of the words that each set gets, from the nearest word down: of two spellings the nearer one is taken."""
    nearest_set = np.argmax(similarity, axis=0)
    best = similarity[nearest_set, np.arange(len(nearest_set))]
    chosen: dict[int, list[int]] = {index: [] for index in range(len(similarity))}
    for row in np.argsort(-best, kind="stable").tolist():
        members, word = chosen[int(nearest_set[row])], words[row]
        usable = np.isfinite(best[row]) and word and word == word.strip()
        if usable and len(members) < n and word.casefold() not in used:
            used.add(word.casefold())
            members.append(row)
    return chosen


def _warnings(coverage: Coverage, chosen: Mapping[int, list[int]], n: int) -> Iterator[str]:
    for index, set_name in enumerate(coverage.sets):
        if len(chosen[index]) < n:
            yield f"The set {set_name} got {len(chosen[index]):,} of {n:,} words: no more are nearest to it."
    for set_name, words in coverage.lost.items():
        yield f"Words of the set {set_name} that the embedding lacks, so they pull no neighbors: {', '.join(words)}."


def set_similarities(
    embedding: Embedding, sets: list[Places], to: Linkage, block: int = 2**14
) -> tuple[Floats, Places]:
    """For each set and word how near they are, −infinity for a zero vector, and the row of the set's nearest word.

    `block` words are compared at a time.
    """
    unit_sets = [unit_rows(np.asarray(embedding.vectors[rows], np.float64), pairwise=True) for rows in sets]
    similarity = np.full((len(sets), len(embedding)), -np.inf)
    nearest = np.zeros(similarity.shape, np.intp)
    for start in range(0, len(embedding), block):
        chunk = slice(start, start + block)
        vectors = np.asarray(embedding.vectors[chunk], np.float64)
        units, usable = unit_rows(vectors, pairwise=True).T, vectors.any(axis=1)
        for index, (rows, members) in enumerate(zip(sets, unit_sets, strict=True)):
            cosines = np.round(members @ units, _DIGITS)
            near = cosines.max(axis=0) if to == "any" else np.round(cosines.mean(axis=0), _DIGITS)
            similarity[index, chunk] = np.where(usable, near, -np.inf)
            nearest[index, chunk] = rows[np.argmax(cosines, axis=0)]
    return similarity, nearest


def _extend_sets(base: AssociationTest | WordSets, added: tuple[Neighbor, ...]) -> AssociationTest | WordSets:
    sets = base.roles if isinstance(base, AssociationTest) else {words.name: words for words in base.members}
    extended = {
        name: WordSet(words.name, (*words.words, *(row.word for row in added if row.set_name == name)))
        for name, words in sets.items()
    }
    if isinstance(base, AssociationTest):
        return replace(base, **extended)  # type: ignore[arg-type]  # the four roles
    return replace(base, members=tuple(extended.values()))


def _record(
    base: Lexicon, embedding: Embedding, additions: str, measure: str, excluded: tuple[str, ...], coverage: Coverage
) -> dict[str, Any]:
    """Provenance, in the fields of a lexicon."""
    lost = sorted({word for words in coverage.lost.values() for word in words})
    listed = ", ".join(excluded) or "nothing"
    steps = (
        f"Made from {base.name} (checksum {base.checksum}) by adding to each set {additions} in the embedding "
        f"{embedding.name} ({len(embedding):,} words × {embedding.dim}, checksum {embedding.checksum}); near is "
        f"{measure}; a word goes to the set that it is nearest to. Excluded by hand: {listed}. Not in the "
        f"embedding: {', '.join(lost) or 'nothing'}."
    )
    return {
        "title": f"{base.title or base.name}, expanded by nearest neighbors",
        "source": f"biasgauge expand_lexicon: {base.name} and {additions} in {embedding.name}",
        "notes": f"{steps} {base.notes}".strip(),
        "beware": ("Neighbors were found by a program: read them, and exclude what does not belong.", *base.beware),
        "path": None,
        "shipped": False,
    }

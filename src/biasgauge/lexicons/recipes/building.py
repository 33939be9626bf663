"""Follow a recipe: candidates of the sources, filters, matching, sizes; and the record of all that."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from biasgauge import registry
from biasgauge.core import ModelsLike, WordSet, did_you_mean
from biasgauge.errors import LexiconError
from biasgauge.lexicons import (
    AssociationTest,
    Lexicon,
    ListRecord,
    MatchRecord,
    Pairs,
    Provenance,
    RecipeRecord,
    TomlTable,
    Words,
    WordSets,
)
from biasgauge.lexicons.recipes.filters import STEPS, WordJudge, family_duplicates, in_order, shared_words
from biasgauge.lexicons.recipes.matching import match_rows
from biasgauge.lexicons.recipes.recipe import LexiconRecipe, ListRecipe, Match, read_recipe
from biasgauge.lexicons.recipes.result import BuiltLexicon, CandidateWord
from biasgauge.lexicons.recipes.word_source import Candidate, SourceFiles, SourceRequest
from biasgauge.vectors import load_models

_READ_THEM = "Words were chosen by a program: read them, and exclude what does not belong."
_SECOND_SOURCE = "second source"
"""Step that rejects words which a source under `also_in` does not have, or one under `not_in` has."""
_DIGITS = 4
"""Decimals of log frequencies in records, so that they are the same on every machine."""


@dataclass
class _Pool:
    """One list in the making: candidates that are left, and those rejected with step and reason."""

    recipe: ListRecipe
    offered: dict[str, Candidate]
    source_of: dict[str, str]
    left: list[Candidate]
    rejected: dict[str, tuple[str, str]] = field(default_factory=dict)

    def reject(self, step: str, reasons: Mapping[str, str]) -> None:
        self.rejected |= {word: (step, reason) for word, reason in reasons.items()}
        self.left = [candidate for candidate in self.left if candidate.word not in reasons]

    @property
    def words(self) -> list[str]:
        return [candidate.word for candidate in self.left]


def build(
    recipe: str | os.PathLike[str] | Mapping[str, object],
    *,
    vectors: ModelsLike = (),
    data: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    progress: Callable[[int, int], None] | None = None,
) -> BuiltLexicon:
    """Make a lexicon from a recipe; the same recipe, files and vectors give the same lexicon.

    In this order, candidates of each list are rejected that were excluded by hand, are no single words, on which raters
    disagree, that have other meanings, are ambiguous, too frequent or too rare, or out of vocabulary; then words of two
    lists, forms of a word that stands before them, words without a partner of their frequency, and those that the list
    has no room for.

    Args:
        recipe: a TOML file, or a dictionary with its keys.
        vectors: one model or several that must have the words; frequencies are those of the first, or the reference
            frequencies of the language where there is none. Nothing else is looked up in them.
        data: folder, or folders, with the files that sources read; files are also found one folder further down.
        progress: called with steps done and all steps.

    Raises:
        LexiconError: the recipe is wrong, a file is missing, or a list is left without words.
    """
    plan = read_recipe(recipe)
    folders = [data] if isinstance(data, (str, os.PathLike)) else list(data)
    for folder in folders:
        if not Path(folder).is_dir():
            raise LexiconError("there is no such folder of data; check the path", path=folder)
    files = SourceFiles(plan.path.parent if plan.path else Path(), tuple(map(Path, folders)))
    report = progress or (lambda _done, _all: None)
    steps = len(plan.lists) + 2
    try:
        pools = {}
        for number, (key, wanted) in enumerate(plan.lists.items()):
            report(number, steps)
            pools[key] = _collect(plan, wanted, files)
        models = [] if isinstance(vectors, (list, tuple)) and not vectors else load_models(vectors)
        report(len(plan.lists), steps)
        judge = WordJudge(plan.language, models, files)
        matches = _choose(plan, pools, judge)
    except LexiconError as problem:
        # Sources and filters know nothing of the recipe.
        raise problem if problem.path or plan.path is None else LexiconError(str(problem), path=plan.path) from None
    report(len(plan.lists) + 1, steps)
    lists = tuple(_list_record(pool) for pool in pools.values())
    record = RecipeRecord(
        plan.name,
        plan.checksum,
        plan.random_state,
        tuple(files.records[key] for key in sorted(files.records)),
        tuple((model.name, model.checksum) for model in models),
        lists,
        matches,
    )
    built = BuiltLexicon(
        _lexicon(plan, pools, record), _candidates(pools, judge), tuple(_warnings(pools, matches, judge))
    )
    report(steps, steps)
    return built


def _collect(plan: LexiconRecipe, wanted: ListRecipe, files: SourceFiles) -> _Pool:
    """Ask the sources of a list; a word that several offer, or one more than once, counts for the first."""
    offered: dict[str, Candidate] = {}
    source_of: dict[str, str] = {}
    for settings in wanted.sources:
        name, candidates = _ask(settings, files, plan.language)
        for candidate in candidates:
            if candidate.word not in offered:
                offered[candidate.word], source_of[candidate.word] = candidate, name
    pool = _Pool(wanted, offered, source_of, list(offered.values()))
    for settings in wanted.also_in:
        name, candidates = _ask(settings, files, plan.language)
        words = {candidate.word.casefold() for candidate in candidates}
        missing = [word for word in pool.words if word.casefold() not in words]
        pool.reject(_SECOND_SOURCE, dict.fromkeys(missing, f"not among the {len(words):,} words of {name}"))
    for settings in wanted.not_in:
        name, candidates = _ask(settings, files, plan.language)
        words = {candidate.word.casefold() for candidate in candidates}
        refused = [word for word in pool.words if word.casefold() in words]
        pool.reject(_SECOND_SOURCE, dict.fromkeys(refused, f"among the {len(words):,} words of {name}"))
    return pool


def _ask(settings: TomlTable, files: SourceFiles, language: str) -> tuple[str, list[Candidate]]:
    """Name of the source that some settings are for, and what it offers."""
    name = settings.text("name")
    names = registry.names("word_source")
    if name not in names:
        hint = did_you_mean(name, names)
        settings.fail(f"'{settings.key('name')}' must be one of {', '.join(names)}, found {name!r}{hint}")
    request = SourceRequest(name, settings, files, language)
    candidates = list(registry.get("word_source", name).candidates(request))
    settings.finish()
    if not candidates:
        settings.fail(f"'{settings.key('name')}': the source {name} has no word with these settings")
    return name, candidates


def _choose(plan: LexiconRecipe, pools: Mapping[str, _Pool], judge: WordJudge) -> tuple[MatchRecord, ...]:
    """Reject candidates until each list has its words, in their order."""
    for pool in pools.values():
        for name, step in STEPS:
            pool.reject(name, step(judge, pool.recipe, pool.left))
        pool.left = in_order(judge, pool.recipe, pool.left, plan.random_state)
    for key, reasons in shared_words(plan, {key: pool.left for key, pool in pools.items()}).items():
        pools[key].reject("several lists", reasons)
    for pool in pools.values():
        if pool.recipe.filters.one_per_family:
            pool.reject("family", family_duplicates(plan.language, pool.left))
    matches = tuple(_match(match, pools, judge) for match in plan.matches)
    for key, pool in pools.items():
        size = pool.recipe.size
        if size is not None:
            pool.reject("size", dict.fromkeys(pool.words[size:], f"the list has its {size:,} words"))
        if not pool.left:
            raise LexiconError(f"the list {key!r} is left without words: {_counts_text(pool)}")
    return matches


def _match(match: Match, pools: Mapping[str, _Pool], judge: WordJudge) -> MatchRecord:
    """Match two lists: what is left of them are the pairs, in one order."""
    first, second = (pools[name] for name in match.lists)
    size = first.recipe.size or min(len(first.left), len(second.left))
    pool_size = match.pool or 3 * size
    for side in (first, second):
        reason = f"beyond the first {pool_size:,}, among which pairs are sought"
        side.reject("size", dict.fromkeys(side.words[pool_size:], reason))
    values = [np.array([*judge.log_frequencies(side.words).values()]).round(_DIGITS) for side in (first, second)]
    for side, logs in zip((first, second), values, strict=True):
        unknown = {word: "no frequency is known" for word, log in zip(side.words, logs, strict=True) if np.isnan(log)}
        side.reject("matching", unknown)
    logs_x, logs_y = (logs[~np.isnan(logs)] for logs in values)
    rows = match_rows(logs_x, logs_y, size, method=match.method, max_difference=match.max_difference)
    differences = logs_x[rows.first] - logs_y[rows.second]
    for side, partner, chosen in ((first, second, rows.first), (second, first, rows.second)):
        words = side.words
        chosen_words = [words[row] for row in chosen]
        reason = f"not among the pairs of one frequency with {partner.recipe.key}"
        side.reject("matching", dict.fromkeys([word for word in words if word not in set(chosen_words)], reason))
        side.left = [side.offered[word] for word in chosen_words]
    if not len(differences):
        raise LexiconError(
            f"no word of {match.lists[0]!r} is within {match.max_difference:g} in log10 frequency of a word of "
            f"{match.lists[1]!r}: raise 'max_difference', or the 'pool'"
        )
    return MatchRecord(
        match.lists,
        match.method,
        judge.frequency_source,
        len(differences),
        round(float(differences.mean()), _DIGITS),
        round(float(np.abs(differences).max()), _DIGITS),
    )


def _list_record(pool: _Pool) -> ListRecord:
    steps = Counter(step for step, _ in pool.rejected.values())
    ordered = [_SECOND_SOURCE, *(name for name, _ in STEPS), "several lists", "family", "matching", "size"]
    rejected = tuple((step, steps[step]) for step in ordered if steps[step])
    return ListRecord(pool.recipe.key, len(pool.offered), len(pool.left), rejected)


def _counts_text(pool: _Pool) -> str:
    record = _list_record(pool)
    return f"of {record.candidates:,} candidates were rejected " + ", ".join(
        f"{count:,} ({step})" for step, count in record.rejected
    )


def _candidates(pools: Mapping[str, _Pool], judge: WordJudge) -> tuple[CandidateWord, ...]:
    rows = []
    for key, pool in pools.items():
        frequency = judge.log_frequencies(list(pool.offered))
        for word in (*pool.words, *pool.rejected):
            step, reason = pool.rejected.get(word, ("", ""))
            log = round(frequency[word], _DIGITS)
            evidence = pool.offered[word].evidence
            known = None if np.isnan(log) else log
            rows.append(CandidateWord(key, word, not step, step, reason, pool.source_of[word], evidence, known))
    return tuple(rows)


def _warnings(pools: Mapping[str, _Pool], matches: Iterable[MatchRecord], judge: WordJudge) -> Iterable[str]:
    for key, pool in pools.items():
        size = pool.recipe.size
        if size is not None and len(pool.left) < size:
            yield f"The list {key} has {len(pool.left):,} of {size:,} words: {_counts_text(pool)}."
    for match in matches:
        first, second = match.lists
        for model in judge.models[1:]:
            logs = [np.array([*judge.log_frequencies(pools[name].words, model).values()]) for name in match.lists]
            difference = float(np.nanmean(logs[0]) - np.nanmean(logs[1]))
            yield (
                f"Lists {first} and {second} are matched in {match.frequencies}; in {model.name} their mean log10 "
                f"frequencies differ by {difference:+.2f}."
            )


def _lexicon(plan: LexiconRecipe, pools: Mapping[str, _Pool], record: RecipeRecord) -> Lexicon:
    """Make the lexicon of the words that are left."""
    sets: dict[str, WordSet] = {}
    for pool in pools.values():
        role = pool.recipe.role
        joined = sets.get(role, WordSet(pool.recipe.label, ()))
        sets[role] = WordSet(joined.name, (*joined.words, *pool.words))
    metadata: dict[str, Any] = {"name": plan.name, "language": plan.language, **plan.metadata}
    files = dict.fromkeys(f"{source.source} ({source.file})" for source in record.sources)
    licenses = dict.fromkeys(source.license or f"not stated for {source.file}" for source in record.sources)
    metadata["source"] = metadata["source"] or f"recipe {plan.name}: {', '.join(files) or 'words of the recipe'}"
    metadata["license"] = metadata["license"] or "; ".join(licenses)
    metadata["beware"] = (*metadata["beware"], *_matching_notes(record.matches), _READ_THEM)
    metadata["made"] = (Provenance("recipe", recipe=record),)
    match plan.kind:
        case "test":
            return AssociationTest(**metadata, x=sets["x"], y=sets["y"], a=sets["a"], b=sets["b"])
        case "pairs":
            first, second = sets["first"], sets["second"]
            pairs = tuple(zip(first.words, second.words, strict=True))
            return Pairs(**metadata, pairs=pairs, ends=(first.name, second.name))
        case "words":
            return Words(**metadata, listed=sets["words"].words)
        case _:
            return WordSets(**metadata, members=tuple(WordSet(key, words.words) for key, words in sets.items()))


def _matching_notes(matches: Iterable[MatchRecord]) -> list[str]:
    return [
        f"Words of {' and '.join(match.lists)} are matched on frequency in {match.frequencies}: mean log10 frequencies "
        f"differ by {abs(match.mean_difference):.3f}, those of a pair by {match.largest_difference:.3f} at most."
        for match in matches
    ]

"""Steps that reject candidates: each takes the words that are left and gives those that go, with the reason."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from biasgauge.core import resolve_sets, word_families
from biasgauge.errors import LexiconError
from biasgauge.lexicons.recipes.recipe import LexiconRecipe, ListRecipe
from biasgauge.lexicons.recipes.word_source import Candidate, SourceFiles
from biasgauge.lexicons.recipes.wordnet import LOCATION, PERSON
from biasgauge.vectors import Embedding, reference_frequencies

Reasons = Mapping[str, str]
"""Rejected words, each with the reason."""
Step = Callable[["WordJudge", ListRecipe, Sequence[Candidate]], Reasons]

_SINGLE_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
REFERENCE_TOTAL = 100
"""Millions of tokens to which reference frequencies refer."""


@dataclass
class WordJudge:
    """Whatever filters look at: vectors, frequencies, WordNet.

    Attributes:
        language: of the words.
        models: vectors that must have the words; frequencies are those of the first.
        files: where WordNet is found.
    """

    language: str
    models: Sequence[Embedding]
    files: SourceFiles

    @property
    def frequency_source(self) -> str:
        """Name of what frequencies are taken from."""
        if self.models and self.models[0].log_frequencies(self.language) is not None:
            return self.models[0].name
        return f"reference frequencies of {self.language}"

    def log_frequencies(self, words: Sequence[str], model: Embedding | None = None) -> dict[str, float]:
        """Log10 frequency of each word, up to a constant: in a model, by default the first, else in the reference list.

        NaN for a word that the model lacks; a word that the reference list lacks is taken for half its rarest one.
        """
        model = model or (self.models[0] if self.models else None)
        log = None if model is None else model.log_frequencies(self.language)
        if model is None or log is None:
            reference = self.reference
            rarest = min(reference.values(), default=2) / 2
            return {word: math.log10(reference.get(word.lower(), rarest)) for word in words}
        resolved = resolve_sets({"words": words}, [model])["words"]
        values = dict(zip(resolved.words, log.values[resolved.rows[0]].tolist(), strict=True))
        return {word: values.get(word, math.nan) for word in words}

    def coverage(self, words: Sequence[str]) -> dict[str, list[str]]:
        """Names of the models that lack a word, for each word."""
        lacking: dict[str, list[str]] = {word: [] for word in words}
        for model in self.models:
            for word in resolve_sets({"words": words}, [model])["words"].lost:
                lacking[word].append(model.name)
        return lacking

    def ranks(self, words: Sequence[str]) -> dict[str, float]:
        """Rank of each word by frequency in the first model; infinite for a word that it lacks."""
        log = self.models[0].log_frequencies(self.language) if self.models else None
        if log is None:
            raise LexiconError(
                "the filter 'ranks' needs vectors whose words have frequencies: name them with --vectors"
            )
        descending = np.sort(-log.values)
        frequencies = self.log_frequencies(words)
        return {
            word: math.inf if math.isnan(value) else 1 + int(np.searchsorted(descending, -value))
            for word, value in frequencies.items()
        }

    @cached_property
    def reference(self) -> Mapping[str, int]:
        """Occurrences of words in a hundred million tokens of the language."""
        return reference_frequencies(self.language)


def _excluded(judge: WordJudge, wanted: ListRecipe, candidates: Sequence[Candidate]) -> Reasons:
    """Reject what a reader threw out, with other forms of the same word."""
    if not wanted.exclude:
        return {}
    words = list(_words(candidates))
    families = word_families([*wanted.exclude, *words], judge.language)
    excluded = dict(zip(families, wanted.exclude, strict=False))  # families of the excluded words stand first
    reasons = {}
    for word, family in zip(words, families[len(wanted.exclude) :], strict=True):
        if family in excluded:
            form = excluded[family] if word.lower() not in wanted.exclude else ""
            reason = wanted.exclude[form or word.lower()]
            reasons[word] = f"excluded by hand{form and f', as {form}'}{reason and f': {reason}'}"
    return reasons


def _odd_form(_judge: WordJudge, wanted: ListRecipe, candidates: Sequence[Candidate]) -> Reasons:
    """Reject what is not one word of letters."""
    fewest = wanted.filters.min_letters
    reasons = {}
    for word in _words(candidates):
        if _SINGLE_WORD.fullmatch(word) is None:
            reasons[word] = "not a single word of letters"
        elif sum(map(str.isalpha, word)) < fewest:
            reasons[word] = f"fewer than {fewest} letters"
    return reasons


def _other_meaning(judge: WordJudge, wanted: ListRecipe, candidates: Sequence[Candidate]) -> Reasons:
    """Reject names that are words, places or famous people, too."""
    meanings = wanted.filters.not_a
    if not meanings:
        return {}
    wordnet = judge.files.wordnet()
    reasons = {}
    for word in _words(candidates):
        senses = wordnet.senses(word)
        instances = {wordnet.lexicographer_file(sense) for sense in senses if wordnet.is_instance(sense)}
        if "word" in meanings and any(not wordnet.is_instance(sense) for sense in senses):
            reasons[word] = "an ordinary word in WordNet"
        elif "place" in meanings and LOCATION in instances:
            reasons[word] = "a place in WordNet"
        elif "person" in meanings and PERSON in instances:
            reasons[word] = "a famous person in WordNet"
    return reasons


def _ambiguous(judge: WordJudge, wanted: ListRecipe, candidates: Sequence[Candidate]) -> Reasons:
    """Reject words whose meaning at hand is too small a share of their use."""
    least = wanted.filters.min_sense_share
    if not least:
        return {}
    wordnet = judge.files.wordnet()
    reasons = {}
    for candidate in candidates:
        shares = wordnet.shares(candidate.word)
        share = shares.get(candidate.synset, max(shares.values(), default=1.0))
        if share < least:
            meant = "the meaning at hand" if candidate.synset in shares else "its most frequent meaning"
            reasons[candidate.word] = f"{meant} is {share:.2f} of its use in WordNet's tagged text (least {least:g})"
    return reasons


def _disputed(_judge: WordJudge, wanted: ListRecipe, candidates: Sequence[Candidate]) -> Reasons:
    """Reject words on which raters disagree."""
    most = wanted.filters.max_sd
    if most is None:
        return {}
    return {
        candidate.word: f"ratings have a standard deviation of {candidate.sd:.2f} (most {most:g})"
        for candidate in candidates
        if candidate.sd is not None and candidate.sd > most
    }


def _outside_of_frequencies(judge: WordJudge, wanted: ListRecipe, candidates: Sequence[Candidate]) -> Reasons:
    """Reject words that are too frequent or too rare."""
    reasons = {}
    words = list(_words(candidates))
    if wanted.filters.per_million:
        low, high = wanted.filters.per_million
        if not judge.reference:
            raise LexiconError(
                f"the filter 'per_million' needs reference frequencies, and there are none for {judge.language}: use "
                "'ranks' with --vectors"
            )
        for word in words:
            rate = judge.reference.get(word.lower(), 0) / REFERENCE_TOTAL
            if not low <= rate <= high:
                reasons[word] = f"{rate:.2f} occurrences per million (from {low:g} to {high:g})"
    if wanted.filters.ranks:
        low, high = wanted.filters.ranks
        for word, rank in judge.ranks(words).items():
            if not low <= rank <= high:
                place = "out of vocabulary" if math.isinf(rank) else f"rank {rank:,}"
                reasons.setdefault(word, f"{place} in {judge.models[0].name} (from {low:,.0f} to {high:,.0f})")
    return reasons


def _out_of_vocabulary(judge: WordJudge, wanted: ListRecipe, candidates: Sequence[Candidate]) -> Reasons:
    """Reject words that too few of the vectors have."""
    count = len(judge.models)
    allowed = count - math.ceil(wanted.filters.min_coverage * count - 1e-9)
    lacking = judge.coverage(list(_words(candidates))) if count else {}
    return {word: f"not in {', '.join(names)}" for word, names in lacking.items() if len(names) > allowed}


STEPS: tuple[tuple[str, Step], ...] = (
    ("by hand", _excluded),
    ("form", _odd_form),
    ("disagreement", _disputed),
    ("other meaning", _other_meaning),
    ("ambiguity", _ambiguous),
    ("frequency", _outside_of_frequencies),
    ("out of vocabulary", _out_of_vocabulary),
)
"""Steps that judge each list by itself, in this order, with their names in tables."""


def shared_words(recipe: LexiconRecipe, lists: Mapping[str, Sequence[Candidate]]) -> dict[str, dict[str, str]]:
    """Words, or forms of one word, that stand in several lists: the lists in which each is rejected, with the reason.

    A word of two lists that are compared with each other goes from both, since it belongs to neither. In others it
    stays in the one with the fewest candidates.
    """
    words = [word for candidates in lists.values() for word in _words(candidates)]
    family = dict(zip(words, word_families(words, recipe.language), strict=True))
    members: dict[str, dict[str, list[str]]] = {}
    for key, candidates in lists.items():
        for word in _words(candidates):
            members.setdefault(family[word], {}).setdefault(key, []).append(word)
    rejected: dict[str, dict[str, str]] = {key: {} for key in lists}
    for by_list in members.values():
        if len(by_list) < 2:
            continue
        opposed = any(pair <= by_list.keys() for pair in recipe.opposed)
        smallest = min(by_list, key=lambda key: len(lists[key]))
        for key, forms in by_list.items():
            if opposed or key != smallest:
                elsewhere = "; ".join(f"{', '.join(by_list[name])} in {name}" for name in by_list if name != key)
                rejected[key] |= dict.fromkeys(forms, f"in several lists: {elsewhere}")
    return rejected


def family_duplicates(language: str, candidates: Sequence[Candidate]) -> Reasons:
    """Forms of a word that stands before them."""
    words = list(_words(candidates))
    first: dict[str, str] = {}
    reasons = {}
    for word, family in zip(words, word_families(words, language), strict=True):
        if (before := first.setdefault(family, word)) != word:
            reasons[word] = f"of one family with {before}"
    return reasons


def in_order(judge: WordJudge, wanted: ListRecipe, candidates: Sequence[Candidate], seed: int) -> list[Candidate]:
    """Candidates in order of preference."""
    if wanted.choose == "frequent":
        frequency = judge.log_frequencies([candidate.word for candidate in candidates])
        # A word without a frequency comes last; ties keep the order of the source.
        return sorted(candidates, key=lambda candidate: -_finite(frequency[candidate.word]))
    if wanted.choose == "random":
        ordered = sorted(candidates, key=lambda candidate: candidate.word)
        shuffled = np.random.default_rng([seed, *wanted.key.encode()]).permutation(len(ordered))
        return [ordered[index] for index in shuffled]
    return list(candidates)


def _finite(value: float) -> float:
    return -math.inf if math.isnan(value) else value


def _words(candidates: Iterable[Candidate]) -> Iterable[str]:
    return (candidate.word for candidate in candidates)

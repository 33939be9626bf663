"""Questions to a text: target words and two groups, their contexts counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasgauge import registry
from biasgauge.analyses.corpus_bias.counting import ContextCounts, corpus_coverage, count_contexts
from biasgauge.core import Floats, LexiconLike, PairsLike, WordPolicy, WordsLike
from biasgauge.errors import ParameterError
from biasgauge.lexicons import TYPED_WORDS, AssociationTest, WordSet, WordSets, lexicon, pairs_of, words_of
from biasgauge.text import TokenCorpus
from biasgauge.vectors import Coverage

LOST = "the text does not have the word"
EMPTY_GROUP = "one of the groups has no context: no other word stands in a line with one of its words"
NO_CONTEXT = "the text has no context of either group with {subject}"
TOO_FEW_CONTEXTS = "fewer than min_contexts={least} contexts with {subject}: {contexts:g}"


def why_too_few(table: Floats, least: int, subject: str) -> str | None:
    """Return the reason why a table n_wA, n_¬wA, n_wB, n_¬wB has too few contexts; None where it has enough."""
    contexts = float(table[0] + table[2])
    if min(table[0] + table[1], table[2] + table[3]) <= 0:
        return EMPTY_GROUP
    if contexts <= 0:
        return NO_CONTEXT.format(subject=subject)
    return TOO_FEW_CONTEXTS.format(contexts=contexts, subject=subject, least=least) if contexts < least else None


@dataclass(frozen=True)
class CorpusQuery:
    """Words whose contexts are counted, and the two groups that they are compared on.

    Attributes:
        words: target words, each once.
        sets: named sets of them; "x" and "y" where two are to be compared.
        labels: display names of the sets.
        a, b: words of the groups.
        names: names of the groups.
    """

    words: tuple[str, ...]
    sets: Mapping[str, tuple[str, ...]]
    labels: Mapping[str, str]
    a: tuple[str, ...]
    b: tuple[str, ...]
    names: tuple[str, str]

    @property
    def sides(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """Words that are pooled for each estimate: those of a set; of the contrast those of X, then those of Y."""
        sides: dict[str, tuple[tuple[str, ...], ...]] = {name: (words,) for name, words in self.sets.items()}
        if "x" in sides and "y" in sides:
            sides["contrast"] = (self.sets["x"], self.sets["y"])
        return sides


def corpus_query(
    words: WordsLike | None, *, a: WordsLike | None, b: WordsLike | None, pairs: PairsLike | None,
    test: LexiconLike | None, x: WordsLike | None, y: WordsLike | None,
) -> CorpusQuery:  # fmt: skip
    """Resolve target words and groups from the arguments of `corpus_bias`.

    Raises:
        ParameterError: too many or too few arguments are given.
    """
    if test is not None:
        source = lexicon(test)
        if not isinstance(source, AssociationTest):
            raise ParameterError(
                f"The 'test' parameter must be a lexicon of kind 'test'. {source.name!r} is of {source.kind!r}."
            )
        if any(argument is not None for argument in (words, a, b, pairs, x, y)):
            raise ParameterError("A 'test' has its own words and groups: give it alone.")
        words_x, words_y, group_a, group_b = source.roles.values()
    elif (x is None) != (y is None) or (x is not None and words is not None):
        raise ParameterError("Give 'words', or both 'x' and 'y'.")
    elif x is not None and y is not None:
        group_a, group_b = _groups(a, b, pairs)
        words_x, words_y = words_of(x), words_of(y)
    elif words is not None:
        group_a, group_b = _groups(a, b, pairs)
        targets = words_of(words)
        listed = lexicon(words) if isinstance(words, str) and words in registry.names("lexicon") else words
        sets = {targets.name: targets.words} if len(targets.words) > 1 else {}
        if isinstance(listed, WordSets):  # a lexicon of several sets
            sets = dict(listed.sets)
        distinct = tuple(dict.fromkeys(targets.words))
        return CorpusQuery(distinct, sets, {}, group_a.words, group_b.words, (group_a.name, group_b.name))
    else:
        raise ParameterError("Say which words to ask about: 'words', 'x' and 'y', or a 'test'.")
    if shared := set(words_x.words) & set(words_y.words):
        raise ParameterError(f"A word may stand in one of 'x' and 'y' only. Got {min(shared)!r} in both.")
    return CorpusQuery(
        words=tuple(dict.fromkeys((*words_x.words, *words_y.words))),
        sets={"x": words_x.words, "y": words_y.words},
        labels={"x": words_x.name, "y": words_y.name, "contrast": f"{words_x.name} − {words_y.name}"},
        a=group_a.words,
        b=group_b.words,
        names=(group_a.name, group_b.name),
    )


def _groups(a: WordsLike | None, b: WordsLike | None, pairs: PairsLike | None) -> tuple[WordSet, WordSet]:
    """Groups A and B; words without a name are named by the first three."""
    if pairs is not None:
        if a is not None or b is not None:
            raise ParameterError("Give either 'pairs', or 'a' and 'b'.")
        source = pairs_of(pairs)
        first, second = source.sets.values()
        return WordSet(source.ends[0], first), WordSet(source.ends[1], second)
    if a is None or b is None:
        raise ParameterError("Two groups are needed: 'a' and 'b', such as a=['he'] and b=['she'], or 'pairs'.")
    groups = []
    for group in (words_of(a), words_of(b)):
        name = "/".join(group.words[:3]) + ("/…" if len(group.words) > 3 else "")
        groups.append(WordSet(name, group.words) if group.name == TYPED_WORDS else group)
    return groups[0], groups[1]


@dataclass(frozen=True, eq=False)
class QueryCounts:
    """Counts of a query in a text: `index` has the row of each word in the counts."""

    counts: ContextCounts
    index: Mapping[str, int]
    coverage: Coverage
    case_fallback: bool

    def rows(self, sides: Sequence[Sequence[str]]) -> tuple[tuple[int, ...], ...]:
        """Rows of the words of each side that the text has, each once."""
        return tuple(tuple(dict.fromkeys(self.index[word] for word in side if word in self.index)) for side in sides)


def count_query(
    text: TokenCorpus,
    query: CorpusQuery,
    policy: WordPolicy,
    progress: Callable[[int, int], None] | None,
    **counting: Any,  # noqa: ANN401 - window, weighting and min_count of `count_contexts`
) -> QueryCounts:
    """Find the words of a query in a text and count their contexts.

    Raises:
        ParameterError: the text has too few words of a group.
    """
    all_lower_case = all(word == word.lower() for word in text.words)
    case_fallback = all_lower_case if policy.case == "auto" else policy.case == "fallback"
    sets = {"a": query.a, "b": query.b, **(query.sets or {"words": query.words})}
    coverage = corpus_coverage(text, sets, case_fallback=case_fallback)
    groups = {group: coverage.sets[group] for group in ("a", "b")}
    if reason := Coverage.of(groups).shortfall(policy.min_coverage):
        raise ParameterError(f"The text has too few words of the groups: {reason}.")
    word_ids = {word: row for name in sets if name not in groups for word, row in coverage.sets[name].row_of.items()}
    targets = list(dict.fromkeys(word_ids.values()))  # two spellings may find one word
    a, b = (sorted(set(group.rows.tolist())) for group in groups.values())
    counts = count_contexts(text, targets, a, b, progress=progress, **counting)
    order = {word_id: row for row, word_id in enumerate(targets)}
    return QueryCounts(counts, {word: order[word_id] for word, word_id in word_ids.items()}, coverage, case_fallback)

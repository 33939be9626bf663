"""Queries that lexicons ask: tests and stereotypes by themselves, lists of words and values along base pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from biasgauge.core import NO_FAMILY, TEST_ROLES, WEAT_WEIGHTS, Query, WordSet, build_test_claims, words_phrase
from biasgauge.lexicons.model import AssociationTest, Lexicon, Pairs, Stereotypes, Values, Words, WordSets

QUERY_KINDS = ("test", "stereotypes")
"""Kinds of lexicons that ask a question by themselves."""
TOGETHER = frozenset({"test", "pairs", "stereotypes"})
"""Kinds whose sets are measured against each other: one set short, and nothing can be measured."""


def queries_from_lexicons(lexicons: Sequence[Lexicon]) -> Iterator[Query]:
    """Yield every query that lexicons ask; lists of words and values are measured along the base pairs among them."""
    bases = [lexicon for lexicon in lexicons if isinstance(lexicon, Pairs)]
    for lexicon in lexicons:
        yield from queries_of(lexicon, bases)


def queries_of(lexicon: Lexicon, bases: Sequence[Lexicon] = ()) -> Iterator[Query]:
    """Yield the queries of one lexicon; with several lists of base pairs, each under the name LEXICON~PAIRS."""
    pairs = [base for base in bases if isinstance(base, Pairs)]
    if isinstance(lexicon, AssociationTest):
        yield _query_of_test(lexicon)
    elif isinstance(lexicon, Stereotypes):
        yield _query_of_stereotypes(lexicon)
    else:
        for base in pairs:
            for query in _queries_along(lexicon, base):
                yield replace(query, name=f"{query.name}~{base.name}") if len(pairs) > 1 else query


def lexicons_without_query(lexicons: Sequence[Lexicon]) -> Iterator[tuple[Lexicon, str]]:
    """Yield lexicons that ask no question together with these others, each with what would make it one."""
    words = [lexicon for lexicon in lexicons if isinstance(lexicon, (Words, WordSets, Values))]
    bases = [lexicon for lexicon in lexicons if isinstance(lexicon, Pairs)]
    for lexicon in lexicons:
        if isinstance(lexicon, Pairs) and not words:
            yield lexicon, "pairs measure words: give a list of words too (--lexicon words.txt)"
        elif isinstance(lexicon, (Words, WordSets, Values)) and not bases:
            yield lexicon, "a list of words asks nothing by itself: give base pairs too, as --lexicon du2021 for gender"
        elif not isinstance(lexicon, (Pairs, Words, WordSets, Values, AssociationTest, Stereotypes)):
            yield lexicon, f"a lexicon of kind {lexicon.kind!r} asks nothing by itself"


def _query(lexicon: Lexicon, **fields: object) -> Query:
    shared = {"title": lexicon.title, "family": lexicon.family or NO_FAMILY, "language": lexicon.language}
    return Query(**{"name": lexicon.name, "lexicon": lexicon, **shared, **fields})  # type: ignore[arg-type]


def _query_of_test(test: AssociationTest) -> Query:
    return _query(
        test,
        kind="test",
        targets=(test.x, test.y),
        attributes=(test.a, test.b),
        weights=WEAT_WEIGHTS,
        claims=build_test_claims(test.x, test.y, test.a, test.b),
        counterparts=test.counterparts,
        roles=TEST_ROLES,
    )


def _query_of_stereotypes(lexicon: Stereotypes) -> Query:
    count = len(lexicon.groups)
    # Mean cosine of each group with its own attributes, less the mean with those of the other groups.
    others = -1 / (count * (count - 1)) if count > 1 else 0.0
    weights = tuple(tuple(1 / count if row == column else others for column in range(count)) for row in range(count))
    claim = "group words are {} their own stereotype's attributes than {} other groups'"
    return _query(
        lexicon,
        kind="stereotypes",
        targets=tuple(WordSet(group.name, group.protected) for group in lexicon.groups),
        attributes=tuple(WordSet(f"{group.name} attributes", group.attributes) for group in lexicon.groups),
        weights=weights,
        claims=(claim.format("closer to", "to"), claim.format("farther from", "from")),
    )


def _queries_along(lexicon: Lexicon, base: Pairs) -> Iterator[Query]:
    ends = tuple(WordSet(name, words) for name, words in base.sets.items())
    if isinstance(lexicon, Values):
        ordered = sorted(lexicon.values.items(), key=lambda item: (-item[1], item[0]))
        half = len(ordered) // 2
        groups = tuple(
            WordSet(f"{size} {lexicon.unit}", tuple(word for word, _ in items))
            for size, items in (("large", ordered[:half]), ("small", ordered[-half:]))
        )
        claim = f"words with more {lexicon.unit} lean more to {{}} than those with less"
        claims = claim.format(base.ends[0]), claim.format(base.ends[1])
        weights = ((1.0,), (-1.0,))
        yield _query(
            lexicon, kind="order", targets=groups, attributes=ends, weights=weights, claims=claims, pairs=base.pairs,
            base=base,
        )  # fmt: skip
    elif isinstance(lexicon, (Words, WordSets)):
        for group in lexicon.members if isinstance(lexicon, WordSets) else (WordSet(lexicon.name, lexicon.words),):
            name = f"{lexicon.name}:{group.name}" if isinstance(lexicon, WordSets) else lexicon.name
            claim = f"{words_phrase(group)} lean to {{}} rather than {{}}, more than words of like frequency do"
            claims = claim.format(*base.ends), claim.format(*base.ends[::-1])
            yield _query(
                lexicon, name=name, kind="lean", targets=(group,), attributes=ends, weights=((1.0,),), claims=claims,
                pairs=base.pairs, base=base,
            )  # fmt: skip

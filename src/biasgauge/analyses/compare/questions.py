"""Questions of a comparison, from lexicons or from four sets of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike

from biasgauge.core import LexiconLike, Query, WordsLike
from biasgauge.errors import ParameterError
from biasgauge.lexicons import (
    AssociationTest,
    Lexicon,
    lexicon,
    lexicons_without_query,
    queries_from_lexicons,
    words_of,
)


def read_questions(
    test: LexiconLike | Sequence[LexiconLike] | None, sets: Mapping[str, WordsLike | None], measure: str
) -> list[Query]:
    """Return the questions of lexicons, or the one that four sets ask.

    Raises:
        ParameterError: neither or both are given, or a lexicon asks nothing that `measure` can answer.
    """
    stated = [role for role, words in sets.items() if words is not None]
    if test is not None and stated:
        raise ParameterError(f"A comparison takes either lexicons or sets. Got {test!r} and {', '.join(stated)}.")
    if test is None:
        missing = [role for role in sets if role not in stated]
        if missing:
            raise ParameterError(
                "A comparison needs a lexicon that asks a question, such as 'weat7', or the sets x, y, a and b. "
                f"Missing: {', '.join(missing)}."
            )
        lexicons: list[Lexicon] = [_test_from_sets({role: words for role, words in sets.items() if words is not None})]
    else:
        references = [test] if isinstance(test, str | PathLike | Lexicon) else list(test)
        lexicons = [lexicon(reference) for reference in references]
    languages = list(dict.fromkeys(lexicon.language for lexicon in lexicons))
    if len(languages) > 1:
        raise ParameterError(
            f"Groups are compared in one language. Got lexicons in {' and '.join(languages)}; compare them one by one."
        )
    questions = list(queries_from_lexicons(lexicons))
    if not questions:
        unusable = [f"{lexicon.name!r}: {why}" for lexicon, why in lexicons_without_query(lexicons)]
        raise ParameterError(f"No lexicon asks a question ({'; '.join(unusable) or 'none was given'}).")
    if measure == "effect_size" and any(question.kind != "test" for question in questions):
        raise ParameterError(
            "An effect size is defined for association tests (sets X, Y, A, B) only; use measure='contrast'."
        )
    names = [question.name for question in questions]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ParameterError(f"The lexicon {twice!r} is given twice.")
    return questions


def _test_from_sets(sets: Mapping[str, WordsLike]) -> AssociationTest:
    named = {role: words_of(words) for role, words in sets.items()}
    plain = {words.name for words in named.values() if [group.name for group in named.values()].count(words.name) > 1}
    x, y, a, b = (
        replace(named[role], name=role.upper()) if named[role].name in plain else named[role] for role in "xyab"
    )
    for first, second, role_names in ((x, y, "target sets, X and Y"), (a, b, "attribute sets, A and B")):
        if both := sorted(set(first.words) & set(second.words)):
            raise ParameterError(
                f"The word {both[0]!r} is in both {role_names}, which a test of their difference cannot have; remove "
                "it from one."
            )
    return AssociationTest(name="given words", title="given words", x=x, y=y, a=a, b=b)

"""What lexicons ask: a contrast of the similarities of some words with others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from biasgauge.audits.like_frequency import FEWEST, random_words
from biasgauge.audits.subjects import Subject
from biasgauge.core import Floats, Integers, Places, unit_rows
from biasgauge.lexicons import AssociationTest, Lexicon, Pairs, Stereotypes, Values, Words, WordSet, WordSets
from biasgauge.metrics import ContrastTest, contrast_test
from biasgauge.results import share_text
from biasgauge.stats import WEAT
from biasgauge.vectors import Embedding

Kind = Literal["test", "stereotypes", "lean", "order"]
OWN = "own"
"""Family of lexicons that name none."""
SANITY = "sanity"
"""Family of the questions that check the instrument: no bias, and not about people."""
ASKING = ("test", "stereotypes")
"""Kinds of lexicons that ask a question by themselves."""
_PLURALS = ("s", "people", "women", "men")
_FIELDS = ("ics", "arts")
"""Endings of names that look like plurals and are none: physics, politics, arts."""


@dataclass(frozen=True, eq=False)
class Question:
    """One question: do these targets lean to these attributes, each group as its weights say?

    Attributes:
        name: of the lexicon, or LEXICON:SET.
        kind: "test": X and Y against A and B; "stereotypes": groups against attributes of their own and of others;
            "lean": one set of words along base pairs; "order": words with large values against words with small ones,
            along base pairs.
        lexicon: what asks.
        targets: groups of target words.
        attributes: groups of attribute words; with `pairs`, their first and second words.
        weights: of the mean similarity of each group of targets with each group of attributes (or with the pairs).
        pairs: base pairs, where similarities are those with the first word less those with the second.
        claims: what a positive contrast means, and what a negative one does.
    """

    name: str
    kind: Kind
    lexicon: Lexicon
    targets: tuple[WordSet, ...]
    attributes: tuple[WordSet, ...]
    weights: tuple[tuple[float, ...], ...]
    claims: tuple[str, str]
    pairs: tuple[tuple[str, str], ...] = ()

    @property
    def family(self) -> str:
        """Questions of one family are corrected together: gender, race, …; "sanity" for checks of the instrument."""
        return self.lexicon.family or OWN

    @property
    def title(self) -> str:
        """What it is about."""
        return self.lexicon.title or self.name


@dataclass(frozen=True, eq=False)
class Unmeasurable:
    """A question that cannot be put to a subject.

    Attributes:
        question: what was asked.
        subject: whom.
        share: smallest share of a set's words that was found.
        reason: why it cannot be measured.
    """

    question: Question
    subject: Subject
    share: float
    reason: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Tabulated:
    """The words of a question in a subject, and how similar they are.

    Attributes:
        question: what was asked.
        subject: whom.
        share: smallest share of a set's words that was found.
        table: similarities, models × targets × attributes (or pairs).
        rows: group of each target.
        columns: group of each attribute.
        target_words, attribute_words: what rows and columns are.
        places: rows of targets and of attributes in the first model; of pairs, those of their first words.
        random_leans: along base pairs, the similarities of random words of like frequency, each its mean over models
            and pairs; of one list of words their mean is what similarities are counted from.
    """

    question: Question
    subject: Subject
    share: float
    table: Floats
    rows: Integers
    columns: Integers
    target_words: tuple[str, ...]
    attribute_words: tuple[str, ...]
    places: tuple[Places, Places]
    random_leans: Floats = field(default_factory=lambda: np.empty(0))


@dataclass(frozen=True, eq=False, kw_only=True)
class Measured(Tabulated):
    """A question put to a subject.

    Attributes:
        test: the contrast and its tests, which are defined.
    """

    test: ContrastTest

    @property
    def value(self) -> float:
        """The contrast, in cosine units."""
        return self.test.value

    @property
    def p(self) -> float:
        """The largest p of its tests."""
        return 1.0 if self.test.p is None else self.test.p

    @property
    def claim(self) -> str:
        """What the direction of the contrast means."""
        return self.question.claims[0 if self.value > 0 else 1]


Asked: TypeAlias = Measured | Unmeasurable
"""What became of a question."""


def questions_of(lexicons: Sequence[Lexicon]) -> Iterator[Question]:
    """Every question that lexicons ask: tests and stereotypes by themselves, words and values along pairs."""
    bases = [lexicon for lexicon in lexicons if isinstance(lexicon, Pairs)]
    for lexicon in lexicons:
        if isinstance(lexicon, AssociationTest):
            yield _of_test(lexicon)
        elif isinstance(lexicon, Stereotypes):
            yield _of_stereotypes(lexicon)
        else:
            for base in bases:
                for question in _along(lexicon, base):
                    yield replace(question, name=f"{question.name}~{base.name}") if len(bases) > 1 else question


def asks_nothing(lexicons: Sequence[Lexicon]) -> Iterator[tuple[Lexicon, str]]:
    """Lexicons that were given and ask no question, with what would make one of them."""
    words = [lexicon for lexicon in lexicons if isinstance(lexicon, (Words, WordSets, Values))]
    bases = [lexicon for lexicon in lexicons if isinstance(lexicon, Pairs)]
    for lexicon in lexicons:
        if isinstance(lexicon, Pairs) and not words:
            yield lexicon, "pairs measure words: give a list of words too (--lexicon words.txt)"
        elif isinstance(lexicon, (Words, WordSets, Values)) and not bases:
            yield lexicon, "a list of words asks nothing by itself: give base pairs too, as --lexicon du2021 for gender"
        elif not isinstance(lexicon, (Pairs, Words, WordSets, Values, AssociationTest, Stereotypes)):
            yield lexicon, f"a lexicon of kind {lexicon.kind!r} asks nothing by itself"


def measure(
    question: Question, subject: Subject, *, min_coverage: float, case_fallback: bool, random_state: int
) -> Asked:
    """Put a question to a subject: its contrast, with tests and interval."""
    found = tabulate(
        question, subject, min_coverage=min_coverage, case_fallback=case_fallback, random_state=random_state
    )
    if isinstance(found, Unmeasurable):
        return found
    test = contrast_test(found.table, found.rows, found.columns, question.weights, random_state=random_state)
    if test.p is None:
        return Unmeasurable(question, subject, found.share, test.contrast.reason or "its spread is unknown")
    return Measured(**vars(found), test=test)


def tabulate(
    question: Question, subject: Subject, *, min_coverage: float, case_fallback: bool, random_state: int = 0
) -> Tabulated | Unmeasurable:
    """Similarities of the words of a question that every model of a subject has.

    The words of a vocabulary lean a little along base pairs, to men where a corpus writes more of men: the similarities
    of one list of words are counted, pair by pair, from the mean of random words of like frequency.
    """
    models = subject.models
    counterparts = question.lexicon.counterparts if isinstance(question.lexicon, AssociationTest) else ()
    known = partial(_known, models, counterparts=counterparts, case_fallback=case_fallback)
    targets = [known(group.words) for group in question.targets]
    counted = list(_counted(question.targets, targets))
    if question.pairs:
        ends = known(word for pair in question.pairs for word in pair)
        pairs = [pair for pair in question.pairs if pair[0] in ends and pair[1] in ends]
        counted.append(("base pairs", len(pairs), len(question.pairs)))
        columns = _Located.of_pairs(pairs, ends, len(models))
    else:
        attributes = [known(group.words) for group in question.attributes]
        counted += _counted(question.attributes, attributes)
        columns = _Located.of_sets(attributes, len(models))
    reason, share = _shortfall(counted, min_coverage)
    if reason:
        return Unmeasurable(question, subject, share, reason)
    rows = _Located.of_sets(targets, len(models))
    ends_of = list(columns.vectors(models))
    table = np.stack([first @ second.T for first, second in zip(rows.vectors(models), ends_of, strict=True)])
    leans = np.empty(0)
    if question.pairs:
        own = {*rows.words, *(word for pair in question.pairs for word in pair)}
        like = known(random_words(models[0], rows.places[:, 0, 0], own, random_state))
        if len(like) >= FEWEST:
            drawn = _Located.of_sets([like], len(models)).vectors(models)
            beside = np.stack([first @ second.T for first, second in zip(drawn, ends_of, strict=True)])
            leans = beside.mean(axis=(0, 2))
            if question.kind == "lean":
                table -= beside.mean(axis=1, keepdims=True)
    return Tabulated(
        question=question,
        subject=subject,
        share=share,
        table=table,
        rows=rows.groups,
        columns=columns.groups,
        target_words=rows.words,
        attribute_words=columns.words,
        places=(rows.places[:, 0, 0], columns.places[:, 0, 0]),
        random_leans=leans,
    )


def _known(
    models: Sequence[Embedding], words: Iterable[str], counterparts: Sequence[tuple[str, str]], *, case_fallback: bool
) -> dict[str, list[int]]:
    """Rows of each word in every model.

    Words that a model lacks, or has no direction for, are left out, and so are those whose counterpart (the masculine
    or feminine form of the same word) is: sets that balance grammatical gender stay balanced.
    """
    asked = list(dict.fromkeys(words))
    rows: list[dict[str, int]] = []
    for model in models:
        lookup = model.coverage({"words": asked}, case_fallback=case_fallback, directions=True).sets["words"]
        rows.append(dict(zip(lookup.words, lookup.rows.tolist(), strict=True)))
    found = {word: [known[word] for known in rows] for word in asked if all(word in known for known in rows)}
    lost = set(asked) - found.keys()
    alone = {word for pair in counterparts for word, other in (pair, pair[::-1]) if other in lost}
    return {word: places for word, places in found.items() if word not in alone}


def _counted(sets: Sequence[WordSet], found: Sequence[Sized]) -> Iterator[tuple[str, int, int]]:
    """Name of each set, how many of its words were found, and how many it has."""
    return ((group.name, len(rows), len(set(group.words))) for group, rows in zip(sets, found, strict=True))


def _shortfall(counted: Sequence[tuple[str, int, int]], min_coverage: float) -> tuple[str, float]:
    short = [
        f"{name}: {found} of {asked} words found" for name, found, asked in counted if found < min_coverage * asked
    ]
    share = min((found / asked for _, found, asked in counted if asked), default=0.0)
    return (f"too few words: {'; '.join(short)} ({share_text(min_coverage)} needed)" if short else ""), share


@dataclass(frozen=True, eq=False)
class _Located:
    """Words of some sets, or base pairs, and where they are in the models.

    Attributes:
        words: what they are called.
        groups: set of each.
        places: their rows: words × ends (one, or the two of a pair) × models.
    """

    words: tuple[str, ...]
    groups: Integers
    places: Places

    @classmethod
    def of_sets(cls, sets: Sequence[Mapping[str, Sequence[int]]], models: int) -> _Located:
        """From the rows of each word of each set."""
        words = tuple(word for rows_of in sets for word in rows_of)
        groups = np.repeat(np.arange(len(sets)), [len(rows_of) for rows_of in sets])
        places = np.array([rows for rows_of in sets for rows in rows_of.values()], np.intp)
        return cls(words, groups, places.reshape(len(words), 1, models))

    @classmethod
    def of_pairs(cls, pairs: Sequence[tuple[str, str]], rows: Mapping[str, Sequence[int]], models: int) -> _Located:
        """From the rows of the words of pairs."""
        places = np.array([[rows[word] for word in pair] for pair in pairs], np.intp)
        return cls(tuple(map("–".join, pairs)), np.zeros(len(pairs), np.int64), places.reshape(len(pairs), 2, models))

    def vectors(self, models: Sequence[Embedding]) -> Iterator[Floats]:
        """Unit vectors in each model; of a pair, that of its first word less that of its second."""
        for number, model in enumerate(models):
            first, *second = (unit_vectors(model, self.places[:, end, number]) for end in range(self.places.shape[1]))
            yield first - second[0] if second else first


def unit_vectors(model: Embedding, rows: Places) -> Floats:
    """Vectors of some words of a model, scaled to length 1."""
    return unit_rows(np.asarray(model.vectors[rows], np.float64), pairwise=True)


def _of_test(test: AssociationTest) -> Question:
    x, y = members(test.x), members(test.y)
    claim = f"{x} are more associated with {{}} than {y} are"
    claims = claim.format(test.a.name), claim.format(test.b.name)
    return Question(test.name, "test", test, (test.x, test.y), (test.a, test.b), WEAT, claims)


def _of_stereotypes(lexicon: Stereotypes) -> Question:
    targets = tuple(WordSet(group.name, group.protected) for group in lexicon.groups)
    attributes = tuple(WordSet(f"{group.name} attributes", group.attributes) for group in lexicon.groups)
    count = len(targets)
    weights = np.where(np.eye(count, dtype=bool), 1 / count, -1 / (count * (count - 1)) if count > 1 else 0.0)
    own = "group words are {} their own stereotype's attributes than {} other groups'"
    return Question(
        lexicon.name,
        "stereotypes",
        lexicon,
        targets,
        attributes,
        tuple(map(tuple, weights.tolist())),
        (own.format("closer to", "to"), own.format("farther from", "from")),
    )


def _along(lexicon: Lexicon, base: Pairs) -> Iterator[Question]:
    ends = tuple(WordSet(name, words) for name, words in base.sets.items())
    if isinstance(lexicon, Values):
        ordered = sorted(lexicon.values.items(), key=lambda item: (-item[1], item[0]))
        half = len(ordered) // 2
        groups = tuple(
            WordSet(f"{size} {lexicon.unit}", tuple(word for word, _ in part))
            for size, part in (("large", ordered[:half]), ("small", ordered[-half:]))
        )
        claim = f"words with more {lexicon.unit} lean more to {{}} than those with less"
        claims = claim.format(base.ends[0]), claim.format(base.ends[1])
        yield Question(lexicon.name, "order", lexicon, groups, ends, ((1.0,), (-1.0,)), claims, base.pairs)
        return
    if not isinstance(lexicon, (Words, WordSets)):
        return
    several = lexicon.members if isinstance(lexicon, WordSets) else (WordSet(lexicon.name, lexicon.words),)
    for group in several:
        name = f"{lexicon.name}:{group.name}" if isinstance(lexicon, WordSets) else lexicon.name
        claim = f"{members(group)} lean to {{}} rather than {{}}, more than words of like frequency do"
        claims = claim.format(*base.ends), claim.format(*base.ends[::-1])
        yield Question(name, "lean", lexicon, (group,), ends, ((1.0,),), claims, base.pairs)


def members(words: WordSet) -> str:
    """What the words of a set are called: "flowers", "mental-disease words"."""
    name = words.name
    if " words" in name or (name.endswith(_PLURALS) and not name.endswith(_FIELDS)):
        return name
    return f"{name.replace(' ', '-')} words"

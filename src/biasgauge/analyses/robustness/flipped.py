"""`flips`: which conclusions flip when a reasonable choice changes: the pair, the measure, the form of the words.

One choice is changed at a time, from a baseline: the first measure, the first pair, the words as given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from biasgauge.analyses.reliability import pair_name
from biasgauge.analyses.robustness.agreements import EstimateRow
from biasgauge.analyses.robustness.forms import FormsLike, forms_and_cases
from biasgauge.analyses.robustness.plan import (
    MEASURES,
    NEUTRAL,
    RobustnessPlan,
    as_spelled,
    chosen_measures,
    pool_of,
)
from biasgauge.core import (
    EXACT_POLICY,
    Estimate,
    Floats,
    JsonMapping,
    JsonObject,
    LexiconLike,
    PairsLike,
    VectorsLike,
    WordPolicy,
    WordsLike,
    check_level,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import Lexicon, WordSet, language_of, pairs_of, words_of
from biasgauge.metrics import Measure
from biasgauge.results import (
    BAD,
    CAUTION,
    GOOD,
    Chart,
    Column,
    Result,
    Shown,
    Summary,
    Table,
    Tone,
    chart_of_rows,
    list_name,
    measure_name,
    share_text,
    spelled,
)
from biasgauge.results import NEUTRAL as NEUTRAL_COLOR
from biasgauge.scores import ScoreTensor, score
from biasgauge.stats import mean_estimate, share_of_words
from biasgauge.vectors import load

AS_GIVEN = "as given"
"""Name of the form in which words were asked for."""
UNCLEAR = "no clear lean"
HOLDS, REVERSED, CLEAR_TO_NONE, NONE_TO_CLEAR = "holds", "reversed", "lost", "appears"
TONES: dict[str, Tone] = {HOLDS: "good", REVERSED: "bad", CLEAR_TO_NONE: "caution", NONE_TO_CLEAR: "caution"}
UNKNOWN = "unknown"
MARKS = {
    HOLDS: ("circle", GOOD),
    REVERSED: ("cross", BAD),
    CLEAR_TO_NONE: ("triangle-down", CAUTION),
    NONE_TO_CLEAR: ("triangle-up", CAUTION),
    UNKNOWN: ("square", NEUTRAL_COLOR),
}
"""Shape and color of each outcome in a chart."""

ConceptsLike: TypeAlias = "LexiconLike | WordSet | Iterable[WordsLike] | Mapping[str, WordsLike]"
"""Sets of words, each standing for one concept."""


@dataclass(frozen=True)
class Flip(EstimateRow):
    """Effect of changing one choice on the conclusion about one concept.

    Attributes:
        concept: the set of words.
        choice: what changes: "pair", "measure" or "form".
        old, new: from which pair, measure or form to which.
        before, after: to which end the words lean on average, or "no clear lean"; None with fewer than two words.
        outcome: "holds", "reversed" (the other end), "lost" (a lean that is no longer clear), "appears" (one that was
            not clear before); None where a side is undefined.
        share: share of the words that lean to the other end after the change.
        words: those words.
    """

    renamed: ClassVar[Mapping[str, str]] = {
        "old": "from", "new": "to", "before": "conclusion", "after": "conclusion_then"
    }  # fmt: skip

    concept: str
    choice: str
    old: str
    new: str
    before: str | None
    after: str | None
    outcome: str | None
    share: Estimate
    words: tuple[str, ...]

    def derived(self) -> JsonMapping:
        """The number of words."""
        return {"n": self.share.n}


@dataclass(frozen=True, eq=False, repr=False)
class Flips(Result):
    """Every single change of a choice, for every concept.

    Attributes:
        rows: one for each concept and change.
        baseline: measure, pair and form from which one thing at a time is changed.
        level: of the intervals.
        lost_pairs: pairs that the embedding does not have.
        lost_words: words of each concept that it does not have.
    """

    abridged: ClassVar[bool] = True
    renamed: ClassVar[Mapping[str, str]] = {"rows": "flips"}
    hidden: ClassVar[frozenset[str]] = frozenset({"level"})
    tables: ClassVar[tuple[str, ...]] = ("rows",)

    rows: tuple[Flip, ...]
    baseline: Mapping[str, str]
    level: float
    lost_pairs: tuple[str, ...]
    lost_words: Mapping[str, tuple[str, ...]]

    @property
    def headlines(self) -> tuple[str, ...]:
        """One sentence per concept: its conclusion, how many changes keep it, and the worst one."""
        return tuple(self._concept_headline(concept) for concept in dict.fromkeys(row.concept for row in self.rows))

    def _concept_headline(self, concept: str) -> str:
        rows = [row for row in self.rows if row.concept == concept and row.outcome is not None]
        if not rows:
            return f"{list_name(concept)}: unknown, too few of its words are in the vocabulary."
        unchanged = sum(row.outcome == HOLDS for row in rows)
        turned = [row.new for row in rows if row.outcome == REVERSED]
        worst = max(rows, key=lambda row: row.share.value or 0.0)
        lean = "has no clear lean" if rows[0].before == UNCLEAR else rows[0].before
        verb = "reverses" if len(turned) == 1 else "reverse"
        reverse = f"; {len(turned)} {verb} it ({', '.join(map(measure_name, turned))})" if turned else ""
        return (
            f"{list_name(concept)} {lean} ({measure_name(self.baseline['measure'])}, {self.baseline['pair']}): the "
            f"lean holds under {unchanged} of {len(rows)} alternative choices{reverse}. Most words change "
            f"direction under {measure_name(worst.new)}: {share_text(worst.share.value)} of {worst.share.n}."
        )

    def derived(self) -> JsonMapping:
        """Its sentences."""
        return {"headlines": self.headlines}

    def summary(self) -> Summary:
        """One sentence per concept, and every single change."""
        numbers = Column("outcome", "mark", tones=TONES), Column("words that flip", "estimate"), Column("of", "count")
        rows = []
        for row in self.rows:
            names = Shown(row.concept, list_name(row.concept)), row.choice, Shown(row.new, measure_name(row.new))
            rows.append((*names, row.before, row.after, row.outcome, row.share, row.share.n))
        columns = ["words", "changed", "to", "before", "after", *numbers]
        title = "Every single change of a choice, and what it does to the conclusion"
        headline, *sentences = self.headlines
        tables = (Table.of("flips", title, columns, rows),)
        return Summary("Conclusions under other choices", headline, tuple(sentences), tables, self._charts())

    def _charts(self) -> tuple[Chart, ...]:
        rows = [
            {
                "what": f"{row.choice}: {spelled(measure_name(row.new))}",
                "share": row.share.value,
                "low": row.share.low,
                "high": row.share.high,
                "words": list_name(row.concept),
                "outcome": row.outcome or UNKNOWN,
            }
            for row in self.rows
            if row.share.value is not None
        ]
        baseline = f"{measure_name(self.baseline['measure'])}, {spelled(self.baseline['pair'])}"
        remark = f"One choice is changed at a time, from {baseline}. 0: every word leans as before"
        title, axis = "Words whose direction changes with one choice", "share of the words that flip"
        looks: JsonObject = {"number": "share", "color": "outcome", "meanings": MARKS, "panel": "words"}
        return (chart_of_rows("flips", title, remark, axis, rows, **looks),) if rows else ()


def flips(
    vectors: VectorsLike,
    *,
    concepts: ConceptsLike | None = None,
    pairs: PairsLike = "zhang2020",
    measures: str | Measure | Sequence[str | Measure] = MEASURES,
    forms: FormsLike | None = None,
    k: int = 100,
    pool: WordsLike | None = NEUTRAL,
    policy: WordPolicy = EXACT_POLICY,
    level: float = 0.95,
    n_jobs: int | None = None,
) -> Flips:
    """For each concept: to which end do its words lean, and does that hold when one choice changes?

    A concept leans to an end when the mean score of its words differs from 0 (Student's interval over words); else it
    has no clear lean. Each other pair, measure and form is tried alone, on the words that have both scores.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        concepts: lexicons or their sets, or a mapping of names to words; by default those of the pairs' language.
        pairs: a lexicon of pairs, or pairs; the first that the embedding has is the baseline.
        measures: the first is the baseline.
        forms: forms of the words, as in `robustness`; by default those of the pairs' language, and capitalized.
        k: how many neighbors vote.
        pool: which words may be neighbors, as in `robustness`.
        policy: how words are looked up.
        level: nominal coverage of the intervals.
        n_jobs: threads; all cores when None.

    Raises:
        ParameterError: an argument cannot be used, or the embedding has none of the pairs.
        LexiconError: a lexicon is unknown.
    """
    check_level(level)
    model = load(vectors)
    base = pairs_of(pairs)
    language = language_of(base.language)
    if concepts is None and (reason := language.lacks("concepts")):
        raise ParameterError(f"The 'concepts' must be named: {reason}.")
    word_sets = _concepts(language.named("concepts") if concepts is None else concepts)
    named = {name: as_spelled(model, words, policy) for name, words in word_sets.items()}
    all_forms = forms_and_cases(language, "capitalized") if forms is None else forms
    used = chosen_measures(measures)
    words = [word for words in named.values() for word in words]
    plan = RobustnessPlan.build(model, base.pairs, words, all_forms, (), policy=policy)
    usable = tuple(pair for pair in plan.pairs if all(end in model for end in pair))
    if not usable:
        raise ParameterError(f"The embedding has no pair of {base.name} with both its ends; name other pairs.")
    neighbors = pool_of(pool, model, plan.pairs, used, language=language)
    scores = score(model, pairs=usable, words=plan.all_words, measures=list(used), k=k, pool=neighbors, n_jobs=n_jobs)
    lost = {name: tuple(word for word in words if word not in model) for name, words in named.items()}
    return Flips(
        rows=tuple(row for name, words in named.items() for row in _changes(name, words, scores, plan, level)),
        baseline={"measure": scores.measures[0], "pair": pair_name(usable[0]), "form": AS_GIVEN},
        level=level,
        lost_pairs=tuple(pair_name(pair) for pair in plan.pairs if pair not in usable),
        lost_words={name: words for name, words in lost.items() if words},
    )


def _concepts(concepts: ConceptsLike) -> dict[str, tuple[str, ...]]:
    if isinstance(concepts, Mapping):
        sets = {str(name): words_of(words).words for name, words in concepts.items()}
    else:
        sources = [concepts] if isinstance(concepts, (str, Lexicon, WordSet)) else concepts
        if not isinstance(sources, Iterable):
            raise ParameterError(f"The 'concepts' must be lexicons, or a mapping of names to words. Got {concepts!r}.")
        sets = {words.name: words.words for words in map(words_of, sources)}
    if not sets:
        raise ParameterError("The 'concepts' must hold at least one set of words. Got none.")
    return {name: tuple(dict.fromkeys(words)) for name, words in sets.items()}


def _changes(
    concept: str, words: Sequence[str], scores: ScoreTensor, plan: RobustnessPlan, level: float
) -> Iterator[Flip]:
    """Every single change of a choice for one concept, on the words that have both scores."""
    index = {word: row for row, word in enumerate(scores.words)}

    def values(measure: int, pair: int, spellings: Iterable[str]) -> Floats:
        rows = [index[word] for word in spellings]
        return np.asarray(scores.values[measure, pair, rows, 0], np.float64)

    def change(
        choice: str, old: str, new: str, changed: Sequence[str], after: Floats, new_ends: tuple[str, str]
    ) -> Flip:
        before = values(0, 0, changed)
        both = np.flatnonzero(~(np.isnan(before) | np.isnan(after)))
        flipped = both[before[both] * after[both] < 0]
        share = share_of_words(len(flipped), len(both), level, "share of words that flip")
        leans = _lean(before[both], level), _lean(after[both], level)
        old_lean, new_lean = (_lean_text(lean, pair) for lean, pair in zip(leans, (ends, new_ends), strict=True))
        words_that_flip = tuple(changed[row] for row in flipped)
        return Flip(concept, choice, old, new, old_lean, new_lean, _outcome(*leans), share, words_that_flip)

    ends = scores.pairs[0]
    for number, pair in enumerate(scores.pairs[1:], 1):
        yield change("pair", pair_name(ends), pair_name(pair), words, values(0, number, words), pair)
    for number, measure in enumerate(scores.measures[1:], 1):
        yield change("measure", scores.measures[0], measure, words, values(number, 0, words), ends)
    for form in plan.forms:
        formed = [word for word in words if word in form.found]
        yield change("form", AS_GIVEN, form.name, formed, values(0, 0, (form.found[word] for word in formed)), ends)


def _lean(scores: Floats, level: float) -> int | None:
    """1 or −1 where the mean differs from 0, 0 where it does not; None with fewer than two scores."""
    mean = mean_estimate(scores, level=level)
    clear = mean.excludes(0)
    return None if clear is None else int(clear) * int(np.sign(mean.value or 0))


def _lean_text(lean: int | None, ends: tuple[str, str]) -> str | None:
    return None if lean is None else {0: UNCLEAR, 1: f"leans to {ends[0]}", -1: f"leans to {ends[1]}"}[lean]


def _outcome(before: int | None, after: int | None) -> str | None:
    if before is None or after is None:
        return None
    if before == after:
        return HOLDS
    return NONE_TO_CLEAR if before == 0 else CLEAR_TO_NONE if after == 0 else REVERSED

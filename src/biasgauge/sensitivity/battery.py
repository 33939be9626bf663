"""`robustness`: from vectors to what survives another pair, word form or measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from biasgauge.agreement.rows import pair_name
from biasgauge.embeddings import Coverage, Embedding, load
from biasgauge.errors import ParameterError
from biasgauge.inputs import PairsLike, VectorsLike, WordsLike
from biasgauge.lexicons import pairs_of, words_of
from biasgauge.measures import Measure
from biasgauge.scores import score
from biasgauge.sensitivity import comparisons
from biasgauge.sensitivity.agreements import CORRESPONDENCE, Agreement, Comparison, MeanKappa
from biasgauge.sensitivity.base_pairs import over_pairs
from biasgauge.sensitivity.comparisons import Signs
from biasgauge.sensitivity.difference_vectors import difference_cosines, likeness_and_agreement, mean_cosine
from biasgauge.sensitivity.forms import FormsLike
from biasgauge.sensitivity.plan import MEASURES, NEUTRAL, Plan, chosen_measures, pool_of
from biasgauge.sensitivity.reference import reference_scores
from biasgauge.sensitivity.result import RobustnessResult
from biasgauge.sensitivity.truths import Truth, TruthsLike, truths_of
from biasgauge.sensitivity.vocabularies import FREQUENT, as_spelled, limited, pairs_as_spelled
from biasgauge.stats.estimate import check_level

NOT_USUAL = "no frequent word is made of letters alone: the standard deviation is that of the words asked for"

Row = TypeVar("Row", "Agreement", "MeanKappa")


def robustness(  # noqa: PLR0913 - settings are keyword arguments, each with its default
    vectors: VectorsLike,
    *,
    pairs: PairsLike = "zhang2020",
    words: WordsLike = "occ16",
    truths: TruthsLike | None = None,
    measures: str | Measure | Sequence[str | Measure] = MEASURES,
    forms: FormsLike = ("plural", "capitalized", "upper"),
    pair_forms: FormsLike = ("capitalized",),
    k: int = 100,
    pool: WordsLike | None = NEUTRAL,
    frequent: int = FREQUENT,
    as_published: bool = False,
    analogies: bool = False,
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    level: float = 0.95,
    resamples: int = 1_000,
    random_state: int = 0,
    n_jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RobustnessResult:
    """Say what of a measurement of bias survives another base pair, another form of the words, another measure.

    Zhang, Sneyd & Stevenson 2020, for any pairs and words. A score leans to the first end of the pair when it is
    positive, to the second when it is negative, to neither when it is exactly 0.

    Args:
        vectors: an `Embedding` or anything `load` takes.
        pairs: a lexicon of pairs, or pairs (first, second).
        words: a lexicon, one of its sets, or words.
        truths: words whose direction is known: lexicons whose sets are named like the ends of the pairs, or a mapping
            of names to (words of the first end, words of the second). BSRI and animals for pairs of male and female.
        measures: names of measures, or `Measure` objects.
        forms: forms of the words: "plural", "capitalized", "upper", "lower", or a mapping of a name to the user's own
            (a function, a mapping of words to forms, or pairs of word and form).
        pair_forms: forms of the pairs, likewise.
        k: how many neighbors vote in a neighborhood measure.
        pool: which words may be neighbors: "neutral" for frequent lower-case words that do not name what the pairs
            are about, a lexicon or words, or None for the whole vocabulary.
        frequent: how many of the first words of the file count as frequent.
        as_published: as the paper's code has it: a score of 0 counts as the first end, plurals are made with -s or -es,
            words count only with all their forms, a pair is held against itself, and both forms of the magnitude.
        analogies: look at the analogies of (man, woman) too.
        min_coverage: share of the words, and of those of a truth, that must be found; else what rests on them is
            undefined.
        case_fallback: look a word up in lower case, then capitalized, when it is not there as written.
        level: nominal coverage of the intervals.
        resamples: draws of the words for intervals of means over pairs.
        random_state: seed of the draws.
        n_jobs: threads; all cores when None. The result does not depend on it.
        progress: called with (done, total) blocks of the frequent words.

    Raises:
        ParameterError: an argument cannot be used.
        LexiconError: a lexicon is unknown.
    """
    check_level(level)
    _check(min_coverage, resamples)
    model = load(vectors)
    base = pairs_of(pairs)
    asked = words_of(words)
    known, remark = truths_of(truths, base)
    known = tuple(
        Truth(one.name, *(as_spelled(model, words, case_fallback=case_fallback) for words in (one.first, one.second)))
        for one in known
    )
    used = chosen_measures(measures, as_published=as_published)
    plan = Plan.of(
        model,
        pairs_as_spelled(model, base.pairs, case_fallback=case_fallback),
        as_spelled(model, asked.words, case_fallback=case_fallback),
        forms,
        pair_forms,
        as_published=as_published,
    )
    neighbors = pool_of(pool, model, plan.pairs, used, frequent, as_published=as_published)
    computed: dict[str, Any] = {"measures": list(used), "k": k, "pool": neighbors, "n_jobs": n_jobs}
    scored = score(
        model,
        pairs=plan.all_pairs,
        words=list(dict.fromkeys([*plan.all_words, *(word for one in known for word in one.words)])),
        **computed,
    )
    usual = limited(model, frequent, as_published=as_published)
    reference = reference_scores(
        model,
        plan.pairs,
        usual or plan.words,
        level=level,
        progress=progress,
        **computed,
    )
    signs = comparisons.Signs.of(scored, as_published=as_published)
    by_word = signs.select(plan.pairs, plan.words)
    values = scored.select(pair=plan.pairs, word=plan.words).values[..., 0]
    coverage = _coverage(model, plan, known)
    short = {name: _shortfall(coverage, name, min_coverage) for name in coverage.sets if name != "pairs"}
    parts = {
        "pair_forms": comparisons.of_pair_forms(signs, plan),
        "word_forms": comparisons.of_word_forms(signs, plan),
        "correspondence": comparisons.of_truths(signs, plan, known),
        "between_measures": comparisons.of_measures(signs, plan),
    }
    pairwise = _rows(comparisons.of_pairs(signs, plan), level, short)
    cosines = difference_cosines(model, plan.pairs)
    stability = [
        over_pairs(one.measure, values[place], by_word[place], one.sd.value, level, as_published=as_published)
        for place, one in enumerate(reference)
    ]
    return RobustnessResult(
        reference=reference,
        base_pairs=tuple(one.withdrawn(short["words"]) if short["words"] else one for one in stability),
        pairwise=pairwise,
        **cast("Any", {name: _rows(several, level, short) for name, several in parts.items()}),
        means=tuple(
            _sound(one.mean(level, resamples, random_state), one.part, one.against, short)
            for several in parts.values()
            for one in several
        ),
        similarity=likeness_and_agreement(cosines, pairwise, plan.pairs, level, with_itself=as_published),
        mean_cosine=mean_cosine(cosines, with_itself=as_published),
        cosines=cosines,
        pairs=plan.pairs,
        words=plan.words,
        forms=plan.forms,
        formed_pairs=plan.pair_forms,
        scores=scored,
        coverage=coverage,
        settings={
            "vectors": model.name,
            "pairs": base.name,
            "words": asked.name,
            "truths": [one.name for one in known],
            "measures": list(scored.measures),
            "forms": [one.name for one in plan.forms],
            "pair_forms": [one.name for one in plan.pair_forms],
            "k": k,
            "pool": pool if isinstance(pool, str) or pool is None else "given words",
            "pool_words": len(model) if neighbors is None else len(neighbors),
            "frequent": frequent,
            "as_published": as_published,
            "min_coverage": min_coverage,
            "case_fallback": case_fallback,
            "level": level,
            "resamples": resamples,
            "random_state": random_state,
        },
        warnings=(*([remark] if remark else []), *([] if usual else [NOT_USUAL]), *_warnings(plan, signs, short)),
        analogies=_analogies(model, level, random_state) if analogies else None,
    )


def _check(min_coverage: float, resamples: int) -> None:
    if not 0 <= min_coverage <= 1:
        raise ParameterError(f"The 'min_coverage' of robustness must be between 0 and 1. Got {min_coverage!r}.")
    if not isinstance(resamples, int) or resamples < 1:
        raise ParameterError(f"The 'resamples' of robustness must be a whole number of at least 1. Got {resamples!r}.")


def _coverage(model: Embedding, plan: Plan, truths: Sequence[Truth]) -> Coverage:
    ends = [end for pair in plan.pairs for end in pair]
    return model.coverage({"words": plan.words, "pairs": ends, **{f"truth {one.name}": one.words for one in truths}})


def _shortfall(coverage: Coverage, name: str, least: float) -> str:
    """Why a set has too few words to say anything; empty where it has enough."""
    one = coverage.sets[name]
    if len(one.words) >= least * one.asked and one.words:
        return ""
    what = "the words" if name == "words" else f"the words of the {name}"
    return f"fewer than {least:.0%} of {what} found: {len(one.words)} of {one.asked}"


def _rows(several: Sequence[Comparison], level: float, short: Mapping[str, str]) -> tuple[Agreement, ...]:
    return tuple(_sound(row, row.part, row.against, short) for one in several for row in one.rows(level))


def _sound(row: Row, part: str, against: str, short: Mapping[str, str]) -> Row:
    """The row, undefined where the words that it rests on are too few."""
    reason = short[f"truth {against}" if part == CORRESPONDENCE else "words"]
    return row.withdrawn(reason) if reason else row


def _warnings(plan: Plan, signs: Signs, short: Mapping[str, str]) -> list[str]:
    found = [f"{reason}; a lower min_coverage judges them all the same" for reason in short.values() if reason]
    for pair in plan.pairs:
        lost = {name: one[pair] for name, one in zip(signs.measures, signs.lost, strict=True) if pair in one}
        if len(lost) == len(signs.measures):
            found.append(f"the pair {pair_name(pair)} is left out: {next(iter(lost.values()))}")
        elif lost:
            found.append(f"the pair {pair_name(pair)} is left out of {', '.join(lost)}: {next(iter(lost.values()))}")
    found += [f"no word has the form {one.name!r} in the vocabulary" for one in plan.forms if not one.found]
    found += [f"no pair has the form {one.name!r} in the vocabulary" for one in plan.pair_forms if not one.found]
    return found


def _analogies(model: Embedding, level: float, random_state: int) -> object:
    from biasgauge.sensitivity.analogy_evidence import analogy_report

    return analogy_report(model, level=level, random_state=random_state)

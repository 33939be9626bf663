"""`robustness`: from vectors to what survives another pair, word form or measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from biasgauge.analyses.reliability import pair_name
from biasgauge.analyses.robustness import agreements
from biasgauge.analyses.robustness.agreements import Agreement, Comparison, MeanKappa, Signs
from biasgauge.analyses.robustness.analogy_evidence import analogy_report
from biasgauge.analyses.robustness.base_pairs import over_pairs, reference_scores
from biasgauge.analyses.robustness.difference_vectors import difference_cosines, likeness_and_agreement, mean_cosine
from biasgauge.analyses.robustness.forms import FormsLike, forms_and_cases
from biasgauge.analyses.robustness.plan import (
    FREQUENT,
    MEASURES,
    NEUTRAL,
    Plan,
    as_spelled,
    chosen_measures,
    limited,
    pool_of,
)
from biasgauge.analyses.robustness.result import RobustnessResult
from biasgauge.analyses.robustness.truths import Truth, TruthsLike, truths_of
from biasgauge.core import ModelsLike, PairsLike, VectorsLike, WordsLike, check_level, check_number, check_whole
from biasgauge.errors import ParameterError
from biasgauge.lexicons import language_of, pairs_of, words_of
from biasgauge.metrics import Measure
from biasgauge.results import share_text
from biasgauge.scores import score
from biasgauge.vectors import Coverage, each_model, load

Compared = TypeVar("Compared", Agreement, MeanKappa)

NOT_USUAL = "no frequent word is made of letters alone: the standard deviation is that of the words asked for"


@each_model
def robustness(  # noqa: PLR0913 - settings are keyword arguments, each with its default
    vectors: ModelsLike,
    *,
    pairs: PairsLike = "zhang2020",
    words: WordsLike | None = None,
    truths: TruthsLike | None = None,
    measures: str | Measure | Sequence[str | Measure] = MEASURES,
    forms: FormsLike | None = None,
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
        vectors: an `Embedding` or anything `load` takes. A list of models or views gives a `ByModel`: each by itself.
        pairs: a lexicon of pairs, or pairs (first, second).
        words: a lexicon, one of its sets, or words; by default the occupations of the pairs' language (occ16).
        truths: words whose direction is known: lexicons whose sets are named like the ends of the pairs, or a mapping
            of names to (words of the first end, words of the second). For pairs of male and female by default those of
            their language (BSRI and animals).
        measures: names of measures, or `Measure` objects.
        forms: forms of the words: "plural", "capitalized", "upper", "lower", or a mapping of a name to the user's own
            (a function, a mapping of words to forms, or pairs of word and form). By default those of the pairs'
            language (plural), capitalized and upper.
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
    check_number(0, 1, min_coverage=min_coverage)
    check_whole(1, resamples=resamples)
    model = load(cast("VectorsLike", vectors))
    base = pairs_of(pairs)
    spoken = language_of(base.language)
    if words is None and (reason := spoken.lacks("occupations")):
        raise ParameterError(f"The 'words' of robustness must be named: {reason}.")
    wanted = words_of(spoken.named("occupations")[0] if words is None else words)
    chosen_forms: FormsLike = forms_and_cases(spoken, "capitalized", "upper") if forms is None else forms
    references, remark = truths_of(truths, base)
    references = tuple(
        Truth(truth.name, *(as_spelled(model, end, case_fallback=case_fallback) for end in (truth.first, truth.second)))
        for truth in references
    )
    used = chosen_measures(measures, as_published=as_published)
    plan = Plan.build(
        model,
        base.pairs,
        wanted.words,
        chosen_forms,
        pair_forms,
        as_published=as_published,
        case_fallback=case_fallback,
    )
    neighbors = pool_of(pool, model, plan.pairs, used, frequent, as_published=as_published, language=spoken)
    computed: dict[str, Any] = {"measures": list(used), "k": k, "pool": neighbors, "n_jobs": n_jobs}
    of_truths = [word for truth in references for word in truth.words]
    scores = score(model, pairs=plan.all_pairs, words=list(dict.fromkeys([*plan.all_words, *of_truths])), **computed)
    usual = limited(model, frequent, as_published=as_published)
    reference = reference_scores(model, plan.pairs, usual or plan.words, level=level, progress=progress, **computed)
    signs = Signs.from_scores(scores, as_published=as_published)
    directions = signs.select(plan.pairs, plan.words)
    values = scores.select(pair=plan.pairs, word=plan.words).values[..., 0]
    ends = [end for pair in plan.pairs for end in pair]
    sets = {"words": plan.words, "pairs": ends, **{f"truth {truth.name}": truth.words for truth in references}}
    coverage = model.coverage(sets)
    short = {name: _shortfall(coverage, name, min_coverage) for name in sets if name != "pairs"}
    comparisons = {
        "pair_forms": agreements.of_pair_forms(signs, plan),
        "word_forms": agreements.of_word_forms(signs, plan),
        "correspondence": agreements.of_truths(signs, plan, references),
        "between_measures": agreements.of_measures(signs, plan),
    }
    pairwise = _rows(agreements.of_pairs(signs, plan), level, short)
    rows: dict[str, Any] = {name: _rows(group, level, short) for name, group in comparisons.items()}
    cosines = difference_cosines(model, plan.pairs)
    stability = [
        over_pairs(row.measure, values[index], directions[index], row.sd.value, level, as_published=as_published)
        for index, row in enumerate(reference)
    ]
    return RobustnessResult(
        reference=reference,
        base_pairs=tuple(row.withdrawn(short["words"]) if short["words"] else row for row in stability),
        pairwise=pairwise,
        **rows,
        means=tuple(
            _sound(comparison.mean(level, resamples, random_state), short)
            for group in comparisons.values()
            for comparison in group
        ),
        similarity=likeness_and_agreement(cosines, pairwise, plan.pairs, level, with_itself=as_published),
        mean_cosine=mean_cosine(cosines, with_itself=as_published),
        cosines=cosines,
        pairs=plan.pairs,
        words=plan.words,
        forms=plan.forms,
        formed_pairs=plan.pair_forms,
        scores=scores,
        coverage=coverage,
        settings={
            "vectors": model.name,
            "pairs": base.name,
            "words": wanted.name,
            "truths": [truth.name for truth in references],
            "measures": list(scores.measures),
            "forms": [form.name for form in plan.forms],
            "pair_forms": [form.name for form in plan.pair_forms],
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
        analogies=analogy_report(model, level=level, random_state=random_state) if analogies else None,
    )


def _shortfall(coverage: Coverage, name: str, least: float) -> str:
    """Reason why a set has too few words to measure; empty where it has enough."""
    words = coverage.sets[name]
    if len(words.words) >= least * words.asked and words.words:
        return ""
    described = "the words" if name == "words" else f"the words of the {name}"
    return f"fewer than {share_text(least)} of {described} found: {len(words.words)} of {words.asked}"


def _rows(comparisons: Sequence[Comparison], level: float, short: Mapping[str, str]) -> tuple[Agreement, ...]:
    return tuple(_sound(row, short) for comparison in comparisons for row in comparison.rows(level))


def _sound(row: Compared, short: Mapping[str, str]) -> Compared:
    """The row, undefined where the words that it rests on are too few."""
    reason = short[f"truth {row.against}" if row.part == agreements.CORRESPONDENCE else "words"]
    return row.withdrawn(reason) if reason else row


def _warnings(plan: Plan, signs: Signs, short: Mapping[str, str]) -> Iterator[str]:
    yield from (f"{reason}; a lower min_coverage judges them all the same" for reason in short.values() if reason)
    for pair in plan.pairs:
        lost = {
            name: missing[pair] for name, missing in zip(signs.measures, signs.lost, strict=True) if pair in missing
        }
        if lost:
            measures = "" if len(lost) == len(signs.measures) else f" of {', '.join(lost)}"
            yield f"the pair {pair_name(pair)} is left out{measures}: {next(iter(lost.values()))}"
    yield from (f"no word has the form {form.name!r} in the vocabulary" for form in plan.forms if not form.found)
    yield from (f"no pair has the form {form.name!r} in the vocabulary" for form in plan.pair_forms if not form.found)

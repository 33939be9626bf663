"""`robustness`: from vectors to what survives another pair, word form or measure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from biasgauge.analyses.reliability import pair_name
from biasgauge.analyses.robustness import agreements, plan
from biasgauge.analyses.robustness.agreements import Agreement, MeanKappa
from biasgauge.analyses.robustness.analogy_search import analogy_report
from biasgauge.analyses.robustness.base_pairs import over_pairs, reference_scores
from biasgauge.analyses.robustness.forms import FormsLike, forms_and_cases
from biasgauge.analyses.robustness.plan import FREQUENT, MEASURES, NEUTRAL, RobustnessPlan, Truth, TruthsLike
from biasgauge.analyses.robustness.result import PARTS, RobustnessResult
from biasgauge.core import (
    EXACT_POLICY,
    ModelsLike,
    PairsLike,
    VectorsLike,
    WordPolicy,
    WordsLike,
    check_level,
    check_whole,
)
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
    policy: WordPolicy = EXACT_POLICY,
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
        policy: how words are looked up, and the share of the words, and of those of a truth, that must be found; else
            what rests on them is undefined.
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
    check_whole(1, resamples=resamples)
    model = load(cast("VectorsLike", vectors))
    base = pairs_of(pairs)
    language = language_of(base.language)
    if words is None and (reason := language.lacks("occupations")):
        raise ParameterError(f"The 'words' of robustness must be named: {reason}.")
    wanted = words_of(language.named("occupations")[0] if words is None else words)
    all_forms = forms_and_cases(language, "capitalized", "upper") if forms is None else forms
    stated_truths, remark = plan.truths_of(truths, base)
    truth_sets = tuple(
        Truth(truth.name, *(plan.as_spelled(model, end, policy) for end in (truth.first, truth.second)))
        for truth in stated_truths
    )
    used = plan.chosen_measures(measures, as_published=as_published)
    design = RobustnessPlan.build(
        model, base.pairs, wanted.words, all_forms, pair_forms, as_published=as_published, policy=policy
    )
    neighbors = plan.pool_of(pool, model, design.pairs, used, frequent, as_published=as_published, language=language)
    computed: dict[str, Any] = {"measures": list(used), "k": k, "pool": neighbors, "n_jobs": n_jobs}
    scored_words = dict.fromkeys([*design.all_words, *(word for truth in truth_sets for word in truth.words)])
    scores = score(model, pairs=design.all_pairs, words=list(scored_words), **computed)
    usual = plan.limited(model, frequent, as_published=as_published)
    reference = reference_scores(model, design.pairs, usual or design.words, level=level, progress=progress, **computed)
    ends = [end for pair in design.pairs for end in pair]
    sets = {"words": design.words, "pairs": ends, **{f"truth {truth.name}": truth.words for truth in truth_sets}}
    coverage = model.coverage(sets)
    short = {name: _shortfall(coverage, name, policy.min_coverage) for name in sets if name != "pairs"}
    comparisons = list(agreements.compare_directions(scores, design, truth_sets, as_published=as_published))
    rows: dict[str, Any] = {
        part: tuple(_withdraw(row, short) for ways in comparisons if ways.part == part for row in ways.rows(level))
        for part in PARTS
    }
    cosines = agreements.difference_cosines(model, design.pairs)
    values = scores.select(pair=design.pairs, word=design.words).values[..., 0]
    stability = [
        over_pairs(row.measure, by_pair, row.sd.value, level, as_published=as_published)
        for row, by_pair in zip(reference, values, strict=True)
    ]
    return RobustnessResult(
        reference=reference,
        base_pairs=tuple(row.withdrawn(short["words"]) if short["words"] else row for row in stability),
        **rows,
        means=tuple(
            _withdraw(ways.mean(level, resamples, random_state), short)
            for ways in comparisons
            if ways.part != "pairwise"
        ),
        similarity=agreements.likeness_and_agreement(
            cosines, rows["pairwise"], design.pairs, level, with_itself=as_published
        ),
        mean_cosine=agreements.mean_cosine(cosines, with_itself=as_published),
        cosines=cosines,
        pairs=design.pairs,
        words=design.words,
        forms=design.forms,
        formed_pairs=design.pair_forms,
        scores=scores,
        coverage=coverage,
        settings={
            "vectors": model.name,
            "pairs": base.name,
            "words": wanted.name,
            "truths": [truth.name for truth in truth_sets],
            "measures": list(scores.measures),
            "forms": [form.name for form in design.forms],
            "pair_forms": [form.name for form in design.pair_forms],
            "k": k,
            "pool": pool if isinstance(pool, str) or pool is None else "given words",
            "pool_words": len(model) if neighbors is None else len(neighbors),
            "frequent": frequent,
            "as_published": as_published,
            **policy.settings([model]),
            "level": level,
            "resamples": resamples,
            "random_state": random_state,
        },
        warnings=(
            *filter(None, [remark, "" if usual else NOT_USUAL]),
            *_warnings(design, scores.measures, agreements.lost_pairs(scores), short),
        ),
        analogies=analogy_report(model, level=level, random_state=random_state) if analogies else None,
    )


def _shortfall(coverage: Coverage, name: str, least: float) -> str:
    """Reason why a set has too few words to measure; empty where it has enough."""
    words = coverage.sets[name]
    if len(words.words) >= least * words.asked and words.words:
        return ""
    described = "the words" if name == "words" else f"the words of the {name}"
    return f"fewer than {share_text(least)} of {described} found: {len(words.words)} of {words.asked}"


def _withdraw(row: Compared, short: Mapping[str, str]) -> Compared:
    """The row, undefined where the words that it rests on are too few."""
    reason = short[f"truth {row.against}" if row.part == "correspondence" else "words"]
    return row.withdrawn(reason) if reason else row


def _warnings(
    design: RobustnessPlan, measures: Sequence[str], lost: Sequence[Mapping[Any, str]], short: Mapping[str, str]
) -> Iterator[str]:
    yield from (f"{reason}; a lower min_coverage includes them" for reason in short.values() if reason)
    for pair in design.pairs:
        reasons = {name: missing[pair] for name, missing in zip(measures, lost, strict=True) if pair in missing}
        if reasons:
            under = "" if len(reasons) == len(measures) else f" of {', '.join(reasons)}"
            yield f"the pair {pair_name(pair)} is left out{under}: {next(iter(reasons.values()))}"
    for noun, forms in (("word", design.forms), ("pair", design.pair_forms)):
        yield from (f"no {noun} has the form {form.name!r} in the vocabulary" for form in forms if not form.found)

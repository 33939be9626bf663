"""`seeds`: is this pair of word lists fit to measure anything with these models? `seed_cards`: those of an audit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import get_args

from biasgauge.analyses.seeds.card import FitnessCard, SeedsResult, advise
from biasgauge.analyses.seeds.coherence import (
    MOST_LEFT_OUT,
    PairNumbers,
    coherence_estimates,
    in_every_model,
    influences,
)
from biasgauge.analyses.seeds.pairing import balance, pairing, set_similarities, similarity_left_out
from biasgauge.analyses.seeds.subspaces import Method
from biasgauge.analyses.seeds.word_pairs import Located, SeedPair, SeedPairsLike, locate, of_lexicon, seed_pairs
from biasgauge.core import (
    DEFAULT_POLICY,
    Estimate,
    JsonMapping,
    JsonObject,
    ModelsLike,
    WordPolicy,
    WordsLike,
    check_choice,
    check_level,
    check_whole,
)
from biasgauge.errors import ParameterError
from biasgauge.lexicons import (
    BANK,
    DEFAULT_LANGUAGE,
    AssociationTest,
    Filter,
    Language,
    Lexicon,
    Pairs,
    SeedBank,
    language_of,
    lexicon,
    seed_bank,
    words_of,
)
from biasgauge.stats import mean_over_models
from biasgauge.vectors import Embedding, load_models

BANK_PAPERS = ("Bolukbasi", "Kozlowski")
"""Papers of a seed bank whose pairings an audit also looks at: definitional gender, and gender, class and race."""
LEFT_OUT_MODELS = 2
"""Replicates in which an audit leaves seeds out one at a time: they differ little in that, and it takes most time."""
LEFT_OUT_SEEDS = 30
"""Seeds in a set up to which an audit leaves each out by itself: every one takes a ranking of the vocabulary."""
MOST_WORDS = 120
"""Larger sets are lists of words to be measured, not seeds."""


def seeds(  # noqa: PLR0913 - settings, each with a name and a default
    vectors: ModelsLike,
    a: WordsLike | None = None,
    b: WordsLike | None = None,
    *,
    pairs: SeedPairsLike | None = None,
    paper: str | None = None,
    method: Method = "mean-difference",
    unit: bool = False,
    shuffles: int = 200,
    leave_one_out: bool | int = True,
    most_left_out: int = MOST_LEFT_OUT,
    generated: int = 0,
    generated_size: int = 5,
    nouns: WordsLike | None = None,
    counts: Mapping[str, float] | None = None,
    policy: WordPolicy = DEFAULT_POLICY,
    level: float = 0.95,
    filter: Filter = "corrected",  # noqa: A002 - the word that the papers use
    random_state: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> SeedsResult:
    """Say what pairs of seed sets are worth: a fitness card for each.

    Numbers are found in every model and then averaged, so that replicates need not be aligned; to average vectors
    instead, hand over `mean_embedding(models)` (aligned) or `mean_embedding(models, aligned=False)` (as published).

    Args:
        vectors: an `Embedding`, anything `load` takes, or a list of them: replicates.
        a: one set: words, a lexicon, NAME:SET, or the id of a set of the seed bank.
        b: the other set.
        pairs: instead of a and b: "all" for the 90 pairings of the seed bank, a lexicon of kind "test" or "pairs", or
            several (a, b).
        paper: only pairings of the seed bank whose paper or id holds this text, as in "Caliskan".
        method: the subspace whose coherence is measured: "mean-difference", or "pca" of the pairs by position.
        unit: scale seed vectors to length 1 first; published with vectors as they are.
        shuffles: shuffled pairings to compare with, over all models together; 0 for none.
        leave_one_out: also measure without each seed, which costs a ranking of the vocabulary for every seed; a number
            means in the first so many models.
        most_left_out: seeds in a set up to which each is left out by itself; of larger sets, a tenth at a time.
        generated: number of sets of nouns to generate as a reference; 0 for none, 50 as published.
        generated_size: words in a generated set; 5 as in Table A.2 of Badder Seeds, 25 as in its Figure 4.
        nouns: words that count as nouns there, such as those that a tagger found in your text; by default those that
            are nouns most often in the Brown corpus and that WordNet knows.
        counts: how often each word occurs; by default the order of rows stands for frequency.
        policy: how words are looked up, and how many of each set must be found. A seed is lost when most models lack
            it; models that lack another one take no part in that pair.
        level: nominal coverage of the intervals.
        filter: which form of the seed bank: "corrected", "published" or "none".
        random_state: seed of shuffles and generated sets.
        progress: called with (done, total) models.

    Raises:
        ParameterError: an argument cannot be used.
        LexiconError: a set is not known.
    """
    check_whole(0, shuffles=shuffles, leave_one_out=int(leave_one_out), generated=generated)
    check_whole(2, generated_size=generated_size)
    if generated == 1:
        raise ParameterError("The 'generated' sets of seeds must be 0, or at least 2. Got 1.")
    check_choice(get_args(Method), method=method)
    check_level(level)
    set_pairs = seed_pairs(a, b, pairs, paper=paper, bank_filter=filter)
    models = load_models(vectors)
    located = locate(set_pairs, models, policy)
    times = len(models) if leave_one_out is True else int(leave_one_out)
    numbers = in_every_model(
        located, models, method, scaled=unit, left_out=times, most=most_left_out, progress=progress
    )
    settings = {
        "method": method, "unit": unit, "shuffles": shuffles, "leave_one_out": leave_one_out,
        "most_left_out": most_left_out, "generated": generated, "generated_size": generated_size,
        "nouns": "Brown corpus" if nouns is None else words_of(nouns).name, **policy.settings(models), "level": level,
        "filter": filter, "frequency": "row order" if counts is None else "counts", "random_state": random_state,
        "model_checksums": {model.name: model.checksum for model in models},
    }  # fmt: skip
    cards = tuple(_card(*measured, models, counts, settings) for measured in zip(located, numbers, strict=True))
    cloud = None
    if generated:
        drawn: JsonObject = {"nouns": nouns, "method": method, "unit": unit, "random_state": random_state}
        from biasgauge.analyses.seeds.generated import generated_cloud

        cloud = generated_cloud(models, sets=generated, size=generated_size, **drawn)
    warnings = tuple(dict.fromkeys(notice.message for model in models for notice in model.notices))
    return SeedsResult(cards, tuple(model.name for model in models), settings, cloud, warnings)


def seed_cards(
    vectors: ModelsLike,
    lexicons: Iterable[str | Lexicon],
    *,
    language: str | Language | None = DEFAULT_LANGUAGE,
    policy: WordPolicy = DEFAULT_POLICY,
    shuffles: int = 100,
    random_state: int = 0,
) -> SeedsResult | None:
    """Cards for the sets that association tests and base pairs set against each other, and for pairings of the bank.

    Args:
        vectors: the model, or the replicates, of the audit.
        lexicons: those of the audit; kinds other than "test" and "pairs" are left out.
        language: pairings of its seed banks are added, where it has any; None for none.
        policy: as in `seeds`.
        shuffles: as in `seeds`.
        random_state: as in `seeds`.

    Returns:
        None when no lexicon sets two sets against each other.
    """
    chosen = [source for source in map(lexicon, lexicons) if isinstance(source, (AssociationTest, Pairs))]
    pairs = [pair for source in chosen for pair in of_lexicon(source)]
    for name in [] if language is None else language_of(language).named("seed_bank"):
        bank = seed_bank().bank if name == BANK else lexicon(name)  # the shipped one without what cannot be used
        if isinstance(bank, SeedBank):
            pairs += [
                SeedPair(a, b, bank.sets[a], bank.sets[b])
                for a, b in bank.pairings
                if any(paper in a and paper in b for paper in BANK_PAPERS)
            ]
    distinct = {
        (frozenset(pair.a_words), frozenset(pair.b_words)): pair
        for pair in reversed(pairs)
        if max(len(pair.a_words), len(pair.b_words)) <= MOST_WORDS
    }
    if not distinct:
        return None
    return seeds(
        vectors,
        pairs=list(reversed(distinct.values())),
        shuffles=shuffles,
        leave_one_out=LEFT_OUT_MODELS,
        most_left_out=LEFT_OUT_SEEDS,
        policy=policy,
        random_state=random_state,
    )


def _card(
    located: Located,
    numbers: PairNumbers,
    models: Sequence[Embedding],
    counts: Mapping[str, float] | None,
    settings: JsonMapping,
) -> FitnessCard:
    level, scaled = settings["level"], settings["unit"]
    drawn = {"shuffles": settings["shuffles"], "random_state": settings["random_state"]}
    pairs = pairing(located, models, scaled=scaled, level=level, **drawn)
    balances = balance(located, models, counts)
    coherence, held_out, published = coherence_estimates(located, numbers, settings["method"], level)
    similarity = Estimate(value=None, reason=located.reason)
    if located.reason is None:
        index, rows = next(iter(located.rows.items()))
        left = similarity_left_out(models[index].vectors, rows, scaled=scaled) if len(located.rows) == 1 else None
        similarity = mean_over_models(set_similarities(located, models, scaled=scaled), level, left, (-1.0, 1.0))
    moved = influences(located, numbers) if coherence.defined else ()
    return FitnessCard(
        a=located.pair.a,
        b=located.pair.b,
        coherence=coherence,
        held_out=held_out,
        coherence_published=published,
        similarity=similarity,
        pairing=pairs,
        balance=balances,
        influence=moved,
        coverage=located.coverage,
        models=len(located.rows),
        of_models=located.models,
        reason=located.reason,
        advice=advise(located, coherence, held_out, similarity, pairs, balances, moved),
    )

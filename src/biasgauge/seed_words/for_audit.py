"""`seed_cards`: fitness cards of the word sets that an audit rests on."""

from __future__ import annotations

from collections.abc import Iterable

from biasgauge.inputs import ModelsLike
from biasgauge.lexicons import AssociationTest, Lexicon, Pairs, lexicon, seed_bank
from biasgauge.seed_words.cards import seeds
from biasgauge.seed_words.result import SeedsResult
from biasgauge.seed_words.word_pairs import SeedPair, of_lexicon

BANK_PAPERS = ("Bolukbasi", "Kozlowski")
"""Papers whose pairings an English audit also looks at: definitional gender, and gender, class and race."""

LEFT_OUT_MODELS = 2
"""Replicates in which seeds are left out one at a time: they differ little in that, and it takes most of the time."""

MOST_WORDS = 120
"""Larger sets are lists of words to be measured, not seeds."""


def seed_cards(
    vectors: ModelsLike,
    lexicons: Iterable[str | Lexicon],
    *,
    language: str = "en",
    min_coverage: float = 0.8,
    case_fallback: bool = False,
    shuffles: int = 100,
    random_state: int = 0,
) -> SeedsResult | None:
    """Cards for the sets that association tests and base pairs set against each other, and for pairings of the bank.

    Args:
        vectors: the model, or the replicates, of the audit.
        lexicons: those of the audit; kinds other than "test" and "pairs" are left out.
        language: pairings of the seed bank are added for "en".
        min_coverage: as in `seeds`.
        case_fallback: as in `seeds`.
        shuffles: as in `seeds`.
        random_state: as in `seeds`.

    Returns:
        None when no lexicon sets two sets against each other.
    """
    chosen = [one for one in map(lexicon, lexicons) if isinstance(one, (AssociationTest, Pairs))]
    found = [pair for one in chosen for pair in of_lexicon(one)]
    if language == "en":
        bank = seed_bank().bank
        found += [
            SeedPair(a, b, bank.sets[a], bank.sets[b])
            for a, b in bank.pairings
            if any(paper in a and paper in b for paper in BANK_PAPERS)
        ]
    distinct = {
        (frozenset(pair.a_words), frozenset(pair.b_words)): pair
        for pair in reversed(found)
        if max(len(pair.a_words), len(pair.b_words)) <= MOST_WORDS
    }
    if not distinct:
        return None
    return seeds(
        vectors,
        pairs=list(reversed(distinct.values())),
        shuffles=shuffles,
        leave_one_out=LEFT_OUT_MODELS,
        min_coverage=min_coverage,
        case_fallback=case_fallback,
        random_state=random_state,
    )

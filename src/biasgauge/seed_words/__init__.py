"""Is a word list fit to measure anything? Subspaces, coherence, balance, pairing and influence of seed sets."""

from biasgauge.seed_words.card import FitnessCard
from biasgauge.seed_words.cards import seeds
from biasgauge.seed_words.choice import ListValue, SeedChoice, seed_choice
from biasgauge.seed_words.for_audit import seed_cards
from biasgauge.seed_words.generated import Cloud, GeneratedSet, generated_cloud, generated_sets
from biasgauge.seed_words.result import SeedsResult
from biasgauge.seed_words.subspace_words import BiasSubspace, bias_subspace

__all__ = [
    "BiasSubspace",
    "Cloud",
    "FitnessCard",
    "GeneratedSet",
    "ListValue",
    "SeedChoice",
    "SeedsResult",
    "bias_subspace",
    "generated_cloud",
    "generated_sets",
    "seed_cards",
    "seed_choice",
    "seeds",
]

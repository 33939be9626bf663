"""Is a word list fit to measure anything? Subspaces, coherence, balance, pairing and influence of seed sets."""

from biasgauge.seeds.bias_subspace import BiasSubspace, bias_subspace
from biasgauge.seeds.card import FitnessCard
from biasgauge.seeds.choice import ListValue, SeedChoice, seed_choice
from biasgauge.seeds.for_audit import seed_cards
from biasgauge.seeds.generated import Cloud, GeneratedSet, generated_cloud, generated_sets
from biasgauge.seeds.result import SeedsResult
from biasgauge.seeds.seeds import seeds

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

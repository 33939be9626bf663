"""Word lists as data: every list that the papers use, one TOML file each, and the same for the user's own."""

from biasgauge.lexicons.check import Finding, LexiconCheck, SetCheck, check
from biasgauge.lexicons.model import (
    AssociationTest,
    Lexicon,
    Pairs,
    Translations,
    Values,
    Words,
    WordSet,
    WordSets,
)
from biasgauge.lexicons.parse import KINDS, parse_lexicon, read_lexicon
from biasgauge.lexicons.references import pairs_of, words_of
from biasgauge.lexicons.registry import lexicon, lexicon_names
from biasgauge.lexicons.seed_bank import FilteredSeedBank, Removal, Rewriting, seed_bank
from biasgauge.lexicons.seed_sets import SeedBank, SeedSet
from biasgauge.lexicons.stereotypes import Group, Stereotypes

__all__ = [
    "KINDS",
    "AssociationTest",
    "FilteredSeedBank",
    "Finding",
    "Group",
    "Lexicon",
    "LexiconCheck",
    "Pairs",
    "Removal",
    "Rewriting",
    "SeedBank",
    "SeedSet",
    "SetCheck",
    "Stereotypes",
    "Translations",
    "Values",
    "WordSet",
    "WordSets",
    "Words",
    "check",
    "lexicon",
    "lexicon_names",
    "pairs_of",
    "parse_lexicon",
    "read_lexicon",
    "seed_bank",
    "words_of",
]

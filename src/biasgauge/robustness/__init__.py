"""Do conclusions survive another base pair, word form or measure? And what do analogies show?"""

from biasgauge.robustness.agreements import Agreement, MeanKappa
from biasgauge.robustness.analogies import Analogies, AnalogyAnswer, analogies
from biasgauge.robustness.analogy_report import AnalogyReport, analogy_report
from biasgauge.robustness.base_pairs import BasePairs
from biasgauge.robustness.flips import flips
from biasgauge.robustness.flips_result import Flip, Flips
from biasgauge.robustness.forms import FORMS, WordForms
from biasgauge.robustness.pair_generator import GeneratedPairs, generate_pairs
from biasgauge.robustness.plurals import plural
from biasgauge.robustness.reference import Reference, reference_scores
from biasgauge.robustness.result import RobustnessResult
from biasgauge.robustness.robustness import robustness
from biasgauge.robustness.similarity_explained import SimilarityExplained, similarity_explained
from biasgauge.robustness.vocabularies import limited, neutral

__all__ = [
    "FORMS",
    "Agreement",
    "Analogies",
    "AnalogyAnswer",
    "AnalogyReport",
    "BasePairs",
    "Flip",
    "Flips",
    "GeneratedPairs",
    "MeanKappa",
    "Reference",
    "RobustnessResult",
    "SimilarityExplained",
    "WordForms",
    "analogies",
    "analogy_report",
    "flips",
    "generate_pairs",
    "limited",
    "neutral",
    "plural",
    "reference_scores",
    "robustness",
    "similarity_explained",
]

"""Do conclusions survive another base pair, word form or measure? And what do analogies show?"""

from biasgauge.sensitivity.agreements import Agreement, MeanKappa
from biasgauge.sensitivity.analogy_evidence import AnalogyReport, analogy_report
from biasgauge.sensitivity.analogy_search import Analogies, AnalogyAnswer, analogies
from biasgauge.sensitivity.base_pairs import BasePairs
from biasgauge.sensitivity.battery import robustness
from biasgauge.sensitivity.explained import SimilarityExplained, similarity_explained
from biasgauge.sensitivity.flipped import flips
from biasgauge.sensitivity.flipped_result import Flip, Flips
from biasgauge.sensitivity.forms import FORMS, WordForms
from biasgauge.sensitivity.pair_generator import GeneratedPairs, generate_pairs
from biasgauge.sensitivity.plurals import plural
from biasgauge.sensitivity.reference import Reference, reference_scores
from biasgauge.sensitivity.result import RobustnessResult
from biasgauge.sensitivity.vocabularies import limited, neutral

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

"""Sentence-level measures of language models: which of two sentences is more likely, and how sure is that?

    bg.analyses.likelihood.stereoset("dev.json", "predictions.json")
    bg.analyses.likelihood.crows_pairs("crows_pairs_anonymized.csv", model="folder")
    bg.analyses.likelihood.score_pairs("folder", "pairs.csv", measures=["causal-sum", "causal-mean"])

Every number comes with an interval that respects clusters (targets, writers, templates) and replicates.
"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

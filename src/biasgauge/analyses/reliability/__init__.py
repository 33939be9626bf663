"""Reliability of bias scores: over replicates, over measures, within lists of words and pairs; `factors`."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

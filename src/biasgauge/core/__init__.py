"""Foundations: what a question about words is, how its words are found in a model, and what an estimate is."""

from biasgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Nulls, intervals and the Bayesian model of cosine distances."""

from biasgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

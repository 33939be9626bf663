"""Bias in applications: downstream tasks trained on vectors, and gaps between groups of people."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Vectors that are computed, not read: of words in sentences through a transformer, or by any other encoder."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

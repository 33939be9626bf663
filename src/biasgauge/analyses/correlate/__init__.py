"""Correlation of intrinsic and application bias over versions of embeddings."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

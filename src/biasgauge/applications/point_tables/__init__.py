"""Intrinsic and extrinsic numbers of the same embeddings, side by side."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

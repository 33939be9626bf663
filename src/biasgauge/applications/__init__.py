"""Bias in applications: gaps between groups, and whether intrinsic numbers track them."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Debias and overbias: vectors after training, text before it; and what that did."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Debias and overbias: vectors after training, text before it; and what that did."""

from biasgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Downstream tasks: run, kept, compared."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

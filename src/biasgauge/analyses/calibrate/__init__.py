"""Planted bias of known size: limits of detection of measures and tests; influence of documents."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

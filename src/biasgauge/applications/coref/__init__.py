"""Coreference on frozen vectors: reading, training, CoNLL scores, and gender bias (WinoBias, Winogender, GAP)."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

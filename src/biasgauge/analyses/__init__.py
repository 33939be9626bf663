"""Analyses: one package for each question that a user asks of scores, vectors or text."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

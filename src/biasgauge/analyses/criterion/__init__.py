"""Validity of scores against an external criterion, and amplification of the associations of a text."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

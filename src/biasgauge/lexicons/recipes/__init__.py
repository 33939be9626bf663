"""Lists of words from recipes: sources of words, filters, frequency matching, and a record of all that was done."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

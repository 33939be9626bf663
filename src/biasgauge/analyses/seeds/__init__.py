"""Is a word list fit to measure anything? Subspaces, coherence, balance, pairing and influence of seed sets."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

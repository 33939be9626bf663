"""What each language has: its lists, its grammatical gender, and what can be wrong with a list in it."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

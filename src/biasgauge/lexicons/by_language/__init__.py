"""Languages: their lists, their grammatical gender, and checks of a list in a language."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Power before measuring: detectable contrasts, words needed, words to drop and to add."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

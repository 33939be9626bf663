"""Do conclusions survive another base pair, word form or measure? And what do analogies show?"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

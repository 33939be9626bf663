"""Do scores of words follow something that is known about these words?"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Does the number follow the thing? What a text says, text with a known answer, limits of detection, criteria."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

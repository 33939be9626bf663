"""Association of words with two groups in a text: log odds ratios from counts."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""What a text itself says about words: log odds ratios from counts, and what vectors make of them."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""A corpus sub-sampled so that stereotypical lines become rarer, or rule."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

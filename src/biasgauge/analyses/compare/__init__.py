"""Do corpora, periods or recipes differ? The difference of a contrast between groups of models, and its trend."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""From a study file to a plan of cells."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

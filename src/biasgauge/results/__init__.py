"""What every analysis hands back: results as data, and how they are summed up."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

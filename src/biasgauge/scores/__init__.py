"""From vectors and word lists to one labeled score tensor."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

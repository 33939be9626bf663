"""One file a method, each with its `METHOD`, which the registry finds."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""One file per format, with a `FORMAT` that the registry finds. A reader takes a `Request` and gives a `Table`."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

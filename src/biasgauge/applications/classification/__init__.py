"""Text classification as a downstream task: data sets, the classifier of Kim 2014, and its evaluation by group."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

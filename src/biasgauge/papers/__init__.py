"""One recipe per paper: its published numbers beside what its own rule and a corrected one give."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

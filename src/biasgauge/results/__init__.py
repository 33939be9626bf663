"""Results of every analysis as data, their summaries, and renderers for terminal, page, notebook and paper."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

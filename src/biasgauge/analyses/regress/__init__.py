"""Embedding regression: does the use of a word differ between groups of documents, in one corpus, without training?"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

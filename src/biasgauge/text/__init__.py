"""Text to numbers: readers, tokenizers, vocabularies, bootstrap samples, and a corpus with planted bias."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Word vectors: one `Embedding` from any file we read, which words it has, how good it is, how replicates compare."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

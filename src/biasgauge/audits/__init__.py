"""The main job: everything biasgauge can say about some vectors, as one result."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

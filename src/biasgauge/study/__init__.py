"""A study as data: one TOML file becomes cells, each computed once and kept, on this machine or on Dask.

Every name is imported when it is first used: a worker that runs cells needs no plan.
"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

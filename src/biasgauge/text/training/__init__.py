"""From corpus to models: every setting explicit, recorded, and the same bytes whenever it is run again."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

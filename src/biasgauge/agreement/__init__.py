"""Do measurements of bias agree with themselves: over replicates, over measures, over words and pairs?"""

from biasgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

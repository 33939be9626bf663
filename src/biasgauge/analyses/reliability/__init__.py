"""Do measurements of bias agree with themselves: over replicates, over measures, over words and pairs?"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""StereoSet, the Context Association Test (Nadeem et al. 2021): does a model prefer stereotypes, or nonsense?"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Measures (word × pair to score) and association tests (sets of words), one file each. Arrays in, arrays out.

A measure is a module of this package that holds a `MEASURE`, or a tuple of them; an association test is one with a
`TEST`. The registry finds both (groups "measure" and "association_test").
"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

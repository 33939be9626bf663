"""One core of statistics: arrays in, numbers with their error out.

Every number of the package that has an interval is an `Estimate` made by a function of this room, and every function of
this room that makes one is held to its level by tests/stats/test_calibration.py.

One rule for ties: numbers that differ by rounding alone are equal (`rounding.SAME`). One rule for what cannot be
computed: `value` (or the interval alone) is None, and `reason` says why.
"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

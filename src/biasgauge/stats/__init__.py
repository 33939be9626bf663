"""Statistics: arrays in, `Estimate`s out; every statistic once.

Every interval of biasgauge is made by a function of this package, and tests/stats/test_calibration.py checks the
coverage of each. Numbers that differ by rounding alone are equal (`numerics.SAME`). A number that cannot be computed,
or its interval alone, is None with a `reason`.
"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

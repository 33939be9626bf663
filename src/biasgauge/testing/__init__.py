"""Checks of what measures, association tests and audit parts declare, for those who register their own.

    from biasgauge.testing import check_association_test, check_audit_part, check_measure

    check_measure(MEASURE)
    check_association_test(TEST)
    check_audit_part(PART)

Each draws random vectors, compares every declared property with the numbers that come out, and raises a `PropertyError`
for the first one that is false. A declared invariance must hold in every draw; a declared change must show in at least
one. All that ships passes (tests/metrics, tests/audits).
"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

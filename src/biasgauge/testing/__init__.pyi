from biasgauge.testing.association_tests import check_association_test as check_association_test
from biasgauge.testing.audit_parts import check_audit_part as check_audit_part
from biasgauge.testing.checks import PropertyError as PropertyError
from biasgauge.testing.measures import check_measure as check_measure

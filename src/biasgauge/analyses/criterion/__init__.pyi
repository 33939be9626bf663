from biasgauge.analyses.criterion.amplification_slope import Amplification as Amplification
from biasgauge.analyses.criterion.amplification_slope import AmplificationRow as AmplificationRow
from biasgauge.analyses.criterion.amplification_slope import amplification as amplification
from biasgauge.analyses.criterion.result import Criterion as Criterion
from biasgauge.analyses.criterion.result import CriterionRow as CriterionRow
from biasgauge.analyses.criterion.scores import numbers_of as numbers_of
from biasgauge.analyses.criterion.validity import criterion as criterion
from biasgauge.analyses.criterion.validity import truth_of as truth_of

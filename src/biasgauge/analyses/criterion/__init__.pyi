from biasgauge.analyses.criterion.amplification_slope import Amplification as Amplification
from biasgauge.analyses.criterion.amplification_slope import AmplificationRow as AmplificationRow
from biasgauge.analyses.criterion.amplification_slope import amplification as amplification
from biasgauge.analyses.criterion.validity import Criterion as Criterion
from biasgauge.analyses.criterion.validity import CriterionRow as CriterionRow
from biasgauge.analyses.criterion.validity import criterion as criterion
from biasgauge.analyses.criterion.validity import criterion_values as criterion_values

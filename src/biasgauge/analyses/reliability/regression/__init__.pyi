from biasgauge.analyses.reliability.regression.model import INTERCEPT as INTERCEPT
from biasgauge.analyses.reliability.regression.table import read_counts as read_counts
from biasgauge.analyses.reliability.regression.table import stored_counts as stored_counts

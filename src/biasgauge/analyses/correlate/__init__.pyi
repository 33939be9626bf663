from biasgauge.analyses.correlate.analysis import correlate as correlate
from biasgauge.analyses.correlate.points import Points as Points
from biasgauge.analyses.correlate.points import as_points as as_points
from biasgauge.analyses.correlate.points import read_points as read_points
from biasgauge.analyses.correlate.result import CorrelationGroup as CorrelationGroup
from biasgauge.analyses.correlate.result import CorrelationResult as CorrelationResult
from biasgauge.analyses.correlate.seeds import SeedReliability as SeedReliability
from biasgauge.analyses.correlate.seeds import seed_reliability as seed_reliability

from biasgauge.analyses.posterior.nulls.runs import weat_numbers as weat_numbers
from biasgauge.analyses.posterior.nulls.simulation import PAPER_EFFECT as PAPER_EFFECT
from biasgauge.analyses.posterior.nulls.simulation import PAPER_STATISTIC as PAPER_STATISTIC

from biasgauge.analyses.plan.planning import plan as plan
from biasgauge.analyses.plan.result import DoubtfulWord as DoubtfulWord
from biasgauge.analyses.plan.result import FurtherWord as FurtherWord
from biasgauge.analyses.plan.result import ListPower as ListPower
from biasgauge.analyses.plan.result import PowerPlan as PowerPlan

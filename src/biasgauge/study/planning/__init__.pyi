from biasgauge.study.planning.plan import Plan as Plan

from biasgauge.mitigation.balancing.plan import check_degree as check_degree

"""Bias in applications: gaps between groups, and whether intrinsic numbers track them."""

from biasgauge.applications.correlation.analysis import correlate
from biasgauge.applications.correlation.points import Points, read_points
from biasgauge.applications.correlation.result import CorrelationGroup, CorrelationResult
from biasgauge.applications.correlation.seeds import SeedReliability, seed_reliability
from biasgauge.applications.group_gaps.measured import gaps
from biasgauge.applications.group_gaps.paired import compare_gaps
from biasgauge.applications.group_gaps.result import Gap, GapChange, GapComparison, GapResult, GroupRate
from biasgauge.applications.point_tables.build import Variant, points, points_from_results
from biasgauge.applications.point_tables.result import Performance, Point, PointsResult
from biasgauge.applications.tasks.compare import compare_tasks
from biasgauge.applications.tasks.result import SeedRun, TaskGap, TaskItems, TaskMetric, TaskResult
from biasgauge.applications.tasks.run import extrinsic
from biasgauge.applications.tasks.task import Task
from biasgauge.stats.power import correlation_power, detectable_r, points_needed
from biasgauge.stats.strata import LevelEstimate, Levels

__all__ = [
    "CorrelationGroup",
    "CorrelationResult",
    "Gap",
    "GapChange",
    "GapComparison",
    "GapResult",
    "GroupRate",
    "LevelEstimate",
    "Levels",
    "Performance",
    "Point",
    "Points",
    "PointsResult",
    "SeedReliability",
    "SeedRun",
    "Task",
    "TaskGap",
    "TaskItems",
    "TaskMetric",
    "TaskResult",
    "Variant",
    "compare_gaps",
    "compare_tasks",
    "correlate",
    "correlation_power",
    "detectable_r",
    "extrinsic",
    "gaps",
    "points",
    "points_from_results",
    "points_needed",
    "read_points",
    "seed_reliability",
]

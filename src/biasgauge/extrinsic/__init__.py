"""Bias in applications: gaps between groups, and whether intrinsic numbers track them."""

from biasgauge.extrinsic.correlation import correlate
from biasgauge.extrinsic.correlation_levels import LevelEstimate, Levels
from biasgauge.extrinsic.correlation_points import Points, read_points
from biasgauge.extrinsic.correlation_result import CorrelationGroup, CorrelationResult
from biasgauge.extrinsic.correlation_seeds import SeedReliability, seed_reliability
from biasgauge.extrinsic.gaps import gaps
from biasgauge.extrinsic.gaps_paired import compare_gaps
from biasgauge.extrinsic.gaps_result import Gap, GapChange, GapComparison, GapResult, GroupRate
from biasgauge.extrinsic.points import Variant, points, points_from_results
from biasgauge.extrinsic.points_result import Performance, Point, PointsResult
from biasgauge.extrinsic.power import correlation_power, detectable_r, points_needed
from biasgauge.extrinsic.tasks_compare import compare_tasks
from biasgauge.extrinsic.tasks_registry import task_named, task_names
from biasgauge.extrinsic.tasks_result import SeedRun, TaskGap, TaskItems, TaskMetric, TaskResult
from biasgauge.extrinsic.tasks_run import extrinsic
from biasgauge.extrinsic.tasks_task import Task

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
    "task_named",
    "task_names",
]

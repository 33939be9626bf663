"""Bias in applications: gaps between groups, and whether intrinsic numbers track them."""

from biasgauge.extrinsic.correlation import correlate
from biasgauge.extrinsic.correlation_levels import LevelEstimate, Levels
from biasgauge.extrinsic.correlation_points import Points, read_points
from biasgauge.extrinsic.correlation_result import CorrelationGroup, CorrelationResult
from biasgauge.extrinsic.correlation_seeds import SeedReliability, seed_reliability
from biasgauge.extrinsic.gaps import gaps
from biasgauge.extrinsic.gaps_paired import compare_gaps
from biasgauge.extrinsic.gaps_result import Gap, GapChange, GapComparison, GapResult, GroupRate
from biasgauge.extrinsic.power import correlation_power, detectable_r, points_needed

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
    "Points",
    "SeedReliability",
    "compare_gaps",
    "correlate",
    "correlation_power",
    "detectable_r",
    "gaps",
    "points_needed",
    "read_points",
    "seed_reliability",
]

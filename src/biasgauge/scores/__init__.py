"""From vectors and word lists to one labelled score tensor."""

from biasgauge.association import Interval, Resampling
from biasgauge.scores.association import Association, Weat, association, weat
from biasgauge.scores.direction import DirectBias, direct_bias, indirect_bias
from biasgauge.scores.multiclass import mac, mac_change
from biasgauge.scores.overlap import NeighbourOverlap, neighbour_overlap
from biasgauge.scores.score import AS_PUBLISHED, score, score_to_store
from biasgauge.scores.store import ScoreStore
from biasgauge.scores.tensor import REASONS, ScoreTensor

__all__ = [
    "AS_PUBLISHED",
    "REASONS",
    "Association",
    "DirectBias",
    "Interval",
    "NeighbourOverlap",
    "Resampling",
    "ScoreStore",
    "ScoreTensor",
    "Weat",
    "association",
    "direct_bias",
    "indirect_bias",
    "mac",
    "mac_change",
    "neighbour_overlap",
    "score",
    "score_to_store",
    "weat",
]

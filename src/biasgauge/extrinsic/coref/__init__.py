"""Coreference on frozen vectors: reading, training, CoNLL scores, and gender bias (WinoBias, Winogender, GAP)."""

from biasgauge.extrinsic.coref.conll import read_conll
from biasgauge.extrinsic.coref.conll_write import write_conll
from biasgauge.extrinsic.coref.document import Document
from biasgauge.extrinsic.coref.gap import GapF1, GapScore, gap_f1
from biasgauge.extrinsic.coref.model import CorefModel
from biasgauge.extrinsic.coref.paired import PairedGap
from biasgauge.extrinsic.coref.scores import CorefScore, CorefScores, evaluate_coref, score_coref
from biasgauge.extrinsic.coref.settings import CorefSettings
from biasgauge.extrinsic.coref.training import train_coref
from biasgauge.extrinsic.coref.winobias import WinoBiasResult, winobias
from biasgauge.extrinsic.coref.winogender import WinogenderResult, winogender

__all__ = [
    "CorefModel",
    "CorefScore",
    "CorefScores",
    "CorefSettings",
    "Document",
    "GapF1",
    "GapScore",
    "PairedGap",
    "WinoBiasResult",
    "WinogenderResult",
    "evaluate_coref",
    "gap_f1",
    "read_conll",
    "score_coref",
    "train_coref",
    "winobias",
    "winogender",
    "write_conll",
]

"""Coreference on frozen vectors: reading, training, CoNLL scores, and gender bias (WinoBias, Winogender, GAP)."""

from biasgauge.applications.coref.conll import read_conll, write_conll
from biasgauge.applications.coref.document import Document
from biasgauge.applications.coref.gap import GapF1, GapScore, gap_f1
from biasgauge.applications.coref.model import CorefModel
from biasgauge.applications.coref.paired import PairedGap
from biasgauge.applications.coref.scores import CorefScore, CorefScores, evaluate_coref, score_coref
from biasgauge.applications.coref.settings import CorefSettings
from biasgauge.applications.coref.training import train_coref
from biasgauge.applications.coref.winobias_pairs import WinoBiasResult, winobias
from biasgauge.applications.coref.winogender_sentences import WinogenderResult, winogender

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

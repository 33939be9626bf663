"""One recipe per paper: its published numbers beside what its own rule and a corrected one give."""

from biasgauge.papers.coverage import PartCoverage
from biasgauge.papers.data import Data, Need
from biasgauge.papers.paper import Paper, Part
from biasgauge.papers.reproduction import list_papers, reproduce
from biasgauge.papers.result import Missing, PaperList, Reproduction
from biasgauge.papers.row import Recomputed, Row

__all__ = [
    "Data",
    "Missing",
    "Need",
    "Paper",
    "PaperList",
    "Part",
    "PartCoverage",
    "Recomputed",
    "Reproduction",
    "Row",
    "list_papers",
    "reproduce",
]

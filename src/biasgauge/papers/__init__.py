"""One recipe per paper: its published numbers beside what its own rule and a corrected one give."""

from biasgauge.papers.data import Data, Need
from biasgauge.papers.paper import Paper, Part
from biasgauge.papers.registry import paper_named, paper_names
from biasgauge.papers.reproduce import reproduce
from biasgauge.papers.result import Missing, Reproduction
from biasgauge.papers.row import Found, Row

__all__ = [
    "Data",
    "Found",
    "Missing",
    "Need",
    "Paper",
    "Part",
    "Reproduction",
    "Row",
    "paper_named",
    "paper_names",
    "reproduce",
]

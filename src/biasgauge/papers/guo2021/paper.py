"""Guo & Caliskan 2021: associations of words in random contexts (CEAT)."""

from biasgauge.papers.paper import read_paper

PAPER = read_paper("biasgauge.papers.guo2021")

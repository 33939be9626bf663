"""Nangia et al. 2020: CrowS-Pairs."""

from biasgauge.papers.paper import read_paper

PAPER = read_paper("biasgauge.papers.nangia2020")

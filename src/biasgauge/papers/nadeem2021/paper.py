"""Nadeem, Bethke & Reddy 2021: StereoSet."""

from biasgauge.papers.paper import read_paper

PAPER = read_paper("biasgauge.papers.nadeem2021")

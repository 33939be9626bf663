"""Badder Seeds 2022: are lists of seed words fit to measure bias? A reproduction of Antoniak & Mimno 2021."""

from biasgauge.papers.paper import read_paper

PAPER = read_paper("biasgauge.papers.badderseeds2022")

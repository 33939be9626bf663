"""May et al. 2019: associations in sentence encoders (SEAT)."""

from biasgauge.papers.paper import read_paper

PAPER = read_paper("biasgauge.papers.may2019")

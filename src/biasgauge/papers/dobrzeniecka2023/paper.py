"""Dobrzeniecka & Urbaniak 2023: single numbers hide uncertainty; a Bayesian model of distances instead."""

from biasgauge.papers.paper import read_paper

PAPER = read_paper("biasgauge.papers.dobrzeniecka2023")

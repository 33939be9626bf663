"""Du, Fang & Nguyen 2021: how reliable are measures of gender bias?"""

from biasgauge.papers.paper import read_paper

PAPER = read_paper("biasgauge.papers.du2021")

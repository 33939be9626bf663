"""Zhang, Sneyd & Stevenson 2020: do measurements of gender bias survive another base pair, word form, measure?"""

from biasgauge.papers.paper import read_paper

PAPER = read_paper("biasgauge.papers.zhang2020")

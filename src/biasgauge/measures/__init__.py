"""Scoring rules: word × pair to score. One file per measure; arrays in, arrays out.

A measure is a module of this room that holds a `MEASURE`; adding one means adding a file.
"""

from biasgauge.measures.measure import Linear, Measure, Neighbourhood
from biasgauge.measures.registry import measure, measure_names

__all__ = ["Linear", "Measure", "Neighbourhood", "measure", "measure_names"]

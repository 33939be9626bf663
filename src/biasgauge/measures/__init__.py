"""Scoring rules: word × pair to score. One file per measure and its variants; arrays in, arrays out.

A measure is a module of this room that holds a `MEASURE`, or a tuple of them; the registry finds it (group "measure").
"""

from biasgauge.measures.kinds import Linear, Measure, Neighborhood

__all__ = ["Linear", "Measure", "Neighborhood"]

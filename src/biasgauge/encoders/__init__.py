"""Vectors that are computed, not read: an encoder makes them of whatever it is given."""

from biasgauge.encoders.encoder import Encoder

__all__ = ["Encoder"]

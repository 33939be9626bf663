"""Word lists as data: every list that the papers use, one TOML file each, and the same for the user's own."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

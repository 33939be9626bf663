"""The page of an audit, section by section: what each says, draws and lists; and what makes it one file."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

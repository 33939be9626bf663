"""Reading and writing that cannot half-succeed: whole files, bounded memory, known bytes."""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

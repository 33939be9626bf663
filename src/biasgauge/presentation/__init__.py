"""Results to something a person reads: terminal, page, notebook, figures, text for other programs."""

from biasgauge.presentation.saving import save_figures

__all__ = ["save_figures"]

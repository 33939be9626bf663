"""Measure social bias in word embeddings, and how far each measurement can be trusted.

    import biasgauge as bg

    vectors = bg.load("vectors.bin")
    bg.audit(vectors).save("report.html")

The functions most users need are here. Everything else is in namespaces, which need no import of their own: `bg.stats`,
`bg.registry`, `bg.lexicons`, `bg.vectors`, `bg.text`, `bg.metrics`, `bg.scores`, `bg.analyses`, `bg.mitigation`,
`bg.applications`, `bg.audits`, `bg.study`, `bg.papers`, `bg.results`, `bg.testing`, `bg.errors`. A name is imported
when it is first used, so `import biasgauge` costs next to nothing.
"""

from biasgauge.core import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, hidden=("core",))

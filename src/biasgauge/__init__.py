"""Measure social bias in word embeddings, and how far each measurement can be trusted.

    import biasgauge as bg

    vectors = bg.load("vectors.bin")
    bg.audit(vectors).save("report.html")

The front door has what most users need. Everything else stands in namespaces, which need no import of their own:
`bg.stats`, `bg.registry`, `bg.lexicons`, `bg.embeddings`, `bg.encoders`, `bg.corpora`, `bg.training`, `bg.scores`,
`bg.agreement`, `bg.sensitivity`, `bg.seed_words`, `bg.uncertainty`, `bg.calibration`, `bg.mitigation`,
`bg.applications`, `bg.auditing`, `bg.study`, `bg.papers`, `bg.likelihood`. Every name is imported when it is first
used, so that `import biasgauge` costs nothing.
"""

from biasgauge.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__, listed=("registry", "stats"))

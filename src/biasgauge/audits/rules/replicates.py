"""Does training again give the same?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from biasgauge.audits.verdict_rule import Case, VerdictRule
from biasgauge.audits.verdicts import Evidence
from biasgauge.stats import contrast_parts


def judge(case: Case) -> Iterator[Evidence]:
    """Yield evidence that passes if every replicate gives the pooled direction; the interval covers other seeds."""
    measured = case.measured
    if measured.subject.viewed:
        reason = "unknown whether training again gives the same: all views are of one checkpoint"
        yield Evidence("replicates", None, 1.0, None, reason)
        return
    if not measured.subject.replicated:
        reason = "unknown whether training again gives the same: there are no replicates (biasgauge train --seeds 8)"
        yield Evidence("replicates", None, 1.0, None, reason)
        return
    contrasts = contrast_parts(measured.table[:, None], measured.rows, measured.columns, measured.query.weights).value
    agree = int((np.sign(contrasts) == case.side).sum())
    yield Evidence.directions(
        "replicates",
        agree,
        len(contrasts),
        1.0,
        "replicates",
        least=float(contrasts.min()),
        most=float(contrasts.max()),
    )


RULE = VerdictRule("replicates", "do all replicates give the same direction?", judge, 30)

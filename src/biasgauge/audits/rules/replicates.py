"""Does training again give the same?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from biasgauge.audits.verdict_rule import Case, VerdictRule
from biasgauge.audits.verdicts import Evidence
from biasgauge.stats import contrast_parts


def judge(case: Case) -> Iterator[Evidence]:
    """Whether every replicate gives the direction of all together; the interval already speaks of other seeds."""
    one = case.measured
    if one.subject.viewed:
        reason = "unknown whether training again gives the same: all views are of one checkpoint"
        yield Evidence("replicates", None, 1.0, None, reason)
        return
    if not one.subject.replicated:
        reason = "unknown whether training again gives the same: there are no replicates (biasgauge train --seeds 8)"
        yield Evidence("replicates", None, 1.0, None, reason)
        return
    each = contrast_parts(one.table[:, None], one.rows, one.columns, one.query.weights).value
    agree = int((np.sign(each) == case.side).sum())
    yield Evidence.directions(
        "replicates", agree, len(each), 1.0, "replicates", least=float(each.min()), most=float(each.max())
    )


RULE = VerdictRule("replicates", "do all replicates give the same direction?", judge, 30)

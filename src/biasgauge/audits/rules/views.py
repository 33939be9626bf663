"""Do layer, pooling, template and context leave the direction as it is?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from biasgauge.audits.verdict_rule import Case, VerdictRule
from biasgauge.audits.verdicts import Evidence
from biasgauge.stats import contrast_parts


def judge(case: Case) -> Iterator[Evidence]:
    """Whether enough views of a transformer give the direction of all together; of other models, nothing is said."""
    one = case.measured
    if not one.subject.viewed:
        return
    each = contrast_parts(one.table[:, None], one.rows, one.columns, one.query.weights).value
    against = [
        f"layer {model.facets['layer']} {model.facets['pooling']}"
        for model, value in zip(one.subject.models, each, strict=True)
        if np.sign(value) != case.side
    ]
    named = ", ".join(dict.fromkeys(against[:2]))
    but = f", others such as {named} do not" if against else ""
    yield Evidence.directions(
        "views", len(each) - len(against), len(each), case.rules.agreement, "views", but,
        least=float(each.min()), most=float(each.max()),
    )  # fmt: skip


RULE = VerdictRule("views", "do layer, pooling, template and context leave the direction as it is?", judge, 25)

"""Do layer, pooling, template and context leave the direction as it is?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from biasgauge.audits.verdict_rule import Case, VerdictRule
from biasgauge.audits.verdicts import Evidence
from biasgauge.stats import contrast_parts


def judge(case: Case) -> Iterator[Evidence]:
    """Yield evidence that passes if enough views of a transformer give the pooled direction; none for other models."""
    measured = case.measured
    if not measured.subject.viewed:
        return
    contrasts = contrast_parts(measured.table[:, None], measured.rows, measured.columns, measured.query.weights).value
    against = [
        f"layer {model.facets['layer']} {model.facets['pooling']}"
        for model, value in zip(measured.subject.models, contrasts, strict=True)
        if np.sign(value) != case.side
    ]
    named = ", ".join(dict.fromkeys(against[:2]))
    but = f", others such as {named} do not" if against else ""
    yield Evidence.directions(
        "views", len(contrasts) - len(against), len(contrasts), case.rules.agreement, "views", but,
        least=float(contrasts.min()), most=float(contrasts.max()),
    )  # fmt: skip


RULE = VerdictRule("views", "do layer, pooling, template and context leave the direction as it is?", judge, 25)

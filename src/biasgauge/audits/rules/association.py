"""Is there an association at all, beyond these very words?"""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.audits.verdict_rule import Case, VerdictRule
from biasgauge.audits.verdicts import Evidence
from biasgauge.results import p_phrase, signed_text


def judge(case: Case) -> Iterator[Evidence]:
    """Yield evidence that passes if the largest p of the contrast, adjusted for all questions, is at most alpha."""
    test, alpha = case.measured.test, case.rules.alpha
    level = 1 - alpha / case.corrected.k
    low, high = test.interval(level)
    numbers = {
        "contrast": test.value,
        "low": low,
        "high": high,
        "level": level,
        "se": test.contrast.se,
        "df": test.contrast.df,
        "p_contrast": test.contrast.p,
        "p_targets": test.p_targets,
        "p_attributes": test.p_attributes,
        "p": case.measured.p,
        "k": case.corrected.k,
        "p_adjusted": case.corrected.p,
        "smallest": case.smallest,
    }
    interval = f"[{signed_text(low)}, {signed_text(high)}]" if low is not None else "without an interval"
    questions = case.corrected.questions
    adjusted = f"; {p_phrase(case.corrected.p)} among {questions} questions" if questions > 1 else ""
    reason = f"contrast {signed_text(test.value)} {interval} in cosine units, {p_phrase(case.measured.p)}{adjusted}"
    yield Evidence("association", numbers, alpha, case.corrected.p <= alpha, reason, "bias")


RULE = VerdictRule("association", "is there an association beyond these very words?", judge, 10)

"""Is the lean of one list of words counted from what any words of like frequency give?"""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.audits.matched_words import FEWEST
from biasgauge.audits.verdict_rule import Case, VerdictRule
from biasgauge.audits.verdicts import Evidence
from biasgauge.results import signed_text


def judge(case: Case) -> Iterator[Evidence]:
    """Yield evidence that passes with enough random words; with fewer, the contrast has the lean of all words.

    Other kinds of question set two lists against each other and need no such comparison.
    """
    measured = case.measured
    if measured.query.kind != "lean":
        return
    leans = measured.random_leans
    if not leans.size:
        reason = f"unknown whether any words lean as much: the vocabulary has fewer than {FEWEST} of like frequency"
        yield Evidence("random words", None, FEWEST, None, reason, "chance")
        return
    mean = float(leans.mean())
    reason = f"counted from {len(leans)} random words of like frequency, which lean by {signed_text(mean)}"
    yield Evidence(
        "random words", {"mean": mean, "words": len(leans)}, FEWEST, passes=True, reason=reason, link="chance"
    )


RULE = VerdictRule("random-words", "is a lean counted from what any words of like frequency give?", judge, 15)

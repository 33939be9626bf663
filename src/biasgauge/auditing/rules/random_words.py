"""Do these words lean more than any words of like frequency do?"""

from __future__ import annotations

from collections.abc import Iterator

from biasgauge.auditing.meaningless import random_leans
from biasgauge.auditing.verdict_rule import Case, VerdictRule
from biasgauge.auditing.verdicts import Evidence
from biasgauge.stats.permutation import permutation_p
from biasgauge.wording import p_phrase, p_text, signed_text

FEWEST = 20
"""Random words with which a list can be compared."""
SPLITS = 9_999


def judge(case: Case) -> Iterator[Evidence]:
    """Whether one list of words leans farther along the base pairs than random words of about its frequency.

    Words of a vocabulary lean a little on average, to men where a corpus writes more of men: any list would be found to
    lean. p is a permutation over the list and the random words, held to alpha shared by all questions of the audit.
    Other kinds of question set two lists against each other and need no such comparison.
    """
    one = case.measured
    if one.question.kind != "lean":
        return
    leans = random_leans(one, case.random_state)
    level = case.rules.alpha / case.corrected.questions
    if len(leans) < FEWEST:
        reason = f"unknown whether random words lean as much: the vocabulary has {len(leans)} others of like frequency"
        yield Evidence("random words", None, level, None, reason, "chance")
        return
    own = one.table.mean(axis=(0, 2))
    p = permutation_p(own, leans, alternative="two-sided", samples=SPLITS, random_state=case.random_state).p_value
    mean = float(leans.mean())
    passes = bool((own.mean() - mean) * case.side > 0 and p <= level)
    numbers = {"mean": mean, "words": len(leans), "p": p}
    held = "" if passes else f"; at most {p_text(level)} required"
    less = "clearly less" if passes else "not clearly less"
    reason = f"{len(leans)} random words of like frequency lean by {signed_text(mean)}, {less} ({p_phrase(p)}{held})"
    yield Evidence("random words", numbers, level, passes, reason, "chance")


RULE = VerdictRule("random-words", "does one list of words lean more than any words of like frequency?", judge, 15)

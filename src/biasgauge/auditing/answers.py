"""From what the audit measured to the verdict on each question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from biasgauge import registry
from biasgauge.auditing.shared_scores import SharedScores
from biasgauge.auditing.uncertainty import LexiconPosterior
from biasgauge.auditing.verdict_rule import Case, VerdictRule
from biasgauge.auditing.verdicts import Decision, Evidence, Rules, Verdict, decide, same_direction
from biasgauge.embeddings import Embedding
from biasgauge.lexicons import AssociationTest, Lexicon, WordSet
from biasgauge.scores import Association, Weat
from biasgauge.stats.multiple import holm

DECISIONS: dict[str, Decision] = {
    "different": "report-with-care",
    "equivalent": "no-association-shown",
    "undecided": "inconclusive",
}
"""What the interval of a contrast says of the region of practical equivalence, as a decision."""
POSTERIOR = "posterior"
_PLURALS = ("s", "people", "women", "men")


def answer_tests(
    models: Sequence[Embedding],
    lexicons: Sequence[Lexicon],
    bias: Sequence[Association],
    replicated: Sequence[Association],
    *,
    rules: Rules,
    scores: SharedScores,
    min_coverage: float,
    random_state: int,
) -> tuple[Verdict, ...]:
    """One verdict for each association test and model.

    Args:
        models: the vectors asked.
        lexicons: what was asked.
        bias: the outcome of each test on each model.
        replicated: the same tests on replicates; empty when there are none.
        rules: thresholds.
        scores: scores of words on base pairs.
        min_coverage: share of each set's words that had to be found.
        random_state: seed.
    """
    tests = {one.name: one for one in lexicons if isinstance(one, AssociationTest)}
    by_name = {model.name: model for model in models}
    again: dict[str, list[Weat]] = {}
    for other in replicated:
        if isinstance(other, Weat):
            again.setdefault(other.name, []).append(other)
    results = [result for result in bias if isinstance(result, Weat) and result.name in tests]
    corrected = corrected_p(results)
    verdicts = []
    for result in results:
        test = tests[result.name]
        if result.value is None:
            verdicts.append(_undefined(test, result, min_coverage))
            continue
        case = Case(
            by_name[result.model],
            test,
            result,
            corrected[result.model, result.name],
            again.get(result.name, []),
            rules,
            scores,
            random_state,
        )
        verdicts.append(_verdict(test, result, tuple(_evidence(case))))
    return tuple(verdicts)


def corrected_p(results: Sequence[Weat]) -> Mapping[tuple[str, str], float]:
    """Holm's p of each test and model, over all of them together."""
    known = [(result.model, result.name, result.p_value) for result in results if result.p_value is not None]
    adjusted = holm([p for _, _, p in known])
    return {(model, name): p for (model, name, _), p in zip(known, adjusted, strict=True) if p is not None}


def _evidence(case: Case) -> Iterator[Evidence]:
    """What every registered rule says of a case; one of a stranger that fails is unknown, and says why."""
    known: dict[str, VerdictRule] = registry.everything("verdict_rule")
    added = registry.added("verdict_rule")
    for rule in sorted(known.values(), key=lambda rule: (rule.name in added, rule.order, rule.name)):
        try:
            yield from list(rule.judge(case))
        except Exception as problem:
            if rule.name not in added:
                raise
            why = f"unknown: the rule {rule.name} failed with {type(problem).__name__}: {problem}"
            yield Evidence(rule.name, None, None, passes=None, reason=why)


def answer_stereotypes(posteriors: Sequence[LexiconPosterior]) -> tuple[Verdict, ...]:
    """One verdict for each lexicon of stereotypes and model, from the posterior contrast of its own and other words."""
    return tuple(_stereotype(posterior) for posterior in posteriors)


def _undefined(test: AssociationTest, result: Weat, min_coverage: float) -> Verdict:
    why = result.reason or "the test is undefined"
    share = min((one.share for one in result.coverage.sets.values()), default=None)
    evidence = Evidence("coverage", share, min_coverage, passes=False, reason=why, link="lexicons")
    return Verdict(test.name, test.title, result.model, result.test, "not-measurable", "", why, (evidence,))


def _verdict(test: AssociationTest, result: Weat, evidence: tuple[Evidence, ...]) -> Verdict:
    found, *stable = evidence
    decision = decide(found=found.passes, stable=[piece.passes for piece in stable])
    towards = test.a if (result.value or 0.0) > 0 else test.b
    claim = f"{_members(test.x)} are more associated with {towards.name} than {_members(test.y)} are"
    if decision == "no-association-shown":
        claim, why = "", found.reason
    elif decision == "do-not-report":
        failed = [piece.reason for piece in stable if piece.passes is False]
        why = "; ".join([*failed, f"{claim} ({found.reason})"])
    else:
        agreeing = [piece for piece in stable if piece.passes and piece.counts is not None]
        rest = [piece.reason for piece in stable if piece not in agreeing]
        why = "; ".join(filter(None, [f"{claim} ({found.reason})", same_direction(agreeing), *rest]))
    return Verdict(test.name, test.title, result.model, result.test, decision, claim, why, evidence)


def _members(words: WordSet) -> str:
    """What the words of a set are called: "flowers", "mental-disease words"."""
    name = words.name
    return name if name.endswith(_PLURALS) else f"{name.replace(' ', '-')} words"


def _stereotype(one: LexiconPosterior) -> Verdict:
    contrast = next((found for found in one.contrasts if found.b == "different"), None)
    if one.posterior is None or contrast is None or contrast.decision is None:
        why = one.reason or "too few of its words were found"
        return Verdict(one.lexicon, one.title, one.model, POSTERIOR, "not-measurable", "", why)
    why = one.difference(contrast)
    passes = {"different": True, "equivalent": False, "undecided": None}[contrast.decision]
    numbers = {name: getattr(contrast, name) for name in ("mean", "low", "high", "p_direction")}
    diagnostics = one.posterior.diagnostics
    evidence = (
        Evidence("posterior", numbers, contrast.rope, passes, why, "uncertainty"),
        Evidence(
            "diagnostics",
            float(len(diagnostics.problems)),
            0.0,
            diagnostics.ok,
            one.posterior.caution or "the draws can be trusted: all diagnostics pass",
            "uncertainty",
        ),
    )
    decision = DECISIONS[contrast.decision] if diagnostics.ok else "do-not-report"
    claim = one.claim(contrast) if contrast.decision == "different" else ""
    return Verdict(one.lexicon, one.title, one.model, POSTERIOR, decision, claim, why, evidence)

"""From what the audit measured to the verdict on each question."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from biasgauge.audit.base_pairs import direction_agreement
from biasgauge.audit.questions import Evidence, Question, Rules, chance, decide
from biasgauge.extrinsic.draws import holm
from biasgauge.lexicons import AssociationTest
from biasgauge.reliability import icc
from biasgauge.scores import Weat

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from biasgauge.audit.uncertainty import AuditPosterior
    from biasgauge.embeddings import Embedding
    from biasgauge.lexicons import Lexicon
    from biasgauge.reliability import Icc
    from biasgauge.scores import Association

FEWEST = 2
AGREES = "direction agrees over "


def answer_tests(
    models: Sequence[Embedding],
    lexicons: Sequence[Lexicon],
    bias: Sequence[Association],
    replicated: Sequence[Association],
    *,
    rules: Rules,
    case_fallback: bool,
    random_state: int,
) -> tuple[Question, ...]:
    """One verdict for each association test and model.

    Args:
        models: the vectors asked.
        lexicons: what was asked.
        bias: the outcome of each test on each model.
        replicated: the same tests on replicates; empty when there are none.
        rules: thresholds.
        case_fallback: as in the tests.
        random_state: seed.
    """
    tests = {one.name: one for one in lexicons if isinstance(one, AssociationTest)}
    by_name = {model.name: model for model in models}
    over: dict[str, list[Weat]] = {}
    for one in replicated:
        if isinstance(one, Weat):
            over.setdefault(one.name, []).append(one)
    found = [one for one in bias if isinstance(one, Weat) and one.name in tests]
    corrected = _corrected(found)
    answers = []
    for one in found:
        test, model = tests[one.name], by_name[one.model]
        if one.value is None:
            answers.append(_undefined(test, one))
            continue
        p = corrected[one.model, one.name]
        evidence = (
            _effect(one, p, rules),
            *_choices(model, test, one, rules, case_fallback=case_fallback, random_state=random_state),
            *_replicates(one, over.get(one.name, []), rules),
        )
        answers.append(_answer(test, one, evidence))
    return tuple(answers)


def answer_stereotypes(posteriors: Sequence[AuditPosterior]) -> tuple[Question, ...]:
    """One verdict for each lexicon of stereotypes and model, from the posterior contrast of its own and other words."""
    return tuple(_stereotype(one) for one in posteriors)


def _corrected(found: Sequence[Weat]) -> Mapping[tuple[str, str], float]:
    """Holm's p of each test, over the tests of its model."""
    values: dict[str, list[tuple[str, float]]] = {}
    for one in found:
        if one.p_value is not None:
            values.setdefault(one.model, []).append((one.name, one.p_value))
    return {
        (model, name): p
        for model, tests in values.items()
        for (name, _), p in zip(tests, holm([p for _, p in tests]), strict=True)
        if p is not None
    }


def _undefined(test: AssociationTest, one: Weat) -> Question:
    why = one.reason or "it is undefined"
    evidence = Evidence(
        "coverage", one.reason or "", "enough of each set's words are found", passed=False, link="lexicons"
    )
    return Question(test.name, test.title, one.model, "undefined", why, (evidence,))


def _effect(one: Weat, p: float, rules: Rules) -> Evidence:
    ends = one.interval
    spread = "" if ends is None or ends.low is None else f" [{ends.low:.2f}, {ends.high:.2f}]"
    value = f"effect {one.value:.2f}{spread}, {one.p_method} p {_p(one.p_value)}, corrected for all tests {_p(p)}"
    return Evidence("effect", value, f"corrected p at most {rules.alpha:g}", passed=p <= rules.alpha, link="bias")


def _p(p: float | None) -> str:
    return "unknown" if p is None else chance(p)


def _of(part: int, whole: int) -> str:
    return f"all {whole}" if part == whole else f"{part} of {whole}"


def _choices(
    model: Embedding, test: AssociationTest, one: Weat, rules: Rules, *, case_fallback: bool, random_state: int
) -> Iterator[Evidence]:
    """Whether the direction depends on attribute words or on the measure."""
    found = direction_agreement(model, test, one, case_fallback=case_fallback, random_state=random_state)
    rule = f"at least {100 * rules.agreement:g} % give the direction of the whole test"
    if found.share is None:
        yield Evidence(found.unit, f"not known: {found.reason}", rule, passed=None, link="bias")
        return
    value = f"{AGREES}{_of(found.agree, found.count)} {found.unit}"
    if found.against:
        shown = ", ".join("–".join(pair) for pair in found.against[:3])
        value += f" (not {shown}{', …' if len(found.against) > 3 else ''})"  # noqa: PLR2004 - three are named
    yield Evidence(found.unit, value, rule, passed=found.share >= rules.agreement, link="bias")
    against = [name for name, good in found.measures if not good]
    value = (
        f"the direction turns under {', '.join(against)}" if against else f"{AGREES}all {len(found.measures)} measures"
    )
    yield Evidence("measures", value, "every measure gives the same direction", passed=not against, link="bias")


def _replicates(one: Weat, found: Sequence[Weat], rules: Rules) -> Iterator[Evidence]:
    """Whether training again gives the same direction, and the same words at the ends."""
    same = [other for other in found if other.value is not None]
    if len(same) < FEWEST:
        why = next((other.reason for other in found if other.reason), None)
        value = f"not known whether replicates agree: {why or 'there are none; train some (biasgauge train --seeds 8)'}"
        yield Evidence("replicates", value, "all replicates give the same direction", passed=None, link="")
        return
    side = np.sign(one.value or 0.0)
    agree = sum(bool(np.sign(other.value) == side) for other in same if other.value is not None)
    value = f"{AGREES}{_of(agree, len(same))} replicates"
    yield Evidence("replicates", value, "all replicates agree", passed=agree == len(same), link="replicates")
    words = list(same[0].associations)
    shared = [word for word in words if all(word in other.associations for other in same)]
    table = np.array([[other.associations[word] for other in same] for word in shared])
    held = cast("Icc", icc(table, "2,1"))  # of one matrix
    rule = f"ICC(2,1) of the words' associations over replicates at least {rules.reliability:g}"
    if held.value is None or not np.isfinite(held.value):
        yield Evidence("reliability", "not known: too few words", rule, passed=None, link="replicates")
        return
    value = f"reliability {held.value:.2f} [{held.low:.2f}, {held.high:.2f}]"
    yield Evidence("reliability", value, rule, passed=held.value >= rules.reliability, link="replicates")


def _answer(test: AssociationTest, one: Weat, evidence: tuple[Evidence, ...]) -> Question:
    effect, *stable = evidence
    decision = decide(found=effect.passed, stable=[item.passed for item in stable])
    if decision == "nothing found":
        why = effect.value
    elif decision == "do not report":
        why = f"{'; '.join(item.value for item in stable if item.passed is False)}; {effect.value}"
    else:
        towards = test.a if (one.value or 0.0) > 0 else test.b
        agree = [item.value.removeprefix(AGREES) for item in stable if item.value.startswith(AGREES)]
        rest = [item.value for item in stable if not item.value.startswith(AGREES)]
        held = "; ".join([f"{AGREES}{', '.join(agree)}", *rest] if agree else rest)
        why = f"{test.x.name} lean to {towards.name}, {effect.value}; {held}"
    return Question(test.name, test.title, one.model, decision, why, evidence)


def _stereotype(one: AuditPosterior) -> Question:
    contrast = next((found for found in one.contrasts if found.b == "different"), None)
    if one.posterior is None or contrast is None or contrast.decision is None:
        return Question(one.lexicon, one.title, one.model, "undefined", one.reason or "too few of its words were found")
    rule = "the interval lies outside the region of differences too small to matter (Kruschke 2018)"
    why = f"own words of a stereotype and those of others {one.difference(contrast)}"
    passed = {"different": True, "equivalent": False, "undecided": None}[contrast.decision]
    evidence = [Evidence("posterior", why, rule, passed=passed, link="uncertainty")]
    trusted = one.posterior.diagnostics.ok
    evidence.append(
        Evidence(
            "diagnostics", one.posterior.caution or "the draws can be trusted", "they pass", trusted, "uncertainty"
        )
    )
    if not trusted:
        decision = "do not report"
    else:
        decision = {"different": "care", "equivalent": "nothing found", "undecided": "undecided"}[contrast.decision]
    return Question(one.lexicon, one.title, one.model, decision, why, tuple(evidence))  # type: ignore[arg-type]

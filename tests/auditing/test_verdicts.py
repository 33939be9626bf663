"""Verdicts: each rule by a table, each piece of evidence on vectors made so that the answer is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.auditing.answers import answer_stereotypes, answer_tests
from biasgauge.auditing.base_pairs import direction_agreement
from biasgauge.auditing.bias import measure_bias
from biasgauge.auditing.shared_scores import SharedScores
from biasgauge.auditing.verdicts import Rules, decide
from biasgauge.lexicons import AssociationTest, lexicon, parse_lexicon

if TYPE_CHECKING:
    from biasgauge.auditing.verdicts import Verdict

X, Y = [f"x{n}" for n in range(8)], [f"y{n}" for n in range(8)]
A, B = [f"a{n}" for n in range(10)], [f"b{n}" for n in range(10)]
DIM = 120


def own_test(a: list[str] = A, b: list[str] = B, name: str = "own") -> AssociationTest:
    sets = {"x": X, "y": Y, "a": a, "b": b}
    content = {role: {"name": f"set {role}", "words": words} for role, words in sets.items()}
    made = parse_lexicon({"name": name, "kind": "test", "language": "en", **content}, path="own.toml")
    assert isinstance(made, AssociationTest)
    return made


def model(pull: float, a: list[str] = A, b: list[str] = B, *, seed: int = 0, name: str = "made") -> bg.Embedding:
    """X and A share a direction, Y and B another; the more so, the larger the pull."""
    random = np.random.default_rng(seed)
    words = [*X, *Y, *a, *b, *(f"filler{n}" for n in range(150))]
    rows = random.standard_normal((len(words), DIM)) / DIM**0.5
    for place, word in enumerate(words):
        rows[place, 0] += pull * (word in X or word in a) - pull * (word in Y or word in b)
    return bg.Embedding(tuple(words), rows, name=name)


def asked(vectors: bg.Embedding, replicates: list[bg.Embedding], rules: Rules = Rules()) -> Verdict:  # noqa: B008
    test = own_test()
    settings = {"min_coverage": 0.8, "case_fallback": False, "random_state": 0}
    bias = list(measure_bias(vectors, test, **settings))  # type: ignore[arg-type]
    over = [found for one in replicates for found in measure_bias(one, test, **settings)]  # type: ignore[arg-type]
    scores = SharedScores((vectors,), (test,))
    (answer,) = answer_tests(
        [vectors], [test], bias, over, rules=rules, scores=scores, min_coverage=0.8, random_state=0
    )
    return answer


@pytest.mark.parametrize(
    ("found", "stable", "decision"),
    [
        (None, [True], "not-measurable"),
        (False, [True, True], "no-association-shown"),
        (False, [False], "no-association-shown"),
        (True, [True, True], "report"),
        (True, [np.True_, np.False_], "do-not-report"),
        (True, [True, None], "report-with-care"),
        (True, [False, None], "do-not-report"),
        (True, [], "report-with-care"),
    ],
)
def test_the_decision_from_the_evidence(found: bool | None, stable: list[bool | None], decision: str) -> None:  # noqa: FBT001
    assert decide(found=found, stable=stable) == decision


def test_a_strong_and_stable_association_can_be_relied_on() -> None:
    found = asked(model(0.8), [model(0.8, seed=seed, name=f"run {seed}") for seed in range(1, 5)])
    assert found.decision == "report", found.sentence
    assert [one.rule for one in found.evidence] == [
        "effect",
        "halves of the attributes",
        "measures",
        "replicates",
        "reliability",
    ]
    assert found.claim == "set-x words are more associated with set a than set-y words are"
    same = "all 500 halves of the attributes, all 3 measures and all 4 replicates give the same direction"
    assert same in found.sentence
    assert found.sentence == f"own: {found.why}; the finding may be reported for these vectors."
    assert found.why.startswith(found.claim)


def test_without_replicates_it_is_reported_with_care() -> None:
    found = asked(model(0.8), [])
    assert found.decision == "report-with-care"
    assert "unknown whether replicates agree: there are none" in found.sentence


def test_noise_is_no_association() -> None:
    assert asked(model(0.0), []).decision == "no-association-shown"


def test_a_replicate_on_the_other_side_forbids_the_report() -> None:
    mirrored = model(-0.8, seed=2, name="two")  # pulling both sides the other way leaves the association as it was
    assert asked(model(0.8), [model(0.8, seed=1, name="one"), mirrored]).decision == "report"
    swapped = model(0.8, B, A, seed=2, name="two")  # X goes with B
    found = asked(model(0.8), [model(0.8, seed=1, name="one"), swapped])
    assert found.decision == "do-not-report"
    assert "only 1 of 2 replicates (50 %; all required) give the same direction" in found.sentence


def test_thresholds_can_be_changed() -> None:
    vectors, replicates = model(0.8), [model(0.8, seed=seed, name=f"run {seed}") for seed in range(1, 5)]
    reliability = next(one for one in asked(vectors, replicates).evidence if one.rule == "reliability")
    assert reliability.passes
    assert reliability.threshold == 0.5
    assert reliability.observed["value"] > 0.5  # type: ignore[index,operator]
    assert asked(vectors, replicates, Rules(reliability=1.0)).decision == "do-not-report"
    with pytest.raises(bg.ParameterError, match=r"The rule 'alpha' must be above 0 and at most 1. Got 0"):
        Rules(alpha=0)


def test_too_few_words_cannot_be_measured() -> None:
    vectors = model(0.8)
    few = bg.Embedding(vectors.words[6:], vectors.vectors[6:], name="few")
    found = asked(few, [])
    assert found.decision == "not-measurable"
    assert "x 2 of 8" in found.sentence


def test_gender_attributes_are_exchanged_for_base_pairs() -> None:
    """Three pairs whose ends are swapped in the vectors point the other way, and are named."""
    gender = lexicon("du2021")
    pairs = gender.pairs  # type: ignore[attr-defined]  # a list of pairs
    firsts, seconds = (list(dict.fromkeys(pair[end] for pair in pairs)) for end in (0, 1))
    test = own_test(firsts[:8], seconds[:8], "gender")
    turned = [pair for pair in pairs if sum(pair[0] in other for other in pairs) == 1][-3:]
    swap = {pair[0]: pair[1] for pair in turned} | {pair[1]: pair[0] for pair in turned}
    ends = [[swap.get(word, word) for word in side] for side in (firsts, seconds)]
    vectors = model(0.9, ends[0], ends[1])
    (whole,) = measure_bias(vectors, test, min_coverage=0.8, case_fallback=False, random_state=0)
    found = direction_agreement(vectors, test, whole, scores=SharedScores((vectors,), (test,)), random_state=0)
    assert (found.unit, found.count) == ("base pairs", len(pairs))
    assert set(turned) <= set(found.against)
    assert found.agree == len(pairs) - len(found.against)
    assert dict(found.measures) == {"dbwa": True, "ripa": True, "nbm": True}


def test_halves_of_the_attributes_against_a_loop() -> None:
    vectors, test = model(0.12, seed=4), own_test()
    (whole,) = measure_bias(vectors, test, min_coverage=0.8, case_fallback=False, random_state=0)
    found = direction_agreement(vectors, test, whole, scores=SharedScores((vectors,), (test,)), random_state=3)
    unit = {word: vector / np.linalg.norm(vector) for word, vector in zip(vectors.words, vectors.vectors, strict=True)}
    random, agree, rounds = np.random.default_rng(9), 0, 3_000
    for _ in range(rounds):
        half_a, half_b = random.choice(A, 5, replace=False), random.choice(B, 5, replace=False)

        def leaning(word: str, a: object = half_a, b: object = half_b) -> float:
            near, far = ([float(unit[word] @ unit[one]) for one in side] for side in (a, b))  # type: ignore[attr-defined]
            return float(np.mean(near) - np.mean(far))

        difference = np.mean([leaning(word) for word in X]) - np.mean([leaning(word) for word in Y])
        agree += bool(np.sign(difference) == np.sign(whole.value or 0.0))
    share = agree / rounds
    assert 0.5 < share < 0.999  # the case is one in which halves matter
    assert found.agree / found.count == pytest.approx(share, abs=4 * (share * (1 - share) / 500) ** 0.5)


def test_stereotypes_follow_their_posterior() -> None:
    result = bg.audit(lexicons=["religion"])
    (answer,) = answer_stereotypes(result.uncertainty)
    contrast = result.uncertainty[0].contrasts[0]
    expected = {"different": "report-with-care", "equivalent": "no-association-shown", "undecided": "inconclusive"}
    assert contrast.decision is not None
    assert answer.decision == expected[contrast.decision]
    failed = replace(
        result.uncertainty[0],
        posterior=replace(
            result.uncertainty[0].posterior,  # type: ignore[type-var]
            diagnostics=replace(result.uncertainty[0].posterior.diagnostics, problems=("R-hat is 2",)),  # type: ignore[union-attr]
        ),
    )
    assert answer_stereotypes([failed])[0].decision == "do-not-report"

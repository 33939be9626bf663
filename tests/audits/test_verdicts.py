"""Verdicts: each rule passing, failing and unknown, on vectors made so that the answer is known; one by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import stats

import biasgauge as bg
from biasgauge import registry
from biasgauge.audits.rules import gender_roles
from biasgauge.audits.verdicts import Rules
from biasgauge.core import decide
from biasgauge.lexicons import AssociationTest, lexicon, lexicon_toml, parse_lexicon

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.audits.verdicts import Evidence, Verdict
    from biasgauge.lexicons import Lexicon

pytestmark = pytest.mark.usefixtures("quick_audits")

X, Y = [f"x{n}" for n in range(8)], [f"y{n}" for n in range(8)]
A, B = [f"a{n}" for n in range(10)], [f"b{n}" for n in range(10)]
DIM = 120


def own_test(a: list[str] = A, b: list[str] = B, name: str = "own", **about: str) -> AssociationTest:
    sets = {"x": X, "y": Y, "a": a, "b": b}
    content = {role: {"name": f"set {role}", "words": words} for role, words in sets.items()}
    made = parse_lexicon({"name": name, "kind": "test", "language": "en", **about, **content}, path="own.toml")
    assert isinstance(made, AssociationTest)
    return made


def model(
    pull: float, a: list[str] = A, b: list[str] = B, *, seed: int = 0, name: str = "made", more: int = 800
) -> bg.Embedding:
    """X and A share a direction, Y and B another; the more so, the larger the pull."""
    random = np.random.default_rng(seed)
    words = [*X, *Y, *a, *b, *(f"filler{n}" for n in range(more))]
    rows = random.standard_normal((len(words), DIM)) / DIM**0.5
    for place, word in enumerate(words):
        rows[place, 0] += pull * (word in X or word in a) - pull * (word in Y or word in b)
    return bg.Embedding(tuple(words), rows, name=name)


def asked(vectors: bg.Embedding | list[bg.Embedding], *tests: Lexicon, **settings: Any) -> Verdict:  # noqa: ANN401 - of audit
    return bg.audit(vectors, lexicons=list(tests or (own_test(),)), **settings).verdicts[0]


def rule(verdict: Verdict, name: str) -> Evidence:
    return next(piece for piece in verdict.evidence if piece.rule == name)


@pytest.mark.parametrize(
    ("found", "stable", "small", "decision"),
    [
        (None, [True], None, "not-measurable"),
        (False, [True, True], None, "inconclusive"),
        (False, [], True, "no-association-shown"),
        (False, [], False, "inconclusive"),
        (True, [True, True], True, "no-association-shown"),  # not 0, and too small to matter
        (True, [True, True], None, "report"),
        (True, [np.True_, np.False_], None, "do-not-report"),
        (True, [True, None], None, "report-with-care"),
        (True, [False, None], None, "do-not-report"),
        (True, [], None, "report-with-care"),
    ],
)
def test_the_decision_from_the_evidence(
    found: bool | None,  # noqa: FBT001
    stable: list[bool | None],
    small: bool | None,  # noqa: FBT001
    decision: str,
) -> None:
    assert decide(found=found, stable=stable, small=small) == decision


def test_an_association_beyond_chance_is_found() -> None:
    found = asked([model(0.8, seed=seed, name=f"run {seed}") for seed in range(4)], replicates=True)
    assert rule(found, "association").passes
    assert found.claim == "set-x words are more associated with set a than set-y words are"
    assert found.why.startswith(found.claim)
    assert found.sentence.startswith("own: ")
    assert rule(found, "replicates").passes
    assert rule(found, "replicates").counts == (4, 4)
    assert rule(found, "other words").passes is None
    assert found.decision == "report-with-care"  # no other list of these attributes ships
    assert found.sentence == f"own: {found.why}; report it with care."


def test_without_replicates_it_is_reported_with_care() -> None:
    found = asked(model(0.8))
    assert found.decision == "report-with-care"
    assert rule(found, "replicates").passes is None
    assert "unknown whether another training run gives the same result: there are no replicates" in found.sentence


def test_noise_is_no_association() -> None:
    found = asked(model(0.0))
    assert found.decision in {"no-association-shown", "inconclusive"}
    assert not rule(found, "association").passes
    assert found.claim == ""


def test_a_replicate_on_the_other_side_forbids_the_report() -> None:
    """Seven of eight replicates give a strong contrast, the eighth a small one on the other side."""
    models = [model(0.8, seed=seed, name=f"run {seed}") for seed in range(7)]
    swapped = model(0.25, B, A, seed=9, name="run 9")  # X goes with B
    order = [swapped.words.index(word) for word in models[0].words]
    models.append(bg.Embedding(models[0].words, swapped.vectors[order], name="run 9"))
    found = asked(models, replicates=True)
    assert rule(found, "association").passes
    assert rule(found, "replicates").passes is False
    assert found.decision == "do-not-report"
    assert "only 7 of 8 replicates (88 %; all required) give the same direction" in found.sentence
    numbers = found.observed("replicates")
    assert numbers["least"] is not None
    assert numbers["least"] < 0


def test_equivalence_is_reachable() -> None:
    """Long lists of noise: the contrast is known to be small, which is evidence of absence."""
    words = {role: [f"{role}{number}" for number in range(60)] for role in "xyab"}
    every = [*(f"filler{n}" for n in range(2_000)), *(word for role in words.values() for word in role)]
    rows = np.random.default_rng(2).standard_normal((len(every), DIM))
    vectors = bg.Embedding(tuple(every), rows, name="long")
    content = {role: {"name": f"set {role}", "words": words[role]} for role in "xyab"}
    test = parse_lexicon({"name": "long", "kind": "test", "language": "en", **content}, path="long.toml")
    found = asked(vectors, test)
    assert found.decision == "no-association-shown", found.sentence
    piece = rule(found, "equivalence")
    assert piece.passes
    error = (4 / (64 * DIM)) ** 0.5  # of unrelated lists of eight
    assert piece.threshold == pytest.approx(error * (stats.norm.ppf(0.975) - stats.norm.ppf(2 / 3)), rel=0.15)
    assert isinstance(piece.observed, dict)
    assert piece.observed["level"] == pytest.approx(0.9)
    assert piece.threshold is not None
    assert -piece.threshold <= piece.observed["low"] < piece.observed["high"] <= piece.threshold
    assert "too small to matter" in found.sentence
    assert f"±{piece.threshold:.3f}" in found.sentence
    strict = asked(vectors, test, rules=Rules(smallest=1e-4))
    assert strict.decision == "inconclusive"
    assert "neither shown nor ruled out" in strict.sentence


def test_the_equivalence_interval_is_that_of_two_one_sided_tests() -> None:
    found = asked(model(0.0, seed=5))
    numbers, piece = found.observed("association"), rule(found, "equivalence")
    assert isinstance(piece.observed, dict)
    contrast, se, df = (float(numbers[name] or 0) for name in ("contrast", "se", "df"))
    margin = float(stats.t.ppf(0.95, df)) * se
    assert (piece.observed["low"], piece.observed["high"]) == pytest.approx((contrast - margin, contrast + margin))
    assert piece.threshold is not None
    inside = [  # H0: contrast ≤ −margin, and contrast ≥ margin
        stats.t.sf((contrast + piece.threshold) / se, df) <= 0.05,
        stats.t.cdf((contrast - piece.threshold) / se, df) <= 0.05,
    ]
    assert piece.passes == all(inside)


def test_found_alone_but_not_among_many_says_so() -> None:
    """One real contrast that is just seen by itself, among many that are not there."""
    vectors = model(0.34, seed=3)
    alone = asked(vectors)
    assert alone.evidence[0].passes
    random = np.random.default_rng(1)
    tests: list[Lexicon] = [own_test()]
    for number in range(40):
        drawn = random.choice(vectors.words[40:], (4, 8), replace=False).tolist()
        content = {role: {"name": role, "words": words} for role, words in zip("xyab", drawn, strict=True)}
        tests.append(parse_lexicon({"name": f"n{number}", "kind": "test", "language": "en", **content}, path="n.toml"))
    beside = asked(vectors, *tests)
    numbers, before = beside.observed("association"), alone.observed("association")
    assert numbers["p"] == before["p"]
    assert numbers["k"] == 41
    assert numbers["p_adjusted"] == pytest.approx(min(1.0, 41 * float(before["p"] or 0)))
    if not beside.evidence[0].passes and not rule(beside, "equivalence").passes:
        assert "in this question alone, but not among 41" in beside.sentence


def test_thresholds_can_be_changed() -> None:
    vectors = model(0.8)
    p = float(asked(vectors).observed("association")["p_adjusted"] or 0)
    assert asked(vectors, rules=Rules(alpha=p * 1.01)).evidence[0].passes
    assert not asked(vectors, rules=Rules(alpha=p * 0.99)).evidence[0].passes
    with pytest.raises(bg.ParameterError, match="alpha"):
        Rules(alpha=0)
    with pytest.raises(bg.ParameterError, match="smallest"):
        Rules(smallest=0)
    with pytest.raises(bg.ParameterError, match="'agreement'"):
        Rules(agreement=1.1)


def test_too_few_words_cannot_be_measured() -> None:
    vectors = model(0.8)
    few = bg.Embedding(vectors.words[6:], vectors.vectors[6:], name="few")
    found = asked(few)
    assert found.decision == "not-measurable"
    assert "x 2 of 8" in found.sentence
    (coverage,) = found.evidence
    assert (coverage.rule, coverage.observed, coverage.threshold, coverage.passes) == ("coverage", 0.25, 0.8, False)


def test_missing_words_leave_the_correction_as_it_is() -> None:
    """Three tests: whether the third can be measured changes nothing for a family of two, and makes nothing milder."""
    vectors = model(0.5, seed=4)
    tests = [own_test(name="one", family="gender"), own_test(A[:8], B[:8], "two", family="gender")]
    third = own_test(A[2:], B[2:], "three", family="race")
    lost = own_test([f"nowhere{n}" for n in range(8)], B, "three", family="race")
    for rules in (Rules(correction="familywise"), Rules()):
        with_third, without = (bg.audit(vectors, lexicons=[*tests, one], rules=rules).verdicts for one in (third, lost))
        assert without[2].decision == "not-measurable"
        for one, other in zip(with_third[:2], without[:2], strict=True):
            mine, theirs = ({**seen.observed("association"), "smallest": None} for seen in (one, other))
            if rules.correction == "familywise":
                assert mine == theirs  # what is too small to matter is measured with the words that were found
            assert (mine["k"] or 0) <= (theirs["k"] or 0)
            assert one.family == other.family == "gender"


def pairs_model(turned: int = 0) -> tuple[bg.Embedding, AssociationTest, list[tuple[str, str]]]:
    """Gender pairs that X and Y lean along; the last `turned` of them, not in the test, the other way."""
    gender = lexicon("du2021")
    pairs = gender.pairs  # type: ignore[attr-defined]  # a list of pairs
    firsts, seconds = (list(dict.fromkeys(pair[end] for pair in pairs)) for end in (0, 1))
    test = own_test(firsts[:8], seconds[:8], "gender")
    single = [pair for pair in pairs if sum(pair[0] in other for other in pairs) == 1]
    against = single[len(single) - turned :]
    swap = {pair[0]: pair[1] for pair in against} | {pair[1]: pair[0] for pair in against}
    ends = [[swap.get(word, word) for word in side] for side in (firsts, seconds)]
    return model(0.9, ends[0], ends[1]), test, against


def test_gender_attributes_are_exchanged_for_base_pairs() -> None:
    vectors, test, _ = pairs_model()
    assert gender_roles(test) == "ab"
    found = asked(vectors, test)
    assert rule(found, "base pairs").passes
    assert rule(found, "base pairs").counts == (23, 23)
    assert rule(found, "measures").passes
    assert rule(found, "measures").counts == (2, 2)  # RIPA and NBM: the contrast is made of the cosine


@pytest.mark.parametrize(("order", "roles", "sign"), [("xyba", "ba", -1), ("abxy", "xy", 1), ("baxy", "yx", -1)])
def test_women_may_come_first_and_targets_may_be_men_and_women(order: str, roles: str, sign: int) -> None:
    """The same words in other places are the same evidence; the contrast changes its sign where one side is swapped."""
    vectors, test, against = pairs_model(1)
    x, y, a, b = (test.roles[role] for role in order)
    turned = replace(test, x=x, y=y, a=a, b=b)
    assert gender_roles(turned) == roles
    as_written, found = asked(vectors, test), asked(vectors, turned)
    before, after = (verdict.observed("association")["contrast"] for verdict in (as_written, found))
    assert before is not None
    assert after == pytest.approx(sign * before)
    for name in ("base pairs", "measures"):
        assert rule(found, name) == rule(as_written, name)
    assert "–".join(against[0]) in rule(found, "base pairs").reason


def test_base_pairs_that_turn_are_named_and_forbid_the_report() -> None:
    """Three pairs whose ends are swapped in the vectors point the other way: 20 of 23 are less than 90 %."""
    vectors, test, against = pairs_model(3)
    found = asked(vectors, test)
    piece = rule(found, "base pairs")
    unit = {word: row / np.linalg.norm(row) for word, row in zip(vectors.words, vectors.vectors, strict=True)}
    agree = 0
    for first, second in lexicon("du2021").pairs:  # type: ignore[attr-defined]  # a list of pairs
        leans = [np.mean([unit[w] @ unit[first] - unit[w] @ unit[second] for w in side]) for side in (X, Y)]
        agree += bool(leans[0] > leans[1])
    assert piece.counts == (agree, 23)
    assert agree < 21
    assert piece.passes is False
    assert found.decision == "do-not-report"
    assert all("–".join(pair) in piece.reason for pair in against)
    assert rule(asked(vectors, test, rules=Rules(agreement=0.5)), "base pairs").passes


def test_base_pairs_that_are_not_there_are_unknown() -> None:
    """A test of words for men and women whose pairs are too few: nothing is said of measures."""
    _, test, _ = pairs_model()
    bare = model(0.9, list(test.a.words), list(test.b.words))
    found = asked(bare, test)
    for name in ("base pairs", "measures"):
        pieces = [piece for piece in found.evidence if piece.rule == name]
        assert all(piece.passes in {True, False, None} for piece in pieces)
    assert rule(found, "base pairs").counts is None or rule(found, "base pairs").counts[1] < 23  # type: ignore[index]


def test_own_pairs_each_count() -> None:
    men, women = [f"man{n}" for n in range(10)], [f"woman{n}" for n in range(10)]
    words = parse_lexicon({"name": "list", "kind": "words", "language": "en", "words": X}, path="list.toml")
    pairs = parse_lexicon(
        {
            "name": "p",
            "kind": "pairs",
            "language": "en",
            "pairs": [list(pair) for pair in zip(men, women, strict=True)],
        },
        path="pairs.toml",
    )
    straight = bg.audit(model(0.9, men, women), lexicons=[words, pairs]).verdicts[0]
    assert rule(straight, "base pairs").counts == (10, 10)
    swapped = [*women[:2], *men[2:]], [*men[:2], *women[2:]]
    turned = bg.audit(model(0.9, *swapped), lexicons=[words, pairs], rules=Rules(alpha=0.2)).verdicts[0]
    piece = rule(turned, "base pairs")
    assert piece.counts == (8, 10)
    assert piece.passes is False
    assert "man0–woman0, man1–woman1 do not" in piece.reason
    assert turned.decision == "do-not-report"


def held_out(pull: float) -> Verdict:
    """Targets with half of the words of weat1's attributes; the other half of the same concept is held out."""
    weat = lexicon("weat1")
    assert isinstance(weat, AssociationTest)
    sides = [list(weat.a.words), list(weat.b.words)]
    others = [
        [word for other in ("weat2", "weat3", "weat5", "weat4") for word in lexicon(other).sets[role]] for role in "ab"
    ]
    own = [side[:8] for side in sides]
    test = replace(
        own_test(own[0], own[1]), a=replace(weat.a, words=tuple(own[0])), b=replace(weat.b, words=tuple(own[1]))
    )
    every = [list(dict.fromkeys([*side, *other])) for side, other in zip(sides, others, strict=True)]
    rest = [[word for word in side if word not in one] for side, one in zip(every, own, strict=True)]
    vectors = model(0.9, own[0], own[1])
    random = np.random.default_rng(8)
    rows = random.standard_normal((len(rest[0]) + len(rest[1]), DIM)) / DIM**0.5
    rows[: len(rest[0]), 0] += pull
    rows[len(rest[0]) :, 0] -= pull
    whole = bg.Embedding((*vectors.words, *rest[0], *rest[1]), np.concatenate([vectors.vectors, rows]), name="made")
    return asked(whole, test)


@pytest.mark.parametrize(("pull", "passes"), [(0.9, True), (0.0, False), (-0.9, False)])
def test_attributes_of_another_list_for_the_same_concept(pull: float, passes: bool) -> None:  # noqa: FBT001
    found = held_out(pull)
    piece = rule(found, "held-out attributes")
    assert piece.passes is passes, piece.reason
    assert isinstance(piece.observed, dict)
    assert np.sign(piece.observed["contrast"]) == np.sign(pull) or pull == 0
    assert found.decision == ("report-with-care" if passes else "do-not-report")


@pytest.mark.parametrize(("pull", "passes"), [(0.9, True), (0.0, False)])
def test_a_test_that_repeats_another_holds_out_attributes_and_targets(
    tmp_path: Path,
    pull: float,
    passes: bool,  # noqa: FBT001
) -> None:
    """Words of the first test do not count again, in whatever form; either test is checked by the other."""
    second = {role: [f"second{role}{n}" for n in range(8)] for role in "xyab"}
    content = {role: {"name": f"set {role}", "words": [*words, f"{role.upper()}0"]} for role, words in second.items()}
    repeat = parse_lexicon({"name": "second", "kind": "test", "repeats": "own", **content})
    random = np.random.default_rng(5)
    rows = random.standard_normal((32, DIM)) / DIM**0.5
    rows[:, 0] += pull * np.repeat([1, -1, 1, -1], 8)
    vectors = model(0.9)
    words = (*vectors.words, *(word for members in second.values() for word in members))
    whole = bg.Embedding(words, np.concatenate([vectors.vectors, rows]), name="made")
    (tmp_path / "second.toml").write_text(lexicon_toml(repeat), encoding="utf-8")
    registry.register(tmp_path)
    try:
        first_verdict, second_verdict = asked(whole), asked(whole, repeat)
    finally:
        registry.unregister("lexicon", "second")
    for name, roles in (("held-out attributes", "ab"), ("held-out targets", "xy")):
        piece = rule(first_verdict, name)
        assert piece.passes is passes, piece.reason
        assert isinstance(piece.observed, dict)
        assert [piece.observed[role] for role in roles] == [8, 8]
    if passes:
        assert second_verdict.decision == "report-with-care"


def test_a_verdict_by_hand_from_the_json_alone(shipped_audit: Any) -> None:  # noqa: ANN401 - a function
    """docs/measures/verdicts.md, "One verdict by hand": t, the largest p, k, the level, and the decision."""
    content = json.loads(json.dumps(shipped_audit("weat7", "religion", "du2021").to_dict(), allow_nan=False))
    alpha = content["settings"]["rules"]["alpha"]
    asked = [verdict for verdict in content["verdicts"] if verdict["test"] == "contrast"]
    families: dict[str, list[Any]] = {}
    for verdict in asked:
        families.setdefault(verdict["family"], []).append(verdict)
    total = sum(verdict["question"] != "du2021" for verdict in asked)
    for members in families.values():
        known = sorted(
            (one for one in members if one["evidence"] and one["evidence"][0]["rule"] == "association"),
            key=lambda one: one["evidence"][0]["observed"]["p"],
        )
        largest, stopped = 0.0, None
        for rank, verdict in enumerate(known):
            numbers = verdict["evidence"][0]["observed"]
            contrast, low, high = (numbers[name] for name in ("adjusted", "adjusted_low", "adjusted_high"))
            t = abs(contrast) / numbers["se"]
            assert numbers["p_contrast"] == pytest.approx(2 * stats.t.sf(t, numbers["df"]), rel=1e-9)
            tests = [numbers[name] for name in ("p_contrast", "p_targets", "p_attributes") if numbers[name] is not None]
            assert numbers["p"] == max(tests)
            k = total / len(members) * (len(members) - rank)
            largest = max(largest, min(1.0, k * numbers["p"]))
            stopped = k if stopped is None and largest > alpha else stopped
            assert numbers["p_adjusted"] == pytest.approx(largest)
            assert numbers["k"] == pytest.approx(stopped or k)
            assert numbers["level"] == pytest.approx(1 - alpha / numbers["k"])
            margin = float(stats.t.ppf((1 + numbers["level"]) / 2, numbers["df"])) * numbers["se"]
            assert low <= contrast - margin + 1e-12
            assert high >= contrast + margin - 1e-12
            passes = largest <= alpha
            assert verdict["evidence"][0]["passes"] is passes
            assert (low > 0 or high < 0) == passes
            rest = [piece["passes"] for piece in verdict["evidence"][1:]]
            if not passes:
                expected = "no-association-shown" if rest == [True] else "inconclusive"
            elif False in rest:
                expected = "do-not-report"
            else:
                expected = "report-with-care" if None in rest else "report"
            assert verdict["decision"] == expected


def test_the_plan_is_that_of_the_contrast() -> None:
    from biasgauge.stats import plan_words

    vectors, test = model(0.2, seed=6), own_test()
    found = asked(vectors, test)
    weat = bg.weat(vectors, test, interval=None)
    assert weat.contrast is not None
    piece = rule(found, "equivalence") if not found.evidence[0].passes else None
    assert found.plan is not None
    size = piece.threshold if piece is not None else found.plan["contrast"]
    expected = plan_words(weat.contrast, size)
    assert found.plan["both"] == expected.both
    assert found.plan["now"] == pytest.approx(expected.now)

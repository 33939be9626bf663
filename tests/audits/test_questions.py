"""What each kind of lexicon asks, and its contrast by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.audits.measurement import Measured, Unmeasurable, measure
from biasgauge.audits.subjects import Subject
from biasgauge.core import WordPolicy
from biasgauge.errors import ParameterError
from biasgauge.lexicons import lexicons_without_query, parse_lexicon, queries_from_lexicons

if TYPE_CHECKING:
    from biasgauge.core.arrays import Floats
    from biasgauge.lexicons import Lexicon

pytestmark = pytest.mark.usefixtures("quick_audits")

SIZES = {"x": 5, "y": 6, "a": 4, "b": 7}
ROLES = {role: [f"{role}{number}" for number in range(size)] for role, size in SIZES.items()}
MEN, WOMEN = [f"man{number}" for number in range(6)], [f"woman{number}" for number in range(6)]
WORDS = [*(word for role in "xyab" for word in ROLES[role]), *MEN, *WOMEN, *(f"filler{n}" for n in range(700))]


def vectors(seed: int = 0, name: str = "made") -> bg.Embedding:
    """X and A lean to men, Y and B to women."""
    rows = np.random.default_rng(seed).standard_normal((len(WORDS), 30)) / 30**0.5
    for place, word in enumerate(WORDS):
        rows[place, 0] += 0.7 * (word[:1] in "xam" and word[:3] != "fil") - 0.7 * (word[:1] in "ybw")
    return bg.Embedding(tuple(WORDS), rows, name=name)


def parsed(name: str, **content: Any) -> Lexicon:  # noqa: ANN401 - keys of a file
    return parse_lexicon({"name": name, "language": "en", **content}, path=f"{name}.toml")


PAIRS = parsed(
    "pairs", kind="pairs", ends=["male", "female"], pairs=[list(pair) for pair in zip(MEN, WOMEN, strict=True)]
)
TEST = parsed("test", kind="test", **{role: {"name": f"set {role}", "words": ROLES[role]} for role in "xyab"})
GROUPS = parsed(
    "groups",
    kind="stereotypes",
    groups={
        "one": {"protected": ROLES["x"], "attributes": ROLES["a"]},
        "two": {"protected": ROLES["y"], "attributes": ROLES["b"]},
        "three": {"protected": WORDS[40:44], "attributes": WORDS[50:55]},
    },
)
LIST = parsed("list", kind="words", words=ROLES["x"])
SETS = parsed("sets", kind="sets", sets={"first": ROLES["x"], "second": ROLES["y"]})
VALUES = parsed(
    "values",
    kind="values",
    unit="men",
    values={word: place / 10 for place, word in enumerate([*ROLES["y"], *ROLES["x"]])},
)


def put(lexicons: list[Lexicon], *models: bg.Embedding, **settings: Any) -> list[Measured]:  # noqa: ANN401 - of measure
    subject = Subject("made", models or (vectors(),))
    policy = WordPolicy(**{"case": "exact", **settings})
    found = [measure(question, subject, policy, 0) for question in queries_from_lexicons(lexicons)]
    assert all(isinstance(one, Measured) for one in found)
    return [one for one in found if isinstance(one, Measured)]


def refused(lexicon: Lexicon, *models: bg.Embedding, **settings: Any) -> Unmeasurable:  # noqa: ANN401 - of measure
    (question,) = queries_from_lexicons([lexicon])
    policy = WordPolicy(**{"case": "exact", **settings})
    found = measure(question, Subject("made", models or (vectors(),)), policy, 0)
    assert isinstance(found, Unmeasurable)
    return found


def cosine(model: bg.Embedding, one: str, other: str) -> float:
    first, second = (np.asarray(model.vectors[model.words.index(word)], float) for word in (one, other))
    return float(first @ second / (np.linalg.norm(first) * np.linalg.norm(second)))


def mean(model: bg.Embedding, words: list[str], others: list[str]) -> float:
    return float(np.mean([cosine(model, word, other) for word in words for other in others]))


def leaning(model: bg.Embedding, words: list[str]) -> float:
    return float(
        np.mean(
            [
                cosine(model, word, man) - cosine(model, word, woman)
                for word in words
                for man, woman in zip(MEN, WOMEN, strict=True)
            ]
        )
    )


def test_a_test_asks_for_its_contrast() -> None:
    model = vectors()
    (found,) = put([TEST], model)
    x, y, a, b = (ROLES[role] for role in "xyab")
    assert found.value == pytest.approx(mean(model, x, a) - mean(model, x, b) - mean(model, y, a) + mean(model, y, b))
    assert found.claim == "set-x words are more associated with set a than set-y words are"
    assert (found.query.kind, found.query.family) == ("test", "own")
    assert None not in {found.test.p_targets, found.test.p_attributes}


def test_stereotypes_ask_for_own_attributes_less_others() -> None:
    model = vectors()
    (found,) = put([GROUPS], model)
    groups = [(ROLES["x"], ROLES["a"]), (ROLES["y"], ROLES["b"]), (WORDS[40:44], WORDS[50:55])]
    own = np.mean([mean(model, words, attributes) for words, attributes in groups])
    others = np.mean(
        [mean(model, groups[i][0], groups[j][1]) for i in range(3) for j in range(3) if i != j]  # each pair once
    )
    assert found.value == pytest.approx(own - others)
    assert found.claim == "group words are closer to their own stereotype's attributes than to other groups'"
    assert (found.test.p_targets, found.test.p_attributes) == (None, None)


def test_words_and_sets_lean_along_pairs() -> None:
    model = vectors()
    one, first, second = put([LIST, SETS, PAIRS], model)
    assert [found.query.name for found in (one, first, second)] == ["list", "sets:first", "sets:second"]
    for found, role in ((one, "x"), (first, "x"), (second, "y")):
        from_random_words = found.random_leans.mean() if found.random_leans.size else 0.0
        assert found.value == pytest.approx(leaning(model, ROLES[role]) - from_random_words)
    assert (first.claim, second.claim) == (
        "first words lean to male rather than female, more than words of like frequency do",
        "second words lean to female rather than male, more than words of like frequency do",
    )
    assert one.attribute_words == tuple(f"{man}–{woman}" for man, woman in zip(MEN, WOMEN, strict=True))


def test_values_set_large_against_small() -> None:
    model = vectors()
    (found,) = put([VALUES, PAIRS], model)
    ordered = sorted(VALUES.values, key=VALUES.values.__getitem__)  # type: ignore[attr-defined]  # of kind values
    half = len(ordered) // 2
    large, small = ordered[-half:], ordered[:half]  # the middle one of eleven is in neither
    assert set(found.target_words) == {*large, *small}
    assert found.value == pytest.approx(leaning(model, large) - leaning(model, small))
    assert found.claim == "words with more men lean more to male than those with less"
    assert found.test.p_targets is not None
    assert found.test.p_attributes is None


def test_replicates_are_measured_together() -> None:
    models = [vectors(seed, f"run {seed}") for seed in range(3)]
    (together,) = put([TEST], *models)
    alone = [put([TEST], model)[0].value for model in models]
    assert together.value == pytest.approx(np.mean(alone))
    assert together.table.shape == (3, 11, 11)


def test_words_that_one_replicate_lacks_are_left_out() -> None:
    whole, part = vectors(0, "whole"), vectors(1, "part")
    less = bg.Embedding(part.words[1:], part.vectors[1:], name="part")  # without x0
    (found,) = put([TEST], whole, less)
    assert "x0" not in found.target_words
    assert found.share == 0.8
    short = refused(TEST, whole, less, min_coverage=0.9)
    assert short.reason == "fewer than 90 % of the words found: x 4 of 5"


def test_forms_of_one_word_are_lost_together() -> None:
    """As in WEAT itself: a masculine form goes where its feminine form has no vector, in the same set alone."""
    model = vectors()
    less = bg.Embedding(model.words[1:], model.vectors[1:], name="less")  # without x0
    sets = {role: {"name": f"set {role}", "words": ROLES[role]} for role in "xyab"}
    forms = parsed("forms", kind="test", counterparts=[["x0", "x1"], ["x2", "x3"], ["a0", "a1"]], **sets)
    (whole,), (balanced,) = put([forms], model), put([forms], less, min_coverage=0.5)
    assert whole.target_words == (*ROLES["x"], *ROLES["y"])
    assert balanced.target_words == ("x2", "x3", "x4", *ROLES["y"])
    assert balanced.attribute_words == (*ROLES["a"], *ROLES["b"])
    assert balanced.share == 3 / 5
    weat = bg.weat(less, forms, min_coverage=0.5, interval=None)
    assert weat.coverage.sets["x"].words == ("x2", "x3", "x4")


def test_a_zero_vector_has_no_direction() -> None:
    rows: Floats = np.array(vectors().vectors)
    rows[0] = 0.0
    (found,) = put([TEST], bg.Embedding(tuple(WORDS), rows, name="zero"))
    assert "x0" not in found.target_words
    assert np.isfinite(found.value)


def test_a_test_of_single_words_says_why() -> None:
    single = parsed(
        "single",
        kind="test",
        **{role: {"name": role, "words": ROLES[role][: 1 if role == "x" else 4]} for role in "xyab"},
    )
    found = refused(single)
    assert (found.reason, found.share) == ("a list has a single word, so that its spread is unknown", 1.0)


@pytest.mark.parametrize(
    ("lexicons", "names"),
    [
        ([PAIRS], {"pairs": "pairs measure words"}),
        ([LIST, SETS], {"list": "asks nothing by itself", "sets": "asks nothing by itself"}),
        ([VALUES, TEST], {"values": "asks nothing by itself"}),
        ([LIST, PAIRS, TEST, GROUPS], {}),
        ([TEST], {}),
    ],
)
def test_what_asks_nothing_says_what_would(lexicons: list[Lexicon], names: dict[str, str]) -> None:
    found = {one.name: why for one, why in lexicons_without_query(lexicons)}
    assert found.keys() == names.keys()
    assert all(part in found[name] for name, part in names.items())


def test_every_kind_gets_a_verdict_and_nothing_else_is_asked() -> None:
    model = vectors()
    result = bg.audit(model, lexicons=[TEST, GROUPS, LIST, SETS, VALUES, PAIRS])
    asked = ["test", "groups", "list", "sets:first", "sets:second", "values"]
    assert [verdict.question for verdict in result.verdicts] == asked
    assert all(verdict.decision != "not-measurable" for verdict in result.verdicts)
    assert {verdict.test for verdict in result.verdicts} == {"contrast"}
    assert result.explorer is not None
    assert [pairs.name for pairs in result.explorer.lists] == ["pairs"], "the base pairs that were given, no others"
    lone = bg.audit(model, lexicons=[LIST])
    (verdict,) = lone.verdicts
    assert (verdict.question, verdict.decision) == ("list", "not-measurable")
    assert "give base pairs too" in verdict.sentence
    assert lone.explorer is None


def test_two_lists_of_pairs_are_two_questions() -> None:
    again = parsed(
        "again",
        kind="pairs",
        ends=["male", "female"],
        pairs=[[man, woman] for man, woman in zip(MEN[:4], WOMEN[2:], strict=True)],
    )
    result = bg.audit(vectors(), lexicons=[LIST, PAIRS, again])
    assert len(result.verdicts) == 2
    assert len({verdict.id for verdict in result.verdicts}) == 2
    assert [verdict.observed("association")["questions"] for verdict in result.verdicts] == [2, 2]


def test_languages_are_not_mixed() -> None:
    spanish = parse_lexicon({"name": "lista", "kind": "words", "language": "es", "words": ["uno"]}, path="lista.toml")
    with pytest.raises(bg.ParameterError, match="language"):
        bg.audit(vectors(), lexicons=[TEST, spanish])
    with pytest.raises(bg.ParameterError, match="en and es"):
        bg.audit(vectors(), lexicons=[TEST], language="es")
    assert bg.audit(vectors(), lexicons=[spanish]).settings["language"] == "es"


def test_a_vocabulary_in_lower_case_is_recognized() -> None:
    """Names are looked up in lower case where no word has a capital, and as written where some have."""
    capitals = {role: [word.capitalize() for word in words] for role, words in ROLES.items()}
    shouted = parsed("shouted", kind="test", **{role: {"name": role, "words": capitals[role]} for role in "xyab"})
    model = vectors()
    result = bg.audit(model, lexicons=[shouted])
    assert (result.settings["lower_case"], result.settings["case_fallback"]) == (True, True)
    plain = bg.audit(model, lexicons=[TEST])
    assert result.verdicts[0].observed("association") == plain.verdicts[0].observed("association")
    mixed = bg.Embedding((*model.words[:-1], "Paris"), model.vectors, name="mixed")
    strict = bg.audit(mixed, lexicons=[shouted])
    assert (strict.settings["lower_case"], strict.settings["case_fallback"]) == (False, False)
    assert strict.verdicts[0].decision == "not-measurable"
    refused = bg.audit(model, lexicons=[shouted], policy=bg.core.WordPolicy(case="exact"))
    assert refused.verdicts[0].decision == "not-measurable"


def test_a_test_with_a_word_in_both_target_lists_is_not_measured() -> None:
    """As `weat` refuses it: permutations split two lists that have no word in common."""
    sets = {role: {"name": f"set {role}", "words": words} for role, words in ROLES.items()}
    sets["y"] = {"name": "set y", "words": [*ROLES["y"], "x1"]}
    (query,) = queries_from_lexicons([parsed("shared", kind="test", **sets)])
    outcome = measure(query, Subject("made", (vectors(),)), WordPolicy(), 0)
    assert isinstance(outcome, Unmeasurable)
    assert outcome.reason == "the word x1 is in both target lists, X and Y: remove it from one"
    with pytest.raises(ParameterError, match="'x1' is in both target sets"):
        bg.weat(vectors(), **{role: group["words"] for role, group in sets.items()})  # type: ignore[arg-type]

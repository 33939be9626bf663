"""Combinations of features: every function that measures a test gives the contrast of one slow reference.

Single features are tested with their packages; here every two of them meet: function, language, lists of unequal
length, words out of vocabulary with and without a counterpart, replicates, case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
import pytest

import biasgauge as bg
from biasgauge import registry
from biasgauge.core import WordPolicy
from biasgauge.lexicons import AssociationTest, parse_lexicon

FACTORS: Mapping[str, tuple[str, ...]] = {
    "function": ("weat", "compare", "specification_curve", "mitigation_effect", "audit", "audit before"),
    "language": ("en", "es"),
    "lists": ("equal", "unequal"),
    "lost": ("none", "target", "counterpart", "attribute"),
    "replicates": ("one", "several"),
    "case": ("lower", "capitals"),
}
WORDS = {
    "x": ["astrónomo", "astrónoma", "científico", "científica", "física", "química"],
    "y": ["pintor", "pintora", "poeta", "poesía", "danza", "novela"],
    "a": ["hombre", "chico", "padre", "hijo"],
    "b": ["mujer", "chica", "madre", "hija"],
}
COUNTERPARTS = (("astrónomo", "astrónoma"), ("científico", "científica"), ("pintor", "pintora"))
LOST = {"none": "", "target": "danza", "counterpart": "científico", "attribute": "padre"}
POLICY = WordPolicy(min_coverage=0.5)


def pairwise(factors: Mapping[str, Sequence[str]]) -> Iterator[dict[str, str]]:
    """Yield rows in which every two values of any two factors meet at least once (greedy)."""
    names = list(factors)
    rows = [dict(zip(names, values, strict=True)) for values in product(*factors.values())]
    missing = {((one, v), (two, w)) for one, two in combinations(names, 2) for v in factors[one] for w in factors[two]}

    def gain(row: Mapping[str, str]) -> int:
        return sum(((one, row[one]), (two, row[two])) in missing for one, two in combinations(names, 2))

    while missing:
        best = max(rows, key=gain)
        missing -= {((one, best[one]), (two, best[two])) for one, two in combinations(names, 2)}
        yield best


ROWS = list(pairwise(FACTORS))


@dataclass(frozen=True)
class Case:
    """A test, models that have it, and how words are written in them."""

    test: AssociationTest
    models: tuple[bg.Embedding, ...]
    capitals: bool

    def contrast(self, model: bg.Embedding) -> float:
        """Contrast of WEAT by loops, from the definition."""
        sets = {role: self._found(members.words) for role, members in self.test.roles.items()}

        def cosine(first: str, second: str) -> float:
            one, two = (np.asarray(model[self._written(word)], float) for word in (first, second))
            return float(one @ two / np.sqrt(one @ one) / np.sqrt(two @ two))

        def mean(targets: str, attributes: str) -> float:
            return float(np.mean([cosine(t, s) for t in sets[targets] for s in sets[attributes]]))

        return mean("x", "a") - mean("x", "b") - mean("y", "a") + mean("y", "b")

    def _written(self, word: str) -> str:
        return word.lower() if self.capitals else word

    def _found(self, words: Sequence[str]) -> list[str]:
        there = [word for word in words if all(self._written(word) in model for model in self.models)]
        partner = {one: two for pair in self.test.counterparts for one, two in (pair, pair[::-1])}
        lost = set(words) - set(there)
        return [word for word in there if partner.get(word) not in lost]


def case(row: Mapping[str, str]) -> Case:
    capitals = row["case"] == "capitals"

    def written(word: str) -> str:
        return word.capitalize() if capitals else word

    sets = {role: list(words) for role, words in WORDS.items()}
    if row["lists"] == "unequal":
        sets["x"] = sets["x"][:-1]
    content = {role: {"name": role, "words": [written(word) for word in words]} for role, words in sets.items()}
    pairs = [[written(word) for word in pair] for pair in COUNTERPARTS]
    test = parse_lexicon({"kind": "test", "name": "own", "language": row["language"], "counterparts": pairs, **content})
    assert isinstance(test, AssociationTest)
    vocabulary = tuple(word for words in WORDS.values() for word in words if word != LOST[row["lost"]])
    seeds = range(3 if row["replicates"] == "several" else 1)
    models = tuple(
        bg.Embedding(
            vocabulary, np.random.default_rng([seed, 5]).normal(size=(len(vocabulary), 9)), name=f"run, seed {seed}"
        )
        for seed in seeds
    )
    return Case(test, models, capitals)


@pytest.mark.usefixtures("quick_audits")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: "-".join(row.values()).replace(" ", "_"))
def test_every_function_measures_the_same_contrast(row: Mapping[str, str]) -> None:
    one = case(row)
    expected = [one.contrast(model) for model in one.models]
    function, first = row["function"], one.models[0]
    if function == "weat":
        for kind in registry.names("association_test"):
            result = bg.association_test(first, one.test, kind=kind, policy=POLICY, interval=None)
            assert result.value is not None or result.reason
        found = [bg.weat(model, one.test, policy=POLICY, interval=None).contrast for model in one.models]
        assert [contrast.value for contrast in found if contrast is not None] == pytest.approx(expected)
    elif function == "compare":
        turned = bg.Embedding(first.words, np.array(first.vectors[:, ::-1] + 0.1), name="other")
        contrasts = bg.compare({"a": list(one.models), "b": [turned]}, one.test, policy=POLICY).contrasts
        both = [np.mean(expected), one.contrast(turned)]
        assert [contrast.value for contrast in contrasts] == pytest.approx(both)
    elif function == "specification_curve":
        curve = bg.analyses.robustness.specification_curve(list(one.models), one.test, policy=POLICY, samples=99)
        assert [view.contrast.value for view in curve.specifications] == pytest.approx(expected)
    elif function == "mitigation_effect":
        effect = bg.mitigation.mitigation_effect(one.models[-1], first, [one.test], policy=POLICY)
        rows = {line.name: line for line in effect.part("association")}
        assert set(rows) == set(registry.names("association_test"))
        sides = [bg.weat(model, one.test, policy=POLICY, interval=None) for model in (one.models[-1], first)]
        estimates = [estimate for estimate in (rows["weat"].before, rows["weat"].after) if estimate is not None]
        assert [estimate.value for estimate in estimates] == pytest.approx([side.effect_size for side in sides])
    else:
        models = [first] if function == "audit before" else list(one.models)
        before = one.models[-1] if function == "audit before" else None
        audit = bg.audit(models, before=before, lexicons=[one.test], policy=POLICY, replicates=len(models) > 1)
        verdict = next(verdict for verdict in audit.verdicts if verdict.test == "contrast")
        assert verdict.observed("association")["contrast"] == pytest.approx(np.mean(expected[: len(models)]))
        shown = [association.contrast.value for association in audit.bias]
        assert shown == pytest.approx(expected[: len(models)])


def test_every_two_values_meet() -> None:
    met = {frozenset([(one, row[one]), (two, row[two])]) for row in ROWS for one, two in combinations(FACTORS, 2)}
    total = sum(len(FACTORS[one]) * len(FACTORS[two]) for one, two in combinations(FACTORS, 2))
    assert len(met) == total
    assert len(ROWS) < 60


@pytest.mark.usefixtures("quick_audits")
def test_the_shipped_spanish_tests_before_and_after_a_change() -> None:
    names = [
        name
        for name in registry.names("lexicon")
        if isinstance(test := registry.get("lexicon", name), AssociationTest) and test.language == "es"
    ]
    unequal = [name for name in names if len(bg.lexicon(name).x) != len(bg.lexicon(name).y)]  # type: ignore[attr-defined]
    assert unequal
    words = tuple(dict.fromkeys(word.lower() for name in names for word in bg.lexicon(name).words))
    before, after = (
        bg.Embedding(words, np.random.default_rng(seed).normal(size=(len(words), 12)), name=f"es {seed}")
        for seed in range(2)
    )
    audit = bg.audit(after, before=before, lexicons=unequal[:2])
    assert audit.change is not None
    rows = [row for row in audit.change.effect.part("association") if row.name == "set_ripa"]
    assert len(rows) == 2
    assert all("by position" in (row.reason or "") for row in rows)

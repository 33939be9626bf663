"""Before and after: on the same words, with the pairing that they have."""

from __future__ import annotations

import json
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge.analyses.posterior import CONNECTIONS, ChangeResult, bayes, bayes_change, distance_table
from biasgauge.analyses.posterior.change import UNMOVED
from biasgauge.analyses.posterior.table import COLUMNS
from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding, load_default_replicates

if TYPE_CHECKING:
    from biasgauge.analyses.posterior import DistanceTable


def moved(table: DistanceTable, shifts: dict[str, float], noise: float, seed: int = 0) -> DistanceTable:
    """The same words, each connection farther away by so much, with noise."""
    random = np.random.default_rng(seed)
    shift = np.array([shifts.get(CONNECTIONS[one], 0.0) for one in table.connection])
    return replace(table, name="after", distance=table.distance + shift + random.normal(0, noise, len(table)))


@pytest.mark.parametrize("method", ["paired", "independent"])
def test_a_known_change_is_found(table: DistanceTable, method: Any) -> None:  # noqa: ANN401
    found = bayes_change(table, moved(table, {"associated": 0.1, "human": -0.05}, 0.01), method=method)
    changes = {one.connection: one for one in found.groups}
    assert list(changes) == list(CONNECTIONS)
    for connection, expected in {"associated": 0.1, "different": 0.0, "human": -0.05, "neutral": 0.0}.items():
        one = changes[connection]
        assert one.mean == pytest.approx(expected, abs=0.02)
        assert one.low < expected < one.high  # type: ignore[operator]
    assert len(found.words) == 20
    assert found.caution == ""


def test_pairing_sharpens_the_answer(table: DistanceTable) -> None:
    after = moved(table, {"associated": 0.05}, 0.01)
    paired, independent = (bayes_change(table, after, method=method) for method in ("paired", "independent"))
    for one, other in zip(paired.groups, independent.groups, strict=True):
        assert one.sd < 0.5 * other.sd  # type: ignore[operator]


def test_independent_posteriors_do_not_share_their_draws(table: DistanceTable) -> None:
    """With the same draws on both sides the difference of two equal posteriors would be 0."""
    found = bayes_change(table, table, method="independent")
    alone = {one.connection: one.sd for one in bayes(table).groups}
    for one in found.groups:
        assert one.sd == pytest.approx(2**0.5 * alone[one.connection], rel=0.1)  # type: ignore[operator]


def test_paired_change_is_the_model_of_the_differences(table: DistanceTable) -> None:
    after = moved(table, {"associated": 0.1}, 0.02)
    found = bayes_change(table, after)
    difference = after.distance - table.distance
    for place, one in enumerate(found.groups):
        rows = table.connection == place
        means = [difference[rows & (table.word == word)].mean() for word in range(len(table.words))]
        assert one.mean == pytest.approx(np.mean(means), abs=0.01)


def test_nothing_changed(table: DistanceTable) -> None:
    found = bayes_change(table, table)
    assert [(one.mean, one.reason) for one in found.changes] == [(None, UNMOVED)] * 4
    assert found.to_dict()["change"][0]["reason"] == UNMOVED


def test_only_words_that_both_have_are_compared(table: DistanceTable) -> None:
    before = table.select(table.attribute != table.attributes.index("greedy"))
    after = moved(table.select(table.word != table.words.index("imam")), {}, 0.01)
    found = bayes_change(before, after, draws=400)
    assert found.left_out == {
        "before": int((before.word == before.words.index("imam")).sum()),
        "after": int((after.attribute == after.attributes.index("greedy")).sum()),
    }
    assert any("rows are only in before and are left out" in warning for warning in found.warnings)
    assert "imam" not in {one.word for one in found.words}
    assert len(found.before.table) == len(found.after.table)


def test_rows_in_another_order_are_matched(table: DistanceTable) -> None:
    after = moved(table, {"associated": 0.1}, 0.02)
    rows = list(zip(*(after.columns()[name] for name in COLUMNS), strict=True))
    np.random.default_rng(1).shuffle(rows)
    again = distance_table("after", [(*row[:4], float(row[4])) for row in rows])
    assert bayes_change(table, again, draws=400).groups == bayes_change(table, after, draws=400).groups


def test_two_embeddings(table: DistanceTable) -> None:
    words = (*table.words, *table.attributes)
    random = np.random.default_rng(0)
    vectors = random.normal(size=(len(words), 8))
    before = dict(zip(words, vectors, strict=True))
    after = {word: vector + random.normal(0, 0.1, 8) for word, vector in before.items()}
    rows = table.to_frame()
    from biasgauge.lexicons import StereotypeGroup, Stereotypes

    groups = tuple(
        StereotypeGroup(
            name, tuple(members), tuple(sorted(set(rows.loc[rows["word_class"] == name, "word_to_compare"])))
        )
        for name, members in {"jew": ["rabbi", "torah"], "muslim": ["imam", "quran", "mosque"]}.items()
    )
    own = Stereotypes(name="own", groups=groups)
    found = bayes_change(before, after, own, draws=400, human=["walk", "talk"], neutral=None)
    assert [one.connection for one in found.groups] == ["associated", "different", "human"]


@pytest.mark.parametrize("variant", ["single-sigma", "intercept", "crossed"])
def test_every_variant_finds_the_change(table: DistanceTable, variant: Any) -> None:  # noqa: ANN401
    found = bayes_change(table, moved(table, {"associated": 0.1}, 0.02), variant=variant)
    assert found.groups[0].mean == pytest.approx(0.1, abs=0.03)
    assert found.caution == ""


def test_what_cannot_be_compared(table: DistanceTable) -> None:
    other = distance_table(
        "other", [("priest", "cheap", "jew", "different", 0.9), ("nun", "cheap", "jew", "different", 1.0)]
    )
    with pytest.raises(ParameterError, match="common"):
        bayes_change(table, other)
    rows = list(zip(*(table.columns()[name] for name in COLUMNS), strict=True))
    twice = distance_table("twice", rows * 2, duplicates="keep")
    with pytest.raises(ParameterError, match="repeated"):
        bayes_change(twice, table)
    with pytest.raises(ParameterError, match="independent"):
        bayes_change(table, table, method="both")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'coverage'"):
        bayes_change(table, table, coverage=0.5)


def test_a_failure_is_told(table: DistanceTable) -> None:
    found = bayes_change(table, moved(table, {}, 0.02), draws=100)
    assert "diagnostics of the change failed" in found.caution
    assert (found.to_frame()["caution"] == found.caution).all()
    assert escape(found.caution) in found._repr_html_()


def test_independent_posteriors_share_only_the_connections_that_both_have(table: DistanceTable) -> None:
    """Without spread a connection has no posterior; the others keep their words."""
    flat = np.where(table.connection == CONNECTIONS.index("different"), 1.0, table.distance + 0.1)
    found = bayes_change(table, replace(table, distance=flat), method="independent")
    changes = {one.connection: one for one in found.groups}
    assert changes["different"].mean is None
    assert changes["different"].reason
    for connection in ("associated", "human", "neutral"):
        assert changes[connection].mean == pytest.approx(0.1, abs=0.02)
        moves = [one.mean for one in found.words if one.connection == connection]
        assert moves == pytest.approx([0.1] * 5, abs=0.03)


@pytest.mark.parametrize("draws", [400, 40])
def test_json_there_and_back(table: DistanceTable, draws: int) -> None:
    found = bayes_change(table, replace(table, distance=table.distance + 0.01 * table.word), draws=draws)
    again = ChangeResult.from_dict(json.loads(json.dumps(found.to_dict(), allow_nan=False)))
    assert again.to_dict() == found.to_dict()
    assert (again.warnings, again.caution) == (found.warnings, found.caution)
    assert [(row.mean, row.low, row.high) for row in again.changes] == [
        (row.mean, row.low, row.high) for row in found.changes
    ]


def test_separately_trained_models_are_told_of() -> None:
    first, second = load_default_replicates()[:2]
    found = bayes_change(first, second, "gender", draws=200)
    assert found.separately_trained
    assert any("trained separately" in sentence for sentence in found.summary().warnings)
    assert found.to_dict()["warnings"] == list(found.warnings)
    same = bayes_change(first, Embedding(first.words, -first.vectors), "gender", draws=200)
    assert not same.separately_trained

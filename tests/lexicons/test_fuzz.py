"""Whatever comes in, a Lexicon or a LexiconError comes out."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.errors import LexiconError
from biasgauge.lexicons import KINDS, Lexicon, check, parse_lexicon
from biasgauge.lexicons.table import parse_toml

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.fuzz

KEYS = [
    *("kind", "name", "title", "language", "beware", "words", "pairs", "ends", "sets", "x", "y", "a", "b", "groups"),
    *("protected", "attributes", "group_order", "defining_sets", "eval_targets", "controls", "human", "unit", "values"),
    *("to", "entries", "word", "forms", "seeds", "id", "category", "paper", "pairings"),
]

words = st.sampled_from(["a", "b", "c", "he", "she", "é", "two words", "", " a"]) | st.text(max_size=4)
scalars = words | st.integers() | st.floats() | st.booleans() | st.none() | st.dates()
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | words, inner, max_size=4),
    max_leaves=20,
)
tables = st.dictionaries(st.sampled_from(KEYS), values, max_size=8)
lists_of_words = st.lists(words, max_size=4)
groups = st.dictionaries(words, st.fixed_dictionaries({"protected": lists_of_words, "attributes": lists_of_words}))
roles = st.fixed_dictionaries({"words": lists_of_words}, optional={"name": words})
seed_sets = st.lists(st.fixed_dictionaries({"id": words, "words": lists_of_words}), max_size=3)
entries = st.lists(st.fixed_dictionaries({"word": words, "forms": lists_of_words}), max_size=3)
nearly_right = st.one_of(
    st.fixed_dictionaries({"kind": st.just("words"), "words": lists_of_words}),
    st.fixed_dictionaries({"kind": st.just("pairs"), "pairs": st.lists(lists_of_words, max_size=3)}),
    st.fixed_dictionaries({"kind": st.just("sets"), "sets": st.dictionaries(words, lists_of_words, max_size=3)}),
    st.fixed_dictionaries({"kind": st.just("test"), "x": roles, "y": roles, "a": roles, "b": roles}),
    st.fixed_dictionaries({"kind": st.just("stereotypes"), "groups": groups, "eval_targets": lists_of_words}),
    st.fixed_dictionaries(
        {"kind": st.just("values"), "unit": words, "values": st.dictionaries(words, st.floats() | st.integers())}
    ),
    st.fixed_dictionaries({"kind": st.just("translations"), "to": words, "entries": entries}),
    st.fixed_dictionaries(
        {"kind": st.just("seeds"), "seeds": seed_sets, "pairings": st.lists(st.lists(words, max_size=2), max_size=2)}
    ),
)


def _use(data: Mapping[str, object]) -> Lexicon | None:
    with contextlib.suppress(LexiconError):
        return parse_lexicon(data, path="mine.toml")
    return None


@settings(deadline=None)
@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_random_bytes(content: bytes) -> None:
    with contextlib.suppress(LexiconError):
        parse_lexicon(parse_toml(content, "mine.toml"), path="mine.toml")


@settings(deadline=None)
@given(st.sampled_from(KINDS), tables)
def test_random_tables(kind: str, data: dict[str, object]) -> None:
    _use(data)
    _use({**data, "kind": kind})


@settings(deadline=None)
@given(nearly_right)
def test_what_parses_can_be_used_whole(data: dict[str, object]) -> None:
    mine = _use(data)
    if mine is None:
        return
    again = parse_lexicon(mine.to_dict(), path="mine.toml")
    assert again == mine
    assert again.checksum == mine.checksum
    result = check(mine, vocabulary=set(mine.words[:1]))
    lost = {word for one in result.sets for word in one.lost or ()}
    assert lost == set(mine.words[1:])
    json.dumps(result.to_dict())
    assert set(mine.to_frame()["word"]) <= set(mine.words)

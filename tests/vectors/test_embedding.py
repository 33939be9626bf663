"""The `Embedding` object: look-ups, coverage, subsets, what is lost and why."""

from __future__ import annotations

import hashlib
import struct

import numpy as np
import pytest

from biasgauge.errors import ParameterError
from biasgauge.vectors import Embedding, Notice


@pytest.fixture
def embedding() -> Embedding:
    """Five words; a sixth was dropped by whoever read the file."""
    return Embedding(
        ("the", "Mary", "paris", "Paris", "LONDON"),
        np.arange(10, dtype=np.float32).reshape(5, 2),
        name="tiny",
        dropped={"broken": "its vector has NaN or infinity"},
    )


def test_lookup_keeps_the_order_asked_for_and_counts_a_repeated_word_once(embedding: Embedding) -> None:
    found = embedding.lookup(["Paris", "nowhere", "the", "Paris", "nowhere", "Mary"])
    assert found.words == ("Paris", "the", "Mary")
    assert found.rows.tolist() == [3, 0, 1]
    assert dict(found.lost) == {"nowhere": "not in the vocabulary"}
    assert dict(found.respelled) == {}


def test_lookup_reads_an_iterator_once(embedding: Embedding) -> None:
    found = embedding.lookup(word for word in ("the", "lost"))
    assert (found.words, list(found.lost)) == (("the",), ["lost"])


def test_lookup_of_nothing(embedding: Embedding) -> None:
    found = embedding.lookup([])
    assert (found.words, found.rows.tolist(), dict(found.lost)) == ((), [], {})


def test_case_is_not_changed_unless_asked(embedding: Embedding) -> None:
    assert list(embedding.lookup(["The", "mary", "london"]).lost) == ["The", "mary", "london"]


def test_case_fallback_tries_as_written_then_lower_then_capitalized(embedding: Embedding) -> None:
    found = embedding.lookup(["Paris", "PARIS", "THE", "mary", "london", "LONDON"], case_fallback=True)
    assert found.words == ("Paris", "PARIS", "THE", "mary", "LONDON")
    # PARIS: the lower-case spelling comes before the capitalized one, and both are there.
    assert found.rows.tolist() == [3, 2, 0, 1, 4]
    assert dict(found.respelled) == {"PARIS": "paris", "THE": "the", "mary": "Mary"}
    assert dict(found.lost) == {"london": "not in the vocabulary"}


def test_dropped_word_is_lost_for_its_own_reason(embedding: Embedding) -> None:
    assert embedding.why_lost("broken") == "its vector has NaN or infinity"
    assert embedding.why_lost("nowhere") == "not in the vocabulary"
    assert dict(embedding.lookup(["broken"]).lost) == {"broken": "its vector has NaN or infinity"}
    with pytest.raises(KeyError, match="'broken'"):
        embedding["broken"]


def test_coverage_counts(embedding: Embedding) -> None:
    """By hand: 2 of 3, 0 of 1, 1 of 2 distinct words; 3 of 6 over all sets."""
    coverage = embedding.coverage(
        {"first": ["the", "Mary", "lost"], "second": ["broken"], "third": ["the", "gone", "the"]}
    )
    assert (coverage.asked, coverage.found, coverage.share) == (6, 3, 0.5)
    assert coverage.lost == {"first": ("lost",), "second": ("broken",), "third": ("gone",)}
    assert coverage.to_dict() == {
        "asked": 6,
        "found": 3,
        "lost": {"first": ["lost"], "second": ["broken"], "third": ["gone"]},
        "reasons": {"broken": "its vector has NaN or infinity"},
    }
    frame = coverage.to_frame()
    assert frame.to_dict("list") == {
        "set": ["first", "second", "third"],
        "asked": [3, 1, 2],
        "found": [2, 0, 1],
        "share": [2 / 3, 0.0, 0.5],
        "lost": ["lost", "broken", "gone"],
    }


def test_complete_coverage_lists_nothing(embedding: Embedding) -> None:
    coverage = embedding.coverage({"all": ["the", "Mary"]})
    assert coverage.share == 1.0
    assert coverage.to_dict() == {"asked": 2, "found": 2, "lost": {}}


def test_coverage_of_nothing_is_whole(embedding: Embedding) -> None:
    assert embedding.coverage({}).share == 1.0


def test_coverage_records_other_spellings(embedding: Embedding) -> None:
    coverage = embedding.coverage({"names": ["mary", "the"]}, case_fallback=True)
    assert coverage.respelled == {"mary": "Mary"}
    assert coverage.to_dict()["respelled"] == {"mary": "Mary"}


@pytest.mark.parametrize(
    ("share", "short"),
    [
        (0.0, ("none",)),
        (0.5, ("none",)),
        (0.51, ("half", "none")),
        (0.8, ("half", "none")),
        (0.81, ("half", "most", "none")),
    ],
)
def test_sets_that_fall_short(embedding: Embedding, share: float, short: tuple[str, ...]) -> None:
    """A set of which nothing was found falls short of any share, also of none."""
    coverage = embedding.coverage(
        {"half": ["the", "x"], "most": ["the", "Mary", "paris", "Paris", "x"], "none": ["x"], "all": ["the"]}
    )
    assert coverage.short_of(share) == short


def test_words_and_vectors_by_word(embedding: Embedding) -> None:
    assert len(embedding) == 5
    assert embedding.dim == 2
    assert embedding["Paris"].tolist() == [6.0, 7.0]
    assert "Paris" in embedding
    assert "nowhere" not in embedding
    assert embedding.index["LONDON"] == 4


def test_subset_keeps_the_order_of_the_embedding(embedding: Embedding) -> None:
    part = embedding.subset(["Paris", "lost", "the", "Paris"])
    assert part.words == ("the", "Paris")
    assert part.vectors.tolist() == [[0.0, 1.0], [6.0, 7.0]]
    assert (part.name, dict(part.dropped)) == ("tiny", dict(embedding.dropped))


def test_vectors_cannot_be_changed_and_the_array_given_is_left_alone() -> None:
    given = np.ones((2, 2), np.float32)
    embedding = Embedding(("a", "b"), given)
    with pytest.raises(ValueError, match="read-only"):
        embedding.vectors[0, 0] = 5
    assert given.flags.writeable
    assert np.shares_memory(embedding.vectors, given)


@pytest.mark.parametrize("vectors", [np.ones((3, 2)), np.ones(2), np.ones((2, 2, 2))])
def test_words_and_rows_must_agree(vectors: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    with pytest.raises(ParameterError, match="vectors"):
        Embedding(("a", "b"), vectors)


def test_checksum_is_that_of_the_documented_bytes() -> None:
    """SHA-256 over count, width and type, then each word's length and UTF-8, then the numbers, little end first."""
    digest = hashlib.sha256(b"2 2 float32\n")
    for word in ("a", "é"):
        digest.update(struct.pack("<q", len(word.encode())) + word.encode())
    digest.update(struct.pack("<4f", 1, 2, 3, 4))
    rows = np.array([[1, 2], [3, 4]], np.float32)
    assert Embedding(("a", "é"), rows).checksum == digest.hexdigest()
    assert Embedding(("a", "é"), rows.astype(">f4")).checksum == digest.hexdigest()
    assert Embedding(("a", "é"), np.asfortranarray(rows)).checksum == digest.hexdigest()


def test_what_a_notebook_shows_is_escaped() -> None:
    notice = Notice("zero", "zero vectors <script>")
    shown = Embedding(("a",), np.ones((1, 1)), name="<b>", notices=(notice,))._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown
    assert "<b>" not in shown


def test_repr_says_what_it_is(embedding: Embedding) -> None:
    assert repr(embedding) == "<Embedding 'tiny': 5 words × 2, memory>"

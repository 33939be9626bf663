"""Reading and writing CoNLL files: brackets, layouts, errors, and the shared corpora."""

from __future__ import annotations

import gzip
import io
import lzma
import tarfile
import tracemalloc
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.applications.coref import Document, read_conll, write_conll
from biasgauge.applications.coref.conll import conll_lines, parse_conll
from biasgauge.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

ONTONOTES = """\
#begin document (bc/cctv/00/cctv_0000); part 001
bc/cctv/00/cctv_0000   1   0     The   DT  (TOP(NP*   -   -   -   Ann   *   (3|(12
bc/cctv/00/cctv_0000   1   1    cat's   NN       *)   -   -   -   Ann   *   12)
bc/cctv/00/cctv_0000   1   2     tail   NN       *)   -   -   -   Ann   *   3)

bc/cctv/00/cctv_0000   1   0     It   PRP      *)   -   -   -   Bob   *   (3)|(7)
#end document
#begin document (bc/cctv/00/cctv_0000); part 002
bc/cctv/00/cctv_0000   2   0     Hm   UH      *)   -   -   -   Bob   *   -

#end document
"""
ONTOGUM = (
    "# begin document \n0\tMy\t(4(3)\n1\twife\t4)\n2\tslept\t_\n3\t.\t_\n4\tShe\t(4)\n5\tleft\t_\n# end document\n"
)


def parsed(text: str, **how: str) -> list[Document]:
    return list(parse_conll(text, "some.conll", how.pop("stem", "some"), **how))  # type: ignore[arg-type]


def test_ontonotes() -> None:
    first, second = parsed(ONTONOTES)
    assert first.sentences == (("The", "cat's", "tail"), ("It",))
    assert first.clusters == (((0, 1),), ((0, 2), (3, 3)))  # thing 7 has the span that thing 3 had first
    assert (first.name, first.part, first.genre) == ("bc/cctv/00/cctv_0000", 1, "bc")
    assert first.speakers == ("Ann", "Ann", "Ann", "Bob")
    assert first.notices == ("1 of its spans are marked twice, such as words 3 to 3; the first mark counts",)
    assert (second.part, second.words, second.clusters, second.notices) == (2, ("Hm",), (), ())


def test_ontogum_has_no_sentences_and_no_names() -> None:
    (document,) = parsed(ONTOGUM, stem="GUM_fiction_wife")
    assert (document.name, document.genre, document.speakers) == ("GUM_fiction_wife", "fiction", ())
    assert document.sentences == (("My", "wife", "slept", "."), ("She", "left"))
    assert document.clusters == (((0, 0),), ((0, 1), (4, 4)))
    assert document.notices == ("has no empty lines; 2 sentences were made at full stops",)


def test_mentions_of_one_thing_may_nest_and_mentions_of_two_may_cross() -> None:
    lines = [("(1|(1", "a"), ("(2", "b"), ("1)", "c"), ("2)", "d"), ("1)", "e")]
    text = "".join(f"x\t0\t{at}\t{word}\t{cell}\n" for at, (cell, word) in enumerate(lines))
    (document,) = parsed(f"#begin document (x); part 000\n{text}\n#end document\n")
    assert document.clusters == (((0, 2), (0, 4)), ((1, 3),))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("x 0 0 word", "expected 3 columns, or 5 or more. Got 4"),
        (
            "x 0 0 word (1|x)",
            r"the last column must hold brackets such as \(7, 7\) or \(7\), or - for none. Got '\(1|x\)'",
        ),
        ("x 0 0 word 1)", r"1\) ends a mention that has not begun"),
        ("x 0 0 word (1", r"\(1 begins a mention that does not end"),
        ("x\t0\t0\t\t-", "the column of the word is empty"),
        ("#begin document (y); part 000", "a document begins before the last one has ended"),
    ],
)
def test_a_malformed_line_is_named(line: str, problem: str) -> None:
    with pytest.raises(CorpusError, match=rf"^some.conll, line 2: {problem}$"):
        parsed(f"#begin document (x); part 000\n{line}\n#end document\n")


def test_a_cut_file_and_words_outside_documents_are_errors() -> None:
    with pytest.raises(CorpusError, match="document"):
        parsed(ONTONOTES[: ONTONOTES.index("#end")])
    with pytest.raises(CorpusError, match=r"line 1.*document"):
        parsed("x 0 0 word -\n")
    with pytest.raises(CorpusError, match=r"line 1.*document"):
        parsed("#end document\n")


def test_problems_can_be_mended_and_are_told() -> None:
    text = "#begin document (x); part 000\nx\t0\t0\ta\t(1\nx\t0\t1\t\t2)\nx\t0\t2\tb\t(3)\n\n#end document\n"
    (document,) = parsed(text, problems="mend")
    assert document.words == ("a", "_", "b")
    assert document.clusters == (((2, 2),),)
    assert document.notices == (
        'line 3: the column of the word is empty; the word is read as "_"',
        "line 3: 2) ends a mention that has not begun; the bracket was dropped",
        "line 2: (1 begins a mention that does not end; the bracket was dropped",
    )
    with pytest.raises(ParameterError, match="'problems'"):
        read_conll("x", problems="ignore")  # type: ignore[arg-type]


def test_a_name_that_promises_gigabytes_is_not_unpacked(tmp_path: Path) -> None:
    """A megabyte of an archive took a gigabyte of memory before its first member was looked at."""
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 3 * 10**9
    hostile = tmp_path / "long.tar.gz"
    part = gzip.compress(bytes(2**22))
    hostile.write_bytes(gzip.compress(long_name.tobuf(tarfile.GNU_FORMAT)) + 70 * part)
    assert hostile.stat().st_size < 2**20
    tracemalloc.start()
    try:
        with pytest.raises(CorpusError, match="EXPANSION"):
            read_conll(hostile)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 700 * 2**20


def test_files_folders_and_archives(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "b.v4_gold_conll").write_text(ONTONOTES)
    (tmp_path / "in" / "a.conll").write_text(ONTOGUM)
    (tmp_path / "in" / "notes.txt").write_text("not this one")
    found = read_conll(tmp_path / "in")
    assert [one.name for one in found] == ["a", "bc/cctv/00/cctv_0000", "bc/cctv/00/cctv_0000"]
    with tarfile.open(tmp_path / "all.tar.xz", "w:xz") as archive:
        for name in ("in/b.v4_gold_conll", "in/a.conll"):
            archive.add(tmp_path / name, name)
    assert read_conll(tmp_path / "all.tar.xz") == found
    (tmp_path / "one.conll.xz").write_bytes(lzma.compress(ONTONOTES.encode()))
    assert read_conll([tmp_path / "in" / "a.conll", tmp_path / "one.conll.xz"]) == found
    (tmp_path / "empty").mkdir()
    with pytest.raises(CorpusError, match="empty: holds no file whose name ends in 'conll'"):
        read_conll(tmp_path / "empty")
    with pytest.raises(CorpusError, match="there is no such file"):
        read_conll(tmp_path / "absent.conll")
    (tmp_path / "bad.tar").write_bytes(io.BytesIO(b"x" * 600).getvalue())
    with pytest.raises(CorpusError, match="archive"):
        read_conll(tmp_path / "bad.tar")


@st.composite
def documents(draw: st.DrawFn) -> Document:
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    words = draw(st.lists(st.sampled_from(["a", "é", "(", "#", "|7)"]), min_size=sum(lengths), max_size=sum(lengths)))
    sentences, start = [], 0
    for length in lengths:
        sentences.append(tuple(words[start : start + length]))
        start += length
    ends = st.tuples(st.integers(0, start - 1), st.integers(0, start - 1)).map(lambda two: (min(two), max(two)))
    spans = draw(st.lists(ends, max_size=8, unique=True))
    things = [draw(st.integers(0, 2)) for _ in spans]
    clusters = []
    for thing in range(3):
        mine: list[tuple[int, int]] = []
        for span, of in zip(spans, things, strict=True):
            if of == thing and not any(a < span[0] <= b < span[1] or span[0] < a <= span[1] < b for a, b in mine):
                mine.append(span)
        clusters.append(tuple(mine))
    speakers = tuple(draw(st.sampled_from(["Ann", "Bob"])) for _ in range(start)) if draw(st.booleans()) else ()
    return Document("x/1", tuple(sentences), tuple(clusters), draw(st.integers(0, 3)), speakers, "x")


@given(documents())
@settings(max_examples=200, deadline=None)
def test_what_is_written_is_read_again(document: Document) -> None:
    text = "".join(line + "\n" for line in conll_lines(document))
    assert list(parse_conll(text, "x")) == [document]


def test_writing_a_file(tmp_path: Path) -> None:
    one = Document("d", (("a", "b", "c"),), (((0, 0), (1, 2)),))
    write_conll([one, one], tmp_path / "two.conll")
    assert read_conll(tmp_path / "two.conll") == [one, one]
    with pytest.raises(ParameterError, match="mentions"):
        write_conll([one.with_clusters([[(0, 1), (1, 2)]])], tmp_path / "no.conll")
    with pytest.raises(ParameterError, match="cannot hold 'a b'"):
        write_conll([Document("d", (("a b",),))], tmp_path / "no.conll")
    with pytest.raises(ParameterError, match="cannot be called '#d'"):
        write_conll([Document("#d", (("a",),))], tmp_path / "no.conll")
    assert not (tmp_path / "no.conll").exists()


def test_documents_that_cannot_be() -> None:
    with pytest.raises(ParameterError, match="needs at least one word"):
        Document("d", (("a",), ()))
    with pytest.raises(ParameterError, match="mention"):
        Document("d", (("a", "b"),), (((0, 2),),))
    with pytest.raises(ParameterError, match="one comes twice"):
        Document("d", (("a", "b"),), (((0, 0),), ((0, 0), (1, 1))))
    with pytest.raises(ParameterError, match="2 words but 1 speakers"):
        Document("d", (("a", "b"),), speakers=("Ann",))


def test_a_stretch_of_sentences() -> None:
    document = Document(
        "d", (("a", "b"), ("c",), ("d", "e")), (((0, 0), (2, 2)), ((1, 2), (3, 4), (4, 4))), speakers=tuple("vwxyz")
    )
    part = document.sentences_from(1, 2)
    assert part.words == ("c", "d", "e")
    assert part.clusters == (((0, 0),), ((1, 2), (2, 2)))  # (1, 2) began before
    assert part.speakers == ("x", "y", "z")
    assert document.without_singletons().clusters == document.clusters
    assert part.without_singletons().clusters == (((1, 2), (2, 2)),)


@pytest.mark.shared
def test_counts_of_the_shared_corpora(shared_data: Path) -> None:
    # Counted apart with a few lines that know nothing of the reader: words, and brackets that close.
    litbank = read_conll(shared_data / "litbank_coref" / "litbank_coref_conll.tar.xz")
    assert len(litbank) == 100
    assert sum(len(one.words) for one in litbank) == 210_532
    assert sum(len(cluster) for one in litbank for cluster in one.clusters) == 29_103
    assert sum(len(cluster) == 1 for one in litbank for cluster in one.clusters) == 5_763
    assert not any(one.notices for one in litbank)
    archive = shared_data / "ontogum_coref" / "ontogum_conll.tar.xz"
    ontogum = read_conll(archive, problems="mend")
    assert len(ontogum) == 263
    assert sum(len(one.words) for one in ontogum) == 251_725
    # 32,628 mentions, eight of them marked as two things
    assert sum(len(cluster) for one in ontogum for cluster in one.clusters) == 32_620
    assert len({one.genre for one in ontogum}) == 23
    with pytest.raises(CorpusError, match="GENTLE_poetry_road"):
        read_conll(archive)

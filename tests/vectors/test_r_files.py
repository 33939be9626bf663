"""R's files: as the package `rdata` writes and reads them, and as R's documentation lays them out."""

from __future__ import annotations

import gzip
import lzma
import struct
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.errors import CorpusError, EmbeddingFormatError
from biasgauge.io import ByteSource, RProblem, RValue, read_r
from biasgauge.text.r_texts import r_objects
from biasgauge.vectors import load

if TYPE_CHECKING:
    from collections.abc import Sequence

R = Path(__file__).with_name("r")
WORDS = ("the", "naïve", "日本")
MATRIX = np.array([[0.5, -1.25], [3, 1024], [-7, 0.25]])
NULL = struct.pack(">i", 254)
ATTRIBUTES, TAG = 0x200, 0x400


def number(*values: int) -> bytes:
    return struct.pack(f">{len(values)}i", *values)


def text(value: str | None, flags: int = 8 << 12) -> bytes:
    raw = None if value is None else value.encode()
    return number(9 | flags, -1) if raw is None else number(9 | flags, len(raw)) + raw


def strings(values: Sequence[str | None], flags: int = 0) -> bytes:
    return number(16 | flags, len(values)) + b"".join(map(text, values))


def symbol(name: str) -> bytes:
    return number(1) + text(name)


def pairs(**values: bytes) -> bytes:
    return b"".join(number(2 | TAG) + symbol(name) + value for name, value in values.items()) + NULL


def reals(values: Any, flags: int = 0) -> bytes:  # noqa: ANN401 - an array
    return number(14 | flags, np.size(values)) + np.ravel(values, order="F").astype(">f8").tobytes()


def generic(*values: bytes, flags: int = 0) -> bytes:
    return number(19 | flags, len(values)) + b"".join(values)


def matrix_of(words: Sequence[str | None], matrix: Any) -> bytes:  # noqa: ANN401 - an array
    """`matrix(…, dimnames = list(words, NULL))`."""
    names = generic(strings(words), NULL)
    shape = number(13, 2, *matrix.shape)
    return reals(matrix, ATTRIBUTES) + pairs(dim=shape, dimnames=names)


def rds(value: bytes, version: int = 3) -> bytes:
    encoding = number(5) + b"UTF-8" if version == 3 else b""
    return b"X\n" + number(version, 0x040201, 0x030500 if version == 3 else 0x020300) + encoding + value


def rdata(**values: bytes) -> bytes:
    return b"RDX3\n" + rds(pairs(**values))


def altrep(name: str, state: bytes, attributes: bytes = NULL) -> bytes:
    described = number(2) + symbol(name) + number(2) + symbol("base") + number(2) + number(13, 1, 13) + NULL
    return number(238) + described + state + attributes


@pytest.mark.parametrize("name", ["frame.rds", "frame.RData", "rownames.rds"])
def test_files_of_rdata(name: str) -> None:
    found = load(R / name)
    assert (found.format, found.words) == ("r", WORDS)
    np.testing.assert_array_equal(found.vectors, MATRIX)


@pytest.mark.parametrize("name", ["frame.rds", "frame.RData", "rownames.rds"])
def test_rdata_reads_the_same(name: str) -> None:
    package = pytest.importorskip("rdata")
    read = package.read_rda(R / name)["vectors"] if name.endswith("RData") else package.read_rds(R / name)
    np.testing.assert_array_equal(load(R / name).vectors, read[["x", "y"]].to_numpy())


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_matrices_with_row_names(version: int, pack: Any, tmp_path: Path) -> None:  # noqa: ANN401
    path = tmp_path / "v.rds"
    path.write_bytes(pack(rds(matrix_of(WORDS, MATRIX), version)))
    found = load(path)
    assert found.words == WORDS
    assert found.vectors.dtype == np.float64
    np.testing.assert_array_equal(found.vectors, MATRIX)
    assert load(path, words=["日本"]).vectors.tolist() == [[-7, 0.25]]
    assert load(path, limit=2).words == WORDS[:2]


words = st.lists(st.text(st.characters(codec="utf-8"), min_size=1), min_size=1, max_size=6, unique=True)


@given(words=words, dim=st.integers(1, 4), packed=st.booleans())
def test_there_and_back(words: list[str], dim: int, tmp_path_factory: pytest.TempPathFactory, *, packed: bool) -> None:
    path = tmp_path_factory.mktemp("r") / "v"
    matrix = np.random.default_rng(dim).standard_normal((len(words), dim))
    content = matrix_of(words, matrix)
    path.write_bytes(rdata(vectors=content, note=strings(["of mine"])) if packed else rds(content))
    found = load(path)
    assert found.words == tuple(words)
    np.testing.assert_array_equal(found.vectors, matrix)


def test_factors_name_words(tmp_path: Path) -> None:
    levels = pairs(levels=strings(["b", "a"]), **{"class": strings(["factor"])})
    factor = number(13 | ATTRIBUTES, 2, 2, 1) + levels
    kind = pairs(names=strings(["word", "x"]), **{"class": strings(["data.frame"])})
    (tmp_path / "v").write_bytes(rds(generic(factor, reals([1.5, 2]), flags=ATTRIBUTES) + kind))
    found = load(tmp_path / "v")
    assert found.words == ("a", "b")
    assert found.vectors.tolist() == [[1.5], [2]]


def test_compact_forms() -> None:
    ranged = read_r(rds(altrep("compact_intseq", reals([3, 5, 2]))))[""]
    assert list(ranged.values) == [5, 7, 9]
    wrapped = read_r(rds(altrep("wrap_real", generic(reals([1.5, 2]), number(13, 2, 0, 0)))))[""]
    assert wrapped.values.tolist() == [1.5, 2]
    deferred = number(2) + reals([1, 2.5, 1e5, 0.1]) + NULL
    assert read_r(rds(altrep("deferred_string", deferred)))[""].values == ["1", "2.5", "1e+05", "0.1"]


def test_code_is_passed_over_and_never_run() -> None:
    """A formula, a call, an environment and a pointer beside a vector."""
    call = number(6) + symbol("system") + number(2) + strings(["touch executed"]) + NULL
    environment = number(4, 0) + NULL * 4
    pointer = number(22) + NULL * 2
    value = read_r(rds(generic(call, environment, pointer, reals([1.5]))))[""]
    assert value.values[:3] == [None, None, None]
    assert value.values[3].values.tolist() == [1.5]


def test_references_and_encodings() -> None:
    again = number(255 | 1 << 8)
    listed = number(2 | TAG) + symbol("a") + reals([1]) + number(2 | TAG) + again + reals([2]) + NULL
    assert read_r(b"RDX3\n" + rds(listed)).keys() == {"a"}
    latin = number(16, 2) + number(9 | 4 << 12, 1) + b"\xfc" + text(None)
    assert list(read_r(rds(latin))[""].values) == ["ü", None]


def test_texts_are_decoded_one_by_one(tmp_path: Path) -> None:
    """A corpus in `.rds` takes 8 bytes of memory for each text; all texts were in memory at once."""
    path = tmp_path / "texts.rds"
    path.write_bytes(rds(strings(["x" * 1_000] * 20_000)))
    tracemalloc.start()
    with ByteSource(path, error=CorpusError) as source:
        (texts,) = r_objects(source).values()
    assert sum(len(element) for element in texts.values) == 20_000_000
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (rds(number(16, 1) + reals([1])), "no text"),
        (rds(number(16, 1) + number(9, 100)), "cut short"),
        (rds(reals([1, 2])), "expected a numeric matrix"),
        (rds(matrix_of(WORDS, MATRIX[:2])), "3 words for 2 vectors"),
        (rds(matrix_of(["a", None, "b"], MATRIX)), "missing"),
        (rds(strings(["a"])), "expected a numeric matrix"),
        (rdata(a=matrix_of(WORDS, MATRIX), b=matrix_of(WORDS, MATRIX)), "found a, b"),
        (rds(NULL), "expected a numeric matrix"),
        (rds(number(21, 1)), "type 21"),
        (rds(number(14, 2**31 - 1)), "more than the file holds"),
        (rds(number(14, -1, 2**20, 0)), "more than the file holds"),
        (rds(number(16, 2**30)), "more than the file holds"),
        (rds(number(9, 100)), "cut short"),
        (rds(number(255 | 9 << 8)), "damaged"),
        (rds(number(19, 1) * 200 + NULL), "nested deeper"),
        (rds(altrep("mmap_real", NULL)), "compact form"),
        (rds(altrep("compact_intseq", reals([1e300, 1, 1]))), "too long"),
        (b"X\n" + number(3, 0, 0, 2**30), "cut short"),
        (rds(reals(MATRIX, ATTRIBUTES) + pairs(dim=number(13, 2, 3, 2), dimnames=reals([1, 2]))), "expected a numeric"),
        (
            rds(
                reals([1], ATTRIBUTES) + pairs(dim=number(13, 2, 1, 1), dimnames=generic(generic(strings(["a"])), NULL))
            ),
            "expected a numeric",
        ),
        (
            rds(reals([1, 2], ATTRIBUTES) + pairs(dim=reals([np.nan, 2]), dimnames=generic(strings(["a"]), NULL))),
            "expected a numeric",
        ),
        (b"A\n3\n262658\n197888\n5\n", r"R's text form; save it again in R: saveRDS"),
        (b"RDA3\nA\n3\n262658\n", r"R's text form; save it again in R: save\("),
        (b"RDX3\nX\n" + number(3, 0, 0, 0) + reals([1]), "no objects by name"),
    ],
)
def test_other_objects_and_damage_are_one_sentence(content: bytes, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "v").write_bytes(content)
    with pytest.raises(EmbeddingFormatError, match=sentence):
        load(tmp_path / "v")


def test_other_forms_and_versions_are_refused() -> None:
    with pytest.raises(RProblem, match="binary form"):
        read_r(b"A\n3\n")
    with pytest.raises(RProblem, match="version 4"):
        read_r(b"X\n" + number(4, 0, 0))


def test_files_cut_short_or_changed(tmp_path: Path) -> None:
    content = rds(matrix_of(WORDS, MATRIX))
    path = tmp_path / "v.rds"
    for length in range(6, len(content)):
        path.write_bytes(content[:length])
        with pytest.raises(EmbeddingFormatError):
            load(path)
    for place in range(6, len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
        try:
            assert len(load(path)) > 0
        except EmbeddingFormatError as problem:
            assert str(path) in str(problem)  # noqa: PT017 - either outcome is one


def test_a_deferred_range_is_no_bomb() -> None:
    state = number(2) + altrep("compact_intseq", reals([2**31 - 2, 1, 1])) + NULL
    with pytest.raises(RProblem, match="more elements"):
        read_r(rds(altrep("deferred_string", state)))


def test_values_are_views() -> None:
    content = rds(reals(np.arange(1000)))
    value = read_r(content)[""]
    assert isinstance(value, RValue)
    assert np.shares_memory(value.values, np.frombuffer(content, np.uint8))

"""The authors' files, read as they are; whatever is wrong with a file is told with its line."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from biasgauge.analyses.posterior import bayes, distance_table, distances_from_frame, read_distances
from biasgauge.analyses.posterior.table import COLUMNS
from biasgauge.errors import InputError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from biasgauge.analyses.posterior import DistanceTable

HEADER = ",protected_word,word_to_compare,word_class,cosine_distance,cosine_similarity,connection\n"
ROWS = (
    "0,rabbi,greedy,jew_stereotype,0.91,0.09,associated\n"
    "1,rabbi,dirty,muslim_stereotype,0.95,0.05,different\n"
    "2,imam,greedy,jew_stereotype,1.02,-0.02,different\n"
    "3,imam,dirty,muslim_stereotype,0.8,0.2,associated\n"
    "4,imam,walk,human,0.99,0.01,human\n"
    "5,imam,literaly,neutral,-100.0,-100.0,none\n"
    "6,imam,clock,neutral,0.9,0.1,none\n"
    "7,torah,clock,neutral,-100.0,-100.0,none\n"
)


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def writer(text: str | bytes, name: str = "own.csv", *, packed: bool = False) -> Path:
        path = tmp_path / name
        raw = text.encode() if isinstance(text, str) else text
        path.write_bytes(gzip.compress(raw) if packed else raw)
        return path

    return writer


def test_rows_lost_words_and_sentinels(write: Callable[..., Path]) -> None:
    table = read_distances(write(HEADER + ROWS))
    assert table.name == "own"
    assert len(table) == 6
    assert table.without_value == 2
    assert table.lost == {"protected": ("torah",), "neutral": ("literaly",)}
    assert table.words == ("imam", "rabbi")
    assert table.connections == ("associated", "different", "human", "neutral")
    assert table.to_frame().to_dict("records")[0] == {
        "protected_word": "imam",
        "word_to_compare": "dirty",
        "word_class": "muslim_stereotype",
        "connection": "associated",
        "cosine_distance": 0.8,
    }


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n",
        lambda text: text.replace("rabbi,greedy", '"rabbi","greedy"'),
    ],
    ids=["plain", "dos", "mark", "no end", "empty lines", "quotes"],
)
def test_the_same_table_however_it_is_written(
    write: Callable[..., Path],
    change: Callable[[str], str],
    packed: bool,  # noqa: FBT001 - a case
) -> None:
    expected = read_distances(write(HEADER + ROWS))
    found = read_distances(write(change(HEADER + ROWS), "own.csv.gz" if packed else "own.txt", packed=packed))
    assert found.to_frame().equals(expected.to_frame())


def test_columns_may_stand_in_any_order(write: Callable[..., Path]) -> None:
    frame = pd.read_csv(write(HEADER + ROWS), index_col=0)
    path = write(frame[sorted(frame.columns, reverse=True)].to_csv(index=False))
    assert read_distances(path).to_frame().equals(read_distances(write(HEADER + ROWS, "other.csv")).to_frame())


def test_one_number_follows_from_the_other(write: Callable[..., Path]) -> None:
    text = HEADER + "0,imam,dirty,m,-100,0.25,associated\n1,imam,vile,m,,0.5,associated\n2,imam,bad,m,0.7,,associated\n"
    assert read_distances(write(text)).distance.tolist() == [0.7, 0.75, 0.5]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "line 1: has no column 'protected_word'; it has none"),
        ("a,b,c\n1,2,3\n", "has no column 'protected_word'; it has a, b, c"),
        (HEADER, "own: holds no distance"),
        (HEADER + "0,imam,x,m,-100,-100,none\n", "holds no distance but those of lost words"),
        (HEADER + "0,imam,dirty,m,0.8,0.2\n", "line 2: expected 7 fields, found 6"),
        (HEADER + ROWS + "8,imam,soup,n,far,0.2,none\n", "line 10: cosine_distance must be a number; found 'far'"),
        (HEADER + "0,imam,dirty,m,nan,0.2,human\n", "line 2: cosine_distance must be a number; found 'nan'"),
        (HEADER + "0,imam,dirty,m,,,human\n", "line 2: has neither a cosine_distance nor a cosine_similarity"),
        (HEADER + "0,imam,dirty,m,2.5,0.2,human\n", "line 2: a cosine distance lies between 0 and 2; found 2.5"),
        (HEADER + "0,imam,dirty,m,-0.5,0.2,human\n", "line 2: a cosine distance lies between 0 and 2; found -0.5"),
        (HEADER + "0,imam,dirty,m,0.5,0.5,friend\n", "line 2: the connection must be one of associated, different"),
        (HEADER + "0,,dirty,m,0.5,0.5,human\n", "line 2: protected_word must be text; found ''"),
        (HEADER + '0,"imam,dirty,m,0.5,0.5,human\n', "is not separated text"),
        (HEADER + "0," + "x" * 70_000 + ",a,m,0.5,0.5,human\n", "line 2: is longer than 65,536 characters"),
        (b"\xff\xfe\x00\x01\n", "is not UTF-8 text"),
        (b"\x1f\x8b\x08\x00garbage", "the gzip stream is damaged or cut short"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(write: Callable[..., Path], text: str | bytes, sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        read_distances(write(text))
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_cut_gzip_file(write: Callable[..., Path]) -> None:
    whole = gzip.compress((HEADER + ROWS * 200).encode())
    with pytest.raises(InputError, match="damaged or cut short"):
        read_distances(write(whole[: len(whole) // 2]))


def test_a_line_that_unpacks_without_end(write: Callable[..., Path]) -> None:
    with pytest.raises(InputError, match="longer than"):
        read_distances(write(gzip.compress(b"x" * 50_000_000)))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        read_distances(tmp_path / "nowhere.csv")
    with pytest.raises(InputError, match="regular"):
        read_distances(tmp_path)


@pytest.mark.parametrize("place", range(0, 700, 23))
def test_any_damage_gives_a_table_or_one_sentence(write: Callable[..., Path], place: int) -> None:
    raw = bytearray((HEADER + ROWS).encode())
    raw[place % len(raw)] ^= 1 << (place % 8)
    try:
        table = read_distances(write(bytes(raw)))
    except (InputError, ParameterError) as refusal:
        assert "\n" not in str(refusal)  # noqa: PT017 - both outcomes are right
    else:
        assert np.isfinite(table.distance).all()


def test_repeated_rows_count_once_or_as_published(write: Callable[..., Path]) -> None:
    path = write(HEADER + ROWS + ROWS)
    once, often = read_distances(path), read_distances(path, duplicates="keep")
    assert (len(once), once.repeated) == (6, 6)
    assert (len(often), often.repeated) == (12, 6)
    assert "6 rows repeat others exactly and are counted once" in bayes(once, draws=100).warnings
    assert (
        "6 rows repeat others exactly and are counted as often as they stand there" in bayes(often, draws=100).warnings
    )
    with pytest.raises(ParameterError, match="must be one of drop, keep"):
        read_distances(path, duplicates="twice")  # type: ignore[arg-type]


def test_repetition_makes_the_model_overconfident(table: DistanceTable) -> None:
    columns = table.columns()
    rows = list(zip(*(columns[name] for name in COLUMNS), strict=True))
    often = distance_table("often", rows * 3, duplicates="keep")
    assert bayes(distance_table("once", rows * 3)).groups == bayes(table).groups
    tripled, single = (np.array([one.sd for one in bayes(data).words], float) for data in (often, table))
    assert (tripled < 0.9 * single).all()


def test_two_distances_of_the_same_words_are_a_mistake(write: Callable[..., Path]) -> None:
    path = write(HEADER + ROWS + "8,imam,clock,neutral,0.91,0.09,none\n")
    with pytest.raises(ParameterError, match="'imam'"):
        read_distances(path)
    assert len(read_distances(path, duplicates="keep")) == 7


def test_a_frame_is_read_like_a_file(write: Callable[..., Path]) -> None:
    path = write(HEADER + ROWS)
    frame = pd.read_csv(path, index_col=0)
    assert distances_from_frame(frame).to_frame().equals(read_distances(path).to_frame())
    short = frame.drop(columns="cosine_similarity")
    assert distances_from_frame(short).to_frame().equals(read_distances(path).to_frame())
    assert bayes(frame, draws=400).groups == bayes(read_distances(path), draws=400).groups


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda frame: frame.drop(columns="connection"), "a frame of distances needs the column 'connection'"),
        (lambda frame: frame.assign(protected_word=3), "row 1 of the frame: protected_word must be text; found 3"),
        (lambda frame: frame.assign(cosine_distance=np.nan), "row 1 of the frame: cosine_distance must be a number"),
    ],
)
def test_what_is_wrong_with_a_frame(write: Callable[..., Path], change: Any, sentence: str) -> None:  # noqa: ANN401
    frame = change(pd.read_csv(write(HEADER + ROWS), index_col=0))
    with pytest.raises(InputError, match=sentence):
        distances_from_frame(frame)


def test_a_table_needs_no_lexicon_and_vectors_need_one(write: Callable[..., Path]) -> None:
    table = read_distances(write(HEADER + ROWS))
    with pytest.raises(ParameterError, match="needs no lexicon"):
        bayes(table, "religion")
    with pytest.raises(ParameterError, match="Vectors need a lexicon"):
        bayes({"imam": [1.0, 2.0]})


def test_distances_of_one_word(write: Callable[..., Path]) -> None:
    table = read_distances(write(HEADER + ROWS))
    assert table.of_word("rabbi").to_frame()["word_to_compare"].tolist() == ["greedy", "dirty"]
    assert table.of_word("rabbi").words == ("rabbi",)
    with pytest.raises(ParameterError, match="'priest'"):
        table.of_word("priest")

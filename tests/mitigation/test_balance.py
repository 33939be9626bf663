"""Balancing a corpus: exact counts, the published rule, limits, seeds; slow loops over lines are the oracle."""

from __future__ import annotations

import gzip
import math
import tempfile
from collections import Counter
from fractions import Fraction
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasgauge.errors import CorpusError, InputError, LexiconError, ParameterError
from biasgauge.io import file_sha256
from biasgauge.mitigation import balancing_text
from biasgauge.mitigation.balancing import CLASSES as CODES
from biasgauge.mitigation.balancing import balance, plan_removal
from biasgauge.mitigation.balancing_text import copy_without
from biasgauge.text.tokenizers import tokenizer_named

if TYPE_CHECKING:
    from biasgauge.mitigation.balancing import BalanceResult

SETS = {"x": ["he", "man"], "y": ["she"], "a": ["career", "Office"], "b": ["home"]}
# What each line is, by hand: pro 1, pro 2, anti 1, anti 2, mixed, neutral.
LINES = {
    "he has a career": "pro 1",
    "the man of the office": "pro 1",
    "He! Career?": "pro 1",
    "a career man": "pro 1",
    "she is at home": "pro 2",
    "home she went": "pro 2",
    "she made a career": "anti 1",
    "he went home": "anti 2",
    "he and she have a career": "mixed",
    "he has career and home": "mixed",
    "he she": "neutral",
    "home office": "neutral",
    "hero careers": "neutral",
    "": "neutral",
}
CLASSES = ("pro 1", "pro 2", "anti 1", "anti 2", "mixed", "neutral")


def made(tmp_path: Path, lines: list[str], name: str = "corpus.txt") -> Path:
    path = tmp_path / name
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    return path


def kept(result: BalanceResult) -> list[str]:
    return Path(result.path).read_bytes().decode().split("\n")[:-1]


def counts(result: BalanceResult) -> dict[str, tuple[int, int, int]]:
    return {one.name: (one.before, one.removed, one.after) for one in result.classes}


def slow_class(line: str, sets: dict[str, list[str]], split: Any) -> set[str]:  # noqa: ANN401 - a tokenizer
    """All classes of a line, as the paper defines them."""
    tokens = split(line)
    words = {role: {token for word in words for token in split(word)} for role, words in sets.items()}
    has = {role: any(token in words[role] for token in tokens) for role in sets}
    pairs = {"pro 1": ("x", "a"), "pro 2": ("y", "b"), "anti 1": ("y", "a"), "anti 2": ("x", "b")}
    return {name for name, (target, attribute) in pairs.items() if has[target] and has[attribute]}


def released(lines: list[str], sets: dict[str, list[str]], direction: str, *, extreme: bool) -> list[str]:
    """The released rule as METHODS tells it, with a loop over lines: blanks split, case matters, pro before anti."""
    of = [slow_class(line, sets, str.split) for line in lines]
    anti_1, anti_2 = (sum(name in classes for classes in of) for name in ("anti 1", "anti 2"))
    written = []
    pro_1 = pro_2 = 0
    for line, classes in zip(lines, of, strict=True):
        if direction == "overbias":
            if "anti 1" not in classes and "anti 2" not in classes:
                written.append(line)
        elif "pro 1" in classes:
            pro_1 += 1
            if not extreme and pro_1 <= anti_1:
                written.append(line)
        elif "pro 2" in classes:
            pro_2 += 1
            if not extreme and pro_2 <= anti_2:
                written.append(line)
        else:
            written.append(line)
    return written


def single(line: str, split: Any) -> str:  # noqa: ANN401 - a tokenizer
    classes = slow_class(line, SETS, split)
    return classes.pop() if len(classes) == 1 else "mixed" if classes else "neutral"


def test_every_class_by_hand(tmp_path: Path) -> None:
    lines = list(LINES)
    found = balance(made(tmp_path, lines), SETS, out=tmp_path / "out", max_removed=1)
    expected = {name: list(LINES.values()).count(name) for name in CLASSES}
    assert {one.name: one.before for one in found.classes} == expected
    assert counts(found)["pro 1"] == (4, 3, 1)  # one anti 1
    assert counts(found)["pro 2"] == (2, 1, 1)  # one anti 2
    assert (found.lines, found.removed, found.asked, found.limit, found.reached) == (14, 4, 4, 14, 1.0)
    assert [line for line in lines if LINES[line] not in {"pro 1", "pro 2"}] == [
        line for line in kept(found) if LINES[line] not in {"pro 1", "pro 2"}
    ]
    mixed = {one.name: one.mixed_before for one in found.classes}
    # "he and she have a career" is pro 1 and anti 1; "he has career and home" is pro 1 and anti 2.
    assert mixed == {"pro 1": 2, "pro 2": 0, "anti 1": 1, "anti 2": 1, "mixed": None, "neutral": None}
    assert found.classes[0].holds == ("given words", "given words")
    assert found.coverage == {"asked": 6, "found": 6, "lost": {}}


@pytest.mark.parametrize(
    ("direction", "degree", "removed"),
    [
        ("debias", 0, (0, 0, 0, 0)),
        ("debias", 0.29, (29, 5, 0, 0)),  # the surpluses are 100 and 20; parts of a line stay
        ("debias", 0.5, (50, 10, 0, 0)),
        ("debias", 1, (100, 20, 0, 0)),
        ("debias", "max", (110, 25, 0, 0)),
        ("overbias", 0.5, (0, 0, 5, 2)),
        ("overbias", 1, (0, 0, 10, 5)),
        ("overbias", "max", (0, 0, 10, 5)),
    ],
)
def test_degrees(tmp_path: Path, direction: Any, degree: Any, removed: tuple[int, ...]) -> None:  # noqa: ANN401 - literals
    lines = ["he career"] * 110 + ["she career"] * 10 + ["she home"] * 25 + ["he home"] * 5 + ["he she home"] * 7
    found = balance(
        made(tmp_path, lines), SETS, out=tmp_path / "out", direction=direction, degree=degree, max_removed=1
    )
    assert tuple(one.removed for one in found.classes) == (*removed, 0, 0)
    assert [len(kept(found)), found.removed] == [157 - sum(removed), sum(removed)]


def test_a_class_that_is_rarer_already_is_left_alone_and_said(tmp_path: Path) -> None:
    found = balance(
        made(tmp_path, ["he career"] * 3 + ["she career"] * 9 + ["she home"] * 2),
        SETS,
        out=tmp_path / "o",
        max_removed=1,
    )
    assert counts(found)["pro 1"] == (3, 0, 3)
    assert counts(found)["pro 2"] == (2, 2, 0)
    assert found.warnings == ("pro 1 is rarer than anti 1 already (3 lines); nothing of it was removed.",)


def test_the_limit_is_kept_and_shared_in_proportion(tmp_path: Path) -> None:
    lines = ["he career"] * 300 + ["she home"] * 100 + ["nothing"] * 600
    found = balance(made(tmp_path, lines), SETS, out=tmp_path / "out")
    assert (found.removed, found.limit, found.asked) == (50, 50, 400)
    assert (counts(found)["pro 1"][1], counts(found)["pro 2"][1]) == (38, 12)  # 37.5 and 12.5: the first gets the rest
    assert found.reached == 50 / 400
    (warning,) = found.warnings
    assert warning == (
        "Only 50 of the 400 lines that the degree asks for were removed, which is degree 0.125: no more than 50 of "
        "1,000 lines may be removed (max_removed)."
    )
    none = balance(made(tmp_path, lines), SETS, out=tmp_path / "out", max_removed=0)
    assert none.removed == 0
    assert kept(none) == lines


def test_seeds_choose_lines_and_smaller_degrees_choose_among_them(tmp_path: Path) -> None:
    lines = [f"he career {number}" for number in range(400)] + [f"she home {number}" for number in range(300)]
    path = made(tmp_path, lines)

    def gone(**asked: Any) -> set[str]:  # noqa: ANN401 - settings
        return set(lines) - set(kept(balance(path, SETS, out=tmp_path / "out", max_removed=1, **asked)))

    assert gone(degree=0.5) == gone(degree=0.5, random_state=0) != gone(degree=0.5, random_state=1)
    assert len(gone(degree=0.5)) == 350
    assert gone(degree=0.1) < gone(degree=0.5) < gone(degree=0.9)
    earliest = gone(degree=0.5, keep="earliest")
    assert earliest == {f"he career {number}" for number in range(200, 400)} | {
        f"she home {number}" for number in range(150, 300)
    }


def test_the_sample_is_fair() -> None:
    """Each of 20 lines goes in half of 400 draws: a count beyond five standard deviations (50) would be a fault."""
    sets = np.full(20, CODES["pro 1"], np.int64)
    times = np.zeros(20)
    for seed in range(400):
        drawn = plan_removal(
            np.bincount(sets, minlength=16), sets, direction="debias", degree=0.5, keep="random", max_removed=1,
            random_state=seed,
        )  # fmt: skip
        assert drawn.removed.sum() == 10
        times += drawn.removed
    assert np.abs(times - 200).max() < 50


WORDS = ["he", "man", "He", "she", "SHE", "career", "Office", "office", "home", "home.", "x", "—", "he's", "\xa0", "\r"]


@settings(deadline=None, max_examples=120)
@given(
    lines=st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), min_size=1, max_size=30),
    direction=st.sampled_from(["debias", "overbias"]),
    degree=st.one_of(st.just("max"), st.sampled_from([0, 0.25, 0.3, 0.7, 1])),
    share=st.sampled_from([0, 0.05, 0.2, 0.33, 1]),
    tokenizer=st.sampled_from(["words", "whitespace", "lower-whitespace"]),
    ended=st.booleans(),
)
def test_any_corpus_against_a_slow_loop(
    lines: list[str],
    direction: Any,  # noqa: ANN401 - what the drawn values are
    degree: Any,  # noqa: ANN401 - as above
    share: float,
    tokenizer: str,
    *,
    ended: bool,
) -> None:
    split = tokenizer_named(tokenizer).split
    content = "\n".join(lines).encode() + b"\n" * (ended or not lines[-1])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in").write_bytes(content)
        found = balance(
            Path(folder) / "in", SETS, out=Path(folder) / "out", direction=direction, degree=degree, max_removed=share,
            tokenizer=tokenizer,
        )  # fmt: skip
        written = (Path(folder) / "out").read_bytes()
    of = [single(line, split) for line in lines]
    number = {name: of.count(name) for name in CLASSES}
    assert {one.name: one.before for one in found.classes} == number
    targets = ("pro 1", "pro 2") if direction == "debias" else ("anti 1", "anti 2")
    asked = {}
    for name in targets:
        surplus = max(number[name] - number[name.replace("pro", "anti")], 0) if direction == "debias" else number[name]
        asked[name] = number[name] if degree == "max" else math.floor(Fraction(str(degree)) * surplus)
    limit = math.floor(Fraction(str(share)) * len(lines))
    removed = {one.name: one.removed for one in found.classes}
    assert sum(removed.values()) == found.removed == min(limit, sum(asked.values()))
    assert found.asked == sum(asked.values())
    if found.asked <= limit:
        assert {name: removed[name] for name in targets} == asked
    assert all(removed[name] <= asked.get(name, 0) for name in CLASSES)
    before, after = pieces(content), pieces(written)
    walk = iter(before)
    assert all(line in walk for line in after)  # every line that stays is the same bytes, in the same order
    gone = Counter(single(piece.decode(), split) for piece in (Counter(before) - Counter(after)).elements())
    assert gone == Counter(removed)


def pieces(content: bytes) -> list[bytes]:
    """Lines with their line feeds."""
    return [line for line in content.replace(b"\n", b"\n\0").split(b"\0") if line]


@settings(deadline=None, max_examples=120)
@given(
    lines=st.lists(st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join), min_size=1, max_size=30),
    direction=st.sampled_from(["debias", "overbias"]),
    degree=st.sampled_from([1, "max"]),
)
def test_as_published_is_the_released_rule(lines: list[str], direction: Any, degree: Any) -> None:  # noqa: ANN401 - literals
    with tempfile.TemporaryDirectory() as folder:
        path = made(Path(folder), lines)
        found = balance(path, SETS, out=Path(folder) / "out", direction=direction, degree=degree, as_published=True)
        written = kept(found)
    assert written == released(lines, SETS, direction, extreme=degree == "max")
    of = [slow_class(line, SETS, str.split) for line in lines]
    after = [slow_class(line, SETS, str.split) for line in written]
    for one in found.classes[:4]:
        assert one.before + (one.mixed_before or 0) == sum(one.name in classes for classes in of)
        assert one.after + (one.mixed_after or 0) == sum(one.name in classes for classes in after)
    assert (found.removed, found.limit) == (len(lines) - len(written), None)


def test_as_published_by_hand(tmp_path: Path) -> None:
    lines = [
        "she career", "he career first", "He career", "he career second", "he she career home", "she home", "he career",
        "she home last", "he home",
    ]  # fmt: skip
    found = balance(made(tmp_path, lines), SETS, out=tmp_path / "out", as_published=True)
    # anti 1: "she career" and the mixed line; anti 2: the mixed line and "he home". Two lines of each pro class stay;
    # the mixed line is the third of pro 1; "He" is no word of X.
    assert kept(found) == [lines[0], lines[1], lines[2], lines[3], lines[5], lines[7], lines[8]]
    assert found.warnings == (
        (
            "22.2 % of the lines were removed: the paper says that it stayed below 5 %, but its code does not "
            "enforce that."
        ),
    )
    assert found.settings["tokenizer"] == {"name": "whitespace"}
    assert found.settings["max_removed"] is None


@pytest.mark.parametrize("block", [1, 7, 64, 2**17])
@pytest.mark.parametrize("tokenizer", ["words", "whitespace"])
def test_blocks_change_nothing(block: int, tokenizer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    lines = [" ".join(random.choice([*WORDS, "naïve", "…"], size=random.integers(0, 12))) for _ in range(300)]
    path = made(tmp_path, lines)
    asked: dict[str, Any] = {"direction": "overbias", "degree": 0.6, "max_removed": 1, "tokenizer": tokenizer}
    whole = balance(path, SETS, out=tmp_path / "whole", **asked)
    monkeypatch.setattr("biasgauge.text.corpus_reader.READ_BYTES", block)
    parts = balance(path, SETS, out=tmp_path / "parts", **asked)
    assert whole.removed > 5
    assert kept(parts) == kept(whole)
    assert parts.classes == whole.classes


@pytest.mark.parametrize("ending", ["", "\n"])
@pytest.mark.parametrize("block", [1, 7, 64, 2**20])
def test_lines_are_left_out_however_the_file_is_cut(block: int, ending: str, tmp_path: Path) -> None:
    random = np.random.default_rng(6)
    lines = ["é" * int(random.integers(0, 12)) for _ in range(200)]
    removed = np.flatnonzero(random.random(len(lines)) < 0.4)
    path = tmp_path / "text.txt"
    path.write_text("\n".join(lines) + ending, encoding="utf-8")
    written = BytesIO()
    copy_without(path, written, removed, file_sha256(path), None, block)
    ends = ["\n"] * (len(lines) - 1) + [ending]
    stay = [line + end for number, (line, end) in enumerate(zip(lines, ends, strict=True)) if number not in removed]
    assert written.getvalue().decode() == "".join(stay)


def test_words_that_the_tokenizer_breaks_up_are_lost_and_listed(tmp_path: Path) -> None:
    sets = {**SETS, "x": ["he", "vice-president", "nobody"]}
    found = balance(made(tmp_path, ["he career", "she home"]), sets, out=tmp_path / "out")
    assert found.coverage["lost"] == {"x": ["vice-president", "nobody"], "a": ["Office"]}
    assert (found.coverage["asked"], found.coverage["found"]) == (7, 4)
    assert found.coverage["reasons"] == {"vice-president": "the tokenizer makes no single word of it"}


def test_what_to_beware_of_is_said(tmp_path: Path) -> None:
    path = made(tmp_path, ["he career"])
    assert balance(path, SETS, out=tmp_path / "out", max_removed=1).warnings == (
        "No word of the set y (given words) occurs in the corpus.",
        "No word of the set b (given words) occurs in the corpus.",
    )
    shared = {**SETS, "y": ["she", "he"]}
    assert "in both targets or in both attributes" in balance(path, shared, out=tmp_path / "out").warnings[-1]


def test_a_named_test_and_what_its_sets_stand_for(tmp_path: Path) -> None:
    found = balance(made(tmp_path, ["his salary", "her home", "Her wedding"]), "weat6b", out=tmp_path / "out")
    assert [one.holds for one in found.classes[:4]] == [
        ("male terms", "career"), ("female terms", "family"), ("female terms", "career"), ("male terms", "family"),
    ]  # fmt: skip
    assert [one.before for one in found.classes] == [1, 2, 0, 0, 0, 0]
    assert found.lexicon == "weat6b"


def test_result_as_dict_frame_and_page(tmp_path: Path) -> None:
    found = balance(made(tmp_path, list(LINES)), SETS, out=tmp_path / "out", max_removed=1)
    shape = found.to_dict()
    assert (shape["path"], shape["changed"], shape["lines"]) == (str(tmp_path / "out"), 4, {"before": 14, "after": 10})
    assert shape["classes"][0] == {
        "name": "pro 1", "holds": ["given words"] * 2, "before": 4, "after": 1, "removed": 3, "mixed_before": 2,
        "mixed_after": 2,
    }  # fmt: skip
    frame = found.to_frame()
    assert frame["before"].sum() - frame["removed"].sum() == frame["after"].sum() == 10
    assert "4 of 14 lines removed" in found._repr_html_()
    nothing = balance(made(tmp_path, ["x"]), SETS, out=tmp_path / "out").to_dict()
    assert (nothing["reached"], nothing["reason"]) == (None, "the degree asks for no line to be removed")


def test_progress_covers_both_readings(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    path = made(tmp_path, ["he career"] * 1000)
    balance(path, SETS, out=tmp_path / "out", progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (20_000, 20_000)
    assert {total for _, total in told} == {20_000}
    assert told == sorted(told)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"direction": "up"}, "The 'direction' parameter must be one of debias, overbias. Got 'up'."),
    ({"keep": "last"}, "The 'keep' parameter must be one of random, earliest. Got 'last'."),
    ({"degree": 1.5}, "The 'degree' parameter must be from 0 to 1, or \"max\". Got 1.5."),
    ({"degree": math.nan}, "must be from 0 to 1"),
    ({"degree": True}, "must be from 0 to 1"),
    ({"degree": 0.5, "as_published": True}, 'must be 1 or "max": the released code has no others. Got 0.5.'),
    ({"max_removed": 5}, "The 'max_removed' parameter must be a number from 0 to 1. Got 5."),
    ({"random_state": -1}, "The 'random_state' parameter must be a whole number of at least 0. Got -1."),
    ({"tokenizer": "wrods"}, "Did you mean 'words'?"),
    ({"layout": "line"}, "Did you mean 'lines'?"),
    ({"lexicon": {"x": ["a"]}}, "must give the sets x, y, a and b. Got x."),
    (
        {"lexicon": "occ16"},
        "The lexicon 'occ16' is of kind 'words'; balancing needs kind 'test', sets with treatments, or four sets.",
    ),
    ({"lexicon": {**SETS, "a": ["a-b", "c d"]}}, "makes no single word of any word of the set a of given words"),
]


@pytest.mark.parametrize(("asked", "sentence"), BAD, ids=[sentence[:40] for _, sentence in BAD])
def test_impossible_arguments(asked: dict[str, Any], sentence: str, tmp_path: Path) -> None:
    asked = {"lexicon": SETS, **asked}
    with pytest.raises(ParameterError) as caught:
        balance(made(tmp_path, ["he career"]), out=tmp_path / "out", **asked)
    assert sentence in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_files_that_cannot_be_used(tmp_path: Path) -> None:
    path = made(tmp_path, ["he career"])
    with pytest.raises(LexiconError, match="there is no lexicon named 'weat66'"):
        balance(path, "weat66", out=tmp_path / "out")
    with pytest.raises(InputError, match=r"corpus\.txt: is an input, which is never overwritten"):
        balance(path, SETS, out=tmp_path / ".." / tmp_path.name / "corpus.txt")
    with pytest.raises(CorpusError, match="there is no such file"):
        balance(tmp_path / "absent", SETS, out=tmp_path / "out")
    with pytest.raises(CorpusError, match="is a folder; balance its files one by one"):
        balance(tmp_path, SETS, out=tmp_path / "out")
    with pytest.raises(InputError, match="nowhere"):
        balance(path, SETS, out=tmp_path / "nowhere" / "out")
    for content, sentence in (
        (b"", "holds no lines"),
        (b"fine\nnot \xff fine\n", r"line 2: is not UTF-8 \(byte 0xff\)"),
        (b"fine\n\n\0\n", "line 3: looks like a binary file"),
        ("he".encode("utf-16"), "is UTF-16 text"),
        (gzip.compress(b"he career\n" * 999)[:-9], "the gzip stream is damaged or cut short"),
    ):
        path.write_bytes(content)
        with pytest.raises(CorpusError, match=sentence):
            balance(path, SETS, out=tmp_path / "out")
    assert [file.name for file in tmp_path.iterdir()] == ["corpus.txt"]


def test_a_line_that_cannot_be_held_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasgauge.text.corpus_reader.READ_BYTES", 10)
    monkeypatch.setattr(balancing_text, "LONGEST_RECORD", 100)
    with pytest.raises(CorpusError, match="more than 100 bytes"):
        balance(made(tmp_path, ["he career " * 20]), SETS, out=tmp_path / "out")


def test_a_file_that_grows_meanwhile_is_noticed(tmp_path: Path) -> None:
    path = made(tmp_path, ["he career"] * 9)

    told = []

    def grow(done: int, total: int) -> None:
        told.append(done)
        if told == [total // 2] * 2:  # the end of the first reading: a block, and the end of the file
            with path.open("ab") as file:
                file.write(b"more\n")

    with pytest.raises(CorpusError, match=r"corpus\.txt: changed while it was read"):
        balance(path, SETS, out=tmp_path / "out", progress=grow)
    assert not (tmp_path / "out").exists()

"""What `biasgauge extrinsic` says of data that cannot be used: one sentence, no traceback, or a reason in the table."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge.cli.entry import run
from biasgauge.vectors import Embedding, save

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("good", "bad", "day", "night", "tree", "house", "The", "nurse", "saw", "her", ".")
SENTENCE = "{name}\t0\t{at}\t{word}\tX\t-\t-\t-\t-\t-\t{mark}\n"


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    matrix = np.random.default_rng(0).standard_normal((len(WORDS), 6)).astype(np.float32)
    return save(Embedding(WORDS, matrix), tmp_path / "vectors.bin")


def texts(folder: Path, labels: tuple[str, ...] = ("toxic", "fine"), words: tuple[str, ...] = WORDS[:6]) -> Path:
    """Texts whose label follows nothing; only men are called toxic."""
    random = np.random.default_rng(1)
    rows = []
    for at in range(160):
        group = "men" if at % 2 else "women"
        label = labels[0] if group == "men" and at % 4 == 1 else labels[-1]
        rows.append(f"{' '.join(random.choice(words, 5))},{label},{group}")
    path = folder / "texts.csv"
    path.write_text("\n".join(["text,label,group", *rows, ""]))
    return path


def conll(folder: Path, winobias: bool = True) -> Path:  # noqa: FBT001, FBT002 - with or without
    """Six documents of one sentence, and WinoBias of the same sentence."""
    data = folder / "conll"
    data.mkdir()
    marks = ("-", "(0)", "-", "(0)", "-")

    def written(name: str) -> str:
        lines = [SENTENCE.format(name=name, at=at, word=WORDS[6 + at], mark=marks[at]) for at in range(5)]
        return f"#begin document ({name}); part 000\n{''.join(lines)}\n#end document\n"

    for at in range(6):
        (data / f"d{at}.conll").write_text(written(f"d{at}"))
    for kind in "12" if winobias else "":
        for version in ("pro", "anti"):
            (data / f"test_type{kind}_{version}_stereotype.v4_auto_conll").write_text(written("nw/1"))
    return data


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert run(["extrinsic", *map(str, words), "--set", "epochs=1", "--set", "resamples=100"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    return said


def test_a_group_without_positives_has_no_recall(
    vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [
        "csv",
        "--vectors",
        str(vectors),
        "--data",
        str(texts(tmp_path)),
        "--set",
        "epochs=1",
        "--set",
        "resamples=100",
    ]
    assert run(["extrinsic", *asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    (recall,) = [one for one in found["gaps"] if (one["metric"], one["of"]) == ("recall", "toxic")]
    assert (recall["value"], recall["interval"]) == (None, None)
    assert recall["reason"] == "nothing in group 'women' is labeled 'toxic'"
    (known,) = [one for one in found["gaps"] if one["metric"] == "accuracy"]
    assert known["value"] is not None
    assert run(["extrinsic", *asked]) == 0
    assert "undefined: nothing in group 'women' is labeled 'toxic'" in capsys.readouterr().out


def test_one_label_cannot_be_learned(vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "csv", "--vectors", vectors, "--data", texts(tmp_path, ("fine",)))
    assert "training texts are labeled 'fine'" in said


def test_vectors_without_a_word_of_the_texts(vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "csv", "--vectors", vectors, "--data", texts(tmp_path, words=("qq", "zz")))
    assert "have none of the 2 different words of csv; are they of another language" in said


def test_a_line_that_is_no_conll_is_named(vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = conll(tmp_path)
    (data / "e.conll").write_text("#begin document (e); part 000\ne\t0\t0\tThe\n#end document\n")
    said = refused(capsys, "coref", "--vectors", vectors, "--data", data)
    assert f"{data / 'e.conll'}, line 2: expected 3 columns, or 5 or more. Got 4" in said


def test_coreference_without_winobias_or_vectors(
    vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = conll(tmp_path, winobias=False)
    said = refused(capsys, "coref", "--vectors", vectors, "--data", data)
    assert "holds no file test_type1_pro_stereotype….conll; the folder of WinoBias is needed" in said
    none = save(Embedding(("qq", "zz"), np.ones((2, 3), np.float32)), tmp_path / "none.bin")
    (tmp_path / "more").mkdir()
    said = refused(capsys, "coref", "--vectors", none, "--data", conll(tmp_path / "more"))
    assert "has none of the 5 different words of the task's documents; is it for another language?" in said


def test_a_model_that_resolves_nothing_is_no_good_news(
    vectors: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = [
        "coref",
        "--vectors",
        str(vectors),
        "--data",
        str(conll(tmp_path)),
        "--set",
        "epochs=1",
        "--set",
        "resamples=100",
    ]
    assert run(["extrinsic", *asked, "--figures", str(tmp_path / "figures"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert any(
        "CoNLL F1 is 0.00: models that resolve next to nothing show no gap either" in one for one in found["warnings"]
    )
    assert "of the links of WinoBias at most 0 % (test 1) and 0 % (test 2) are found" in found["warnings"][-1]
    assert {one["metric"] for one in found["metrics"]} >= {"precision", "recall", "f1", "linked"}
    assert all({"value", "interval", "reason"} <= one.keys() for one in found["gaps"])
    assert (tmp_path / "figures" / "task_gaps.svg").is_file()

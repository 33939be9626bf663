"""The worked example of docs/howto/covariates.md, run on the files that R would write, where the data are at hand."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.vectors.test_r_files import ATTRIBUTES, generic, matrix_of, number, pairs, rds, reals, strings

if TYPE_CHECKING:
    from pathlib import Path


def write_as_r_does(folder: Path, target: Path) -> None:
    """Write the sample, its vectors and its transformation as `saveRDS` would."""
    with (folder / "congress_sample.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    names = ["party", "gender", "nominate_dim1"]
    columns = [strings([row[name] for row in rows]) for name in names[:2]]
    columns.append(reals(np.array([float(row["nominate_dim1"]) for row in rows])))
    labels = pairs(names=strings(names), row_names=number(13, 2, -(2**31), -len(rows)))
    frame = generic(*columns, flags=ATTRIBUTES) + labels.replace(b"row_names", b"row.names")
    # A corpus of quanteda: a character vector with its variables beside it.
    corpus = strings([row["text"] for row in rows], ATTRIBUTES) + pairs(docvars=add_class(frame, "data.frame"))
    (target / "congress.rds").write_bytes(rds(corpus))
    arrays = np.load(folder / "glove_500x300_and_transform.npz")
    (target / "glove.rds").write_bytes(rds(matrix_of(arrays["words"].tolist(), arrays["vectors"])))
    shape = number(13, 2, *arrays["transform"].shape)
    (target / "A.rds").write_bytes(rds(reals(arrays["transform"], ATTRIBUTES) + pairs(dim=shape)))


def add_class(frame: bytes, name: str) -> bytes:
    """Set a class in front of the other attributes, whose list a NULL ends."""
    assert frame.endswith(pairs())
    return frame[: -len(pairs())] + pairs(**{"class": strings([name])})


@pytest.mark.shared
def test_the_example_runs_and_gives_the_printed_numbers(
    shared_data: Path, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_as_r_does(shared_data / "context_congress", tmp_path)
    page = (repository / "docs" / "howto" / "covariates.md").read_text(encoding="utf-8")
    block = re.search(r"```python not run: needs the three files[^\n]*\n(.*?)```", page, re.DOTALL)
    assert block is not None
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    code = block[1].replace("window=6,", "window=6, permutations=19,")  # as few draws as give an error rate
    exec(compile(code, "docs/howto/covariates.md", "exec"), names)  # noqa: S102 - our own page
    first = names["congress"]("immigration ~ party + gender")
    printed = re.findall(r"^\| (\w+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| (\d+) \|$", page, re.MULTILINE)
    assert [row.term for row in first.terms] == [row[0] for row in printed] == ["party_R", "gender_M"]
    for row, (_, *numbers, n) in zip(first.terms, printed, strict=True):
        assert [f"{value:.6f}" for value in (row.norm2, row.norm2_bias, row.norm2_corrected)] == numbers
        assert row.n == int(n)
    assert names["left"].shape == names["right"].shape == (300,)
    assert names["fit"].verdicts[0].decision

"""Checksums against the published ones of SHA-256, and what counts in a folder."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from biasgauge.io.checksums import file_sha256, folder_files, path_sha256

if TYPE_CHECKING:
    from pathlib import Path

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
"""Of "abc": the first example of FIPS 180-2."""


def test_a_file_has_the_published_checksum(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"abc")
    assert file_sha256(file) == path_sha256(file) == ABC


def test_a_folder_counts_names_and_bytes_not_places_or_times(tmp_path: Path) -> None:
    one = tmp_path / "one"
    (one / "in").mkdir(parents=True)
    (one / "in" / "b").write_bytes(b"abc")
    (one / "a").write_bytes(b"")
    other = shutil.copytree(one, tmp_path / "two" / "deep")
    os.utime(other / "a", (0, 0))
    (other / ".hidden").write_bytes(b"left by a tool")
    assert folder_files(other) == ["a", "in/b"]
    assert path_sha256(one) == path_sha256(other)
    (other / "in" / "b").rename(other / "in" / "c")
    assert path_sha256(one) != path_sha256(other)


def test_a_byte_more_in_one_file_and_less_in_the_next_is_another_folder(tmp_path: Path) -> None:
    for name, first, second in (("one", b"ab", b"c"), ("two", b"a", b"bc")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_bytes(first)
        (tmp_path / name / "y").write_bytes(second)
    assert path_sha256(tmp_path / "one") != path_sha256(tmp_path / "two")

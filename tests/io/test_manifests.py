"""A file of ours says its own checksum: a single altered bit is found, and files of earlier versions are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from biasgauge._io.manifests import OWN, manifest_text, read_manifest, read_record
from biasgauge.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = {"format": "things 1", "words": ["nurse", "Ärztin", 'a "b"'], "sizes": {"1": 2.5}, "empty": {}}


@pytest.mark.parametrize("indent", [None, 1])
def test_every_bit_of_it_counts(indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "things.json"
    text = manifest_text(CONTENT, indent=indent)
    sound = text.encode()
    path.write_bytes(sound)
    assert json.loads(text) == {**CONTENT, OWN: json.loads(text)[OWN]}
    assert read_manifest(path, "things 1", absent="{}", again="make it again") == CONTENT
    assert read_record(path, again="make it again") == CONTENT
    name = sound.index(OWN.encode())
    for place in range(len(sound)):
        for bit in (0x01, 0x04):
            path.write_bytes(sound[:place] + bytes([sound[place] ^ bit]) + sound[place + 1 :])
            if name <= place < name + len(OWN):  # another key: then nobody says what the checksum should be
                record = read_record(path, again="make it again")
                assert {key: record[key] for key in CONTENT} == CONTENT
                continue
            with pytest.raises(InputError, match=r"things\.json: is damaged .*; make it again"):
                read_record(path, again="make it again")


def test_earlier_versions_wrote_none(tmp_path: Path) -> None:
    path = tmp_path / "things.json"
    path.write_text(json.dumps(CONTENT))
    assert read_manifest(path, "things 1", absent="{}", again="again") == CONTENT
    assert read_record(path, again="again") == CONTENT


@pytest.mark.parametrize("content", ["[]", "1", "{", '{"own_sha256": 1}', '{"a": 1, "own_sha256": "0a"}'])
def test_what_is_none(content: str, tmp_path: Path) -> None:
    path = tmp_path / "things.json"
    path.write_text(content)
    with pytest.raises(InputError, match="is damaged"):
        read_record(path, again="again")


def test_the_checksum_stands_for_nothing_else(tmp_path: Path) -> None:
    """A text that looks like the key does not take its place."""
    path = tmp_path / "things.json"
    tricky = {"format": "things 1", "a": f'", "{OWN}": "{"0" * 64}"' + "}"}
    path.write_text(manifest_text(tricky))
    assert read_record(path, again="again") == tricky
    assert manifest_text({**tricky, OWN: "old"}) == manifest_text(tricky)

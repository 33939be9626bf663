"""A file of ours says its own checksum: a single altered bit is found, and files of earlier versions are read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from biasgauge import weat
from biasgauge.analyses.calibrate import DEFAULT_CALIBRATION, load_calibration, load_default_calibration
from biasgauge.applications.task import read_task
from biasgauge.errors import InputError
from biasgauge.io.json_file import CHECKSUM_KEY, manifest_text, read_manifest, read_record, read_saved
from biasgauge.results import Stored
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from pathlib import Path

CONTENT = {"format": "things 1", "words": ["nurse", "Ärztin", 'a "b"'], "sizes": {"1": 2.5}, "empty": {}}


@pytest.mark.parametrize("indent", [None, 1])
def test_every_bit_of_it_counts(indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "things.json"
    text = manifest_text(CONTENT, indent=indent)
    sound = text.encode()
    path.write_bytes(sound)
    assert json.loads(text) == {**CONTENT, CHECKSUM_KEY: json.loads(text)[CHECKSUM_KEY]}
    assert read_manifest(path, "things 1", absent="{}", again="make it again") == CONTENT
    assert read_record(path, again="make it again") == CONTENT
    name = sound.index(CHECKSUM_KEY.encode())
    for place in range(len(sound)):
        for bit in (0x01, 0x04):
            path.write_bytes(sound[:place] + bytes([sound[place] ^ bit]) + sound[place + 1 :])
            if name <= place < name + len(CHECKSUM_KEY):  # another key: then nobody says what the checksum should be
                record = read_record(path, again="make it again")
                assert {key: record[key] for key in CONTENT} == CONTENT
                continue
            with pytest.raises(InputError, match="damaged"):
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
    tricky = {"format": "things 1", "a": f'", "{CHECKSUM_KEY}": "{"0" * 64}"' + "}"}
    path.write_text(manifest_text(tricky))
    assert read_record(path, again="again") == tricky
    assert manifest_text({**tricky, CHECKSUM_KEY: "old"}) == manifest_text(tricky)


def test_a_result_that_was_saved_says_its_checksum(tmp_path: Path) -> None:
    """What a result is read from was compared with nothing: one digit more in an interval went unnoticed."""
    words = tuple("abcdefgh")
    model = Embedding(words, np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32))
    tested = weat(model, x=["a", "b"], y=["c", "d"], a=["e", "f"], b=["g", "h"])
    path = tested.save(tmp_path / "weat.json")
    content = json.loads(path.read_text())
    assert list(content)[-1] == CHECKSUM_KEY
    assert read_saved(path) == tested.to_dict() == {key: content[key] for key in content if key != CHECKSUM_KEY}
    for back in (type(tested).from_dict(content), Stored.from_dict(content)):  # plain JSON, as users read it
        assert back.to_dict() == tested.to_dict()
        assert back.save(tmp_path / "again.json").read_bytes() == path.read_bytes()
    sound = path.read_text()
    path.write_text(sound.replace('"p_value": 0.', '"p_value": 0.0', 1))
    with pytest.raises(InputError, match="damaged"):
        read_saved(path)
    del content[CHECKSUM_KEY]
    path.write_text(json.dumps(content))
    assert read_saved(path) == tested.to_dict()
    assert read_saved(DEFAULT_CALIBRATION)["curves"]


def test_calibrations_and_tasks_that_were_altered_are_refused(tmp_path: Path) -> None:
    path = load_default_calibration().save(tmp_path / "calibration.json")
    assert load_calibration(path).to_dict() == load_default_calibration().to_dict()
    path.write_text(path.read_text().replace('"level": 0.95', '"level": 0.90', 1))
    with pytest.raises(InputError, match="calibration"):
        load_calibration(path)
    task = tmp_path / "task.json"
    task.write_text(manifest_text({"task": "a"}).replace('"a"', '"b"'))
    with pytest.raises(InputError, match="checksum"):
        read_task(task)

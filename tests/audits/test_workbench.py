"""The workbench's page: its words, their rounding, what it says of itself; the browser's numbers are in tests/e2e."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from html import unescape
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge import audits
from biasgauge.audits.browser.quantizing import largest_cosine_error, quantize
from biasgauge.cli.entry import run
from biasgauge.core import word_families
from biasgauge.errors import LexiconError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def workbench() -> audits.Workbench:
    return bg.workbench(words=3_000)


def element(page: str, name: str) -> bytes:
    """An element of the page, unpacked."""
    (content,) = re.findall(rf'<script type="text/plain" id="{name}">([^<]*)</script>', page)
    return zlib.decompress(base64.b64decode(content))


@pytest.mark.parametrize("bits", [8, 16])
def test_rounding_moves_no_entry_by_more_than_half_a_step(bits: int) -> None:
    random = np.random.default_rng(bits)
    vectors = random.standard_normal((200, 30)) * random.lognormal(sigma=3, size=(200, 1))
    rounded = quantize(vectors, bits)
    largest = 2 ** (bits - 1) - 1
    assert np.abs(rounded.integers.astype(int)).max() == largest
    step = np.abs(vectors).max(axis=1, keepdims=True) / largest
    assert (np.abs(rounded.vectors - vectors) <= step * 0.5001).all()


def test_the_error_of_rounding_is_that_of_cosines() -> None:
    vectors = np.random.default_rng(0).standard_normal((40, 10))
    rounded = quantize(vectors, 8).vectors
    unit, unit_rounded = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (vectors, rounded))
    # 100,000 random pairs of 40 words are all pairs.
    assert largest_cosine_error(vectors, rounded) == pytest.approx(
        np.abs(unit @ unit.T - unit_rounded @ unit_rounded.T).max(), abs=1e-12
    )


def test_the_page_has_what_the_result_has(workbench: audits.Workbench, tmp_path: Path) -> None:
    page = workbench.save(tmp_path / "words.html").read_text(encoding="utf-8")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["words.html"]
    lists, numbers = json.loads(element(page, "lists")), element(page, "numbers")
    assert tuple(lists["words"]) == workbench.embedding.words
    count, dim, knots = workbench.words, workbench.dim, lists["knots"]
    assert len(numbers) == 8 * (count + knots + knots * dim) + 4 * count + 2 * count * dim
    vectors = np.frombuffer(numbers[-2 * count * dim :], "<i2").reshape(count, dim)
    scales = np.frombuffer(numbers[-2 * count * dim - 4 * count : -2 * count * dim], "<f4")
    assert np.array_equal(vectors * scales.astype(np.float64)[:, None], workbench.embedding.vectors)
    log = workbench.embedding.log_frequencies("en")
    assert log is not None
    assert np.array_equal(np.frombuffer(numbers[: 8 * count], "<f8"), log.values)


def test_the_page_loads_and_sends_nothing_and_holds_no_path(workbench: audits.Workbench) -> None:
    page = workbench.page()
    assert "default-src 'none'" in unescape(page[:2_000])
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))
    assert "https://" not in page
    assert str(workbench.settings["source"]) not in page + element(page, "lists").decode()


def test_spellings_of_the_page_make_the_families_of_python(workbench: audits.Workbench) -> None:
    lists = json.loads(element(workbench.page(), "lists"))
    spellings = {row: set(numbers) for row, numbers in lists["families"]}
    words = workbench.embedding.words
    row = {word: number for number, word in enumerate(words)}
    pairs = [("woman", "women"), ("write", "writing"), ("honor", "honour"), ("king", "queen"), ("man", "woman")]
    shared = [
        bool(spellings.get(row[one], set()) & spellings.get(row[two], set()))
        for one, two in pairs
        if one in row and two in row
    ]
    families = [word_families([one, two]) for one, two in pairs if one in row and two in row]
    assert shared == [one == two for one, two in families]
    assert set(shared) == {True, False}


def test_vectors_of_a_part_have_frequencies_of_all(workbench: audits.Workbench) -> None:
    model = bg.vectors.load_default()
    whole, part = model.log_frequencies("en"), workbench.embedding.log_frequencies("en")
    assert whole is not None
    assert part is not None
    assert np.array_equal(part.values, whole.values[model.lookup(workbench.embedding.words).rows])
    means, whole_means = workbench.embedding.frequency_means("en"), model.frequency_means("en")
    assert means is not None
    assert whole_means is not None
    assert np.array_equal(means.means, whole_means.means)


def test_fewer_bits_err_more(workbench: audits.Workbench) -> None:
    coarse = bg.workbench(words=1_000, bits=8)
    assert workbench.quantization_error < coarse.quantization_error < 0.02
    assert workbench.contrast_error is not None
    assert workbench.contrast_error < 1e-5


def test_json_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "words.html"
    assert run(["workbench", "--words", "500", "--smallest", "0.05", "--out", str(out), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["path"] == str(out)
    assert content["words"] == 500
    assert content["smallest"] == 0.05
    assert 0 < content["quantization_error"] < 1e-4


def test_own_lexicons_come_first(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    lists = {"x": ["nurse", "maid"], "y": ["engineer", "plumber"], "a": ["she", "her"], "b": ["he", "him"]}
    text = 'name = "mine"\nkind = "test"\n' + "".join(
        f'[{role}]\nname = "{role}"\nwords = {json.dumps(words)}\n' for role, words in lists.items()
    )
    file.write_text(text)
    workbench = bg.workbench(words=60, lexicons=[file])
    assert workbench.lexicons[0].name == "mine"
    assert {word for words in lists.values() for word in words} <= set(workbench.embedding.words)


def test_a_language_without_tests_and_vectors_without_frequencies() -> None:
    random = np.random.default_rng(1)
    words = tuple(f"wort{number}" for number in range(300))
    vectors = bg.Embedding(words, random.standard_normal((300, 8)))
    workbench = bg.workbench(vectors, language="de")
    assert workbench.frequency is None
    assert workbench.contrast_error is None
    assert json.loads(element(workbench.page(), "lists"))["knots"] == 0


def test_a_zero_vector_stays_zero() -> None:
    vectors = np.eye(3)
    vectors[1] = 0
    workbench = bg.workbench(bg.Embedding(("a", "b", "c"), vectors))
    assert not np.asarray(workbench.embedding.vectors)[1].any()


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"bits": 12}, "The 'bits' parameter of workbench must be 8 or 16. Got 12."),
        ({"words": 1}, "The 'words' parameter must be a whole number of at least 2. Got 1."),
        ({"smallest": 0}, "smallest"),
        ({"language": "xx"}, "xx"),
    ],
)
def test_bad_settings_get_one_sentence(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises((ParameterError, LexiconError), match=re.escape(sentence)) as caught:
        bg.workbench(**settings)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)


def test_vectors_of_one_word_are_too_few() -> None:
    with pytest.raises(ParameterError, match="two words"):
        bg.workbench(bg.Embedding(("nurse",), np.ones((1, 3))))


def test_only_a_page_can_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["workbench", "--out", str(tmp_path / "words.txt")]) == 2
    assert "is a page, FILE.html" in capsys.readouterr().err


def test_the_page_of_an_audit_has_one_inside(tmp_path: Path) -> None:
    audit = bg.audit(bg.vectors.load_default(), lexicons=["weat7"], workbench=True)
    page = audit.save(tmp_path / "report.html").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.glob("*.html")] == ["report.html"]
    assert 'href="#workbench"' in page
    inside = element(page, "tab-workbench").decode()
    assert inside == audit.workbench.page()  # type: ignore[union-attr]
    policy = unescape(page[:2_000])
    for script in re.findall(r"<script>(.*?)</script>", inside, re.DOTALL):
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy
    assert audit.workbench is not None
    (equivalence,) = (piece for piece in audit.verdicts[0].evidence if piece.rule == "equivalence")
    assert audit.workbench.smallest == equivalence.threshold
    assert audit.workbench.words == 10_000
    assert "workbench" not in audit.to_dict()
    assert "tab-workbench" not in bg.audit(bg.vectors.load_default(), lexicons=["weat7"]).page()


def test_an_audit_of_its_vectors_decides_as_an_audit_of_the_file(workbench: audits.Workbench) -> None:
    """The rounded vectors lead to the decisions that the file leads to, and to its contrasts."""
    tests = ["weat1", "weat6b", "weat7", "weat8"]
    rules = audits.Rules(smallest=workbench.smallest)
    page = bg.workbench(words=12_000).embedding
    decisions = [
        bg.audit(vectors, lexicons=tests, rules=rules).verdicts for vectors in (page, bg.vectors.load_default())
    ]
    for rounded, whole in zip(*decisions, strict=True):
        assert rounded.decision == whole.decision
        assert rounded.contrast.value == pytest.approx(whole.contrast.value, abs=5e-6)

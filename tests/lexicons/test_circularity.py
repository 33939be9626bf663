"""Lists that were made from the vectors that they measure: told again however these are stored, and from others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from biasgauge.core import Query
from biasgauge.errors import LexiconError
from biasgauge.lexicons import (
    AssociationTest,
    Lexicon,
    Provenance,
    WordSet,
    circularity,
    lexicon,
    parse_lexicon,
    record_neighbors,
    show_lexicon,
    words_of,
)
from biasgauge.mitigation import expand_lexicon
from biasgauge.vectors import Embedding, load

WORDS = tuple(f"w{number}" for number in range(60))
TEST = AssociationTest(
    name="small", x=WordSet("x", ("w0", "w1")), y=WordSet("y", ("w2", "w3")), a=WordSet("a", ("w4", "w5")),
    b=WordSet("b", ("w6", "w7")),
)  # fmt: skip


def model(seed: int, **fields: object) -> Embedding:
    vectors = np.random.default_rng(seed).normal(size=(len(WORDS), 20)).astype(np.float32)
    return replace(Embedding(WORDS, vectors, name=f"model {seed}"), **fields)  # type: ignore[arg-type]


def verdict_on(made: Lexicon, *models: Embedding) -> tuple[bool | None, str]:
    answer = circularity(Query.from_lexicon(made), models)
    assert answer is not None
    return answer


def expanded(tmp_path: Path, source: Embedding, base: AssociationTest = TEST) -> Lexicon:
    expand_lexicon(base, source, n=3, name="large").save(tmp_path / "large.toml")
    return lexicon(tmp_path / "large.toml")


def test_a_list_of_neighbors_is_circular_in_its_own_vectors(tmp_path: Path) -> None:
    passes, reason = verdict_on(expanded(tmp_path, model(0)), model(0))
    assert passes is False
    assert reason.startswith("circular: the list was made from these vectors (large: neighbors of 8 seed words in mod")
    assert "measure its seed words alone" in reason


def test_its_vectors_are_told_again_in_another_form(tmp_path: Path) -> None:
    made, source = expanded(tmp_path, model(0)), model(0)
    rotation = np.linalg.qr(np.random.default_rng(5).normal(size=(20, 20)))[0]
    vectors = source.vectors
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    for other in (
        source.subset(WORDS[:30]),  # read in part: another checksum
        replace(source, vectors=vectors / lengths),
        replace(source, vectors=vectors.astype(np.float16)),
        replace(source, vectors=3 * vectors @ rotation, name="turned"),
        source.take(np.arange(59, -1, -1)),
    ):
        assert other.checksum != source.checksum
        assert verdict_on(made, other)[0] is False
    np.savez(tmp_path / "file.npz", words=np.array(WORDS), vectors=vectors)
    assert verdict_on(made, load(tmp_path / "file.npz"))[0] is False


def test_other_vectors_without_a_recipe_are_unknown(tmp_path: Path) -> None:
    passes, reason = verdict_on(expanded(tmp_path, model(0)), model(1))
    assert passes is None
    assert reason.startswith("unknown whether the list was made from the text of these vectors: large was made from")


@pytest.mark.parametrize(
    ("of_list", "of_model", "passes"),
    [
        ("a" * 64, "a" * 64, False), ("a" * 64, "b" * 64, True), ("a" * 64, "Wikipedia", None),
        ("Wikipedia", "wikipedia", False), ("Wikipedia", "Gigaword", None), ("a" * 64, "", None),
    ],
)  # fmt: skip
def test_vectors_of_the_same_text_are_circular_too(
    tmp_path: Path,
    of_list: str,
    of_model: str,
    passes: bool | None,  # noqa: FBT001 - the expected answer
) -> None:
    made = expanded(tmp_path, model(0, text=of_list))
    assert verdict_on(made, model(1, text=of_model))[0] is passes


def test_the_worst_of_several_steps_and_models_counts(tmp_path: Path) -> None:
    texts = ["a" * 64, "b" * 64, "c" * 64]
    first = expanded(tmp_path, model(0, text=texts[0]))
    assert isinstance(first, AssociationTest)
    twice = expanded(tmp_path, model(1, text=texts[1]), replace(first, name="once"))
    assert [step.vectors for step in twice.made] == ["model 0", "model 1"]
    third = model(2, text=texts[2])
    assert verdict_on(twice, third)[0] is True
    assert verdict_on(twice, model(0), third)[0] is False
    assert verdict_on(twice, third, model(3))[0] is None


def test_lists_that_say_nothing_of_vectors_are_not_judged() -> None:
    by_hand = replace(TEST, made=(Provenance("by hand", when="2026-11-19"), Provenance("published")))
    assert circularity(Query.from_lexicon(TEST), [model(0)]) is None
    assert circularity(Query.from_lexicon(by_hand), [model(0)]) is None
    from_text = replace(TEST, made=(Provenance("counts", text="a" * 64),))
    passes, reason = verdict_on(from_text, model(0, text="a" * 64))
    assert passes is False
    assert "circular: the list was made from the same text (small: counts" in reason


def test_a_round_trip_and_edits_of_the_words_keep_the_record(tmp_path: Path) -> None:
    made = expanded(tmp_path, model(0))
    again = parse_lexicon(made.to_dict())
    assert again.made == made.made
    assert made.made[0].seed_words == WORDS[:8]
    text = (tmp_path / "large.toml").read_text(encoding="utf-8")
    in_a_set, everywhere = text.replace('"w0", "w1"', '"w0", "w40", "w41"', 1), text.replace('"w1"', '"changed"')
    for changed in (in_a_set, everywhere):
        (tmp_path / "edited.toml").write_text(changed, encoding="utf-8")
        edited = lexicon(tmp_path / "edited.toml")
        assert edited.checksum != made.checksum
        assert verdict_on(edited, model(0))[0] is False
    assert any(line.startswith("made: neighbors of 8") for line in show_lexicon(edited).summary().sentences)


def test_sets_that_are_named_bring_their_record_along(tmp_path: Path) -> None:
    made = expanded(tmp_path, model(0))
    sets = {role: words_of(f"{made.path}:{role}") for role in "xyab"}
    answer = circularity(Query.from_sets(sets), [model(0)])
    assert answer is not None
    assert answer.passes is False


def test_the_day_is_that_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    step = record_neighbors(model(0), ["w1", "absent", "w2", "w1"])
    assert (step.when, step.seed_words, len(step.cosines)) == ("2023-11-14", ("w1", "w2"), 1)
    assert step.cosines[0][:2] == ("w1", "w2")
    vectors = model(0).vectors[1:3].astype(float)
    cosine = vectors[0] @ vectors[1] / np.sqrt((vectors**2).sum(axis=1).prod())
    assert step.cosines[0][2] == pytest.approx(cosine, abs=1e-6)


WORDS_FILE = 'kind = "words"\nwords = ["a"]\n'
BAD = [
    ("[made]\n", ["the key 'made.method' is missing"]),
    ('[made]\nmethod = "neighbours"', ["'made.method' must be one of by hand, published", "found 'neighbours'"]),
    ('[made]\nmethod = "by hand"\nvector = "x"', ["the key 'vector' is not known", "did you mean 'vectors'?"]),
    ('[made]\nmethod = "neighbors"\ncosines = [["a", "b", 1.5]]', ["'made.cosines, item 1' must be two words and"]),
    ('[made]\nmethod = "neighbors"\ncosines = [0.5]', ["found the number 0.5"]),
    ('[made]\nmethod = "by hand"\nwhen = 3', ["'made.when' must be a day, as 2026-11-19, found the number 3"]),
    ('made = "by hand"', ["'made' must be a table of how the list was made"]),
    ('[[made]]\nmethod = "by hand"\n[[made]]\nmethod = ""', ["'made, item 2.method' must not be empty"]),
]


@pytest.mark.parametrize(("content", "parts"), BAD)
def test_a_wrong_record_is_one_sentence(tmp_path: Path, content: str, parts: list[str]) -> None:
    (tmp_path / "list.toml").write_text(WORDS_FILE + content, encoding="utf-8")
    with pytest.raises(LexiconError) as problem:
        lexicon(tmp_path / "list.toml")
    assert all(part in str(problem.value) for part in parts), str(problem.value)


def test_a_day_of_toml_is_read() -> None:
    made = parse_lexicon({"kind": "words", "words": ["a"], "made": {"method": "by hand", "when": "2026-11-19"}})
    assert made.made == (Provenance("by hand", when="2026-11-19"),)

"""Sweeps: planned once, trained side by side, the same whatever happens in between."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.errors import InputError, InternalError, ParameterError
from biasgauge.text import bootstrap_documents, read_corpus
from biasgauge.text.training import sweep
from biasgauge.text.training.algorithms import ALGORITHMS, FastTextSettings, GloveSettings, NegativeSampling, Recipe
from biasgauge.text.training.sweep import training_text, write_model

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.text import TokenCorpus
    from biasgauge.text.training import TrainedModels
    from biasgauge.text.training.algorithms import TrainedVectors

SMALL: dict[str, Any] = {"dim": 10, "window": 2, "epochs": 2, "min_count": 2}
EVERY = list(ALGORITHMS)


def lines(count: int = 80) -> list[str]:
    random = np.random.default_rng(11)
    words = [one + other for one in ("man", "tor", "bel", "sia") for other in ("", "o", "in", "us", "ek")]
    return [" ".join(random.choice(words, size=random.integers(3, 12))) for _ in range(count)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> TokenCorpus:
    return read_corpus(iter(lines()), out=tmp_path_factory.mktemp("corpus") / "corpus")


def train(corpus: TokenCorpus, out: Path, **changes: Any) -> TrainedModels:  # noqa: ANN401 - settings of any kind
    return bg.train(corpus, out=out, **{**SMALL, **changes})


def bytes_of(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.safetensors"))}


@pytest.mark.parametrize("name", EVERY)
def test_a_model_is_the_vectors_of_its_vocabulary(name: str, corpus: TokenCorpus, tmp_path: Path) -> None:
    result = train(corpus, tmp_path, algorithm=name)
    (model,) = result.models
    vectors = bg.load(model.path)
    text = training_text(corpus, min_count=2)
    assert vectors.words == text.vocabulary.words
    assert vectors.vectors.dtype == np.float32
    beside = json.loads(model.path.with_suffix(".json").read_text(encoding="utf-8"))
    assert beside["recipe"] == model.recipe.to_dict()
    assert beside["tokens"] == 2 * text.tokens
    assert beside["losses"] == list(model.losses)
    assert beside["file"]["sha256"] == hashlib.sha256(model.path.read_bytes()).hexdigest()
    assert beside["corpus"]["checksum"] == corpus.checksum
    assert result.to_dict()["models"][0]["words"] == len(vectors)
    assert result.to_frame().loc[0, "loss"] == model.losses[-1]


def test_seeds_samples_and_both_crossed(corpus: TokenCorpus, tmp_path: Path) -> None:
    seeds = train(corpus, tmp_path, seeds=3, random_state=5)
    assert [model.recipe.seed for model in seeds.models] == [5, 6, 7]
    crossed = train(corpus, tmp_path, seeds=[1, 9], bootstrap=2, random_state=4)
    assert [(model.recipe.sample, model.recipe.seed) for model in crossed.models] == [(0, 1), (0, 9), (1, 1), (1, 9)]
    assert {model.recipe.sample_seed for model in crossed.models} == {4}
    vectors = [model.load().vectors.tobytes() for model in (*seeds.models, *crossed.models)]
    assert len(set(vectors)) == 7


def test_a_sample_reads_the_lines_of_the_documents_that_were_drawn(corpus: TokenCorpus) -> None:
    text = training_text(corpus, min_count=2, sample=3, sample_seed=8)
    drawn = bootstrap_documents(corpus, 3, 8)
    expected = [line for one in drawn for line in range(corpus.documents[one], corpus.documents[one + 1])]
    assert text.order.tolist() == expected
    counted: dict[str, int] = {}
    for line in expected:
        for token in corpus.tokens[corpus.lines[line] : corpus.lines[line + 1]]:
            counted[corpus.words[token]] = counted.get(corpus.words[token], 0) + 1
    kept = dict(zip(text.vocabulary.words, text.vocabulary.counts.tolist(), strict=True))
    assert kept == {word: count for word, count in counted.items() if count >= 2}


def test_blocks_and_stretches_cover_every_line_once(corpus: TokenCorpus) -> None:
    text = training_text(corpus, min_count=2)
    for tokens in (1, 7, 50, 10_000):
        blocks = text.blocks(0, len(text.order), tokens)
        assert [place for first, last in blocks for place in range(first, last)] == list(range(len(text.order)))
    for parts in (1, 2, 3, 200):
        stretches = text.split(parts)
        assert len(stretches) == parts
        assert [place for first, last in stretches for place in range(first, last)] == list(range(len(text.order)))


DRIVER = """
import json, sys
import biasgauge as bg
from biasgauge.text import open_corpus
settings = json.loads(sys.argv[3])
bg.train(open_corpus(sys.argv[1]), out=sys.argv[2], **settings)
"""


def elsewhere(corpus: TokenCorpus, out: Path, hash_seed: str, **settings: Any) -> None:  # noqa: ANN401 - of any kind
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    arguments = [str(corpus.path), str(out), json.dumps({**SMALL, **settings})]
    subprocess.run([sys.executable, "-c", DRIVER, *arguments], check=True, env=environment)


def test_the_same_bytes_in_any_process_with_any_number_of_jobs(corpus: TokenCorpus, tmp_path: Path) -> None:
    asked: dict[str, Any] = {"algorithm": EVERY, "seeds": 2, "bootstrap": 2}
    train(corpus, tmp_path / "here", n_jobs=4, **asked)
    elsewhere(corpus, tmp_path / "there", "1", n_jobs=1, **asked)
    elsewhere(corpus, tmp_path / "yonder", "999", n_jobs=3, **asked)
    here = bytes_of(tmp_path / "here")
    assert len(here) == len(EVERY) * 4 == len(set(here.values()))
    assert here == bytes_of(tmp_path / "there") == bytes_of(tmp_path / "yonder")


def test_what_is_there_is_not_trained_again(corpus: TokenCorpus, tmp_path: Path) -> None:
    first = train(corpus, tmp_path, seeds=2)
    times = [path.stat().st_mtime_ns for path in first.paths]
    second = train(corpus, tmp_path, seeds=3)
    assert [model.reused for model in second.models] == [True, True, False]
    assert [path.stat().st_mtime_ns for path in first.paths] == times
    assert [model.to_dict() for model in second.models[:2]] == [
        {**model.to_dict(), "reused": True} for model in first.models
    ]


def _altered(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "remark"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"\x01"), "was damaged"),
        (lambda path: path.write_bytes(path.read_bytes()[:-9]), "was damaged"),
        (lambda path: path.unlink(), "was gone"),
        (lambda path: path.with_suffix(".json").write_text("{", encoding="utf-8"), "was damaged"),
        (lambda path: path.with_suffix(".json").write_text("[]", encoding="utf-8"), "was damaged"),
        (lambda path: path.with_suffix(".json").write_text('{"digest": 1}', encoding="utf-8"), "another recipe"),
        (lambda path: _altered(path.with_suffix(".json"), '"losses": [\n  0', '"losses": [\n  1'), "was damaged"),
        (lambda path: _altered(path.with_suffix(".json"), '"words": ', '"words": 1'), "was damaged"),
    ],
)
def test_damage_is_found_said_and_mended(damage: Any, remark: str, corpus: TokenCorpus, tmp_path: Path) -> None:  # noqa: ANN401 - a function
    (path,) = train(corpus, tmp_path).paths
    whole = bytes_of(tmp_path)
    damage(path)
    (model,) = train(corpus, tmp_path).models
    assert not model.reused
    assert remark in str(model.remark)
    assert bytes_of(tmp_path) == whole
    assert train(corpus, tmp_path).models[0].reused


@pytest.mark.crash
def test_a_kill_in_the_middle_loses_only_the_model_it_was_at(corpus: TokenCorpus, tmp_path: Path) -> None:
    killed = """
import os, signal, sys
from biasgauge.text.training import sweep
write, count = sweep.write_model, [0]
def dying(*arguments):
    count[0] += 1
    if count[0] == 2:
        (arguments[0] / ".half.safetensors.aa.part").write_bytes(b"half")
        os.kill(os.getpid(), signal.SIGKILL)
    return write(*arguments)
sweep.write_model = dying
"""
    asked = json.dumps({**SMALL, "seeds": 3, "n_jobs": 1, "algorithm": "glove"})
    arguments = [str(corpus.path), str(tmp_path / "killed"), asked]
    done = subprocess.run([sys.executable, "-c", killed + DRIVER, *arguments], check=False)
    assert done.returncode == -signal.SIGKILL
    assert len(bytes_of(tmp_path / "killed")) == 1
    result = train(corpus, tmp_path / "killed", seeds=3, algorithm="glove")
    assert [model.reused for model in result.models] == [True, False, False]
    train(corpus, tmp_path / "whole", seeds=3, algorithm="glove")
    assert bytes_of(tmp_path / "killed") == bytes_of(tmp_path / "whole")
    hidden = sorted(path.name for path in (tmp_path / "killed").iterdir() if path.name.startswith("."))
    assert hidden == [".half.safetensors.aa.part"]  # no name of ours, so it may be the user's


@pytest.mark.crash
def test_a_full_disk_leaves_nothing_half_written(corpus: TokenCorpus, tmp_path: Path) -> None:
    limited = """
import resource
from biasgauge.text.training import sweep
write = sweep.write_model
def full(*arguments):
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
    return write(*arguments)
sweep.write_model = full
import signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
"""
    arguments = [str(corpus.path), str(tmp_path / "full"), json.dumps({**SMALL, "n_jobs": 1})]
    done = subprocess.run(
        [sys.executable, "-c", limited + DRIVER, *arguments], check=False, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "OutputError" in done.stderr.splitlines()[-1]
    assert "cannot be written: File too large; free some space" in done.stderr.splitlines()[-1]
    assert [path.name for path in (tmp_path / "full").iterdir() if path.is_file()] == []
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] != 300


def test_one_failing_model_stops_the_sweep_and_leaves_the_finished_ones(
    corpus: TokenCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = write_model

    def failing(folder: Path, recipe: Recipe, *rest: Any) -> Any:  # noqa: ANN401 - as the original
        if recipe.seed == 2:
            raise OSError(28, "No space left on device")
        return write(folder, recipe, *rest)

    monkeypatch.setattr(sweep, "write_model", failing)
    with pytest.raises(OSError, match="No space left"):
        train(corpus, tmp_path, seeds=6, n_jobs=1)
    assert len(bytes_of(tmp_path)) == 2
    monkeypatch.undo()
    assert [model.reused for model in train(corpus, tmp_path, seeds=6).models] == [True, True] + [False] * 4


@pytest.mark.parametrize(
    ("fit", "problem"),
    [
        ({"tokens": 5}, "read 5 tokens"),
        ({"losses": (0.1,)}, "1 epochs"),
        ({"vectors": np.zeros((3, 10), np.float32)}, "vectors"),
    ],
)
def test_the_trainer_is_held_to_the_recipe(
    fit: dict[str, Any], problem: str, corpus: TokenCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = write_model

    def changed(folder: Path, recipe: Recipe, text: Any, made: TrainedVectors, seconds: float) -> Any:  # noqa: ANN401 - as the original
        return write(folder, recipe, text, replace(made, **fit), seconds)

    monkeypatch.setattr(sweep, "write_model", changed)
    with pytest.raises(InternalError, match=problem):
        train(corpus, tmp_path)


def test_vectors_that_are_not_finite_are_not_written(
    corpus: TokenCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = write_model

    def spoil(folder: Path, recipe: Recipe, text: Any, made: TrainedVectors, seconds: float) -> Any:  # noqa: ANN401 - as the original
        return write(folder, recipe, text, replace(made, vectors=made.vectors * np.float32("nan")), seconds)

    monkeypatch.setattr(sweep, "write_model", spoil)
    with pytest.raises(InputError, match="Lower the learning rate"):
        train(corpus, tmp_path)
    assert bytes_of(tmp_path) == {}


RECIPE = Recipe("fasttext", FastTextSettings(), corpus="abc")


@pytest.mark.parametrize(
    "change",
    [
        {"corpus": "abd"}, {"seed": 1}, {"sample": 0}, {"sample_seed": 1}, {"min_count": 6}, {"unknown": "<unk>"},
        {"remove": ("x",)}, {"precision": "float16"}, {"subwords": False}, {"threads": 2},
        {"settings": FastTextSettings(dim=50)}, {"settings": FastTextSettings(window=6)},
        {"settings": FastTextSettings(epochs=6)}, {"settings": FastTextSettings(negative=6)},
        {"settings": FastTextSettings(alpha=0.03)}, {"settings": FastTextSettings(min_alpha=0.01)},
        {"settings": FastTextSettings(subsample=0.01)}, {"settings": FastTextSettings(exponent=1.0)},
        {"settings": FastTextSettings(min_n=2)}, {"settings": FastTextSettings(max_n=5)},
        {"algorithm": "glove", "settings": GloveSettings()},
    ],
    ids=str,
)  # fmt: skip
def test_every_part_of_a_recipe_is_in_its_address(change: dict[str, Any]) -> None:
    assert replace(RECIPE, **change).digest != RECIPE.digest


def test_the_address_is_the_sha256_of_the_recipe() -> None:
    assert RECIPE.digest == hashlib.sha256(json.dumps(RECIPE.to_dict(), sort_keys=True).encode()).hexdigest()
    assert replace(RECIPE, seed=4).text_digest == RECIPE.text_digest != replace(RECIPE, sample=1).text_digest


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"algorithm": "word2vec"}, "must be one of sgns, cbow, fasttext, glove. Got 'word2vec'"),
        ({"algorithm": []}, "at least one algorithm"),
        ({"seeds": 0}, "whole number of at least 1"),
        ({"seeds": True}, "whole number of at least 1. Got True"),
        ({"seeds": [1, 1]}, "do seeds recur"),
        ({"seeds": [-1]}, "'seed' parameter must be a whole number of at least 0"),
        ({"bootstrap": -1}, "'bootstrap'"),
        ({"dim": 0}, "'dim' parameter must be a whole number of at least 1. Got 0"),
        ({"dim": 2.5}, "'dim' parameter must be a whole number"),
        ({"window": 0}, "'window'"),
        ({"epochs": 0}, "'epochs'"),
        ({"alpha": float("nan")}, "'alpha' parameter must be a number"),
        ({"exponent": float("inf")}, "'exponent'"),
        ({"x_max": 3.0}, "'sgns' has no setting 'x_max'. It has: dim, window"),
        ({"precision": "float8"}, "float32, float16"),
        ({"n_jobs_per_model": 0}, "'n_jobs_per_model' parameter must be a whole number of at least 1"),
        ({"n_jobs": 0}, "'n_jobs'"),
        ({"algorithm": "fasttext", "min_n": 5, "max_n": 4}, "'max_n' parameter must be a whole number of at least 5"),
    ],
    ids=str,
)
def test_bad_settings_get_one_sentence(
    given: dict[str, Any], sentence: str, corpus: TokenCorpus, tmp_path: Path
) -> None:
    with pytest.raises(ParameterError) as problem:
        train(corpus, tmp_path / "out", **given)
    assert sentence in str(problem.value)


def test_an_empty_vocabulary_says_what_to_do(corpus: TokenCorpus, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="min_count"):
        train(corpus, tmp_path, min_count=10_000)
    assert bytes_of(tmp_path) == {}


def test_a_setting_of_one_algorithm_may_stand_beside_another(corpus: TokenCorpus, tmp_path: Path) -> None:
    result = train(corpus, tmp_path, algorithm=["sgns", "glove"], negative=3, x_max=10.0)
    sgns, glove = (model.recipe.settings for model in result.models)
    assert isinstance(sgns, NegativeSampling)
    assert sgns.negative == 3
    assert isinstance(glove, GloveSettings)
    assert (glove.x_max, glove.window) == (10.0, 2)


def test_half_precision_is_the_rounded_model(corpus: TokenCorpus, tmp_path: Path) -> None:
    whole = train(corpus, tmp_path).models[0].load()
    half = train(corpus, tmp_path, precision="float16").models[0].load()
    np.testing.assert_array_equal(half.vectors, whole.vectors.astype(np.float16))


def test_a_model_larger_than_memory_is_refused(
    corpus: TokenCorpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweep, "physical_memory", lambda: 1000)
    with pytest.raises(InputError, match="min_count"):
        train(corpus, tmp_path)


def test_text_can_be_given_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "text.txt"
    file.write_text("\n".join(lines()), encoding="utf-8")
    result = bg.train(file, out=tmp_path / "out", **SMALL)
    assert result.corpus.path == tmp_path / "out" / "corpus"
    assert bg.train(file, out=tmp_path / "out", **SMALL).models[0].reused


def test_progress_goes_from_nothing_to_all(corpus: TokenCorpus, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    train(corpus, tmp_path, algorithm=EVERY, seeds=2, n_jobs=2, progress=lambda done, total: seen.append((done, total)))
    assert len({total for _, total in seen}) == 1
    assert seen[-1][0] == seen[-1][1]
    assert all(0 <= done <= total for done, total in seen)

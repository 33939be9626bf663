"""Comparisons of corpora: equal amounts of text, parts of documents, models found again, counts beside vectors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.compare.corpora import are_corpora, is_corpus_source
from biasgauge.cli.entry import run
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, Provenance, WordSet
from biasgauge.text import planted_corpus, read_corpus
from biasgauge.text.training.parts import choose_documents, deal_documents, take_tokens
from biasgauge.vectors.loading import replicate_path

if TYPE_CHECKING:
    from pathlib import Path

X, Y = ["bako", "dilo", "gema", "kinu"], ["lopa", "mero", "nisu", "pota"]
A, B = ["he", "him", "man", "boy"], ["she", "her", "woman", "girl"]
SETS: dict[str, Any] = {"x": X, "y": Y, "a": A, "b": B}
SMALL: dict[str, Any] = {"dim": 16, "epochs": 4, "min_count": 1, "draws": 3, "n_jobs": 1}


def write_text(path: Path, lean: float, lines: int, seed: int) -> Path:
    """Sentences in which words of X lean to men by `lean`, and words of Y to women."""
    strengths = {**dict.fromkeys(X, lean), **dict.fromkeys(Y, -lean)}
    pairs = list(zip(A, B, strict=True))
    planted_corpus(strengths, pairs=pairs, lines=lines, random_state=seed).write(path)
    return path


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Two texts of one kind, of unequal size, and one in which the association is the other way round."""
    folder = tmp_path_factory.mktemp("texts")
    return {
        "long": write_text(folder / "long.txt", 0.9, 6_000, 1),
        "short": write_text(folder / "short.txt", 0.9, 3_000, 2),
        "turned": write_text(folder / "turned.txt", -0.9, 3_000, 3),
    }


def test_texts_are_told_from_vectors(texts: dict[str, Path], tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("2 3\nhe 0.1 0.2 0.3\nshe 0.3 -1e-2 0.5\n")
    assert is_corpus_source(texts["long"])
    assert is_corpus_source([texts["long"], texts["short"]])
    assert not is_corpus_source(vectors)
    assert not is_corpus_source(replicate_path(0))
    assert not is_corpus_source([replicate_path(0), replicate_path(1)])
    assert not is_corpus_source(tmp_path / "missing.txt")
    assert not is_corpus_source({"he": [1.0]})
    assert are_corpora({"one": texts["long"], "two": texts["short"]})
    with pytest.raises(ParameterError, match="Corpora are compared with corpora"):
        are_corpora({"one": texts["long"], "two": vectors})


def test_a_change_of_the_text_is_found_and_counts_agree(texts: dict[str, Path], tmp_path: Path) -> None:
    found = bg.compare(
        {"long": texts["long"], "turned": texts["turned"]}, **SETS, training={"out": tmp_path / "models", **SMALL}
    )
    assert found.decision in ("report", "report-with-care")
    assert (found.difference or 0) < 0
    assert found.generalizes_over == "targets and attributes and documents"
    assert [group.replicates for group in found.groups] == ["texts", "texts"]
    assert [group.draws for group in found.groups] == [3, 3]
    least, most = sorted(found.tokens.values(), key=lambda count: count or 0)
    assert least
    assert most
    assert most / least < 1.02  # equal amounts of text of a long and a short text
    (counts,) = found.counts
    assert counts.excludes()
    assert (counts.value or 0) < 0
    assert "3 random draws of equal amounts of text" in found.to_dict()["methods"]
    assert sum("say what a document is" in warning for warning in found.warnings) == 2  # sentences are documents here
    again = bg.analyses.compare.Comparison.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.to_dict() == found.to_dict()
    # The folders of the models give the same when they are compared as models.
    folders = {name: sorted((tmp_path / "models" / name).glob("*.safetensors")) for name in ("long", "turned")}
    as_models = bg.compare(folders, **SETS)
    assert as_models.differences[0].to_dict() == found.differences[0].to_dict()
    assert as_models.groups == found.groups
    with pytest.raises(ParameterError, match="some are missing"):
        bg.compare({**folders, "long": folders["long"][1:]}, **SETS)


def test_a_trend_over_corpora_speaks_of_documents_as_well(texts: dict[str, Path], tmp_path: Path) -> None:
    training = {"out": tmp_path, **SMALL, "draws": 2}
    found = bg.compare(texts, **SETS, positions=[1950, 1970, 1990], training=training)
    (trend,) = found.trends
    assert found.generalizes_over == "targets and attributes and documents"
    assert found.difference == trend.value
    assert found.verdicts[0].test == "trend"
    assert len(found.counts) == 1  # the last less the first
    by_seeds = {name: sorted((tmp_path / name).glob("*.safetensors")) for name in texts}
    seeds = bg.compare(by_seeds, **SETS, positions=[1950, 1970, 1990], replicates="seeds")
    assert seeds.decision == "inconclusive"
    assert "random seeds answer only whether the same files" in seeds.verdicts[0].sentence


def test_models_that_are_there_are_not_trained_again(texts: dict[str, Path], tmp_path: Path) -> None:
    from biasgauge.text.training import train_comparable

    corpora = {"long": texts["long"], "short": texts["short"]}
    first = train_comparable(corpora, out=tmp_path, **SMALL)
    again = train_comparable(corpora, out=tmp_path, **SMALL)
    assert not any(model.reused for models in first.models.values() for model in models)
    assert all(model.reused for models in again.models.values() for model in models)
    assert first.paths == again.paths
    assert first.tokens == len(first.corpora["short"].tokens)
    samples = train_comparable(corpora, out=tmp_path / "samples", by="samples", **SMALL)
    assert [len(models) for models in samples.models.values()] == [3, 3]
    found = bg.compare(samples.paths, **SETS)
    assert [group.replicates for group in found.groups] == ["samples", "samples"]
    assert found.groups[0].over_documents


def test_parts_are_disjoint_whole_and_equal() -> None:
    corpus = read_corpus(iter([f"{'word ' * (1 + number % 7)}" for number in range(300)]))
    lengths = np.diff(corpus.lines[corpus.documents])
    tokens = 500
    chosen = choose_documents(corpus, tokens, 3, 4, "parts", 0)
    assert len(chosen) == 12
    for draw in range(4):
        parts = [numbers for _, numbers, record in chosen if record["draw"] == draw]
        everything = np.concatenate(parts)
        assert len(set(everything.tolist())) == len(everything)
        sizes = [int(lengths[numbers].sum()) for numbers in parts]
        assert abs(sum(sizes) - tokens) <= 4  # half of the longest document
        assert max(sizes) - min(sizes) <= 7
    samples = choose_documents(corpus, tokens, 3, 4, "samples", 0)
    assert len(samples) == 4
    assert any(len(set(numbers.tolist())) < len(numbers) for _, numbers, _ in samples)
    same = choose_documents(corpus, tokens, 3, 4, "parts", 0)
    assert all(np.array_equal(one[1], other[1]) for one, other in zip(chosen, same, strict=True))


def test_documents_are_taken_up_to_the_nearest() -> None:
    lengths, order = np.array([5, 10, 20]), np.array([2, 0, 1])
    assert take_tokens(order, lengths, 22).tolist() == [2]
    assert take_tokens(order, lengths, 23).tolist() == [2, 0]
    assert take_tokens(order, lengths, 5).tolist() == [2]  # never none
    assert take_tokens(order, lengths, 99).tolist() == [2, 0, 1]
    with pytest.raises(ParameterError, match="too few documents for 4 parts"):
        deal_documents(order, lengths, 4)


@pytest.mark.parametrize(
    ("training", "sentence"),
    [
        ({"parts": 1}, "parts"),
        ({"by": "seeds"}, "must be one of parts, samples"),
        ({"tokens": 10**9}, "at most those of the smallest corpus"),
        ({"documents": "file"}, "takes at least 4"),
        ({"dims": 3}, "has no setting 'dims'"),
    ],
)
def test_bad_settings_get_one_sentence(training: dict[str, Any], sentence: str, texts: dict[str, Path]) -> None:
    corpora = {"long": texts["long"], "short": texts["short"]}
    with pytest.raises(ParameterError, match=sentence):
        bg.compare(corpora, **SETS, training=training)


def test_the_command_takes_corpora(texts: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sets = " ".join(f"--{role} {','.join(words)}" for role, words in SETS.items())
    chosen = " ".join(f"--set {name}={value}" for name, value in SMALL.items())
    corpora = f"--corpus long={texts['long']} --corpus turned={texts['turned']}"
    assert run(f"compare {corpora} {sets} {chosen} --models {tmp_path / 'kept'} --json".split()) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["decision"] in ("report", "report-with-care")
    assert told["tokens"].keys() == {"long", "turned"}
    assert told["generalizes_over"] == "targets and attributes and documents"
    assert told["difference"] == told["differences"][0]["difference"]
    assert told["settings"]["training"]["draws"] == 3
    assert len(list((tmp_path / "kept" / "long").glob("*.safetensors"))) == 6
    assert run(f"compare {corpora} --group a={replicate_path(0)} {sets}".split()) == 2
    assert "not both" in capsys.readouterr().err


def test_a_list_made_from_one_of_the_texts_is_circular(texts: dict[str, Path], tmp_path: Path) -> None:
    corpora = {name: read_corpus(texts[name]) for name in ("long", "turned")}
    words: dict[str, Any] = {role: WordSet(role, tuple(listed)) for role, listed in SETS.items()}
    made = Provenance("neighbors", vectors="others of it", text=corpora["long"].checksum)
    test = AssociationTest(name="near", **words, made=(made,))
    found = bg.compare(corpora, test, training={"out": tmp_path, **SMALL, "draws": 1})
    assert found.decision == "inconclusive"
    assert "circular: the list was made from vectors of the same text (near: neighbors in others of it" in (
        found.verdicts[0].sentence
    )


def test_words_that_the_corpora_lack_are_refused_before_anything_is_trained(
    texts: dict[str, Path], tmp_path: Path
) -> None:
    """A minute and a half of training ended in "Nothing can be compared"."""
    training = {"out": tmp_path, **SMALL}
    with pytest.raises(ParameterError, match="Nothing can be compared: weat9: fewer than 80 %"):
        bg.compare({"long": texts["long"], "short": texts["short"]}, "weat9", training=training)
    assert not [*tmp_path.rglob("*.safetensors")]

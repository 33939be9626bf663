"""Pairs of sentences from files, frames and lists; clusters, groups, replicates; the three commands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasgauge as bg
from biasgauge import registry
from biasgauge.analyses.likelihood import Sentence, SentenceMeasure, score_pair_list
from biasgauge.cli.entry import run
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.stats import clustered_mean

NOUNS = ("nurse", "doctor", "cat", "dog", "man")
ROWS = [
    {"id": f"{noun}-{at}", "first": f"He is the {noun} {where}.", "second": f"She is the {noun} {where}.",
     "cluster": where, "group": ("people", "animals")[noun in {"cat", "dog"}]}
    for at, where in enumerate(("here", "there", "in the house"))
    for noun in NOUNS
]  # fmt: skip
ROWS_FRAME = pd.DataFrame(ROWS)


@pytest.fixture
def folder(masked: tuple[Any, Any], causal: tuple[Any, Any], tmp_path: Path) -> Path:
    """Two models and a file of pairs."""
    for (model, tokenizer), name in ((masked, "masked"), (causal, "causal")):
        model.save_pretrained(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
    pd.DataFrame(ROWS).to_csv(tmp_path / "pairs.csv", index=False)
    return tmp_path


def test_a_file_a_frame_and_a_list_are_the_same(folder: Path, causal: tuple[Any, Any]) -> None:
    by_file = bg.analyses.likelihood.score_pairs(causal, folder / "pairs.csv")
    by_frame = bg.analyses.likelihood.score_pairs(causal, pd.DataFrame(ROWS))
    fields = {"identifier": "id", "first": "first", "second": "second", "cluster": "cluster", "group": "group"}
    listed = [bg.analyses.likelihood.SentencePair(**{own: row[name] for own, name in fields.items()}) for row in ROWS]
    by_list = bg.analyses.likelihood.score_pairs(causal, listed)
    assert by_file.to_dict() == by_frame.to_dict() == by_list.to_dict()
    assert [row.group for row in by_file.groups] == ["animals", "people"]
    assert bg.analyses.likelihood.PairPreferences.from_dict(by_file.to_dict()).to_dict() == by_file.to_dict()


def test_numbers_are_those_of_the_scores_and_the_clusters(causal: tuple[Any, Any]) -> None:
    result = bg.analyses.likelihood.score_pairs(causal, pd.DataFrame(ROWS), measures="causal-sum")
    scores = result.scores_frame()
    gaps = (scores["first_score"] - scores["second_score"]).to_numpy(float)
    row = result.measures[0]
    assert row.preferred.value == pytest.approx(100 * (gaps > 0).mean())
    assert row.difference.value == pytest.approx(gaps.mean())
    expected = clustered_mean(gaps, [pair["cluster"] for pair in ROWS])
    assert (row.difference.low, row.difference.high) == pytest.approx((expected.low, expected.high))
    assert (row.clusters, row.pairs, row.preferred.over) == (3, 15, "clusters")


def test_another_column_may_name_the_clusters(causal: tuple[Any, Any]) -> None:
    frame = pd.DataFrame(ROWS).rename(columns={"cluster": "template"})
    by_pair = bg.analyses.likelihood.score_pairs(causal, frame)
    assert (by_pair.settings["unit"], by_pair.measures[0].clusters) == ("pairs", 15)
    by_template = bg.analyses.likelihood.score_pairs(causal, frame, cluster="template")
    assert (by_template.settings["unit"], by_template.measures[0].clusters) == ("template", 3)
    with pytest.raises(CorpusError, match="has no column 'writer'"):
        bg.analyses.likelihood.score_pairs(causal, frame, cluster="writer")


def test_replicates_are_a_second_way_of_the_interval(causal: tuple[Any, Any]) -> None:
    import torch
    from transformers import LlamaForCausalLM

    models = []
    for seed in range(4):
        torch.manual_seed(seed)
        models.append((LlamaForCausalLM(causal[0].config).eval(), causal[1]))
    each = [
        bg.analyses.likelihood.score_pairs(model, pd.DataFrame(ROWS)).measures[0].difference.value or 0
        for model in models
    ]
    both = bg.analyses.likelihood.score_pairs(models, pd.DataFrame(ROWS)).measures[0].difference
    assert both.value == pytest.approx(np.mean(each))
    assert both.over == "clusters and replicates"
    assert both.low is not None
    assert both.high is not None
    assert both.high - both.low > 2 * np.std(each, ddof=1) / 2  # at least what seeds alone move


def test_a_measure_of_a_stranger_works_by_name(causal: tuple[Any, Any]) -> None:
    longest = SentenceMeasure(
        name="shortest", summary="fewer tokens", source="a test", needs="any",
        score=lambda _, tokens: np.array([-float(len(own)) for own in tokens]),
    )  # fmt: skip
    registry.register(longest)
    try:
        result = bg.analyses.likelihood.score_pairs(causal, [("A cat.", "A very old cat.")], measures="shortest")
        assert result.measures[0].preferred.value == 100.0
    finally:
        registry.unregister("likelihood_measure", "shortest")


def test_scores_do_not_depend_on_the_order_of_pairs(masked: tuple[Any, Any]) -> None:
    model = bg.analyses.likelihood.language_model(masked)
    texts = [(Sentence(row["first"]), Sentence(row["second"])) for row in ROWS]
    rule = registry.get("likelihood_measure", "cps")
    forth, back = score_pair_list(model, texts, rule).scores, score_pair_list(model, texts[::-1], rule).scores
    assert back[::-1] == pytest.approx(forth, abs=1e-6)


def test_bad_pairs_are_one_sentence(causal: tuple[Any, Any], tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("one,two\na,b\n")
    with pytest.raises(CorpusError, match="'first'"):
        bg.analyses.likelihood.score_pairs(causal, path)
    path.write_text("first,second\nA cat.\n")
    with pytest.raises(CorpusError, match=r"line 2.*columns") as problem:
        bg.analyses.likelihood.score_pairs(causal, path)
    assert "cat" not in str(problem.value)
    path.write_text("first,second\n")
    with pytest.raises(CorpusError, match="has no rows"):
        bg.analyses.likelihood.score_pairs(causal, path)
    path.write_text("id,first,second\n1,a,b\n1,c,d\n")
    with pytest.raises(ParameterError, match=r"Every pair needs an id of its own\. Got '1' 2 times"):
        bg.analyses.likelihood.score_pairs(causal, path)
    with pytest.raises(ParameterError, match="sentences"):
        bg.analyses.likelihood.score_pairs(causal, ["A cat."])
    with pytest.raises(ParameterError, match="Measures"):
        bg.analyses.likelihood.score_pairs(causal, [("a", "b")], measures=["causal-sum", "causal-sum"])


def test_likelihood_command(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["likelihood", str(folder / "causal"), "--pairs", str(folder / "pairs.csv")]
    asked += ["--measures", "causal-sum,causal-mean", "--scores", str(folder / "scores.csv"), "--json", "--quiet"]
    assert run(asked) == 0
    printed = capsys.readouterr().out
    content = json.loads(printed)
    assert {row["measure"] for row in content["measures"]} == {"causal-sum", "causal-mean"}
    assert content["flips"][0]["flipped_interval"]["level"] == 0.95
    assert "He is the" not in printed
    scores = pd.read_csv(folder / "scores.csv")
    assert list(scores.columns) == ["id", "measure", "model", "first_score", "second_score", "reason"]
    assert len(scores) == 30
    assert run(asked) == 2  # the scores are there already
    assert "--force" in capsys.readouterr().err


def test_crows_pairs_command_and_scores_that_go_back_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = pd.DataFrame(ROWS).rename(columns={
        "first": "sent_more", "second": "sent_less", "cluster": "anon_writer", "group": "bias_type", "id": "",
    }).assign(stereo_antistereo="stereo")  # fmt: skip
    data.to_csv(folder / "crows.csv", index=False)
    common = ["likelihood", "crows-pairs", "--data", str(folder / "crows.csv"), "--json", "--quiet"]
    assert run([*common, "--model", str(folder / "masked"), "--scores", str(folder / "s.csv")]) == 0
    by_model = json.loads(capsys.readouterr().out)
    assert by_model["measures"][0]["measure"] == "cps"
    assert by_model["settings"]["unit"] == "writers"
    assert run([*common, "--predictions", str(folder / "s.csv")]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["measures"][0]["preferred"] == by_model["measures"][0]["preferred"]
    assert again["measures"][0]["preferred_interval"] == by_model["measures"][0]["preferred_interval"]
    scores = pd.read_csv(folder / "s.csv")
    scores.loc[0, "first_score"] = np.nan
    scores.iloc[:-1].to_csv(folder / "fewer.csv", index=False)
    assert run([*common, "--predictions", str(folder / "fewer.csv")]) == 0
    fewer = json.loads(capsys.readouterr().out)
    assert [entry["reason"] for entry in fewer["undefined"]] == ["predictions: it has no score"] * 2
    assert fewer["measures"][0]["compared"] == 13
    assert run(common) == 2
    assert "predictions or a model" in capsys.readouterr().err


def test_stereoset_command(shared_data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = shared_data / "stereoset"
    asked = ["likelihood", "stereoset", "--data", str(files / "dev.json.xz"), "--predictions"]
    assert run([*asked, str(files / "predictions_gpt2_ModelNSP_GPT2LM.json.xz"), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    golden = {"intrasentence": (91.114943, 61.931485, 69.372211), "intersentence": (76.264603, 52.278504, 72.789219)}
    for split, expected in golden.items():
        assert [content[split][name] for name in ("lms", "ss", "icat")] == pytest.approx(expected, abs=1e-6)
        assert content[split]["undefined"] == []
        assert content[split]["ss_interval"]["low"] < expected[1] < content[split]["ss_interval"]["high"]
    assert run([*asked, str(files / "SOURCE.txt")]) == 2
    assert "is not JSON" in capsys.readouterr().err


def test_all_crows_pairs_are_read(shared_data: Path) -> None:
    pairs = bg.analyses.likelihood.read_pairs(shared_data / "crows_pairs" / "crows_pairs_anonymized.csv")
    assert (len(pairs), len({pair.cluster for pair in pairs}), len({pair.group for pair in pairs})) == (1508, 77, 9)
    assert "SentencePair('0')" in repr(pairs)


def test_the_token_that_is_read_first_can_be_chosen_and_is_recorded(causal: tuple[Any, Any], folder: Path) -> None:
    usual = bg.analyses.likelihood.language_model(causal).start_token
    chosen, another = sorted(set(causal[1].get_vocab()) - {usual, *causal[1].all_special_tokens})[:2]
    plain = bg.analyses.likelihood.score_pairs(causal, ROWS_FRAME, measures="causal-sum")
    other = bg.analyses.likelihood.score_pairs(causal, ROWS_FRAME, measures="causal-sum", start=chosen)
    loaded = bg.analyses.likelihood.language_model(causal, start=chosen)
    same = bg.analyses.likelihood.score_pairs(loaded, ROWS_FRAME, measures="causal-sum")
    assert other.settings["start"] == same.settings["start"] == chosen
    assert plain.settings["start"] == usual
    assert other.scores_frame().equals(same.scores_frame())
    assert not other.scores_frame().equals(plain.scores_frame())
    with pytest.raises(ParameterError, match="must be a token of"):
        bg.analyses.likelihood.score_pairs(causal, ROWS_FRAME, start="<|nothing|>")
    with pytest.raises(ParameterError, match="was loaded to start with"):
        bg.analyses.likelihood.score_pairs(loaded, ROWS_FRAME, start=another)
    with pytest.raises(ParameterError, match="is for causal models"):
        bg.analyses.likelihood.score_pairs(folder / "masked", ROWS_FRAME, start=chosen)


def test_crows_pairs_by_direction_count_the_more_stereotypical_sentence_in_both(tmp_path: Path) -> None:
    """As the authors' code: of pairs of either direction, how often sent_more scores higher."""
    directions = ["stereo", "stereo", "stereo", "antistereo", "antistereo"]
    more, less = [-1.0, -2.0, -5.0, -1.0, -9.0], [-2.0, -3.0, -4.0, -2.0, -1.0]
    data = pd.DataFrame({"sent_more": list("abcde"), "sent_less": list("fghij"), "stereo_antistereo": directions,
                         "bias_type": ["gender"] * 5, "anon_writer": list("vwxyz")})  # fmt: skip
    data.to_csv(tmp_path / "crows.csv")
    pd.DataFrame({"sent_more_score": more, "sent_less_score": less}).to_csv(tmp_path / "scores.csv", index_label="id")
    result = bg.analyses.likelihood.crows_pairs(tmp_path / "crows.csv", predictions=tmp_path / "scores.csv")
    by_direction = {row.group: row.preferred.value for row in result.directions}
    assert by_direction == {"stereo": pytest.approx(100 * 2 / 3), "antistereo": pytest.approx(50.0)}
    assert result.measures[0].preferred.value == pytest.approx(60.0)
    assert "By direction of the pair" in str([table.title for table in result.summary().tables])
    with pytest.raises(ParameterError, match="'start'"):
        bg.analyses.likelihood.crows_pairs(tmp_path / "crows.csv", predictions=tmp_path / "scores.csv", start="x")

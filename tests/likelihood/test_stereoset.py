"""StereoSet: the authors' own numbers, a slow reference, gaps and ties, intervals that cover."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.likelihood.context_association import icat_estimate
from biasgauge.errors import CorpusError, InputError, ParameterError
from biasgauge.stats import clustered_means

MODELS = ("gpt2_ModelNSP_GPT2LM", "bert-base-cased_BertNextSentence_BertLM")
LABELS = ("stereotype", "anti-stereotype", "unrelated")
TEMPLATE = "The {} had a {} for lunch."


def printed(text: str) -> dict[str, dict[tuple[str, str], dict[str, float]]]:
    """What the authors' evaluation printed: model → (split, domain) → numbers."""
    numbers: dict[str, dict[tuple[str, str], dict[str, float]]] = {}
    model = split = domain = ""
    for line in text.splitlines():
        depth, word = len(line) - len(line.lstrip("\t")), line.strip()
        if word.startswith("Evaluating"):
            model = re.findall(r"predictions_(.*)\.json", word)[0]
            numbers[model] = {}
        elif ":" in word:
            name, number = word.split(": ")
            where = ("overall", "all") if split == "overall" else (split, "all" if domain == "overall" else domain)
            numbers[model].setdefault(where, {})[name] = float(number)
        elif depth == 0 and word:
            split = word
        elif word:
            domain = word
    return numbers


@pytest.mark.parametrize("model", MODELS)
def test_all_numbers_that_the_authors_printed_are_reached(shared_data: Path, model: str) -> None:
    folder = shared_data / "stereoset"
    result = bg.analyses.likelihood.stereoset(folder / "dev.json.xz", folder / f"predictions_{model}.json.xz")
    expected = printed((folder / "printed_results.txt").read_text())[model]
    assert len(expected) == 11
    rows = {
        (split, row.domain): row
        for split in ("intrasentence", "intersentence", "overall")
        for row in (getattr(result, split), *getattr(result, split).domains)
    }
    for where, numbers in expected.items():
        row = rows[where]
        found = (row.lms.value, row.ss.value, row.icat.value)
        assert found == pytest.approx((numbers["LM Score"], numbers["SS Score"], numbers["ICAT Score"]), abs=1e-9)
        assert row.ss.low is not None
        assert row.ss.high is not None
        assert row.ss.low < numbers["SS Score"] < row.ss.high
    assert rows["intrasentence", "all"].targets == 79
    assert result.warnings == ()


def test_no_sentence_is_ever_shown(shared_data: Path) -> None:
    folder = shared_data / "stereoset"
    content = json.loads(lzma.decompress((folder / "dev.json.xz").read_bytes()))
    scores = json.loads(lzma.decompress((folder / f"predictions_{MODELS[0]}.json.xz").read_bytes()))
    known = {row["id"]: row["score"] for rows in scores.values() for row in rows[10:]}
    result = bg.analyses.likelihood.stereoset(folder / "dev.json.xz", known)
    shown = json.dumps(result.to_dict()) + repr(result.summary()) + repr(result)
    texts = [s["sentence"] for split in content["data"].values() for c in split for s in c["sentences"]]
    assert not [text for text in texts if len(text) > 12 and text in shown]
    assert len(result.overall.undefined) == 20


# ---- made-up data from here on


def made_up(
    random: np.random.Generator, targets: int = 6, each: int = 5, ties: float = 0.0
) -> tuple[dict[str, Any], dict[str, float]]:
    """Data in StereoSet's layout with harmless sentences, and random scores, some of them equal."""
    data: dict[str, list[dict[str, Any]]] = {"intersentence": [], "intrasentence": []}
    scores = {}
    for split, clusters in data.items():
        for target in range(targets):
            for place in range(each + target):
                name = f"{split[:5]}-{target}-{place}"
                sentences = []
                for label in random.permutation(LABELS):
                    own = f"{name}-{label}"
                    sentences.append({"id": own, "gold_label": str(label), "labels": [],
                                      "sentence": TEMPLATE.format(target, label)})  # fmt: skip
                    scores[own] = float(random.integers(0, 3) if random.random() < ties else random.random())
                clusters.append({"id": name, "target": f"target {target}", "bias_type": ("race", "gender")[target % 2],
                                 "context": "BLANK", "sentences": sentences})  # fmt: skip
    return {"version": "1.0", "data": data}, scores


def reference(data: dict[str, Any], scores: dict[str, float], split: str) -> tuple[float, float, float]:
    """Target by target, as the paper defines it."""
    by_target: dict[str, list[tuple[bool, bool, bool]]] = {}
    for cluster in data["data"][split]:
        own = {s["gold_label"]: scores[s["id"]] for s in cluster["sentences"]}
        stereo, anti, other = (own[label] for label in LABELS)
        by_target.setdefault(cluster["target"], []).append((stereo > anti, stereo > other, anti > other))
    ss = float(np.mean([100 * np.mean([won[0] for won in rows]) for rows in by_target.values()]))
    lms = float(np.mean([100 * np.mean([won[1:] for won in rows]) for rows in by_target.values()]))
    return lms, ss, lms * min(ss, 100 - ss) / 50


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("ties", [0.0, 0.4])
def test_any_complete_predictions_against_a_slow_reference(tmp_path: Path, seed: int, ties: float) -> None:
    data, scores = made_up(np.random.default_rng(seed), ties=ties)
    path = write(tmp_path, data)
    result = bg.analyses.likelihood.stereoset(path, scores)
    for split in ("intrasentence", "intersentence"):
        row = getattr(result, split)
        assert (row.lms.value, row.ss.value, row.icat.value) == pytest.approx(reference(data, scores, split), abs=1e-9)
    assert bool(result.overall.ties) is bool(ties)
    assert ("ties" in " ".join(result.warnings)) is bool(ties)
    assert bg.analyses.likelihood.StereoSetResult.from_dict(result.to_dict()).to_dict() == result.to_dict()


def test_order_and_split_of_predictions_do_not_matter(tmp_path: Path) -> None:
    data, scores = made_up(np.random.default_rng(1))
    rows = [{"id": name, "score": score} for name, score in scores.items()]
    one = write(tmp_path, {"intrasentence": rows[::-1]}, "one.json")
    expected = bg.analyses.likelihood.stereoset(write(tmp_path, data), scores)
    assert bg.analyses.likelihood.stereoset(tmp_path / "data.json", one).overall == expected.overall


def test_ties_are_left_out_on_request(tmp_path: Path) -> None:
    data, scores = made_up(np.random.default_rng(2))
    path = write(tmp_path, data)
    first = data["data"]["intrasentence"][0]
    own = {s["gold_label"]: s["id"] for s in first["sentences"]}
    tied = {**scores, own["stereotype"]: 9.0, own["anti-stereotype"]: 9.0, own["unrelated"]: 0.0}
    published = bg.analyses.likelihood.stereoset(path, tied).intrasentence
    left_out = bg.analyses.likelihood.stereoset(path, tied, ties="undefined").intrasentence
    assert (published.ties, left_out.ties) == (1, 1)
    assert left_out.compared == published.compared - 1
    assert left_out.ss.value is not None
    assert published.ss.value is not None
    assert left_out.ss.value > published.ss.value  # a tie counts against the stereotype in the authors' code
    won = sum(scores[a] > scores[b] for a, b in _stereo_ids(data, "target 0")[1:])
    assert left_out.lms.value == published.lms.value
    assert left_out.ss.value - published.ss.value == pytest.approx((won / 4 - won / 5) * 100 / 6)


def _stereo_ids(data: dict[str, Any], target: str) -> list[tuple[str, str]]:
    rows = [c for c in data["data"]["intrasentence"] if c["target"] == target]
    named = [{s["gold_label"]: s["id"] for s in c["sentences"]} for c in rows]
    return [(ids["stereotype"], ids["anti-stereotype"]) for ids in named]


@pytest.mark.parametrize("lost", [None, float("nan"), float("inf"), "absent"])
def test_a_sentence_without_a_score_is_undefined_and_never_neutral(tmp_path: Path, lost: object) -> None:
    data, scores = made_up(np.random.default_rng(3))
    path = write(tmp_path, data)
    stereo, anti = _stereo_ids(data, "target 0")[0]
    scores[stereo], scores[anti] = 2.0, 1.0
    changed: dict[str, Any] = {name: score for name, score in scores.items() if name != stereo}
    if lost != "absent":
        changed[stereo] = lost
    whole, gap = bg.analyses.likelihood.stereoset(path, scores), bg.analyses.likelihood.stereoset(path, changed)
    assert [entry.id for entry in gap.intrasentence.undefined] == [stereo]
    assert gap.intrasentence.compared == whole.intrasentence.compared - 2
    assert gap.intersentence == whole.intersentence
    won = sum(scores[a] > scores[b] for a, b in _stereo_ids(data, "target 0")[1:])
    change = 100 / 6 * (won / 4 - (won + 1) / 5)  # not (won + ½) / 5
    assert gap.intrasentence.ss.value == pytest.approx((whole.intrasentence.ss.value or 0) + change)
    assert gap.intrasentence.undefined[0].reason in {"it has no score", "its score is not a finite number"}


def test_too_few_scores_make_a_number_undefined(tmp_path: Path) -> None:
    data, scores = made_up(np.random.default_rng(4))
    path = write(tmp_path, data)
    intra = {name: score for name, score in scores.items() if name.startswith("intra")}
    result = bg.analyses.likelihood.stereoset(path, intra)
    assert result.intersentence.to_dict()["ss"] is None
    assert result.intersentence.to_dict()["reason"] == "no comparison of intersentence is defined"
    assert result.intrasentence.ss.value == bg.analyses.likelihood.stereoset(path, scores).intrasentence.ss.value
    assert "required" in (result.overall.ss.reason or "")
    few = dict(list(intra.items())[: len(intra) // 2])
    assert bg.analyses.likelihood.stereoset(path, few).intrasentence.ss.value is None
    assert bg.analyses.likelihood.stereoset(path, few, min_coverage=0.1).intrasentence.ss.value is not None


def test_replicates_widen_the_interval_by_what_seeds_do(tmp_path: Path) -> None:
    data, scores = made_up(np.random.default_rng(5), targets=20)
    path = write(tmp_path, data)
    same = bg.analyses.likelihood.stereoset(path, [scores, scores, scores]).intrasentence.ss
    assert same.value == pytest.approx(bg.analyses.likelihood.stereoset(path, scores).intrasentence.ss.value)
    flipped = {name: -score for name, score in scores.items()}
    both = bg.analyses.likelihood.stereoset(path, [scores, flipped])
    assert both.intrasentence.ss.value == pytest.approx(50)
    assert both.intrasentence.ss.over == "targets and replicates"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"data": []}, "is not StereoSet"),
        ({"data": {"intrasentence": [{}]}}, "has no 'id'"),
        ({"data": {"intrasentence": [{"id": "a"}]}}, "must have target, bias_type, context and sentences"),
        ("[", "is not JSON"),
    ],
)
def test_data_that_are_something_else(tmp_path: Path, content: object, message: str) -> None:
    path = tmp_path / "data.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(CorpusError, match=message):
        bg.analyses.likelihood.stereoset(path, {"a": 1.0})


def test_other_bad_input_is_one_sentence(tmp_path: Path) -> None:
    data, scores = made_up(np.random.default_rng(6))
    path = write(tmp_path, data)
    with pytest.raises(ParameterError, match="predictions"):
        bg.analyses.likelihood.stereoset(path)
    with pytest.raises(InputError, match="no sentence in common"):
        bg.analyses.likelihood.stereoset(path, {"somebody else's": 1.0})
    with pytest.raises(ParameterError, match="map ids to numbers"):
        bg.analyses.likelihood.stereoset(path, {"a": "high"})  # type: ignore[dict-item]
    twice = {"intrasentence": [{"id": "a", "score": 1}, {"id": "a", "score": 2}]}
    with pytest.raises(CorpusError, match="'a' has two scores"):
        bg.analyses.likelihood.stereoset(path, write(tmp_path, twice, "twice.json"))
    with pytest.raises(CorpusError, match="predictions"):
        bg.analyses.likelihood.stereoset(path, write(tmp_path, data, "again.json"))
    for hostile in (1e308, None, {"a": 1}, "text"):
        with pytest.raises(CorpusError, match="'data'"):
            bg.analyses.likelihood.stereoset(
                write(tmp_path, {"data": {**data["data"], "intersentence": hostile}}), scores
            )
    sound = data["data"]["intrasentence"][0]["sentences"][0]["gold_label"]
    for label in (["stereotype"], {"a": 1}, None):  # what cannot be a key stopped it with a TypeError
        data["data"]["intrasentence"][0]["sentences"][0]["gold_label"] = label
        with pytest.raises(CorpusError, match="gold_label"):
            bg.analyses.likelihood.stereoset(write(tmp_path, data), scores)
    data["data"]["intrasentence"][0]["sentences"][0]["gold_label"] = sound
    data["data"]["intrasentence"][0]["sentences"].pop()
    with pytest.raises(CorpusError, match="gold_label") as problem:
        bg.analyses.likelihood.stereoset(write(tmp_path, data), scores)
    assert "lunch" not in str(problem.value)


@pytest.mark.calibration
@pytest.mark.parametrize("ss", [0.5, 0.52, 0.58])
@pytest.mark.parametrize("targets", [10, 79])
def test_icat_is_covered_at_its_kink_and_beside_it(ss: float, targets: int) -> None:
    """92 to 98.5 %; a percentile bootstrap over targets covers about 70 % where neither is preferred."""
    random, lms, runs = np.random.default_rng(7), 0.85, 1_000
    truth = 100 * lms * (1 - abs(ss - 0.5) * 2)
    hits = 0
    for _ in range(runs):
        chances = [random.beta(mean * 20, (1 - mean) * 20, targets) for mean in (lms, ss)]
        shares = np.array([random.binomial(54, chances[0]) / 54, random.binomial(27, chances[1]) / 27]) * 100
        means = clustered_means(shares[:, None], np.ones((2, 1, targets)))
        estimate = icat_estimate(means, *(means.estimate(own, bounds=(0, 100)) for own in (0, 1)))
        hits += (estimate.low or 0) <= truth <= (estimate.high or 0)
    assert 0.92 <= hits / runs <= 0.985


def write(folder: Path, content: object, name: str = "data.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(content))
    return path

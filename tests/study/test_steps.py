"""What each step leaves is what the public function gives, the same bytes each time, and nothing of where it ran."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.lexicons import lexicon
from biasgauge.study import CellStore, Plan, plan_study, run_study
from biasgauge.study.engine import run_cell

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.scores import ScoreTensor
    from biasgauge.vectors import Embedding

WEAT7 = lexicon("weat7")
WORDS = list(dict.fromkeys([*WEAT7.words, "man", "woman", "doctor", "nurse", "king", "queen"]))
PAIRS = [["he", "she"], ["man", "woman"], ["his", "her"]]
TARGETS = [word for word in WORDS if word not in {one for pair in PAIRS for one in pair}][:20]
STUDY = f"""
[study]
name = "steps"
seed = 2

[corpora.one]
path = ["first.txt", "second.txt"]
documents = "line"
[corpora.whole]
path = "first.txt"
[corpora.even]
from = "whole"
balance = {{ test = "weat7", strength = 0.5, max_removed = 0.3 }}

[models.sgns]
corpora = ["one", "even"]
seeds = 3
dim = 6
epochs = 1
min_count = 1
[models.glove]
corpora = ["one"]
algorithm = "glove"
bootstrap = 2
seeds = [7]
dim = 6
epochs = 1
min_count = 1
window = 4

[vectors.given]
path = "given*.txt"
limit = {len(WORDS) - 1}
[vectors.odd]
path = "odd.txt"

[mitigations.hard]
of = ["given"]
method = "hard"
settings = {{ equalize = "none", specific = "none", lexicon = "pairs.toml" }}
[mitigations.repel]
of = ["given"]
method = "attract_repel"
settings = {{ lexicon = "weat7", epochs = 1, descent = {{ batch_size = 10 }} }}

[scores.some]
of = ["sgns", "glove"]
pairs = {json.dumps(PAIRS)}
words = {json.dumps(TARGETS)}
measures = ["dbwa", "ripa", "nbm"]
k = 5
[scores.all]
of = ["odd", "given"]
pairs = "pairs.toml"
words = "full"
measures = "dbwa"

[analyses.trust]
kind = "reliability"
of = ["some"]
settings = {{ lists = {{ all = {json.dumps(TARGETS)} }}, level = 0.9 }}
[analyses.what]
kind = "components"
of = ["some/sgns"]
settings = {{ measure = "dbwa", draws = 200 }}
[analyses.enough]
kind = "decision"
of = ["some/sgns/one"]
settings = {{ measure = "dbwa", draws = 200, target = 0.7, coefficient = "generalizability" }}
[analyses.causes]
kind = "factors"
of = ["some"]
settings = {{ draws = 50, refits = 3 }}
[analyses.lean]
kind = "weat"
of = ["given", "odd"]
settings = {{ test = "weat7", alternative = "two-sided", interval = {{ resamples = 200 }} }}
[analyses.bare]
kind = "weat"
of = ["given"]
settings = {{ x = ["math"], y = ["art"], a = "weat7:a", b = "weat7:b", interval = "none" }}
[analyses.axis]
kind = "semaxis"
of = ["odd"]
settings = {{ test = "weat7", interval = {{ resamples = 200 }} }}
[analyses.several]
kind = "mac"
of = ["given"]
settings = {{ stereotypes = "gender", min_coverage = 0.0, interval = "none" }}
[analyses.probable]
kind = "posterior"
of = ["given"]
settings = {{ lexicon = "weat7", smallest = 0.03, draws = 400 }}
[analyses.far]
kind = "bayes"
of = ["given"]
settings = {{ lexicon = "weat7", human = "none", neutral = "none", draws = 300 }}
[analyses.moved]
kind = "bayes-change"
of = ["hard"]
settings = {{ lexicon = "weat7", human = "none", neutral = "none", draws = 300 }}
[analyses.apart]
kind = "bayes-change"
of = ["given"]
before = "repel"
settings = {{ lexicon = "weat7", human = "none", neutral = "none", draws = 300 }}
[analyses.effect]
kind = "mitigation-effect"
of = ["repel"]
settings = {{ lexicons = ["weat7"], controls = [], benchmarks = [], recovery = "none", interval = {{ resamples = 200 }} }}
[analyses.choice]
kind = "robustness"
of = ["given"]
settings = {{ pairs = "pairs.toml", words = {json.dumps(TARGETS)}, measures = ["dbwa"], truths = {{}}, forms = [], pool = "none" }}
[analyses.fit]
kind = "seeds"
of = ["given"]
settings = {{ a = "weat7:a", b = "weat7:b", shuffles = 20 }}
[analyses.steady]
kind = "stability"
of = ["sgns/one"]
[analyses.good]
kind = "quality"
of = ["given"]
settings = {{ benchmarks = "mine.tsv", level = 0.9 }}
[analyses.track]
kind = "correlate"
settings = {{ points = "points.csv", x = "weat", y = "gap", by = ["method"], resamples = 1000 }}

[report]
"""  # noqa: E501 - lines of TOML cannot be broken


def fill(folder: Path) -> Path:
    folder.mkdir(parents=True)
    random = np.random.default_rng(0)
    for name in ("first.txt", "second.txt"):
        lines = (" ".join(random.choice(WORDS, 8)) for _ in range(300))
        (folder / name).write_text("\n".join(lines) + "\nmath he\n" * 20 + "art he\n" * 5)
    for name in ("given1.txt", "given2.txt", "odd.txt"):
        rows = [f"{word} {' '.join(f'{one:.4f}' for one in random.normal(size=6))}" for word in WORDS]
        if name == "odd.txt":
            rows[3] = f"{WORDS[3]} nan 0 0 0 0 0"
        (folder / name).write_text("\n".join(rows) + "\n")
    pairs = ", ".join(json.dumps(pair) for pair in PAIRS)
    about = 'name = "mine"\nkind = "pairs"\ntitle = "made"\nlanguage = "en"\nsource = "made"\n'
    (folder / "pairs.toml").write_text(f"{about}pairs = [{pairs}]\n")
    (folder / "mine.tsv").write_text("man\tboy\t3\nwoman\tgirl\t4\nking\tqueen\t9\ndoctor\tnurse\t5\nhe\tshe\t8\n")
    rows = [f"{one:.4f},{two:.4f},{'ab'[at % 2]}" for at, (one, two) in enumerate(random.normal(size=(24, 2)))]
    (folder / "points.csv").write_text("weat,gap,method\n" + "\n".join(rows) + "\n")
    (folder / "study.toml").write_text(STUDY)
    return folder / "study.toml"


class Done:
    """A study with all cells computed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = CellStore(folder / "out")
        self.plan: Plan = plan_study(fill(folder / "study"), self.store)
        for cell in self.plan.cells:
            ran = run_cell(cell, self.store)
            assert ran.failure is None, (cell.label, ran.failure)

    def folder_of(self, key: str) -> Path:
        return self.store.folder(key, self.folder)

    def place(self, name: str) -> Path:
        return self.folder_of({**self.plan.results, **self.plan.models}[name])

    def cell(self, label: str) -> Path:
        return self.folder_of(next(one.key for one in self.plan.cells if one.label == label))

    def result(self, name: str) -> Any:  # noqa: ANN401 - JSON
        return json.loads((self.place(name) / "result.json").read_bytes())

    def file(self, name: str) -> Path:
        return self.folder / "study" / name

    def given(self, which: int) -> Embedding:
        """What the study was given, as it names it."""
        path = self.file(f"given{which}.txt")
        return replace(bg.load(path, limit=len(WORDS) - 1), name=f"given/given{which}", source=f"given/given{which}")

    def group(self, name: str) -> list[Embedding]:
        return [
            replace(bg.load(self.folder_of(key) / "model.safetensors", name=label), source=label)
            for label, key in self.plan.models.items()
            if label.startswith(f"{name}/")
        ]

    def scores(self, name: str) -> ScoreTensor:
        return bg.score(self.group(name), pairs=PAIRS, words=TARGETS, k=5)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Done:
    return Done(tmp_path_factory.mktemp("steps") / "first")


def plain(content: object) -> Any:  # noqa: ANN401 - JSON
    return json.loads(json.dumps(content, default=lambda value: value.tolist()))


def test_whatever_tells_the_version_of_the_package_has_it_in_its_key(done: Done) -> None:
    counted: set[str] = set()
    telling: set[str] = set()
    for cell in done.plan.cells:
        if "biasgauge" in cell.settings or counted & set(cell.inputs.values()):
            counted.add(cell.key)
        files = [path for path in done.folder_of(cell.key).rglob("*") if path.is_file()]
        if any(bg.__version__.encode() in path.read_bytes() for path in files):
            telling.add(cell.step)
            assert cell.key in counted, cell.label
    assert {"score", "tensor", "association", "report"} <= telling


def test_two_runs_in_two_folders_leave_the_same_bytes_and_no_trace_of_the_folder(
    done: Done, tmp_path_factory: pytest.TempPathFactory
) -> None:
    again = Done(tmp_path_factory.mktemp("again") / "second")
    assert [one.key for one in again.plan.cells] == [one.key for one in done.plan.cells]
    for cell in done.plan.cells:
        assert done.store.manifest(cell.key) == again.store.manifest(cell.key), cell.label
        for path in done.folder_of(cell.key).rglob("*"):
            if path.is_file():
                assert str(done.folder).encode() not in path.read_bytes(), (cell.label, path.name)


def test_corpora_are_those_of_read_corpus_and_balance(done: Done, tmp_path: Path) -> None:
    cell = bg.text.open_corpus(done.cell("read one") / "corpus")
    direct = bg.text.read_corpus([done.file("first.txt"), done.file("second.txt")], out=tmp_path / "one")
    assert cell.checksum == direct.checksum
    assert [one["name"] for one in cell.settings["files"]] == ["text0", "text1"]
    cell.check()
    found = bg.balance(
        done.file("first.txt"), "weat7", out=tmp_path / "even.txt", degree=0.5, max_removed=0.3, random_state=2
    )
    assert found.removed > 0
    assert (done.cell("balance even") / "text.txt").read_bytes() == (tmp_path / "even.txt").read_bytes()
    told = json.loads((done.cell("balance even") / "balance.json").read_bytes())
    assert told["classes"] == plain(found.to_dict()["classes"])
    even = bg.text.read_corpus(tmp_path / "even.txt", out=tmp_path / "even")
    assert bg.text.open_corpus(done.cell("read even") / "corpus").checksum == even.checksum


def test_models_are_those_of_train(done: Done, tmp_path: Path) -> None:
    corpus = bg.text.open_corpus(done.cell("read one") / "corpus")
    common: dict[str, Any] = {"dim": 6, "epochs": 1, "min_count": 1, "n_jobs": 1}
    direct = bg.train(corpus, out=tmp_path, seeds=3, random_state=2, **common)
    sampled = bg.train(
        corpus, out=tmp_path, algorithm="glove", bootstrap=2, seeds=[7], random_state=2, window=4, **common
    )
    names = [f"sgns/one/seed{seed}" for seed in (2, 3, 4)] + [f"glove/one/sample{one}-seed7" for one in (0, 1)]
    for name, model in zip(names, (*direct.models, *sampled.models), strict=True):
        assert (done.place(name) / "model.safetensors").read_bytes() == model.path.read_bytes()
        told = json.loads((done.place(name) / "recipe.json").read_bytes())
        assert told["recipe"] == plain(model.recipe.to_dict())
        assert told["losses"] == list(model.losses)
        assert "seconds" not in told


def test_vectors_are_those_of_the_file_and_what_was_odd_about_them_is_remembered(done: Done) -> None:
    given = done.group("given")
    for model, which in zip(given, (1, 2), strict=True):
        assert model.words == done.given(which).words
        assert np.array_equal(model.vectors, done.given(which).vectors)
    odd = bg.load(done.file("odd.txt"))
    told = json.loads((done.place("odd") / "about.json").read_bytes())
    assert told["dropped"] == dict(odd.dropped)
    assert told["notices"] == [one.to_dict() for one in odd.notices]
    assert [one["code"] for one in told["notices"]] == ["not-finite"]
    coverage = done.result("lean/odd")["models"][0]["result"]["coverage"]
    assert coverage == plain(bg.weat(odd, "weat7").coverage.to_dict())


@pytest.mark.parametrize("which", [1, 2])
def test_mitigations_are_those_of_mitigate(done: Done, which: int) -> None:
    hard = bg.mitigate(
        done.given(which), "hard", equalize=None, specific=None, lexicon=lexicon(done.file("pairs.toml"))
    )
    method = bg.mitigation.mitigation_method("attract_repel", lexicon="weat7", epochs=1, random_state=2)
    method.descent = replace(method.descent, batch_size=10)  # type: ignore[attr-defined]  # of attract-repel
    for name, direct in (("hard", hard), ("repel", method.fit_transform(done.given(which)))):
        found = bg.load(done.place(f"{name}/given/given{which}") / "model.safetensors")
        assert np.array_equal(found.vectors, direct.vectors)
        assert not np.array_equal(found.vectors, done.given(which).vectors)


@pytest.mark.parametrize("group", ["sgns/one", "sgns/even", "glove/one"])
def test_scores_are_those_of_score(done: Done, group: str) -> None:
    label = f"tensor some/{group}"
    found = bg.scores.ScoreStore.open(done.cell(label) / "scores").read()
    direct = done.scores(group)
    assert (found.measures, found.pairs, found.words, found.models) == (
        direct.measures, direct.pairs, direct.words, direct.models,
    )  # fmt: skip
    assert np.array_equal(found.values, direct.values, equal_nan=True)
    assert np.array_equal(found.undefined, direct.undefined)
    kept = dict(found.provenance)
    assert {name: kept[name] for name in direct.provenance if name != "models"} == plain(
        {name: one for name, one in direct.provenance.items() if name != "models"}
    )
    for model in direct.models:
        about = dict(kept["models"][model])
        about.pop("sha256")
        assert about == plain(direct.provenance["models"][model])


def test_the_full_vocabulary_is_that_of_all_models(done: Done, tmp_path: Path) -> None:
    models = [done.given(which) for which in (1, 2)]
    direct = bg.scores.score_to_store(
        tmp_path / "scores", models, pairs=lexicon(done.file("pairs.toml")), words="full", measures="dbwa"
    )
    found = bg.scores.ScoreStore.open(done.cell("tensor all/given") / "scores")
    assert found.to_dict() == direct.to_dict()
    assert {path.name: path.read_bytes() for path in found.path.iterdir()} == {
        path.name: path.read_bytes() for path in direct.path.iterdir()
    }


def test_analyses_of_scores_are_those_of_their_functions(done: Done) -> None:
    scores = done.scores("sgns/one")
    direct = bg.reliability(scores, lists={"all": TARGETS}, level=0.9, random_state=2)
    assert done.result("trust/sgns/one") == plain(direct.to_dict())
    components = bg.analyses.reliability.variance_components(scores, measure="dbwa", draws=200, random_state=2)
    assert done.result("what/sgns/one") == plain(components.to_dict())
    study = bg.analyses.reliability.decision_study(components, target=0.7, coefficient="generalizability")
    assert done.result("enough/sgns/one") == plain(study.to_dict())
    assert (done.place("enough/sgns/one") / "needs.csv").read_text().count("\n") == len(study.needs_frame()) + 1


def test_factors_are_those_of_all_groups_together(done: Done) -> None:
    sources = []
    for algorithm, corpus in (("sgns", "one"), ("sgns", "even"), ("glove", "one")):
        text = bg.text.open_corpus(done.cell(f"read {corpus}") / "corpus")
        counts = dict(zip(text.words, map(float, text.counts), strict=True))
        group = f"{algorithm}/{corpus}"
        store = bg.scores.ScoreStore.open(done.cell(f"tensor some/{group}") / "scores")
        sources.append(
            bg.analyses.reliability.FactorSource(algorithm, corpus, store, vectors=done.group(group), counts=counts)
        )
    direct = bg.factors(sources, draws=50, refits=3, random_state=2, n_jobs=1)
    assert done.result("causes") == plain(direct.to_dict())


def test_association_tests_are_those_of_each_model_with_their_spread(done: Done) -> None:
    how = bg.stats.Resampling(resamples=200, random_state=2)
    found = done.result("lean/given")
    direct = [
        bg.weat(done.given(which), "weat7", alternative="two-sided", interval=how, random_state=2) for which in (1, 2)
    ]
    assert found["models"] == [{"model": one.model, "result": plain(one.to_dict())} for one in direct]
    (spread,) = found["spread"]
    assert spread["mean"] == pytest.approx(np.mean([one.value for one in direct]))
    sets: dict[str, Any] = {"x": ["math"], "y": ["art"], "a": "weat7:a", "b": "weat7:b", "interval": None}
    bare = [bg.weat(done.given(which), random_state=2, **sets) for which in (1, 2)]
    assert [one["result"] for one in done.result("bare/given")["models"]] == [plain(one.to_dict()) for one in bare]
    odd = replace(bg.load(done.file("odd.txt")), name="odd")
    axis = bg.association_test(odd, "weat7", kind="semaxis", interval=how)
    assert done.result("axis/odd")["models"][0]["result"] == plain(axis.to_dict())
    assert done.result("axis/odd")["spread"] == []
    mac = [
        bg.scores.mac(done.given(which), "gender", policy=bg.core.WordPolicy(min_coverage=0.0), interval=None)
        for which in (1, 2)
    ]
    assert [one["result"] for one in done.result("several/given")["models"]] == [plain(one.to_dict()) for one in mac]


def test_analyses_of_one_model_each_are_gathered(done: Done) -> None:
    asked: dict[str, Any] = {"human": None, "neutral": None, "draws": 300, "random_state": 2}
    found = done.result("far/given")
    assert (found["kind"], found["of"]) == ("bayes", "given")
    direct = [bg.bayes(done.given(which), "weat7", **asked) for which in (1, 2)]
    assert found["models"] == [
        {"model": f"given/given{which}", "result": plain(one.to_dict())}
        for which, one in zip((1, 2), direct, strict=True)
    ]
    table = (done.place("far/given") / "table.csv").read_text().splitlines()
    assert len(table) == 1 + sum(len(one.to_frame()) for one in direct)
    assert table[0].startswith("study_model,")
    choice = [
        bg.robustness(
            done.given(which), pairs=lexicon(done.file("pairs.toml")), words=TARGETS, measures=["dbwa"], truths={},
            forms=[], pool=None, random_state=2,
        )
        for which in (1, 2)
    ]  # fmt: skip
    assert [one["result"] for one in done.result("choice/given")["models"]] == [plain(one.to_dict()) for one in choice]
    good = [bg.vectors.similarity_benchmark(done.given(which), done.file("mine.tsv"), level=0.9) for which in (1, 2)]
    assert [one["result"]["similarity"] for one in done.result("good/given")["models"]] == [
        [plain(one.to_dict())] for one in good
    ]


def test_a_posterior_is_of_all_replicates_together(done: Done) -> None:
    models = [done.given(which) for which in (1, 2)]
    direct = bg.posterior(models, "weat7", smallest=0.03, draws=400, random_state=2)
    assert done.result("probable/given")["contrast"] == plain(direct.to_dict())["contrast"]


def test_changes_are_of_each_model_before_and_after(done: Done) -> None:
    asked: dict[str, Any] = {"human": None, "neutral": None, "draws": 300, "random_state": 2}
    for which, hard, repelled in zip((1, 2), done.group("hard/given"), done.group("repel/given"), strict=True):
        place = which - 1
        direct = bg.analyses.posterior.bayes_change(done.given(which), hard, "weat7", **asked)
        assert done.result("moved/hard/given")["models"][place]["result"] == plain(direct.to_dict())
        back = bg.analyses.posterior.bayes_change(repelled, done.given(which), "weat7", **asked)
        assert done.result("apart/given")["models"][place]["result"] == plain(back.to_dict())
        effect = bg.mitigation.mitigation_effect(
            done.given(which), repelled, ["weat7"], controls=[], benchmarks=[], recovery=None, random_state=2,
            interval=bg.stats.Resampling(resamples=200),
        )  # fmt: skip
        assert done.result("effect/repel/given")["models"][place]["result"] == plain(effect.to_dict())


def test_analyses_of_replicates_together(done: Done) -> None:
    given = [done.given(which) for which in (1, 2)]
    seeds = bg.seeds(given, "weat7:a", "weat7:b", shuffles=20, random_state=2)
    assert done.result("fit/given") == plain(seeds.to_dict())
    steady = bg.vectors.stability(done.group("sgns/one"), n_jobs=1)
    assert done.result("steady/sgns/one") == plain(steady.to_dict())
    assert (done.place("steady/sgns/one") / "pairs.csv").exists()


def test_a_table_of_the_user_is_correlated(done: Done) -> None:
    direct = bg.correlate(done.file("points.csv"), "weat", "gap", ["method"], resamples=1000, random_state=2)
    assert done.result("track") == plain(direct.to_dict())


def test_the_report_has_every_result_under_its_name(done: Done) -> None:
    summary = json.loads((done.place("report") / "summary.json").read_bytes())
    assert [one["name"] for one in summary["results"]] == [name for name in done.plan.results if name != "report"]
    for one in summary["results"]:
        assert one["result"] == done.result(one["name"])
    assert {one["part"] for one in summary["results"]} == {"analyses"}
    page = (done.place("report") / "page.html").read_text()
    assert page.lower().startswith("<!doctype html>")


def test_worker_processes_leave_the_same_bytes(done: Done, tmp_path: Path) -> None:
    text = (
        STUDY[: STUDY.index("[analyses.trust]")]
        + STUDY[STUDY.index("[analyses.steady]") : STUDY.index("[analyses.good]")]
    )
    (done.folder / "study" / "part.toml").write_text(text)
    ran = run_study(done.file("part.toml"), out=tmp_path / "out", workers=2)
    assert ran.failed == 0
    store = CellStore(tmp_path / "out")
    assert {"corpus", "balance", "train", "mitigate", "score", "tensor", "stability"} <= {one.step for one in ran.cells}
    for cell in ran.cells:
        assert store.manifest(cell.key) == done.store.manifest(cell.key), cell.label

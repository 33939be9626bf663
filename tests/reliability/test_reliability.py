"""`reliability` against loops written from the description of Du et al.'s code; gaps, lists, labels, warnings."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.reliability import ReliabilityResult, reliability
from biasgauge.analyses.reliability.reliabilities import standardized
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import lexicon
from biasgauge.results.names import measure_name
from biasgauge.scores import ScoreStore
from biasgauge.scores.tensor import ModelScores

if TYPE_CHECKING:
    from pathlib import Path

    from biasgauge.analyses.reliability import ReliabilityTable
    from biasgauge.scores import ScoreTensor

Make = Any
WORDS = [f"word{number}" for number in range(12)]
PAIRS = [("he", "she"), ("man", "woman"), ("men", "women"), ("boy", "girl"), ("boys", "girls"), ("john", "mary")]
LISTS = {"some": ["word7", "word2", "word9", "word4", "word3"], "others": WORDS[5:]}
QUERIES = {"query": ["word8", "word1", "word5", "word6"]}


def value(rows: ReliabilityTable, **labels: str | None) -> float:
    part = rows.where(**labels)
    assert len(part) == 1, labels
    return float(part.value[0])


@pytest.fixture(scope="module")
def scores(tensor: Make) -> ScoreTensor:
    made: ScoreTensor = tensor(WORDS, pairs=PAIRS, models=5, seed=3)
    return made


@pytest.fixture(scope="module")
def gaps(scores: ScoreTensor) -> ScoreTensor:
    """A word lost in one model, a pair lost in another, a word lost everywhere, a measure lost in a third model."""
    undefined = scores.undefined.copy()
    undefined[:, :, 3, 1] = 1
    undefined[:, 4, :, 2] = 4
    undefined[:, :, 11, :] = 3
    undefined[2, :, :, 4] = 8
    values = np.where(undefined > 0, np.float32(np.nan), scores.values)
    return replace(scores, values=values, undefined=undefined)


@pytest.fixture(scope="module", params=["complete", "gaps"])
def case(request: pytest.FixtureRequest, scores: ScoreTensor, gaps: ScoreTensor) -> ScoreTensor:
    return scores if request.param == "complete" else gaps


@pytest.fixture(scope="module")
def found(case: ScoreTensor) -> ReliabilityResult:
    return reliability(case, lists=LISTS, queries=QUERIES, min_coverage=0.5)


class TestAgainstLoops:
    """METHODS 1.4: which scores make which matrix; the estimators are `Slow`'s."""

    def test_test_retest_of_words(self, case: ScoreTensor, found: ReliabilityResult, slow: Any) -> None:  # noqa: ANN401
        """Pairs × models; nothing is averaged before."""
        for m, measure in enumerate(case.measures):
            for name, words in LISTS.items():
                for word in words:
                    w = case.words.index(word)
                    matrix = [[float(case.values[m, p, w, k]) for k in range(5)] for p in range(6)]
                    kept = slow.complete(matrix)
                    if not kept:
                        assert not len(found.test_retest.where(of="word", name=word, measure=measure, list=name))
                        continue
                    ours = value(found.test_retest, of="word", name=word, measure=measure, list=name)
                    assert ours == pytest.approx(slow.icc(kept, "2,1"), rel=1e-9)

    def test_test_retest_of_pairs(self, case: ScoreTensor, found: ReliabilityResult, slow: Any) -> None:  # noqa: ANN401
        """Words of a list × models."""
        for m, measure in enumerate(case.measures):
            for name, words in LISTS.items():
                for p, pair in enumerate(PAIRS):
                    places = [case.words.index(word) for word in words]
                    known = [w for w in places if not np.isnan(case.values[:, :, w]).all()]
                    matrix = [[float(case.values[m, p, w, k]) for k in range(5)] for w in known]
                    kept = slow.complete(matrix)
                    ours = found.test_retest.where(of="pair", name="~".join(pair), measure=measure, list=name)
                    assert (ours.n[0], ours.k[0]) == (len(kept), len(kept[0]))
                    assert ours.value[0] == pytest.approx(slow.icc(kept, "2,1"), rel=1e-9)

    def test_test_retest_of_rules(self, case: ScoreTensor, found: ReliabilityResult, slow: Any) -> None:  # noqa: ANN401
        """Words × models of the mean over pairs that every model with scores has."""
        for m, measure in enumerate(case.measures):
            models = [k for k in range(5) if not np.isnan(case.values[m, :, :, k]).all()]
            pairs = [p for p in range(6) if all(not np.isnan(case.values[m, p, :, k]).all() for k in models)]
            for name, words in LISTS.items():
                matrix = [
                    [
                        sum(float(case.values[m, p, case.words.index(word), k]) for p in pairs) / len(pairs)
                        for k in models
                    ]
                    for word in words
                ]
                kept = slow.complete(matrix)
                ours = value(found.test_retest, of="rule", name=measure, measure=measure, list=name)
                assert ours == pytest.approx(slow.icc(kept, "2,1"), rel=1e-6)

    def averages(self, case: ScoreTensor, slow: Any) -> list[list[list[float]]]:  # noqa: ANN401
        """Measure × pair × word: mean over the models that have the score."""
        return [
            [[slow.mean_of_defined(case.values[m, p, w].tolist()) for w in range(12)] for p in range(6)]
            for m in range(3)
        ]

    @pytest.mark.parametrize("scaled", [False, True])
    def test_inter_rater(
        self,
        case: ScoreTensor,
        found: ReliabilityResult,
        slow: Any,  # noqa: ANN401
        scaled: bool,  # noqa: FBT001 - a parameter of the test
    ) -> None:
        """Pairs × measures for a word, words × measures for a pair; as they are, or by each measure's deviation."""
        scores = self.averages(case, slow)
        if scaled:
            flat = [[one for row in of_measure for one in row if not np.isnan(one)] for of_measure in scores]
            sizes = [float(np.std(one, ddof=1)) for one in flat]
            scores = [[[one / size for one in row] for row in part] for part, size in zip(scores, sizes, strict=True)]
        rows = found.inter_rater_standardized if scaled else found.inter_rater
        for name, words in LISTS.items():
            places = {word: case.words.index(word) for word in words}
            for word, w in places.items():
                kept = slow.complete([[scores[m][p][w] for m in range(3)] for p in range(6)])
                if kept:
                    ours = value(rows, of="word", name=word, measure=None, list=name)
                    assert ours == pytest.approx(slow.icc(kept, "3,1"), rel=1e-7)
            for p, pair in enumerate(PAIRS):
                kept = slow.complete([[scores[m][p][w] for m in range(3)] for w in places.values()])
                ours = value(rows, of="pair", name="~".join(pair), measure=None, list=name)
                assert ours == pytest.approx(slow.icc(kept, "3,1"), rel=1e-7)

    def test_internal(self, case: ScoreTensor, found: ReliabilityResult, slow: Any) -> None:  # noqa: ANN401
        """Items are the words of a query on pairs; or the pairs, on the words of a list."""
        scores = self.averages(case, slow)
        for m, measure in enumerate(case.measures):
            query = [case.words.index(word) for word in QUERIES["query"]]
            kept = slow.complete([[scores[m][p][w] for w in query] for p in range(6)])
            ours = value(found.internal, of="query", name="query", measure=measure, list=None)
            assert ours == pytest.approx(slow.alpha(kept), rel=1e-9)
            for name, words in LISTS.items():
                places = [case.words.index(word) for word in words]
                kept = slow.complete([[scores[m][p][w] for p in range(6)] for w in places])
                ours = value(found.internal, of="pairs", name="du2021", measure=measure, list=name)
                assert ours == pytest.approx(slow.alpha(kept), rel=1e-9)


def test_standardizing_makes_measures_of_another_scale_agree(found: ReliabilityResult) -> None:
    """Scores are the same signal times .1, .3 and 1: raw agreement is low for that reason alone."""
    raw, scaled = (
        float(np.median(rows.where(of="word", list="others").value))
        for rows in (found.inter_rater, found.inter_rater_standardized)
    )
    assert raw < 0.5 < scaled
    assert any("standard deviation of NBM" in sentence for sentence in found.verdicts)


def test_a_measure_without_spread_is_left_alone() -> None:
    averages = np.stack([np.random.default_rng(0).normal(size=(3, 4)), np.zeros((3, 4))])
    assert (standardized(averages)[1] == 0).all()
    assert standardized(averages)[0].std(ddof=1) == pytest.approx(1)


def test_words_keep_their_numbers_in_any_order(scores: ScoreTensor) -> None:
    """The published helper returned scores in the order of the vocabulary under names in the order asked for."""
    forward = reliability(scores, lists={"list": ["word2", "word9", "word0"]}, queries={"q": WORDS[:3]})
    backward = reliability(scores, lists={"list": ["word9", "word0", "word2"]}, queries={"q": WORDS[:3]})
    for word in ("word0", "word2", "word9"):
        alone = reliability(scores.select(word=[word]), lists={"list": [word]}, queries={"q": [word]}, min_coverage=0)
        for rows in ("test_retest", "inter_rater"):
            for measure in scores.measures if rows == "test_retest" else [None]:
                labels: dict[str, Any] = {"of": "word", "name": word, "measure": measure}
                numbers = [value(getattr(result, rows), **labels) for result in (forward, backward, alone)]
                assert numbers[0] == numbers[1] == pytest.approx(numbers[2], rel=1e-12)
    shuffled = scores.select(word=list(reversed(WORDS)), pair=list(reversed(PAIRS)))
    again = reliability(shuffled, lists=LISTS, queries=QUERIES)
    first = reliability(scores, lists=LISTS, queries=QUERIES)
    for one in first.test_retest.to_dict():
        labels = {name: one[name] for name in ("of", "name", "measure", "list")}
        assert value(again.test_retest, **labels) == pytest.approx(one["value"], rel=1e-6)


class TestLists:
    def test_by_default_the_lists_that_the_scores_cover(self, tensor: Make) -> None:
        occ18 = lexicon("occ18").words
        found = reliability(tensor(occ18, models=3))
        assert [one.name for one in found.lists] == ["occ18"]
        assert found.queries == ()
        assert any("no query was scored" in one for one in found.warnings)

    def test_queries_by_default_and_words_in_no_list(self, tensor: Make) -> None:
        """Words of queries are judged as words too, without a list."""
        words = list(dict.fromkeys([*lexicon("occ18").words, *lexicon("du2021_queries").words]))
        found = reliability(tensor(words, models=3))
        assert [one.name for one in found.lists] == ["occ18"]
        assert [one.name for one in found.queries] == ["career", "family", "arts", "arts_2", "math", "science"]
        assert np.isfinite(value(found.test_retest, of="word", name="poetry", measure="dbwa"))
        names = found.test_retest.where(of="word", measure="dbwa").name
        assert sorted(names) == sorted(words)

    def test_other_words_make_a_list_of_their_own(self, scores: ScoreTensor, tensor: Make) -> None:
        assert [one.name for one in reliability(scores).lists] == ["all words"]
        more = tensor([*lexicon("occ18").words, *WORDS], models=3)
        assert [one.name for one in reliability(more).lists] == ["occ18", "all words"]

    def test_names_sets_and_files(self, tensor: Make, tmp_path: Path) -> None:
        file = tmp_path / "jobs.toml"
        file.write_text('kind = "words"\nwords = ["nurse", "judge", "cook"]\n')
        made = tensor([*lexicon("occ18").words, *lexicon("weat7").words], models=3)
        found = reliability(made, lists=["occ18", str(file)], queries=["weat7:math", str(file)])
        assert [one.name for one in found.lists] == ["occ18", "jobs"]
        assert [(one.name, one.source) for one in found.queries] == [("math", "weat7"), ("jobs", "jobs")]
        roles = reliability(made, queries="weat7").queries
        assert [one.name for one in roles] == ["math", "arts", "male terms", "female terms"]
        file.write_text('kind = "sets"\n[sets]\nonly = ["nurse", "judge", "cook"]\n')
        assert [one.name for one in reliability(made, queries=str(file)).queries] == ["jobs"], "one set, named so"
        file.write_text('kind = "sets"\n[sets]\ncare = ["nurse", "cook"]\nlaw = ["judge", "lawyer"]\n')
        assert [one.name for one in reliability(made, queries=str(file)).queries] == ["care", "law"]

    def test_lost_words_are_listed_and_too_many_make_it_undefined(self, tensor: Make) -> None:
        made = tensor(WORDS, pairs=PAIRS, models=3, lost=WORDS[:3])
        found = reliability(made, lists={"a": WORDS[:6], "b": WORDS[2:]}, queries={"q": [*WORDS[1:5], "absent"]})
        a, b = found.lists
        assert (a.lost, a.size, b.lost) == (tuple(WORDS[:3]), 6, ("word2",))
        reason = "only 3 of 6 words have scores (50 %; 80 % required)"
        for rows in (found.test_retest, found.inter_rater):
            lost = rows.where(of="pair", list="a")
            assert np.isnan(lost.value).all()
            assert set(lost.reason) == {reason}
            assert np.isfinite(rows.where(of="pair", list="b").value).all()
        assert np.isfinite(found.test_retest.where(of="word", list="a").value).all()  # each stands for itself
        assert set(found.internal.where(of="query").reason) == {"only 2 of 5 words have scores (40 %; 80 % required)"}
        assert any(f"a: {reason}" in one for one in found.warnings)
        lenient = reliability(made, lists={"a": WORDS[:6]}, queries={"q": WORDS[2:6]}, min_coverage=0.5)
        assert np.isfinite(lenient.test_retest.where(of="pair", list="a").value).all()
        assert (lenient.internal.where(of="query").k == 3).all()

    def test_unknown_names(self, scores: ScoreTensor) -> None:
        with pytest.raises(LexiconError, match="occ99"):
            reliability(scores, lists="occ99")
        with pytest.raises(ParameterError, match="'lists' of reliability"):
            reliability(scores, lists=3)  # type: ignore[arg-type]  # the mistake
        with pytest.raises(ParameterError, match="at least one list"):
            reliability(scores, lists={})
        with pytest.raises(ParameterError, match="'min_coverage' parameter"):
            reliability(scores, min_coverage=80)
        with pytest.raises(ParameterError, match="needs a ScoreTensor"):
            reliability([[1, 2]])  # type: ignore[arg-type]  # the test


class TestDegenerate:
    def test_one_model(self, scores: ScoreTensor) -> None:
        found = reliability(scores.select(model=["seed0"]))
        assert np.isnan(found.test_retest.value).all()
        assert set(found.test_retest.reason) == {"fewer than two models have scores"}
        assert np.isfinite(found.inter_rater.value).all()
        assert "there is one model: test-retest reliability takes replicates" in found.warnings

    def test_heavy_tails_are_told_of_by_list_and_measure(self, tensor: Make) -> None:
        """One word of thirty with huge scores under one measure, in one of two lists."""
        words = [f"word{number}" for number in range(60)]
        made: ScoreTensor = tensor(words, pairs=PAIRS, models=5, seed=3)
        even = np.linspace(-1, 1, 60).astype(np.float32)[:, None]
        values = 0.01 * made.values + even
        values[1, :, 7] += 50
        found = reliability(replace(made, values=values), lists={"first": words[:30], "rest": words[30:]}, target=None)
        heavy = [sentence for sentence in found.warnings if "heavy tails" in sentence]
        assert len(heavy) == 1
        assert heavy[0].startswith(
            f"first: mean scores of words have heavy tails under {measure_name(made.measures[1])}, so that"
        )

    def test_one_measure(self, scores: ScoreTensor) -> None:
        found = reliability(scores.select(measure=["ripa"]))
        assert set(found.inter_rater.reason) == {"fewer than two measures have scores"}
        assert found.measures == ()
        assert np.isfinite(found.test_retest.value).all()

    def test_one_pair(self, scores: ScoreTensor) -> None:
        found = reliability(scores.select(pair=[("he", "she")]), queries=QUERIES)
        assert set(found.test_retest.where(of="word").reason) == {"too few pairs have a score from each of the models"}
        assert np.isfinite(found.test_retest.where(of="pair").value).all()
        assert set(found.internal.where(of="pairs").reason) == {"fewer than two pairs have scores"}

    def test_replicates_that_are_the_same(self, scores: ScoreTensor) -> None:
        same = replace(scores, values=np.repeat(scores.values[..., :1], 5, axis=3))
        found = reliability(same)
        assert (found.test_retest.value == 1).all()
        assert (found.test_retest.low == 1).all()

    def test_no_score_at_all(self, scores: ScoreTensor) -> None:
        """A word's own reason is told where it has no score."""
        nothing = replace(scores, values=np.full_like(scores.values, np.nan), undefined=np.ones_like(scores.undefined))
        found = reliability(nothing, lists={"all": WORDS}, queries=QUERIES)
        assert not found.test_retest.defined.any()
        assert "only 0 of 12 words have scores" in found.test_retest.where(of="pair").reason[0]
        json.dumps(found.to_dict(), allow_nan=False)

    def test_a_measure_without_scores_says_why(self, gaps: ScoreTensor) -> None:
        undefined = gaps.undefined.copy()
        undefined[2] = 8
        lost = replace(gaps, undefined=undefined, values=np.where(undefined > 0, np.float32(np.nan), gaps.values))
        found = reliability(lost)
        assert set(found.test_retest.where(of="word", measure="nbm").reason) == {"fewer than k neighbors exist"}
        assert (found.inter_rater.where(of="word").k == 2).all()


class TestResult:
    def test_json(self, found: ReliabilityResult) -> None:
        """The shape of `--json` is a contract; no NaN, every None beside its reason."""
        content = json.loads(json.dumps(found.to_dict(), allow_nan=False))
        keys = {"of", "name", "measure", "list", "value", "low", "high", "n", "k"}
        for part in ("test_retest", "inter_rater", "inter_rater_standardized", "internal"):
            assert content[part]
            for row in content[part]:
                assert keys <= set(row)
                assert (row["value"] is None) == bool(row["reason"]) or row["low"] is None
                assert row["of"] in {"word", "pair", "rule", "query", "pairs"}
            assert content["intervals"][part]["method"]
        assert {"lists", "queries"} == set(content["coverage"])

    def test_frame(self, found: ReliabilityResult) -> None:
        frame = found.to_frame()
        assert len(frame) == 2 * len(found.inter_rater) + len(found.test_retest) + 2 * len(found.internal)
        one = frame.query("reliability == 'test_retest' and of == 'word' and name == 'word9' and measure == 'ripa'")
        assert one["value"].iloc[0] == value(found.test_retest, of="word", name="word9", measure="ripa", list="some")
        assert set(frame["statistic"]) == {"ICC(2,1)", "ICC(3,1)", "Cronbach's alpha", "omega"}

    def test_summary_is_the_distribution(self, found: ReliabilityResult) -> None:
        one = next(
            line for line in found.summaries
            if (line.reliability, line.of, line.measure, line.list) == ("test_retest", "word", "nbm", "others")
        )  # fmt: skip
        rows = found.test_retest.where(of="word", measure="nbm", list="others").value
        rows = rows[~np.isnan(rows)]
        quantiles = (one.p05, one.q1, one.median, one.q3, one.p95)
        assert quantiles == pytest.approx(tuple(np.percentile(rows, [5, 25, 50, 75, 95])))
        assert (one.count, one.below) == (len(rows), int((rows < 0.5).sum()))
        assert len(found.distributions()) == len(found.summaries)

    def test_page(self, found: ReliabilityResult) -> None:
        html = found._repr_html_()
        assert "Test–retest reliability" in html
        assert "<table" in html

    def test_the_input_is_left_alone_and_the_result_repeats(self, scores: ScoreTensor) -> None:
        before = scores.values.copy()
        first, second = (reliability(scores, queries=QUERIES).to_dict() for _ in range(2))
        assert first == second
        assert np.array_equal(scores.values, before)


def test_designs_are_of_each_measure_and_of_several_together(scores: ScoreTensor) -> None:
    two = replace(
        scores, values=scores.values[:2], undefined=scores.undefined[:2], measures=scores.measures[:2]
    )  # fmt: skip
    one = replace(two, values=two.values[:1], undefined=two.undefined[:1], measures=two.measures[:1])
    assert [design.measure for design in reliability(two).design] == [*two.measures, None]
    assert [design.measure for design in reliability(one).design] == list(one.measures)


def test_progress(scores: ScoreTensor) -> None:
    steps: list[tuple[int, int]] = []
    reliability(scores, progress=lambda done, total: steps.append((done, total)))
    assert steps == [(1, 5), (2, 5), (3, 5), (4, 5)]


@pytest.fixture
def store(gaps: ScoreTensor, tmp_path: Path) -> ScoreStore:
    """The same scores on disk. A store keeps reasons by word and by pair."""
    made = ScoreStore.create(
        tmp_path / "store",
        measures=gaps.measures,
        pairs=gaps.pairs,
        words=gaps.words,
        provenance={"pairs": {"name": "du2021"}},
    )
    for k, model in enumerate(gaps.models):
        by_pair = np.where((gaps.undefined[..., k] == 4).all(axis=2), 4, 0)
        by_pair[(gaps.undefined[..., k] == 8).all(axis=2)] = 8
        by_word = np.where(np.isin(gaps.undefined[0, 0, :, k], (1, 3)), gaps.undefined[0, 0, :, k], 0)
        made.append(model, ModelScores(gaps.values[..., k], by_word.astype(np.uint8), by_pair.astype(np.uint8)), {})
    return ScoreStore.open(tmp_path / "store")


def test_a_store_gives_the_same(store: ScoreStore, gaps: ScoreTensor) -> None:
    first, second = (reliability(one, lists=LISTS, queries=QUERIES, min_coverage=0.5) for one in (gaps, store))
    assert first.test_retest.to_dict() == second.test_retest.to_dict()
    assert first.internal.to_dict() == second.internal.to_dict()


@pytest.mark.shared
def test_real_vectors_with_noise(shared_data: Path) -> None:
    """Pseudo-replicates of GloVe: more noise, less reliability; and the ensemble is steadier than a pair."""
    import biasgauge as bg

    with np.load(shared_data / "glove_6b_100d_subset" / "glove6B100d_subset.npz") as file:
        words, vectors = file["words"][:5_000].tolist(), file["vectors"][:5_000].astype(np.float32)
    random = np.random.default_rng(0)
    medians = []
    for noise in (0.1, 0.4):
        models = []
        for seed in range(4):
            moved = vectors + noise * vectors.std() * random.normal(size=vectors.shape).astype(np.float32)
            models.append(bg.load((words, moved), name=f"seed{seed}"))
        targets = [word for word in lexicon("occ18").words if word in set(words)]
        made = bg.score(models, pairs="du2021", words=targets, measures=["dbwa", "ripa"])
        found = reliability(made, lists={"jobs": targets})
        medians.append(float(np.nanmedian(found.test_retest.where(of="pair", measure="dbwa").value)))
        assert value(found.test_retest, of="rule", measure="dbwa") > medians[-1]
    assert medians[0] > 0.9 > medians[1]


def test_one_model_says_nothing_about_replicates_and_does_not_call_words_good() -> None:
    scores = bg.score(bg.vectors.load_default(), pairs="du2021", words="occ16", measures=["dbwa", "nbm"])
    result = reliability(scores)
    poor = [row for row in result.untrusted if row.kind == "poor" and row.of in {"word", "pair"}]
    part = next(part for part in result.summary().parts if part.title == "Words and pairs of poor reliability")
    assert len(poor) > 0
    names = {(row.of, row.name) for row in poor}
    assert part.headline == f"Unknown over replicates; {len(names)} words and pairs are poor (below .5) over measures."
    assert len(part.tables[0].rows) == len(names)

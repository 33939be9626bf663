"""The regression of reliability on factors: lme4 on the same rows, simulation, and the whole path from models."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasgauge as bg
from biasgauge.analyses.reliability import FactorSource, factor_table, factors, word_features, word_properties
from biasgauge.analyses.reliability.regression import errors_by_word
from biasgauge.analyses.reliability.regression_columns import build_regression
from biasgauge.cli.entry import run
from biasgauge.errors import InputError, ParameterError
from biasgauge.stats import fit_mixed, icc
from biasgauge.stats.mixed_models import r2
from biasgauge.vectors import Embedding

GOLDENS = Path(__file__).parents[1] / "stats" / "goldens" / "lme4"
FAST = {"draws": 100, "refits": 4}


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.DataFrame(runpy.run_path(str(GOLDENS / "make_data.py"))["factors"]())


@pytest.fixture(scope="module")
def golden() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((GOLDENS / "goldens.json").read_text())["factors"]
    return found


def test_lme4_lmertest_and_nakagawa_give_the_same(table: pd.DataFrame, golden: dict[str, Any]) -> None:
    found = factors(table, **FAST)  # type: ignore[arg-type]  # whole numbers
    names = [one.name.replace("[", "").replace("]", "").replace("(intercept)", "(Intercept)") for one in found.fixed]
    assert names == golden["names"]
    for name in ("estimate", "se", "df", "t", "p"):
        assert [getattr(one, name) for one in found.fixed] == pytest.approx(golden[name], rel=1e-4), name
    assert [one.estimate for one in found.fixed] == pytest.approx(golden["estimate"], rel=1e-6)
    assert found.criterion == pytest.approx(golden["criterion"], abs=1e-8)
    variances = {one.name: one.variance for one in found.random}
    variances["Residual"] = variances.pop("residual")
    assert variances == pytest.approx(golden["variances"], rel=1e-5)
    assert found.r2.fixed.value == pytest.approx(golden["r2"]["fixed"], abs=1e-6)
    assert found.r2.total.value == pytest.approx(golden["r2"]["total"], abs=1e-6)
    groups = {name: one.value for name, one in found.r2.groups.items()}
    assert groups == pytest.approx(golden["r2"]["groups"], abs=1e-6)
    alone = {name: one.value for name, one in found.r2_intercept_only.groups.items()}
    assert alone == pytest.approx(golden["intercept_only"]["groups"], abs=2e-6)
    assert found.rows == golden["rows"]


def test_what_each_factor_adds_is_what_lme4_refits_say(table: pd.DataFrame, golden: dict[str, Any]) -> None:
    drops = factors(table, **FAST).drops  # type: ignore[arg-type]  # whole numbers
    assert set(drops) == set(golden["drops"])
    for name, drop in drops.items():
        assert drop.fixed.value == pytest.approx(golden["drops"][name]["fixed"], abs=1e-6), name
        assert drop.total.value == pytest.approx(golden["drops"][name]["total"], abs=1e-6), name
    assert min(float(drop.total.value or 0) for drop in drops.values()) < 0  # a loss can be negative, and is kept so
    frequency, square = (drops[name].fixed.value for name in ("log_frequency", "log_frequency_squared"))
    assert frequency is not None
    assert square is not None
    assert frequency > square


def test_the_share_of_a_group_is_its_part_of_what_fixed_effects_leave(table: pd.DataFrame) -> None:
    """METHODS: R²_corpus = (R2c − R2m) σ²_corpus / (σ²_corpus + σ²_algorithm)."""
    found = factors(table, **FAST)  # type: ignore[arg-type]  # whole numbers
    variance = {one.name: float(one.variance or 0) for one in found.random}
    rest = float(found.r2.total.value or 0) - float(found.r2.fixed.value or 0)
    share = variance["corpus"] / (variance["corpus"] + variance["algorithm"])
    assert found.r2.groups["corpus"].value == pytest.approx(rest * share)


def test_columns_are_those_of_the_paper(table: pd.DataFrame) -> None:
    rows = build_regression(table)
    column = dict(zip(rows.names, rows.x.T, strict=True))
    frequency = table["log_frequency"]
    expected = (frequency - frequency.mean()) / frequency.std(ddof=1)
    assert column["log_frequency"] == pytest.approx(expected.to_numpy())
    assert column["log_frequency_squared"] == pytest.approx(expected.to_numpy() ** 2)
    assert column["log_frequency_squared"].mean() == pytest.approx(1, abs=0.01)  # neither centered nor scaled again
    assert rows.references == {"measure": "dbwa", "pos": "ADJ"}
    assert rows.y.tolist() == table["score"].tolist()
    assert rows.factors["log_frequency"] == ("log_frequency", "log_frequency_squared")
    assert rows.factors["pos"] == ("pos[ADV]", "pos[NOUN]", "pos[VERB]")


def test_rows_with_a_gap_are_left_out_and_counted(table: pd.DataFrame) -> None:
    holes = table.copy()
    holes["undefined"] = ""
    holes.loc[:9, "score"] = np.nan
    holes.loc[:9, "undefined"] = "all scores are equal"
    holes.loc[20:24, "pos"] = None
    found = factors(holes, **FAST)  # type: ignore[arg-type]  # whole numbers
    whole = factors(table.drop(index=[*range(10), *range(20, 25)]), **FAST)  # type: ignore[arg-type]  # as above
    assert found.lost == {"all scores are equal": 10, "a feature is undefined": 5}
    assert [one.estimate for one in found.fixed] == [one.estimate for one in whole.fixed]
    assert any("15 of" in note for note in found.warnings)


def test_a_feature_that_one_source_lacks_is_left_out_of_all(table: pd.DataFrame) -> None:
    holes = table.copy()
    holes.loc[(holes["algorithm"] == "sgns") & (holes["corpus"] == "wiki"), "stability"] = np.nan
    found = factors(holes, **FAST)  # type: ignore[arg-type]  # whole numbers
    assert found.absent == {"stability": "no row of sgns:wiki has it"}
    assert found.rows == len(table)
    assert "stability" not in {one.name for one in found.fixed}
    assert any(note.startswith("stability was left out") for note in found.warnings)


def test_one_algorithm_leaves_one_random_effect(table: pd.DataFrame) -> None:
    found = factors(table[table["algorithm"] == "sgns"], **FAST)  # type: ignore[arg-type]  # whole numbers
    assert [one.name for one in found.random] == ["corpus", "residual"]
    assert found.absent["algorithm"] == "all rows have the same"
    one = table[(table["algorithm"] == "sgns") & (table["corpus"] == "wiki")]
    with pytest.raises(ParameterError, match="two algorithms"):
        factors(one)


def test_inter_rater_has_no_measure(table: pd.DataFrame) -> None:
    found = factors(table[table["measure"] == "dbwa"], outcome="inter_rater", **FAST)  # type: ignore[arg-type]
    assert "measure" not in found.drops
    assert found.outcome == "inter_rater"


def test_the_table_in_the_manner_of_the_paper(table: pd.DataFrame) -> None:
    found = factors(table, **FAST)  # type: ignore[arg-type]  # whole numbers
    shown = found.as_published().set_index("name")
    assert shown.loc["stability", "drop"] == round(float(found.drops["stability"].fixed.value or 0), 4)
    assert (shown["drop"].dropna() >= 0).all()
    assert any("R²m or R²c" in one for one in found.remarks)


def test_results_are_ready_for_json_tables_and_notebooks(table: pd.DataFrame) -> None:
    found = factors(table, **FAST)  # type: ignore[arg-type]  # whole numbers
    about = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert {"fixed", "random", "r2"} <= about.keys()
    assert about["r2"]["drops"]["pos"]["fixed"]["interval"]["method"] == "draws from pivots"
    assert any("algorithm has 2 levels" in note for note in about["warnings"])
    frame = found.to_frame().set_index("name")
    assert frame.loc["log_frequency", "r2_drop_fixed"] == found.drops["log_frequency"].fixed.value
    assert frame.loc["log_frequency_squared", "r2_drop_fixed"] == found.drops["log_frequency_squared"].fixed.value
    assert "algorithm has 2 levels" in found._repr_html_()
    again = factors(table, **FAST)  # type: ignore[arg-type]  # as above
    assert again.to_dict() == found.to_dict()


def test_errors_by_word_are_the_dense_sandwich(table: pd.DataFrame) -> None:
    found = factors(table, **FAST)  # type: ignore[arg-type]  # whole numbers
    rows = build_regression(table)
    v = np.diag(np.full(len(rows.y), found.random[-1].variance))
    for one in found.random[:-1]:
        labels = np.asarray(rows.groups[one.name])
        v += one.variance * (labels[:, None] == labels[None, :])
    inverse = np.linalg.inv(v)
    bread = np.linalg.inv(rows.x.T @ inverse @ rows.x)
    left = inverse @ (rows.y - rows.x @ bread @ rows.x.T @ inverse @ rows.y)
    words = int(rows.words.max()) + 1
    sums = np.eye(words)[rows.words].T @ (rows.x * left[:, None])
    dense = np.sqrt(np.diag(bread @ sums.T @ sums @ bread) * words / (words - 1))
    assert found.fixed[0].se_words is None
    assert [one.se_words for one in found.fixed[1:]] == pytest.approx(dense[1:].tolist(), rel=1e-6)


@pytest.mark.calibration
def test_errors_by_word_cover_where_rows_of_a_word_are_alike() -> None:
    """Words that differ beyond their features: published standard errors are too small, those by word are not."""
    random = np.random.default_rng(2)
    runs, published, by_word = 150, 0, 0
    for _ in range(runs):
        senses, own = random.normal(size=80), random.normal(0, 0.1, 80)
        rows = [
            {"word": f"w{place}", "algorithm": algorithm, "corpus": corpus, "measure": measure,
             "log_senses": senses[place], "score": own[place] + random.normal(0, 0.1)}
            for place in range(80) for algorithm in "ab" for corpus in "cde" for measure in ("x", "y")
        ]  # fmt: skip
        columns = build_regression(pd.DataFrame(rows))
        fit = fit_mixed(columns.y, columns.x, columns.groups, columns.names)
        one = fit.fixed[columns.names.index("log_senses")]
        assert one.estimate is not None
        assert one.se is not None
        published += abs(one.estimate) <= 1.96 * one.se  # the true effect is 0
        by_word += abs(one.estimate) <= 1.99 * errors_by_word(columns, fit)["log_senses"][0]
    assert published / runs < 0.6
    assert 0.89 <= by_word / runs <= 0.99


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda table: table.drop(columns="corpus"), "needs the columns"),
        (lambda table: table.assign(score=np.nan), "nothing to fit"),
    ],
)
def test_bad_tables_get_one_sentence(table: pd.DataFrame, change: Any, sentence: str) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=sentence):
        factors(change(table))


PAIRS = [("he", "she"), ("man", "woman"), ("king", "queen"), ("boy", "girl"), ("father", "mother")]


def vocabulary() -> list[str]:
    """Words of pairs, words with senses, and two that Brown or WordNet lack."""
    with_senses = sorted(word for word, one in word_properties().items() if one.senses and word.isalpha())
    return [*(end for pair in PAIRS for end in pair), *with_senses[::500], "zyzzyva", "the"]


def replicate(algorithm: str, corpus: str, seed: int) -> Embedding:
    words = tuple(dict.fromkeys(vocabulary()))
    shared = np.random.default_rng([len(algorithm), len(corpus)]).standard_normal((len(words), 8))
    noise = np.random.default_rng([seed, len(algorithm), len(corpus)]).standard_normal(shared.shape)
    return Embedding(words, (shared + 0.4 * noise).astype(np.float32), name=f"{algorithm}-{corpus}-{seed}")


def counts(corpus: str) -> dict[str, int]:
    return {word: 5 + (place * len(corpus)) % 997 for place, word in enumerate(vocabulary())}


def source(algorithm: str, corpus: str) -> FactorSource:
    models = [replicate(algorithm, corpus, seed) for seed in range(3)]
    scores = bg.score(models, pairs=PAIRS, words=vocabulary()[10:], measures=["dbwa", "ripa"])
    return FactorSource(algorithm, corpus, scores, models, counts=counts(corpus))


@pytest.fixture(scope="module")
def sources() -> list[FactorSource]:
    return [source(algorithm, corpus) for algorithm in ("sgns", "glove") for corpus in ("wiki", "history")]


def test_rows_hold_the_reliability_and_the_features_of_each_word(sources: list[FactorSource]) -> None:
    table = factor_table(sources)
    words = sources[0].scores.words
    assert len(table) == 2 * 4 * len(words)
    row = table[(table["word"] == words[3]) & (table["measure"] == "ripa") & (table["algorithm"] == "glove")
                & (table["corpus"] == "wiki")].iloc[0]  # fmt: skip
    own = sources[2]
    assert (own.algorithm, own.corpus) == ("glove", "wiki")
    scores = own.scores.select(measure=["ripa"], word=[words[3]]).to_numpy()[0, :, 0]  # type: ignore[union-attr]
    assert row["score"] == pytest.approx(icc(scores, "2,1").value, abs=1e-6)
    features = word_features(own.vectors or [], words=[words[3]], counts=own.counts)
    for name in ("log_frequency", "log_senses", "nn_similarity", "norm", "stability"):
        assert row[name] == pytest.approx(getattr(features, name)[0], rel=1e-9)
    assert row["pos"] == features.pos[0]
    lost = table.groupby("undefined").size().to_dict()
    assert lost["WordNet has no sense of the word"] == 8
    assert lost["the word is not in the Brown corpus, from which parts of speech are taken"] == 8


def test_the_whole_path_from_models_to_the_regression(sources: list[FactorSource]) -> None:
    found = factors(sources, **FAST)  # type: ignore[arg-type]  # whole numbers
    assert found.converged
    assert {one.name for one in found.random} == {"algorithm", "corpus", "residual"}
    assert found.settings["sources"][0]["models"] == 3
    inter = factors(sources, outcome="inter_rater", standardize=True, **FAST)  # type: ignore[arg-type]  # as above
    assert inter.rows == found.rows / 2


def test_inter_rater_rows_are_over_measures(sources: list[FactorSource]) -> None:
    table = factor_table(sources[:1], outcome="inter_rater")
    values = sources[0].scores.to_numpy().astype(float).mean(axis=3)  # type: ignore[union-attr]
    expected = [icc(values[:, :, place].T, "3,1").value for place in range(4)]
    assert table["score"].iloc[:4].tolist() == pytest.approx(expected, abs=1e-6)


def test_sources_must_differ(sources: list[FactorSource]) -> None:
    with pytest.raises(ParameterError, match="different algorithms"):
        factors([sources[0], sources[0]])
    with pytest.raises(ParameterError, match="outcome"):
        factor_table(sources, outcome="alpha")  # type: ignore[arg-type]  # that is the test


def test_scores_of_models_in_memory_need_the_models(sources: list[FactorSource]) -> None:
    with pytest.raises(ParameterError, match="in memory"):
        factor_table([FactorSource("sgns", "wiki", sources[0].scores)])


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models with counts and stores of their scores, as `biasgauge train` and `biasgauge score` leave them."""
    folder = tmp_path_factory.mktemp("stores")
    for algorithm in ("sgns", "glove"):
        for corpus in ("wiki", "history"):
            files = []
            for seed in range(3):
                model = replicate(algorithm, corpus, seed)
                own = np.array([counts(corpus)[word] for word in model.words])
                files.append(bg.save(model, folder / f"{model.name}.safetensors", counts=own))
            bg.scores.score_to_store(
                folder / f"{algorithm}-{corpus}", files, pairs=PAIRS, words=vocabulary()[10:], measures=["dbwa", "ripa"]
            )
    return folder


def arguments(folder: Path) -> list[str]:
    names = [(algorithm, corpus) for algorithm in ("sgns", "glove") for corpus in ("wiki", "history")]
    return [f"{algorithm}:{corpus}={folder / f'{algorithm}-{corpus}'}" for algorithm, corpus in names]


def test_a_store_on_disk_gives_the_same(stores: Path, sources: list[FactorSource]) -> None:
    store = bg.scores.ScoreStore.open(stores / "sgns-wiki")
    found = factor_table([FactorSource("sgns", "wiki", store, counts=counts("wiki"))])
    pd.testing.assert_frame_equal(found, factor_table(sources[:1]), check_exact=False, rtol=1e-6)


def test_a_model_that_changed_or_went_is_refused(stores: Path, tmp_path: Path) -> None:
    store = bg.scores.ScoreStore.open(stores / "sgns-wiki")
    with pytest.raises(InputError, match="which folder"):
        factor_table([FactorSource("sgns", "wiki", store, models_in=tmp_path)])
    for seed in range(3):
        other = replicate("glove", "wiki", seed)
        bg.save(other, tmp_path / f"sgns-wiki-{seed}.safetensors")
    with pytest.raises(InputError, match="has changed"):
        factor_table([FactorSource("sgns", "wiki", store, models_in=tmp_path)])


def test_the_command_prints_what_the_function_finds(
    stores: Path, sources: list[FactorSource], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run(["factors", *arguments(stores), "--json", "--refits", "4", "--out", str(tmp_path / "rows.csv")]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = factors(sources, **FAST)  # type: ignore[arg-type]  # whole numbers
    assert [one["estimate"] for one in printed["fixed"]] == pytest.approx(
        [one.estimate for one in found.fixed], rel=1e-5
    )
    assert printed["r2"]["fixed"]["value"] == pytest.approx(found.r2.fixed.value, rel=1e-5)
    assert {"random", "settings", "warnings", "version"} <= printed.keys()
    assert "log_frequency" in {one["name"] for one in printed["fixed"]}  # counts came with the models
    assert len(pd.read_csv(tmp_path / "rows.csv")) == sum(printed["lost"].values()) + printed["rows"]


def test_the_command_for_a_person(stores: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for corpus in ("wiki", "history"):
        lines = [f"{word} {count}" for word, count in counts(corpus).items()]
        (tmp_path / f"{corpus}.txt").write_text("\n".join(lines) + "\n")
    files = [part for corpus in ("wiki", "history") for part in ("--counts", f"{corpus}={tmp_path / f'{corpus}.txt'}")]
    assert (
        run(["factors", *arguments(stores), *files, "--outcome", "inter-rater", "--standardize", "--refits", "4"]) == 0
    )
    shown = capsys.readouterr().out
    assert "log_frequency_squared" in shown
    assert "algorithm  0." in shown
    assert "note: algorithm has 2 levels" in shown
    assert "WordNet has no sense of the word" in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["sgns=folder"], "ALGORITHM:CORPUS=FOLDER"),
        (["sgns:wiki=nowhere"], "is not a score store"),
        (["STORE", "--counts", "wiki"], "--counts takes CORPUS=FILE"),
        (["STORE", "--counts", "novels=BAD"], "no store is of it"),
        (["STORE", "--counts", "wiki=nowhere.txt"], "nowhere.txt: there is no such file"),
        (["STORE", "--counts", "wiki=BAD"], "line 2: expected a word and a count"),
        (["STORE", "--counts", "wiki=TWICE"], "line 3: the word 'a' has a count already"),
        (["STORE", "--counts", "wiki=EMPTY"], "holds no counts"),
        (["STORE"], "two algorithms or two corpora"),
    ],
)
def test_mistakes_on_the_command_line_get_one_sentence(
    stores: Path, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, text in (("BAD", "a 1\nb x\n"), ("TWICE", "a 1\nb 2\na 3\n"), ("EMPTY", "\n")):
        (tmp_path / name).write_text(text)
        words = [word.replace(name, str(tmp_path / name)) for word in words]
    words = [f"sgns:wiki={stores / 'sgns-wiki'}" if word == "STORE" else word for word in words]
    assert run(["factors", *words]) == 2
    said = capsys.readouterr().err
    assert said.startswith("biasgauge: ")
    assert sentence in said
    assert said.count("\n") == 1


@pytest.fixture
def confounded(table: pd.DataFrame) -> pd.DataFrame:
    """Each algorithm on a text of its own, so that nothing tells the two apart."""
    algorithms = sorted(table["algorithm"].unique())
    corpora = sorted(table["corpus"].unique())
    diagonal = [
        (table["algorithm"] == algorithm) & (table["corpus"] == corpus)
        for algorithm, corpus in zip(algorithms, corpora, strict=False)
    ]
    return table[np.any(diagonal, axis=0)]


def test_parts_of_confounded_groups_are_undefined_and_say_why(confounded: pd.DataFrame) -> None:
    found = factors(confounded, **FAST)  # type: ignore[arg-type]  # whole numbers
    assert {name: one.value for name, one in found.r2.groups.items()} == {"algorithm": None, "corpus": None}
    assert [one.variance for one in found.random][:2] == [None, None]
    shares = [found.r2.fixed, found.r2.total, *found.r2.groups.values(), *(one.fixed for one in found.drops.values())]
    assert all(one.interval.low is None and "told apart" in str(one.interval.reason) for one in shares)
    assert found.r2.total.value is not None  # the sum of both is identified
    assert any("algorithm has no interval" in note for note in found.warnings)
    assert not any("its interval is wide" in note for note in found.warnings)
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_share_of_both_confounded_groups_is_that_of_either_alone(confounded: pd.DataFrame) -> None:
    both = factors(confounded, **FAST)  # type: ignore[arg-type]  # whole numbers
    rows = build_regression(confounded)
    alone = fit_mixed(rows.y, rows.x, {"algorithm": rows.groups["algorithm"]}, rows.names)
    assert both.r2.total.value == pytest.approx(r2(alone)[0].total.value, rel=1e-5)


def test_three_of_four_cells_identify_both_groups(table: pd.DataFrame) -> None:
    algorithms, corpora = (sorted(table[name].unique())[:2] for name in ("algorithm", "corpus"))
    kept = table[table["algorithm"].isin(algorithms) & table["corpus"].isin(corpora)]
    corner = (kept["algorithm"] == algorithms[1]) & (kept["corpus"] == corpora[1])
    found = factors(kept[~corner], **FAST)  # type: ignore[arg-type]  # whole numbers
    assert all(one.interval.low is not None for one in found.r2.groups.values())


def test_interactions_are_products_of_columns_and_leave_with_their_factors(table: pd.DataFrame) -> None:
    found = factors(table, interactions=["measure:log_frequency", "pos:norm"], **FAST)  # type: ignore[arg-type]
    rows = build_regression(table, ["measure:log_frequency", "pos:norm"])
    column = dict(zip(rows.names, rows.x.T, strict=True))
    assert column["measure[nbm]:log_frequency"].tolist() == (column["measure[nbm]"] * column["log_frequency"]).tolist()
    assert set(rows.factors["measure:log_frequency"]) <= set(rows.factors["measure"])
    assert set(rows.factors["measure:log_frequency"]) <= set(rows.factors["log_frequency"])
    assert found.drops["measure:log_frequency"].fixed.value is not None
    names = [name for name in column if ":" in name]
    formula = np.column_stack([column[name] for name in column])
    expected = fit_mixed(rows.y, formula, rows.groups, tuple(column))
    assert [one.estimate for one in found.fixed if one.name in names] == pytest.approx(
        [one.estimate for one in expected.fixed if one.name in names]
    )
    assert found.settings["interactions"] == ["measure:log_frequency", "pos:norm"]
    every = build_regression(table, "all")
    present = [name for name in every.factors if ":" not in name and name != "log_frequency_squared"]
    assert sum(":" in name for name in every.factors) == len(present) * (len(present) - 1) // 2
    with pytest.raises(ParameterError, match="must be of two of measure"):
        factors(table, interactions=["measure:length"])


def test_a_simulated_interaction_is_recovered_and_none_is_not(table: pd.DataFrame) -> None:
    rows = build_regression(table, ["measure:norm"])
    column = dict(zip(rows.names, rows.x.T, strict=True))
    planted = table.assign(score=table["score"] + 0.1 * column["measure[nbm]:norm"])
    for rows_with, size in ((planted, 0.1), (table, 0.0)):
        found = factors(rows_with, interactions=["measure:norm"], **FAST)  # type: ignore[arg-type]
        effect = next(one for one in found.fixed if one.name == "measure[nbm]:norm")
        assert effect.interval.low < size < effect.interval.high  # type: ignore[operator]  # both are defined

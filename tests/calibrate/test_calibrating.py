"""Calibration end to end on texts with a known answer: what was planted is read back, and limits mean what they say."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.calibrate import DEFAULT_CALIBRATION, Calibration, CalibrationDesign, as_odds, load_calibration
from biasgauge.core import Estimate
from biasgauge.errors import InputError, ParameterError
from biasgauge.lexicons import pairs_of
from biasgauge.text import TokenCorpus, read_corpus

PAIRS = (("he", "she"), ("him", "her"), ("man", "woman"))
SLOPE, SD = 0.08, 0.05


def made_text(folder: Path, seed: int) -> TokenCorpus:
    """Words at random, of many frequencies, with ends among them."""
    random = np.random.default_rng(seed)
    words = [f"w{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(400)]
    chances = 1.0 / np.arange(8, 408)
    drawn = random.choice(words, (18_000, 8), p=chances / chances.sum())
    ends = np.array([word for pair in PAIRS for word in pair])
    lines = [f"{' '.join(row)} {ends[number % 6]} {ends[number * 7 % 6]}" for number, row in enumerate(drawn)]
    (folder / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    return read_corpus(folder / "text.txt", out=folder / "corpus")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> TokenCorpus:
    return made_text(tmp_path_factory.mktemp("text"), 3)


def reader(slope: float, *, runs: int = 2, world: int = 0, leak: float = 0.0) -> Callable[..., list[list[Any]]]:
    """In the place of training: vectors that lean by the counted log odds of each carrier, and by chance.

    With a leak they also lean by the dose of something else, where the first edit of two planted one.
    """

    def train(texts: Sequence[TokenCorpus], _folder: Path, _progress: object) -> list[list[Any]]:
        trained = []
        for number, text in enumerate(texts):
            place = {word: row for row, word in enumerate(text.words)}
            own = np.random.default_rng([1, world]).normal(
                0, SD, len(place)
            )  # a word's own lean, the same in all texts
            models = []
            for run in range(runs):
                random = np.random.default_rng([number, run, world])
                matrix = np.zeros((len(place), 12))
                matrix[:, 1] = 1.0
                matrix[:, 2:] = random.normal(0, 0.05, (len(place), 10))
                matrix[:, 0] = own + random.normal(0, SD / 2, len(place))
                about = text.settings.get("planted", {})
                for row in about.get("doses", []):
                    is_own = row["edit"] == len(about["edits"]) - 1
                    matrix[place[row["word"]], 0] += (slope if is_own else leak) * row["log_odds"]
                for first, second in PAIRS:
                    matrix[place[first]], matrix[place[second]] = 0.0, 0.0
                    matrix[place[first], [0, 2]], matrix[place[second], [0, 2]] = (1.0, 0.3), (-1.0, 0.3)
                models.append(bg.Embedding(text.words, matrix.astype(np.float32)))
            trained.append(models)
        return trained

    return train


def calibrated(corpus: TokenCorpus, slope: float = SLOPE, **more: Any) -> Calibration:  # noqa: ANN401 - of calibrate
    small: dict[str, Any] = {"measures": ["dbwa"], "tests": ["weat"], "sizes": (4, 8), "per_dose": 12, "blanks": 30}
    settings = {**small, "pairs": PAIRS, "plantings": 2, "others": 0, "trainer": reader(slope), **more}
    return bg.calibrate(corpus, settings.pop("recipe", "sgns"), **settings)


@pytest.fixture(scope="module")
def calibration(corpus: TokenCorpus) -> Calibration:
    return calibrated(corpus)


def test_the_known_slope_is_read_back(calibration: Calibration) -> None:
    """The score of a word is about 2 × its lean: the ends point in opposite directions."""
    response = calibration.curve("dbwa").response
    truth = 2 * SLOPE / np.sqrt(1.09)  # ends have a length of √1.09; a word is about 1 long
    assert (response.slope.low or 0) - 0.01 <= truth <= (response.slope.high or 0) + 0.01
    assert response.follows
    assert response.monotone
    assert calibration.curve("dbwa").retest == pytest.approx(0.9, abs=0.08)
    shares = [share for share in calibration.curve("dbwa").shares.values() if share is not None]
    assert sum(shares) == pytest.approx(1.0)


def test_the_limit_of_detection_is_that_of_the_known_model(calibration: Calibration) -> None:
    sd = np.sqrt(SD**2 + SD**2 / 4)
    for words in (1, 4, 8):
        truth = 2 * 1.645 * sd / np.sqrt(words) / SLOPE
        limit = calibration.limit("dbwa", words=words)
        assert limit is not None
        assert limit.detection.value == pytest.approx(truth, rel=0.25)
        assert (limit.detection.low or 0) < truth < (limit.detection.high or np.inf)
        largest = max(abs(point.dose) for point in calibration.curve("dbwa").points)
        assert limit.beyond == ((limit.detection.value or 0) > largest)


def test_blanks_exceed_the_limit_of_blank_in_five_percent(calibration: Calibration) -> None:
    rate = next(rate for rate in calibration.false_positives if "limit of blank" in rate.name)
    assert (rate.share.low or 0) <= 0.05 <= (rate.share.high or 1)
    assert rate.dose == 0


def test_a_measure_that_sees_nothing_detects_nothing(corpus: TokenCorpus) -> None:
    blind = calibrated(corpus, slope=0.0)
    assert not blind.curve("dbwa").response.follows
    limit = blind.limit("dbwa")
    assert limit is not None
    assert limit.detection.value is None
    assert "no measure detects" in blind.summary().headline
    assert blind.equivalent({"nurse": 0.1}).words[0].sentence.startswith("nurse: the score does not follow the dose")


def test_json_has_the_keys_of_the_contract_and_reads_back(calibration: Calibration, tmp_path: Path) -> None:
    content = calibration.to_dict()
    assert {"curves", "limits", "false_positives", "frequency", "corpus_bias"} <= content.keys()
    assert {"of", "name", "words", "side", "blank", "detection", "odds_ratio"} <= content["limits"][0].keys()
    assert {"word", "dose", "log_odds", "se", "n_wa", "n_a", "n_wb", "n_b"} <= content["corpus_bias"][0].keys()
    path = calibration.save(tmp_path / "calibration.json")
    again = load_calibration(path)
    assert again.to_dict() == json.loads(json.dumps(content))
    assert again.equivalent({"a": 0.1}).to_dict() == calibration.equivalent({"a": 0.1}).to_dict()


def test_equivalents_cover_the_dose_of_new_words(calibration: Calibration) -> None:
    """Words that were not planted on, with a known dose: their intervals hold it in about 95 %."""
    random = np.random.default_rng(5)
    doses = random.uniform(-2, 2, 300)
    lean = SLOPE * doses + random.normal(0, SD, 300) + random.normal(0, SD / 2, 300)
    scores = 2 * lean / np.sqrt(1.09) / np.sqrt(1 + 0.025 + lean**2)
    found = calibration.equivalent({f"w{number}": float(score) for number, score in enumerate(scores)})
    held = np.mean(
        [(row.dose.low or -9) <= dose <= (row.dose.high or 9) for row, dose in zip(found.words, doses, strict=True)]
    )
    assert held == pytest.approx(0.95, abs=0.05)
    limit = calibration.limit("dbwa")
    assert limit is not None
    for row in found.words:
        if row.detected:
            assert abs(row.dose.value or 0) >= min(limit.detection.value or 0, 99)
        else:
            assert "below the limit" in row.sentence


def test_odds_are_said_from_the_side_they_lean_to() -> None:
    assert as_odds(Estimate(value=log(3.2), low=log(1.9), high=log(5.5))) == "3.2 : 1 [1.9, 5.5]"
    assert as_odds(Estimate(value=-log(3.2), low=-log(5.5), high=-log(1.9))) == "1 : 3.2 [1.9, 5.5]"
    assert as_odds(Estimate(value=0.0)) == "1.0 : 1"


def test_a_killed_calibration_goes_on_where_it_was(corpus: TokenCorpus, tmp_path: Path) -> None:
    """Texts and models are found again: the second call trains nothing."""
    small: dict[str, Any] = {
        "pairs": PAIRS, "doses": (-1.0, 0.0, 1.0), "per_dose": 10, "blanks": 20, "others": 0, "plantings": 1,
        "seeds": 1, "shuffled": 1, "measures": ["dbwa"], "tests": ["nas"], "sizes": (4,), "out": tmp_path, "n_jobs": 1,
    }  # fmt: skip
    recipe = {"algorithm": "sgns", "dim": 8, "epochs": 1, "min_count": 1}
    first = bg.calibrate(corpus, recipe, **small)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.safetensors")}
    assert len(before) == 2
    again = bg.calibrate(corpus, recipe, **small)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.safetensors")} == before
    assert again.to_dict() == first.to_dict()
    assert any("one planted text" in note for note in first.warnings)


def test_the_pairs_are_by_default_those_of_the_language(corpus: TokenCorpus, tmp_path: Path) -> None:
    """A text is calibrated along the pairs of its language; nobody has to name them."""
    spanish = pairs_of("es_pairs").pairs
    words = [word for word in corpus.words if word.startswith("w")][:150]
    ends = [word for pair in (*spanish, *PAIRS) for word in pair]
    random = np.random.default_rng(5)
    lines = [f"{' '.join(random.choice(words, 6))} {end}" for end in ends for _ in range(150)]
    text = tmp_path / "texto.txt"
    text.write_text("\n".join(lines), encoding="utf-8")
    tokens = read_corpus(text, out=tmp_path / "tokens")
    found = calibrated(tokens, pairs=None, language="es")
    assert [tuple(pair) for pair in found.settings["pairs"]] == list(spanish)
    english = calibrated(tokens, pairs=None)
    known = {tuple(pair) for pair in english.settings["pairs"]}
    assert known <= set(pairs_of("du2021").pairs)
    assert ("he", "she") in known


def test_the_plan_is_told_first(corpus: TokenCorpus) -> None:
    told: list[str] = []

    def stop(plan: str) -> None:
        told.append(plan)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        calibrated(corpus, tell=stop)
    assert told[0].startswith("5 models: 2 planted texts × 2 random seeds, 1 shuffled; 102 carriers at 7 doses; about")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"doses": (1.0, 2.0)}, "must hold 0"),
        ({"planting": "magic"}, "must be one of mentions, mixture"),
        ({"planting": "mixture", "doses": (-2.0, 0.0, 2.0)}, "from -1 to 1"),
        ({"per_dose": 500}, "needs 3030 carriers"),
        ({"carriers": ["waa", "wab"]}, "deals doses to 102 carriers; 2 of the 2 given words"),
        ({"measures": ["dbwaa"]}, "did you mean 'dbwa'"),
        ({"level": 2.0}, "must lie between 0 and 1"),
        ({"blanks": 3}, "at least 10"),
        ({"pairs": None, "language": "tlh"}, "the language 'tlh' has no base pairs to score words along"),
        ({"doses": ()}, "Got none."),
        ({"sizes": (0,)}, "'sizes' parameter must be a whole number of at least 1"),
        ({"recipe": {"seeds": 3}}, "A recipe has no 'seeds'"),
        ({"recipe": {"dimm": 3}}, "has no setting 'dimm'"),
        ({"recipe": {"algorithm": ["sgns", "cbow"]}}, "trains with one algorithm"),
    ],
)
def test_impossible_designs_are_refused(corpus: TokenCorpus, settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError) as problem:
        calibrated(corpus, **settings)
    assert said in str(problem.value)


def test_a_word_that_is_given_twice_is_one_carrier(corpus: TokenCorpus) -> None:
    ends = {word for pair in PAIRS for word in pair}
    words = [word for word in corpus.words if word not in ends][:102]
    with pytest.raises(ParameterError, match="101 of the 101"):
        calibrated(corpus, carriers=[*words[:101], words[0]])


def test_pairs_that_do_not_occur_are_told(corpus: TokenCorpus) -> None:
    told: list[str] = []
    found = bg.calibrate(
        corpus, pairs=[*PAIRS, ("hombre", "mujer")], measures=["dbwa"], tests=["weat"], sizes=(4,), per_dose=12,
        blanks=30, plantings=1, others=0, trainer=reader(SLOPE), tell=told.append,
    )  # fmt: skip
    said = f"only {len(PAIRS)} of {len(PAIRS) + 1} base pairs occur in the text"
    assert said in told[0]
    assert any(note.startswith(said) for note in found.warnings)


def test_without_words_that_carry_nothing_frequency_is_not_known(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    words = [f"w{chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(40)]
    lines = [f"{' '.join(random.choice(words, 8))} {('he', 'she')[number % 2]}" for number in range(3_000)]
    small = bg.text.read_corpus(iter(lines), out=tmp_path / "small")
    found = bg.calibrate(
        small, {"dim": 8, "epochs": 1}, pairs=[("he", "she")], doses=(-1.0, 0.0, 1.0), per_dose=12, blanks=16, others=0,
        plantings=1, seeds=1, shuffled=0, measures=["dbwa"], tests=["nas"], sizes=(4,), n_jobs=1,
    )  # fmt: skip
    assert found.frequency == ()
    assert any("0 words without a dose" in note for note in found.warnings)
    assert found.summary().tables


def slopes_on_something_else(corpus: TokenCorpus, folder: Path, worlds: int, leak: float) -> list[Estimate]:
    """Specificity in many worlds: words lean by chance anew in each; texts are planted once for every ten of them."""
    found = []
    for world in range(worlds):
        (row,) = calibrated(
            corpus, others=20, other_pairs=[("wga", "wha"), ("wia", "wja"), ("wka", "wla")], plantings=1, shuffled=0,
            tests=["nas"], sizes=(4,), out=folder, random_state=world // 10,
            trainer=reader(SLOPE, world=world, leak=leak),
        ).specificity  # fmt: skip
        assert row.own_slope > 0.1
        found.append(row.slope)
    return found


@pytest.mark.calibration
@pytest.mark.slow
def test_another_attribute_does_not_move_the_score(corpus: TokenCorpus, tmp_path: Path) -> None:
    """One world in twenty has an interval without 0; what holds is the mean over worlds, and the share."""
    slopes = slopes_on_something_else(corpus, tmp_path, 40, leak=0.0)
    values = np.array([slope.value for slope in slopes])
    assert abs(values.mean()) < 3 * values.std(ddof=1) / len(values) ** 0.5
    held = np.mean([(slope.low or 0) <= 0 <= (slope.high or 0) for slope in slopes])
    assert held == pytest.approx(0.95, abs=3 * (0.05 * 0.95 / len(slopes)) ** 0.5)


@pytest.mark.calibration
@pytest.mark.slow
def test_another_attribute_that_does_move_it_is_seen(corpus: TokenCorpus, tmp_path: Path) -> None:
    """A leak of half the slope moves the score by 2 · leak / √1.09 a unit, over the length of a word, √1.025."""
    without, slopes = (slopes_on_something_else(corpus, tmp_path, 10, leak=leak) for leak in (0.0, SLOPE / 2))
    moved = [(slope.value or 0) - (bare.value or 0) for slope, bare in zip(slopes, without, strict=True)]
    assert np.mean(moved) == pytest.approx(SLOPE / np.sqrt(1.09 * 1.025), rel=0.03)  # a leaning word is a bit longer
    assert all((slope.low or 0) > 0 for slope in slopes)


def test_mixtures_are_calibrated_too(corpus: TokenCorpus) -> None:
    found = calibrated(corpus, planting="mixture", plantings=1)
    assert [point.level for point in found.curve("dbwa").points] == [-0.3, -0.15, -0.05, 0.0, 0.05, 0.15, 0.3]
    blank = next(point for point in found.curve("dbwa").points if point.level == 0)
    assert blank.dose == pytest.approx(0.0, abs=0.1)


def _without_a_share() -> str:
    """A calibration that lacks a number which its page tells: that was a KeyError in the middle of an audit."""
    content = json.loads(DEFAULT_CALIBRATION.read_text(encoding="utf-8"))
    del content["curves"][0]["shares"]["run"]
    return json.dumps(content)


def test_a_file_that_is_no_calibration_is_said(tmp_path: Path) -> None:
    for content, said in (
        ("{", "is not JSON"),
        ("[1]", "is not a calibration"),
        ('{"curves": [1]}', "is not a calibration"),
        (_without_a_share(), "is not a calibration"),
    ):
        (tmp_path / "c.json").write_text(content, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            load_calibration(tmp_path / "c.json")
    with pytest.raises(InputError, match="cannot be read"):
        load_calibration(tmp_path / "none.json")


def test_a_design_counts_its_models() -> None:
    design = CalibrationDesign(plantings=3, seeds=2, bootstrap=4, shuffled=2)
    assert design.models == 26
    assert len(design.levels) == 200
    assert design.seconds(10_000_000, effort=1.0, epochs=5, dim=100, n_jobs=2) < CalibrationDesign(seeds=40).seconds(
        10_000_000, effort=1.0, epochs=5, dim=100, n_jobs=2
    )
    assert CalibrationDesign().seconds(10_000_000, effort=1.0, epochs=5, dim=100, n_jobs=2) <= 600


def test_figures_draw(calibration: Calibration) -> None:
    charts = calibration.figures()
    assert {"curves", "limits"} == set(charts)
    drawn = json.dumps(charts["curves"].to_dict())
    assert '"odds ratio"' in drawn
    assert "log odds ratio, counted" in drawn

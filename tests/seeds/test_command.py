"""`biasgauge lexicons quality` as a user meets it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import biasgauge as bg
from biasgauge.analyses.seeds import bias_subspace, seed_choice, seeds
from biasgauge.cli.entry import run
from biasgauge.results.wording import signed_text

if TYPE_CHECKING:
    from pathlib import Path

MEN, WOMEN = "he,man,his,boy,father,son", "she,woman,her,girl,mother,daughter"


@pytest.fixture(scope="module")
def files(replicates: list[bg.Embedding], tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("models")
    return [str(bg.save(one, folder / f"run{number}.safetensors")) for number, one in enumerate(replicates)]


def result(capsys: pytest.CaptureFixture[str], *words: str) -> Any:  # noqa: ANN401 - JSON
    assert run(["lexicons", "quality", *words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_json_is_the_result(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = result(capsys, *files, "--a", MEN, "--b", WOMEN, "--seed", "3", "--shuffles", "20")
    expected = seeds(files, MEN.split(","), WOMEN.split(","), shuffles=20, random_state=3).to_dict()
    assert found["pairs"] == expected["pairs"]
    assert found["settings"]["seed"] == 3
    assert {"warnings", "version", "relations", "models"} <= found.keys()
    assert found["pairs"][0]["coherence_interval"]["method"] == "t over models"


def test_options_reach_the_result(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    typed = ["--method", "pca", "--set", "unit=true", "--leave-one-out", "no", "--shuffles", "0", "--level", "0.9"]
    found = result(capsys, files[0], "--a", MEN, "--b", WOMEN, *typed)
    expected = seeds(
        files[0],
        MEN.split(","),
        WOMEN.split(","),
        method="pca",
        unit=True,
        leave_one_out=False,
        shuffles=0,
        level=0.9,
    )
    assert found["pairs"][0]["coherence"] == expected[0].coherence.value
    assert found["pairs"][0]["influence"] == []
    assert found["pairs"][0]["explained_variance_shuffled"] == []
    assert found["pairs"][0]["coherence_interval"]["level"] == 0.9


def test_the_bank_and_papers(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    every = result(capsys, files[0], "--pairs", "all", "--shuffles", "0", "--leave-one-out", "no")
    assert len(every["pairs"]) == 90
    some = result(capsys, files[0], "--paper", "Hoyle", "--shuffles", "0")
    assert all("Hoyle" in one["a"] for one in some["pairs"])
    published = result(capsys, files[0], "--paper", "Bolukbasi", "--filter", "published", "--shuffles", "0")
    assert published["settings"]["filter"] == "published"
    assert "mary" in published["pairs"][0]["coverage"]["lost"]["a"]


def test_a_card_on_the_screen(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lexicons", "quality", *files, "--a", MEN, "--b", WOMEN]) == 0
    shown = capsys.readouterr().out
    card = seeds(files, MEN.split(","), WOMEN.split(","))[0]
    assert f"a / b: {card.verdict}" in shown
    assert "12 of 12 seeds found, in 4 of 4 models" in shown
    interval = card.coherence
    assert interval is not None
    numbers = f"coherence {card.coherence.value:.3f} [{interval.low:.3f}, {interval.high:.3f}] 95 %, t over models"
    assert numbers in " ".join(shown.split())
    assert f"{card.influence[0].word} {signed_text(card.influence[0].change)}" in shown


def test_undefined_is_said(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lexicons", "quality", files[0], "--a", "nowhere,nothing", "--b", WOMEN]) == 0
    shown = capsys.readouterr().out
    assert "a / b: unfit" in shown
    assert "nothing can be measured: fewer than 80 % of the words found: a 0 of 2" in shown


def test_many_pairs_on_the_screen(capsys: pytest.CaptureFixture[str], default: str) -> None:
    asked = ["--paper", "Caliskan", "--case-fallback", "--generated", "8", "--shuffles", "20"]
    assert run(["lexicons", "quality", default, *asked]) == 0
    shown = capsys.readouterr().out
    assert "pleasant / unpleasant" in " ".join(shown.split())
    assert "8 generated sets" in shown
    assert all(len(line) <= 80 for line in shown.splitlines())


@pytest.fixture
def default() -> str:
    from biasgauge.vectors.loading import DEFAULT_PATH

    return str(DEFAULT_PATH)


def test_the_choice_of_a_list(capsys: pytest.CaptureFixture[str], default: str) -> None:
    found = result(capsys, default, "--category", "female", "--target", "nasty,evil")
    expected = seed_choice(default, "female", ["nasty", "evil"])
    assert [one["value"] for one in found["lists"]] == [one.value for one in expected.lists]
    assert found["spread"] == expected.spread
    assert run(["lexicons", "quality", default, "--category", "female", "--target", "evil"]) == 0
    assert "standard deviation over lists" in " ".join(capsys.readouterr().out.split())


def test_figures_are_written(files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lexicons", "quality", files[0], "--a", MEN, "--b", WOMEN, "--figures", str(tmp_path / "drawn")]) == 0
    assert {path.name for path in (tmp_path / "drawn").iterdir()} == {
        "explained_variance.svg",
        "explained_variance.png",
        "explained_variance.pdf",
        "coherence.svg",
        "coherence.png",
        "coherence.pdf",
    }
    capsys.readouterr()


def test_browsing_the_bank(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["lexicons", "seed-bank", "--paper", "caliskan", "--category", "female", "--word", "she", "--json"]
    assert run(asked) == 0
    found = json.loads(capsys.readouterr().out)
    assert [one["id"] for one in found["sets"]] == ["female_1-Caliskan_et_al_2017", "female_2-Caliskan_et_al_2017"]
    assert found["sets"][0]["sourcing"] == ["borrowed"]
    assert found["sets"][0]["partners"] == ["male_1-Caliskan_et_al_2017"]
    assert run(["lexicons", "seed-bank", "--sourcing", "population-derived", "--words"]) == 0
    shown = capsys.readouterr().out
    assert "9 sets" in shown
    assert "population-derived" in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["{file}"], "Name two sets, 'a' and 'b', or 'pairs'"),
        (["{file}", "--a", "he,man"], "give both 'a' and 'b'"),
        (["{file}", "--a", "he,man", "--b", "female_1-Caliskan"], "did you mean 'female_1-Caliskan_et_al_2017'"),
        (["{file}", "--paper", "Caliskn"], "No pairing of the seed bank is of a paper 'Caliskn'"),
        (["{file}", "--category", "female"], "--category and --target go together"),
        (
            ["{file}", "--category", "female", "--target", "evil", "--a", "he"],
            "leave out --a, --b, --pairs and --paper",
        ),
        (["nowhere.bin", "--a", "he,man", "--b", "she,her"], "nowhere.bin"),
    ],
)
def test_mistakes_get_one_sentence(
    files: list[str], words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lexicons", "quality", *(word.format(file=files[0]) for word in words)]) == 2
    said = capsys.readouterr().err
    assert sentence in said
    assert said.count("\n") == 1


def test_a_mistake_about_the_bank_gets_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lexicons", "seed-bank", "--sourcing", "curatd"]) == 2
    assert "did you mean 'curated'" in capsys.readouterr().err


def test_words_along_a_component_and_sizes_of_generated_sets(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Figure 1 and A.2 of Badder Seeds from the command line; generated sets of Figure 4 have 25 words."""
    assert run(["lexicons", "subspace", *files, "--a", MEN, "--b", WOMEN, "--component", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    alone = bias_subspace(files, MEN.split(","), WOMEN.split(","), component=2)
    assert found["words"] == alone.to_dict()["words"]
    assert found["settings"]["component"] == 2
    generated = result(
        capsys, *files, "--a", MEN, "--b", WOMEN, "--shuffles", "0", "--generated", "2", "--set", "generated_size=4"
    )
    assert generated["settings"]["generated_size"] == 4
    cloud = seeds(
        files, MEN.split(","), WOMEN.split(","), shuffles=0, leave_one_out=False, generated=2, generated_size=4
    ).cloud
    assert cloud is not None
    assert {len(one.words) for one in cloud.sets} == {4}

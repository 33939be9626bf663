"""The registry itself: what there is, what is added, and what a broken package does to it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from biasgauge import registry
from biasgauge.errors import ParameterError
from biasgauge.lexicons import lexicon
from biasgauge.metrics import Measure
from biasgauge.mitigation import Mitigation
from biasgauge.vectors import Embedding, load
from biasgauge.vectors.encoders import Encoder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

GROUPS = (
    "measure", "association_test", "mitigation", "vector_format", "likelihood_measure", "encoder",
    "corpus_reader", "task", "data_set", "lexicon", "word_source", "verdict_rule", "audit_part", "study_step", "paper",
)  # fmt: skip


@pytest.fixture
def mine() -> Iterator[Measure]:
    """A measure of one's own, registered for one test."""
    measure = replace(registry.get("measure", "dbwa"), name="mine")
    yield registry.register(measure)
    registry.unregister("measure", "mine")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Install a package of one module with entry points, for one test."""
    names = []

    def install(name: str, code: str, **points: str) -> None:
        names.append(name)
        (tmp_path / f"{name}.py").write_text(code)
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text(
            "".join(f"[biasgauge.{group}]\n{point}\n" for group, point in points.items())
        )
        registry.refresh()

    monkeypatch.syspath_prepend(str(tmp_path))
    yield install
    sys.path.remove(str(tmp_path))
    for name in names:
        sys.modules.pop(name, None)
    registry.refresh()


MEASURE = "from dataclasses import replace\nfrom biasgauge.metrics.dbwa import MEASURE as DBWA\n"


def test_there_are_fifteen_groups() -> None:
    assert registry.groups() == GROUPS


@pytest.mark.parametrize("group", GROUPS)
def test_everything_that_ships_is_found_and_is_what_it_should_be(group: str) -> None:
    things = registry.everything(group)
    assert tuple(things) == registry.names(group)
    assert things or group == "encoder"
    if group != "study_step":  # `make study` installs steps
        assert registry.added(group) == ()
    for name, thing in things.items():
        assert thing.name == name
        assert registry.get(group, name) is thing
        if group != "lexicon":
            assert registry.get(group, thing) is thing


def test_numbers_in_names_are_sorted_as_numbers() -> None:
    names = registry.names("lexicon")
    assert names.index("weat9") + 1 == names.index("weat10")


@pytest.mark.parametrize(
    ("group", "name", "sentence"),
    [
        ("measure", "dbwaa", r"^A measure must be one of dbwa, .*ripa_unit\. Got 'dbwaa'; did you mean 'dbwa'"),
        (
            "association_test",
            "wet",
            r"^An association test must be one of ect, .*weat\. Got 'wet'; did you mean",
        ),
        ("measure", 3, r"^A measure must be one of .* Got 3\.$"),
        ("encoder", "mine", r"^An encoder must be one of views\. Got 'mine'\.$"),
        (
            "measures",
            "dbwa",
            r"^A group of the registry must be one of measure, .* Got 'measures'; did you",
        ),
        (None, "dbwa", r"^A group of the registry must be one of measure, .* Got None\.$"),
    ],
)
def test_an_unknown_name(group: Any, name: object, sentence: str) -> None:  # noqa: ANN401 - wrong on purpose
    with pytest.raises(ParameterError, match=sentence):
        registry.get(group, name)


def test_what_is_registered_is_found_until_it_is_taken_back(mine: Measure) -> None:
    assert registry.get("measure", "mine") is mine
    assert "mine" in registry.names("measure")
    assert registry.added("measure") == ("mine",)
    with pytest.raises(ParameterError, match="There is a measure named 'mine' already: give this one another name"):
        registry.register(mine)
    registry.unregister("measure", "mine")
    registry.unregister("measure", "mine")
    assert "mine" not in registry.names("measure")


def test_what_ships_cannot_be_replaced_or_taken_back() -> None:
    with pytest.raises(ParameterError, match="There is a measure named 'dbwa' already"):
        registry.register(registry.get("measure", "dbwa"))
    registry.unregister("measure", "dbwa")
    assert "dbwa" in registry.names("measure")


@pytest.mark.parametrize(
    ("thing", "group", "sentence"),
    [
        (3, None, r"^What is registered must belong to one of measure, .* Got int: 3\.$"),
        (
            3,
            "measure",
            r"^What is registered must be a measure \([\w.]*\.Measure\)\. Got int: 3\.$",
        ),
        (Measure, "measure", r"Got the class Measure\.$"),
        (Mitigation, "measure", r"Got the class Mitigation\.$"),
        (Encoder("", "", lambda _: []), None, r"^An encoder needs a name, as text\. Got ''\.$"),
        (3, "lexicon", r"^What is registered must be a lexicon \(pathlib\.Path or types\.ModuleType\)\."),
        (3, "mitigation", r"\(a subclass of biasgauge\.mitigation\.mitigation\.Mitigation\)\. Got int: 3\.$"),
    ],
)
def test_what_belongs_nowhere_is_refused(thing: object, group: str | None, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        registry.register(thing, group)


def test_a_class_is_registered_by_a_decorator() -> None:
    hard = registry.get("mitigation", "hard")

    @registry.register
    class Harder(hard):  # type: ignore[misc, valid-type]  # a class found at run time
        name = "harder"

    try:
        assert registry.get("mitigation", "harder") is Harder
    finally:
        registry.unregister("mitigation", "harder")


def test_a_folder_of_lexicons(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="pathlib"):
        registry.register(str(tmp_path), "lexicon")
    (tmp_path / "birds.toml").write_text('kind = "words"\nwords = ["wren", "owl"]\n')
    registry.register(tmp_path)
    try:
        assert registry.get("lexicon", "birds") is lexicon("birds")
        assert lexicon("birds").words == ("wren", "owl")
        assert registry.added("lexicon") == ("birds",)
    finally:
        registry.unregister("lexicon", "birds")


def test_a_data_set_is_a_task_too() -> None:
    csv = registry.get("data_set", "csv")
    registry.register(replace(csv, name="mine"))
    try:
        assert registry.get("task", "mine").settings == registry.get("task", "csv").settings
        assert registry.added("task") == ("mine",)
    finally:
        registry.unregister("data_set", "mine")
    assert "mine" not in registry.names("task")
    with pytest.raises(ParameterError, match="There is a data set named 'coref' already"):
        registry.register(replace(csv, name="coref"))


def test_listing_papers_imports_none_of_them() -> None:
    program = (
        "import sys, biasgauge as bg\n"
        "print(*bg.registry.names('paper'))\n"
        "print(*[name for name in sys.modules if name.startswith('biasgauge.papers') or name == 'numpy'])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    names, imported = done.stdout.split("\n")[:2]
    assert "du2021" in names
    assert imported == ""


@pytest.mark.parametrize("group", GROUPS)
def test_has_agrees_with_the_names(group: str) -> None:
    """It looks for a measure or a test in the modules of such a name alone: this holds them to their names."""
    names = registry.names(group)
    assert all(registry.has(group, name) for name in names)
    assert not registry.has(group, "no-such-thing")
    assert all(registry.has(group, name) == (name in names) for name in ("ripa", "set_ripa", "ripa_nothing", "weat7"))


def test_one_association_test_is_found_without_the_others() -> None:
    program = (
        "import sys, biasgauge as bg\n"
        "assert bg.registry.get('association_test', 'weat').name == 'weat'\n"
        "assert not bg.registry.added('association_test')\n"
        "print(*[name for name in ('rnsb', 'weat') if f'biasgauge.metrics.{name}' in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["weat"]


def test_an_entry_point_is_found(install: Callable[..., None]) -> None:
    install("theirs", MEASURE + 'M = replace(DBWA, name="their")', measure="their = theirs:M")
    assert "their" in registry.names("measure")
    assert "theirs" not in sys.modules  # until it is asked for
    assert registry.get("measure", "their").name == "their"


@pytest.mark.parametrize(
    ("code", "point", "sentence"),
    [
        ("1 / 0", "their = theirs:M", r"\(theirs:M\) cannot be loaded: ZeroDivisionError: division by zero\.$"),
        ("", "their = theirs:M", r"cannot be loaded: AttributeError: module 'theirs' has no attribute 'M'\.$"),
        ("M = 3", "their = theirs:M", r"must be a measure \([\w.]*\.Measure\)\. Got int: 3\.$"),
        (MEASURE + "M = replace(DBWA, name='mine')", "their = theirs:M", r"name of the entry point\. Got 'mine'\.$"),
    ],
)
def test_a_broken_package_breaks_only_what_it_brings(
    install: Callable[..., None], code: str, point: str, sentence: str
) -> None:
    install("theirs", code, measure=point)
    with pytest.raises(ParameterError, match="^The entry point 'their' of 'biasgauge.measure' .*" + sentence):
        registry.get("measure", "their")
    assert registry.get("measure", "dbwa").name == "dbwa"
    with pytest.warns(UserWarning, match=r"their' of 'biasgauge\.measure' .* It is left out\."):
        assert registry.added("measure") == ()
    with pytest.warns(UserWarning, match=r"their' of 'biasgauge\.measure' .* It is left out\."):
        assert tuple(registry.everything("measure")) == tuple(n for n in registry.names("measure") if n != "their")


def test_a_name_that_ships_cannot_be_taken(install: Callable[..., None]) -> None:
    install("theirs", MEASURE + 'M = replace(DBWA, name="nbm")', measure="nbm = theirs:M")
    with pytest.warns(UserWarning, match=r"\(theirs:M\) brings a measure named 'nbm', which there is already"):
        assert registry.get("measure", "nbm").low == -1.0


def test_two_packages_with_one_name(install: Callable[..., None]) -> None:
    for name in ("theirs", "others"):
        install(name, MEASURE + 'M = replace(DBWA, name="their")', measure=f"their = {name}:M")
    with pytest.raises(ParameterError, match=r"\(others:M, theirs:M\) belongs to several packages: uninstall all but"):
        registry.get("measure", "their")


def test_a_broken_folder_of_lexicons_is_left_out(install: Callable[..., None], tmp_path: Path) -> None:
    code = f"from pathlib import Path\nFOLDER = Path({str(tmp_path / 'nowhere')!r})"
    install("theirs", code, lexicon="lists = theirs:FOLDER")
    with pytest.warns(UserWarning, match=r"cannot be read as a folder of lexicons .* It is left out"):
        assert "weat7" in registry.names("lexicon")


def test_a_broken_lexicon_is_left_out_of_all(install: Callable[..., None], tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "their_words.toml").write_text('kind = "nonsense"\n')
    code = f"from pathlib import Path\nFOLDER = Path({str(tmp_path / 'lists')!r})"
    install("theirs", code, lexicon="lists = theirs:FOLDER")
    assert "their_words" in registry.names("lexicon")
    with pytest.warns(UserWarning, match="unknown kind 'nonsense'"):
        assert "their_words" not in registry.everything("lexicon")


def embedding(name: str) -> Embedding:
    return Embedding(("a", "b"), np.eye(2, dtype=np.float32), name=name)


@pytest.fixture
def encoders() -> Iterator[None]:
    registry.register(Encoder("one", "one model", embedding))
    registry.register(Encoder("several", "two models", lambda source: [embedding(source + end) for end in "xy"]))
    registry.register(Encoder("broken", "no model", lambda _: []))
    yield
    for name in ("one", "several", "broken"):
        registry.unregister("encoder", name)


@pytest.mark.usefixtures("encoders")
def test_vectors_of_an_encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from biasgauge.vectors import load_models

    assert load("one:this").name == "this"
    assert load("one:this", name="that").name == "that"
    assert load("one:this", words=["b"]).words == ("b",)
    assert [model.name for model in load_models(["one:this", "several:z"])] == ["this", "zx", "zy"]
    with pytest.raises(ParameterError, match="One model is needed here, and 'several:z' gives 2"):
        load("several:z")
    with pytest.raises(
        ParameterError, match=r"The encoder 'broken' must give an Embedding or a list of them\. Got an e"
    ):
        load("broken:")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "one:this").write_text("c 1 2\nd 3 4\n")
    assert load("one:this").words == ("c", "d")  # a file of that name wins

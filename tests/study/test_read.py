"""A study's TOML: whatever is wrong with it is told at once, in sentences that name the line."""

from __future__ import annotations

import shutil
import tomllib
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.encoders.conftest import wordpieces

from biasgauge.errors import InputError
from biasgauge.study import Study, read_study, study_from
from biasgauge.study.read import key_lines, line_of
from biasgauge.study.schema import NAMED, SINGLE

if TYPE_CHECKING:
    from pathlib import Path

GOOD = {
    "study": 'name = "made"',
    "report": 'title = "A page"',
    "corpora": 'path = "text.txt"',
    "models": 'algorithm = "sgns"',
    "vectors": 'default = "glove"',
    "encoders": 'path = "bert"\nwords = "weat7"',
    "mitigations": 'of = ["vectors"]\nmethod = "hard"',
    "scores": 'of = ["vectors"]\npairs = "du2021"\nwords = "occ16"',
    "analyses": 'kind = "weat"\nof = ["vectors"]\nsettings = { test = "weat7" }',
    "tasks": 'task = "csv"\ndata = "text.txt"\nof = ["vectors"]',
}
"""A table of each kind; those with names are called after their section."""


def toml(**changed: str) -> str:
    """The study, with the content of some tables changed."""
    parts = []
    for section, content in (GOOD | changed).items():
        header = f"[{section}]" if section in SINGLE else f"[{section}.{section}]"
        parts.append(f"{header}\n{content}\n")
    return "\n".join(parts)


@pytest.fixture(scope="session")
def shape(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a transformer whose weights nobody reads."""
    from transformers import BertConfig

    place = tmp_path_factory.mktemp("shape")
    BertConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2).save_pretrained(place)
    wordpieces().save_pretrained(place)
    (place / "model.safetensors").touch()
    return place


@pytest.fixture
def folder(tmp_path: Path, shape: Path) -> Path:
    shutil.copytree(shape, tmp_path / "bert")
    (tmp_path / "text.txt").write_text("he said that she said\n" * 20)
    return tmp_path


def problems(folder: Path, text: str) -> list[str]:
    """What is told about a study, without the name of the file."""
    file = folder / "made.toml"
    file.write_text(text)
    with pytest.raises(InputError) as told:
        read_study(file)
    lines = str(told.value).split("\n")
    assert all(line.startswith(f"{file}, line ") for line in lines), lines
    return [line.removeprefix(f"{file}, ") for line in lines]


def line_with(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if part in line)


def test_a_good_study_is_read_as_it_stands(folder: Path) -> None:
    (folder / "made.toml").write_text(toml())
    study = read_study(folder / "made.toml")
    assert study.name == "made"
    assert study.folder == folder
    assert list(study.models) == ["models"]
    assert study.analyses["analyses"].settings == {"test": "weat7"}
    assert study.to_dict()["corpora"] == {"corpora": {"path": "text.txt"}}
    again = study_from(study.to_dict(), folder=folder)
    assert isinstance(again, Study)
    assert again.to_dict() == study.to_dict()


KEYS = [
    (section, field.alias or name)
    for section, kind in (NAMED | SINGLE).items()
    for name, field in kind.model_fields.items()
]


@pytest.mark.parametrize(("section", "key"), KEYS)
def test_a_misspelled_key_of_any_table_is_told_with_the_one_that_was_meant(
    folder: Path, section: str, key: str
) -> None:
    text = toml(**{section: f"{GOOD[section]}\n{key}q = 1"})
    told = problems(folder, text)
    assert len(told) == 1
    assert told[0].startswith(f"line {line_with(text, f'{key}q')}: ")
    assert f"'{key}q'; did you mean '{key}'?" in told[0]


@pytest.mark.parametrize(
    ("section", "key", "meant"),
    [
        ("corpora", "tokeniser", "tokenizer"),
        ("models", "dims", "dim"),
        ("models", "min_cont", "min_count"),
        ("scores", "as_publishd", "as_published"),
    ],
)
def test_settings_of_functions_are_known_too(folder: Path, section: str, key: str, meant: str) -> None:
    told = problems(folder, toml(**{section: f"{GOOD[section]}\n{key} = 1"}))
    assert len(told) == 1
    assert f"has no setting '{key}'; did you mean '{meant}'?" in told[0]


@pytest.mark.parametrize(
    ("section", "content", "expected"),
    [
        ("study", 'title = "A"', "the key 'name' is missing: expected letters, digits, - and _"),
        ("study", 'name = "a b"', "'name' must be letters, digits, - and _, found the string 'a b'"),
        ("study", 'name = "a"\nseed = -1', "'seed' must be a whole number of at least 0, found the number -1"),
        ("corpora", "path = 3", "'path' must be a path, or a list of paths, found the number 3"),
        ("corpora", 'tokenizer = "words"', "a corpus needs either 'path' or 'from'"),
        ("corpora", 'from = "corpora"', "'from' and 'balance' go together"),
        (
            "models",
            "seeds = true",
            "'seeds' must be a number of seeds from 1 to 100,000, or a list of different seeds, found the b",
        ),
        ("models", "seeds = [2, 1, 1]", "or a list of different seeds; the seed 1 stands there twice"),
        (
            "models",
            "seeds = 1000000000",
            "from 1 to 100,000, or a list of different seeds, found the number 1000000000",
        ),
        ("models", "bootstrap = 100001", "'bootstrap' must be a number of samples from 1 to 100,000, found the number"),
        ("models", "seeds = 1000\nbootstrap = 1000", "'seeds' times 'bootstrap' must be at most 100,000 models"),
        ("models", "dim = 100001", "'dim' of the algorithm 'sgns' must be at most 100,000, found the number 100001"),
        ("models", "dim = 1e20", "'dim' of the algorithm 'sgns' must be a whole number, found the number 1e+20"),
        ("tasks", f"{GOOD['tasks']}\nseeds = [3, 3]", "the seed 3 stands there twice"),
        ("tasks", f"{GOOD['tasks']}\nseeds = 100001", "'seeds' must be a number of seeds from 1 to 100,000"),
        ("tasks", f"{GOOD['tasks']}\nsettings = {{ group_words = 'weat77' }}", "there is no lexicon named 'weat77'"),
        (
            "models",
            "seeds = 0",
            "'seeds' must be a number of seeds from 1 to 100,000, or a list of different seeds, found the n",
        ),
        ("models", 'dim = "many"', "'dim' of the algorithm 'sgns' must be a whole number, found the string 'many'"),
        ("models", 'remove = "a"', "'remove' of the algorithm 'sgns' must be a list of words, found the string 'a'"),
        ("models", "dim = 0", "The 'dim' parameter must be a whole number of at least 1. Got 0."),
        ("models", "n_jobs_per_model = 4", "has no setting 'n_jobs_per_model'; the study decides it"),
        ("vectors", 'default = "w2v"', "'default' must be \"glove\" or \"replicates\", found the string 'w2v'"),
        ("vectors", "limit = 3", "vectors need either 'path' or 'default'"),
        ("vectors", 'path = "none.bin"', "there is no file 'none.bin', seen from "),
        ("mitigations", 'of = "vectors"\nmethod = "hard"', "'of' must be a list of names, found the string 'vectors'"),
        ("mitigations", 'of = ["vectors"]', "the key 'method' is missing: expected text"),
        (
            "scores",
            'of = ["vectors"]\npairs = "x"\nwords = "occ16"',
            "'pairs' of scores: there is no lexicon named 'x'",
        ),
        ("scores", f"{GOOD['scores']}\nmeasures = ['dbva']", "Got 'dbva'"),
        ("scores", f"{GOOD['scores']}\nk = -1", "'k' of scores must not be negative, found the number -1"),
        ("scores", f"{GOOD['scores']}\nk = 'ten'", "'k' of scores must be a whole number, found the string 'ten'"),
        ("analyses", 'kind = "waet"\nof = ["vectors"]', "there is no kind of analysis 'waet'; did you mean 'weat'?"),
        ("analyses", 'kind = "weat"', "'analyses' needs 'of': the names of what it is made of"),
        ("tasks", 'task = "cvs"\ndata = "text.txt"\nof = ["vectors"]', "there is no task 'cvs'; did you mean 'csv'?"),
        ("tasks", 'task = "csv"\ndata = "nothing"\nof = ["vectors"]', "there is no file or folder 'nothing'"),
        ("report", 'of = ["analises"]', "there is no 'analises' in analyses or tasks; did you mean 'analyses'?"),
    ],
)
def test_a_wrong_value_gets_one_sentence(folder: Path, section: str, content: str, expected: str) -> None:
    told = problems(folder, toml(**{section: content}))
    assert len(told) == 1, told
    assert expected in told[0]


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("weat", 'test = "weat77"', "'test' of the kind 'weat': there is no lexicon named 'weat77'; nearest: weat7"),
        ("weat", 'test = "occ16"', "the lexicon 'occ16' is of kind 'words'; 'test' is needed"),
        ("weat", 'test = "weat7", alternative = "lesser"', "must be 'greater' or 'less' or 'two-sided', found the str"),
        (
            "weat",
            'test = "weat7", ddof = "0"',
            "'ddof' of the kind 'weat' must be a whole number, found the string '0'",
        ),
        ("weat", 'test = "weat7", case_fallback = 1', "must be true or false, found the number 1"),
        ("weat", 'test = "weat7", interval = { level = 0.9, metod = "bca" }', "'interval' has no setting 'metod'; did"),
        ("weat", 'test = "weat7", interval = 3', "'interval' must be a table with method, level, resamples"),
        (
            "weat",
            'test = "weat7", interval = { resamples = "x" }',
            "'resamples' of 'interval' must be a whole number, found the string 'x'",
        ),
        (
            "weat",
            'test = "weat7", interval = { method = "bcb" }',
            "'method' of 'interval' must be 'bca' or 'percentile' or 'jackknife', found the string 'bcb'",
        ),
        ("weat", 'test = "weat7", samples = 0', "The 'samples' parameter must be a whole number of at least 1. Got 0."),
        ("weat", 'test = "weat7", samples = -5', "'samples' of the kind 'weat' must not be negative, found the number"),
        ("components", "draws = -1", "'draws' of the kind 'components' must not be negative, found the number -1"),
        ("stability", "level = 95", "'level' of the kind 'stability' must lie between 0 and 1, found the number 95"),
        ("bayes", 'lexicon = "gender", prob = 0', "'prob' of the kind 'bayes' must lie between 0 and 1, found the n"),
        ("weat", 'test = "weat7", ddof = 2', "The 'ddof' parameter must be one of 0, 1. Got 2."),
        ("rnsb", 'test = "weat7", c = -1.0', "the kind 'rnsb': "),
        ("stability", "level = 0.9", "the kind 'stability' needs at least 2 models in a group; 'vectors' has 1"),
        ("quality", 'benchmarks = "simlex"', "'simlex' is neither a similarity benchmark"),
        ("quality", "benchmarks = 3", "'benchmarks' must be a benchmark or a list of benchmarks, found the number 3"),
        ("weat", 'test = "weat7", n_jobs = 3', "has no setting 'n_jobs'; the study decides it"),
        ("weat", 'test = "weat7", min_coverage = nan', "'min_coverage' must be text, numbers, lists or tables, found"),
        ("weat", 'test = "weat7", min_coverage = 2020-01-01', "'min_coverage' must be text, numbers, lists or tables"),
        ("weat", 'test = "mine.toml"', "there is no file 'mine.toml', seen from "),
        ("weat", 'x = ["a"], y = ["b"]', "a lexicon is needed ('test'), or the sets a, b"),
        ("mac", "min_coverage = 0.5", "needs the setting 'stereotypes'"),
        ("bayes", 'lexikon = "gender"', "needs the setting 'lexicon'; did you mean 'lexikon'?"),
        ("seeds", "shuffles = 3", "Name two sets, 'a' and 'b', or 'pairs'"),
        ("quality", 'benchmarks = ["simlex"]', "'simlex' is neither a similarity benchmark"),
        ("correlate", 'x = "weat", y = "gap"', "there is no analysis 'vectors' of kind \"points\""),
        ("points", 'tests = ["weat7"]', "there is no 'vectors' in tasks"),
        ("bayes-change", 'lexicon = "gender"', "'vectors' is no mitigation; say what was there before with 'before'"),
        ("reliability", "level = 0.9", "there is no 'vectors' in scores"),
    ],
)
def test_settings_of_an_analysis_are_held_against_its_function(
    folder: Path, kind: str, given: str, expected: str
) -> None:
    text = toml(analyses=f'kind = "{kind}"\nof = ["vectors"]\nsettings = {{ {given} }}')
    told = problems(folder, text)
    assert any(expected in one for one in told), told


def test_names_that_are_not_there_are_told_with_the_nearest(folder: Path) -> None:
    text = toml(
        mitigations='of = ["modles"]\nmethod = "hard"', scores=GOOD["scores"].replace("vectors", "models/corpra")
    )
    told = problems(folder, text)
    where = "in models or vectors or encoders or mitigations"
    assert told == [
        f"line {line_with(text, 'modles')}: there is no 'modles' {where}; did you mean 'models'?",
        f"line {line_with(text, 'corpra')}: there is no 'models/corpra' {where}; did you mean 'models/corpora'?",
    ]


def test_every_problem_is_told_at_once_in_the_order_of_the_file(folder: Path) -> None:
    text = (
        toml(study='name = "made"\nsed = 1', models='algorithm = "sgsn"', tasks='task = "csv"\nof = ["vectors"]')
        + "[nothing]\n"
    )
    told = problems(folder, text)
    numbers = [int(one.split(":")[0].removeprefix("line ")) for one in told]
    assert len(told) == 4
    assert numbers == sorted(numbers)
    assert numbers == [line_with(text, part) for part in ("sed", "sgsn", "[tasks", "[nothing")]


def test_a_table_that_is_wrong_is_told_once_and_not_again_by_those_that_name_it(folder: Path) -> None:
    told = problems(folder, toml(vectors='defalt = "glove"'))
    assert len(told) == 1
    assert "[vectors.vectors] has no key 'defalt'; did you mean 'default'?" in told[0]


BALANCED = '[corpora.{}]\nfrom = "{}"\nbalance = {{ test = "weat7" }}\n'
HARD = '[mitigations.{}]\nof = ["{}"]\nmethod = "hard"\n'


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (BALANCED.format("a", "b") + BALANCED.format("b", "a"), "these corpora are made of each other: a → b → a"),
        (BALANCED.format("a", "a"), "these corpora are made of each other: a → a"),
        (
            "".join(HARD.format(*names) for names in (("a", "c"), ("b", "a/vectors"), ("c", "b"), ("d", "c"))),
            "these mitigations are made of each other: a → c → b → a",
        ),
    ],
)
def test_a_circle_is_one_sentence(folder: Path, more: str, expected: str) -> None:
    told = problems(folder, toml() + more)
    assert len(told) == 1
    assert told[0].endswith(expected)


def test_one_name_stands_for_one_thing(folder: Path) -> None:
    text = (
        toml()
        + '[vectors.models]\ndefault = "glove"\n[tasks.analyses]\ntask = "csv"\ndata = "text.txt"\nof = ["vectors"]'
    )
    assert [one.split(": ", 1)[1] for one in problems(folder, text)] == [
        "the name 'models' is taken by [models.models]; choose another",
        "the name 'analyses' is taken by [analyses.analyses]; choose another",
    ]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[study\n", "line 1: is not valid TOML"),
        (b"name = '\xff'\n", "is not UTF-8 text"),
        (b"", "the table [study] with a name is missing"),
        (b"study = 3\n", "'study' must be a table, found the number 3"),
        (b"models = 3\n[study]\nname = 'a'\n", "'models' must be tables [models.NAME], found the number 3"),
        (b"[study]\nname = 'a'\n[models]\nx = 3\n", "'models.x' must be a table, found the number 3"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_study_gets_one_sentence(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / "made.toml").write_bytes(content)
    with pytest.raises(InputError, match=r"made\.toml") as told:
        read_study(tmp_path / "made.toml")
    assert expected in str(told.value)


@pytest.mark.parametrize("name", ["gone.toml", "", "a\0b"])
def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_study(f"{tmp_path}/{name}")


def test_lines_are_found_whatever_the_spelling() -> None:
    text = (
        'top = 1\n\n[a . "b"]  # remark\nc.d = 1\n"e" = """\nf = 3\n[g]\n"""\nh = [\n  { i = 1 },\n]\n\n'
        "j = '''x'''\n[[k]]\nl = 1\n"
    )
    lines = key_lines(text)
    assert lines == {
        ("top",): 1,
        ("a", "b"): 3,
        ("a", "b", "c"): 4,
        ("a", "b", "c", "d"): 4,
        ("a", "b", "e"): 5,
        ("a", "b", "h"): 9,
        ("a", "b", "j"): 13,
        ("k",): 14,
        ("k", "l"): 15,
    }
    assert line_of(lines, ("a", "b", "h", "i")) == 9
    assert line_of(lines, ("a", "b", "unknown")) == 3
    assert line_of(lines, ("z",)) is None


@pytest.mark.parametrize(
    "line",
    [
        '# say """ once',
        "a = 1 # it's '''",
        'a = "# no remark" # """',
        'a = \'"""\'',
        "a = \"\\\"'''\"",
        'a = """x""" # """',
        'a = """x""""',
        'a = """\\"""x\nb = 1 # """""',
        "a = '''x\n\"\"\"''''",
    ],
)
def test_quotes_in_remarks_and_texts_open_nothing(line: str) -> None:
    text = f"{line}\nlast = 1\n"
    assert tomllib.loads(text)["last"] == 1
    assert key_lines(text)["last",] == line.count("\n") + 2


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["glove", "weat", "v"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
TABLES = [*NAMED, *SINGLE]
FIELDS = sorted({key for _, key in KEYS} | {"dim", "layout"})


@settings(max_examples=60, deadline=None)
@given(
    content=st.dictionaries(
        st.sampled_from(TABLES),
        VALUES
        | st.dictionaries(
            st.sampled_from(["v", "w"]),
            VALUES | st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=4),
            max_size=2,
        ),
        max_size=4,
    )
)
def test_whatever_a_study_says_it_is_a_study_or_an_input_error(content: dict[str, object]) -> None:
    with suppress(InputError):
        assert isinstance(study_from({"study": {"name": "a"}, **content}), Study)

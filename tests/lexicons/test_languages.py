"""What a language has is data: records, their rules of gender, the check of a language, and no code that knows one."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.source_trees import module_trees

import biasgauge as bg
from biasgauge import registry
from biasgauge.cli.entry import run
from biasgauge.core import WordPolicy
from biasgauge.errors import LexiconError, ParameterError
from biasgauge.lexicons import (
    ROLES,
    Language,
    check,
    check_language,
    language_of,
    languages,
    lexicon,
    lexicons_in_language,
    parse_lexicon,
    words_of,
)
from biasgauge.lexicons.findings import gender_shares, other_spellings
from biasgauge.lexicons.language import TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CODES = {"en", "es", "de", "it", "fr", "hr", "ru", "tr"}

FR = """
kind = "language"
title = "French, for this test"
language = "fr"
templates = ["{}", "C'est {}."]

[roles]
base_pairs = ["fr_pairs"]
occupations = ["fr_jobs"]
concepts = ["fr_jobs:masculine", "fr_test:science"]
forms = ["fr_jobs"]

[gender]
counterparts = [["eur", "euse"], ["ien", "ienne"]]

[gender.endings]
masculine = ["eur", "ien", "isme"]
feminine = ["euse", "ienne", "tion", "ure"]
"""
FR_PAIRS = """
kind = "pairs"
language = "fr"
ends = ["male", "female"]
pairs = [["il", "elle"], ["homme", "femme"], ["père", "mère"], ["fils", "fille"], ["frère", "sœur"]]
"""
FR_JOBS = """
kind = "pairs"
language = "fr"
ends = ["masculine", "feminine"]
pairs = [["danseur", "danseuse"], ["musicien", "musicienne"], ["coiffeur", "coiffeuse"]]
"""
FR_TEST = """
kind = "test"
family = "gender"
language = "fr"
x = { name = "science", words = ["équation", "addition", "mesure", "physicienne"] }
y = { name = "art", words = ["danseur", "musicien", "réalisme", "peinture"] }
a = { name = "male terms", words = ["il", "homme", "père", "fils"] }
b = { name = "female terms", words = ["elle", "femme", "mère", "fille"] }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {"fr": FR, "fr_pairs": FR_PAIRS, "fr_jobs": FR_JOBS, "fr_test": FR_TEST}
    for name, text in files.items():
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def _strings(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def test_no_code_compares_with_a_language(repository: Path) -> None:
    """Code asks what a language has; which language it is decides nothing."""
    found = []
    quoted = [f"{quote}{code}{quote}" for code in CODES for quote in "'\""]
    for name, tree in module_trees(repository / "src" / "biasgauge", quoted):
        for node in ast.walk(tree):
            asked = [node.subject, *node.cases] if isinstance(node, ast.Match) else [node]
            if isinstance(node, ast.Compare | ast.Match):
                named = {text for part in asked for text in _strings(part)} & CODES
                found += [f"{name}:{node.lineno}: {code}" for code in sorted(named)]
    assert found == []


@pytest.mark.parametrize("record", languages(), ids=lambda record: record.name)
def test_every_name_of_a_shipped_language_is_a_list_of_that_language(record: Language) -> None:
    for role, names in record.roles:
        for name in names:
            assert words_of(name).words, (role, name)
            assert lexicon(name.partition(":")[0]).language == record.name
    assert record.shipped
    assert check_language(record).ok


def test_english_has_what_the_papers_used() -> None:
    english = language_of("en")
    assert english.named("base_pairs") == ("du2021",)
    assert english.named("other_pairs") == ("zhang2020",)
    assert english.named("human") == ("human",)
    assert english.spelled_forms == ("plural",)
    assert not english.gender


def test_a_language_without_a_list_says_what_cannot_be_answered_and_what_to_do() -> None:
    unknown = language_of("tlh")
    assert unknown.lacks("base_pairs") == (
        "the language 'tlh' has no base pairs to score words along; name some in a file tlh.toml "
        "(`biasgauge lexicons check tlh` says where its template is)"
    )
    assert "and no word lists" in unknown.lacks("base_pairs", "scored_words")
    assert language_of("es").lacks("base_pairs") == ""
    with pytest.raises(ParameterError, match="base_pairs"):
        unknown.named("pairs")
    with pytest.raises(LexiconError, match="language"):
        language_of("weat7")
    with pytest.raises(LexiconError, match="'tlh'"):
        check_language("tlh")


def test_lists_beside_a_file_are_found_by_their_paths(folder: Path) -> None:
    french = language_of(folder / "fr.toml")
    assert french.named("base_pairs") == (str(folder / "fr_pairs.toml"),)
    assert french.named("concepts") == (f"{folder / 'fr_jobs.toml'}:masculine", f"{folder / 'fr_test.toml'}:science")
    assert words_of(french.named("concepts")[1]).words == ("équation", "addition", "mesure", "physicienne")
    assert {one.name for one in lexicons_in_language(french)} == {"fr_pairs", "fr_jobs", "fr_test"}
    assert parse_lexicon(json.loads(json.dumps(french.to_dict()))) == french


def test_a_registered_folder_brings_a_language(folder: Path) -> None:
    registry.register(folder)
    try:
        assert language_of("fr").named("base_pairs") == ("fr_pairs",)
        assert "fr" in {record.name for record in languages()}
        assert check_language("fr").language == "fr"
    finally:
        for name in ("fr", "fr_pairs", "fr_jobs", "fr_test"):
            registry.unregister("lexicon", name)
    assert language_of("fr").lacks("base_pairs")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": "french"}, "the name of a language must be its code"),
        ({"templates": ["no gap"]}, r"sentences with one gap, \{\}, found 'no gap'"),
        ({"roles": {"base_pair": ["x"]}}, "the key 'base_pair' is not known in the table 'roles'.*base_pairs"),
        ({"roles": {"base_pairs": "x"}}, "'roles.base_pairs' must be an array of words"),
        ({"gender": {"endings": {}}}, "'gender.endings' must hold at least one of genders"),
        ({"gender": {"nouns_have_capitals": "yes"}}, "must be true or false, found the string 'yes'"),
        ({"gender": {"counterparts": [["o"]]}}, "must have 2 words, found 1"),
    ],
)
def test_a_slip_in_a_language_file_gets_a_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(LexiconError, match=sentence):
        parse_lexicon({"name": "fr", "kind": "language", "language": "fr", **change})


# Genders as any dictionary of the language has them.
GENDERS = {
    "es": {
        "masculine": "libro poeta día problema profesor bailarín camión garaje francés alemán papá carpintero",
        "feminine": "mesa ciencia canción ciudad libertad virtud costumbre actriz vejez mano foto profesora flor",
        None: "inteligente amable azul feliz dentista",
    },
    "it": {
        "masculine": "libro poeta scrittore cameriere problema animale padre maestro",
        "feminine": "casa scienza nazione città virtù solitudine attrice dottoressa mano madre arte",
        None: "felice dente",
    },
    "de": {
        "masculine": "Frühling Realismus Künstlerist Ingenieur Professor Mann Vater Reichtum",
        "feminine": "Zeitung Freiheit Höflichkeit Wissenschaft Universität Nation Lehrerin Physik Polizei Mutter",
        "neuter": "Mädchen Büchlein Instrument Eigentum Museum Kind Drama",
        None: "Tisch klug sicher wissenschaftlich",
    },
}


@pytest.mark.parametrize(
    ("code", "gender", "word"),
    [(code, gender, word) for code, by in GENDERS.items() for gender, words in by.items() for word in words.split()],
)
def test_rules_tell_the_gender_that_a_dictionary_has(code: str, gender: str | None, word: str) -> None:
    found = language_of(code).gender.gender_of(word)
    wrong = {"dentista": "feminine"}  # nouns in -ista have two genders; the rule of thumb says -a
    assert found == wrong.get(word, gender)


@pytest.mark.parametrize(
    ("code", "word", "form"),
    [
        ("es", "médico", "médica"),
        ("es", "profesora", "profesor"),
        ("es", "bailarín", "bailarina"),
        ("it", "attore", "attrice"),
        ("it", "cameriera", "cameriere"),
        ("it", "studente", "studentessa"),
        ("de", "Lehrer", "Lehrerin"),
        ("de", "Polizistin", "Polizist"),
        ("de", "Kaufmann", "Kauffrau"),
    ],
)
def test_the_other_form_of_a_word(code: str, word: str, form: str) -> None:
    assert form in language_of(code).gender.other_forms(word)


def test_spellings_that_a_vocabulary_may_have() -> None:
    assert {"strasse", "Strasse", "straße"} <= set(other_spellings("Straße"))
    assert {"maedchen", "mädchen", "madchen"} <= set(other_spellings("Mädchen"))
    assert unicodedata.normalize("NFD", "médico") in other_spellings("médico")
    assert "medico" in other_spellings("médico")
    assert {"de_ella", "de-ella"} <= set(other_spellings("de ella"))
    assert "agua" not in other_spellings("agua")


def test_shares_of_genders_are_counted(folder: Path) -> None:
    """équation, addition, mesure, physicienne against danseur, musicien, réalisme, peinture, by hand."""
    french = language_of(folder / "fr.toml")
    (shares,) = gender_shares(lexicon(folder / "fr_test.toml"), french)  # male and female terms differ on purpose
    assert (shares.a, shares.b) == ("science", "art")
    assert shares.first == {"feminine": 4}
    assert shares.second == {"feminine": 1, "masculine": 3}
    assert shares.apart == 0.75
    assert shares.unknown == 0


def test_findings_name_what_confounds_and_what_to_do(folder: Path) -> None:
    french = language_of(folder / "fr.toml")
    known = {*lexicon(folder / "fr_test.toml").words, "danseuse", "musicienne", "physicien", "mere"}
    vocabulary = known - {"mère"}
    found = check(folder / "fr_test.toml", vocabulary, language=french, policy=WordPolicy(0.5))
    told = {finding.severity: finding.sentence for finding in found.findings if "by endings" in finding.sentence}
    assert told == {
        "warning": "Grammatical gender by endings: 'science' 4 of 4 feminine; 'art' 1 of 4 feminine, 3 of 4 masculine "
        "(shares 75 % apart): part of a contrast with words for men and women is then agreement in grammatical gender. "
        "Balance the genders, or give every word in both forms."
    }
    sentences = " ".join(finding.sentence for finding in found.findings)
    assert "lacks what looks like the other form of 2 of its words ('danseur / danseuse', 'musicien / mus" in sentences
    assert "The vocabulary has 1 of the lost words in another spelling ('mère → mere')" in sentences


def test_accents_of_two_signs_are_told() -> None:
    words = [unicodedata.normalize("NFD", "médico"), "mesa"]
    found = check(parse_lexicon({"kind": "words", "language": "es", "words": words}))
    (finding,) = found.findings
    assert finding.severity == "warning"
    assert "1 of its words write an accent as a sign of its own" in finding.sentence


def test_both_forms_without_counterparts_are_told() -> None:
    about = {"kind": "test", "language": "es", "family": "gender"}
    sets = {
        "x": {"words": ["médico", "médica", "abogado", "abogada"]},
        "y": {"words": ["pintor", "pintora", "actor", "cantante"]},
        "a": {"words": ["él", "hombre"]},
        "b": {"words": ["ella", "mujer"]},
    }
    told = [finding.sentence for finding in check(parse_lexicon({**about, **sets})).findings]
    assert len([sentence for sentence in told if "that 'counterparts' does not list" in sentence]) == 2
    paired = {"counterparts": [["médico", "médica"], ["abogado", "abogada"], ["pintor", "pintora"]]}
    told = [finding.sentence for finding in check(parse_lexicon({**about, **sets, **paired})).findings]
    assert not [sentence for sentence in told if "counterparts" in sentence]


def test_english_lists_have_no_such_findings() -> None:
    for one in lexicons_in_language(language_of("en")):
        told = " ".join(finding.sentence for finding in check(one).findings)
        assert "other form" not in told, one.name
        assert "endings" not in told, one.name


def test_a_language_is_checked_with_its_lists(folder: Path) -> None:
    words = [*lexicon(folder / "fr_jobs.toml").sets["masculine"], *lexicon(folder / "fr_test.toml").words]
    words += lexicon(folder / "fr_jobs.toml").sets["feminine"]
    model = bg.Embedding(tuple(dict.fromkeys(words)), np.eye(len(dict.fromkeys(words)), dtype=np.float32), name="m")
    found = check_language(folder / "fr.toml", model)
    assert {one.name for one in found.checks} == {"fr_pairs", "fr_jobs", "fr_test"}
    jobs = next(row for row in found.frequencies if row.list == "fr_jobs")
    assert (jobs.a, jobs.b) == ("masculine", "feminine")
    # danseur and musicien stand before the feminine forms in the file, as does coiffeur: 9 of 9 pairs
    assert jobs.frequency.value == 1.0
    told = " ".join(finding.sentence for finding in found.findings if finding.severity == "warning")
    assert "The role 'scored_words' has no list: no word lists whose scores are judged for reliability" in told
    assert found.ok  # frère and sœur are not in these vectors: 4 of 5 words a side are
    assert len(found.roles) == len(ROLES)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('["fr_pairs"]', '["fr_nothing"]', "The role 'base_pairs' names what there is not: fr_nothing."),
        ('"fr_test:science"', '"fr_test:sport"', "The role 'concepts' names what there is not: fr_test:sport."),
        ('["fr_pairs"]', '["du2021"]', "The role 'base_pairs' names lists in another language: du2021."),
        ('["fr_pairs"]', '["fr_test"]', "The base pairs 'fr_test' are of kind test, but pairs are wanted."),
    ],
)
def test_what_a_language_cannot_name_is_an_error(folder: Path, old: str, new: str, sentence: str) -> None:
    (folder / "fr.toml").write_text(FR.replace(old, new), encoding="utf-8")
    found = check_language(folder / "fr.toml")
    assert sentence in [finding.sentence for finding in found.findings if finding.severity == "error"]
    assert not found.ok


def test_the_template_can_be_read_and_checked(tmp_path: Path) -> None:
    (tmp_path / "xx.toml").write_text(TEMPLATE.read_text(encoding="utf-8"), encoding="utf-8")
    record = language_of(tmp_path / "xx.toml")
    assert record.gender
    assert {role for role, _ in record.roles} == set(ROLES)  # a user sees every role
    assert not check_language(record).ok  # its lists are still to be written


@pytest.mark.parametrize("code", ["de", "it"])
def test_german_and_italian_tests_of_a_local_vocabulary(
    code: str, shared_data: Path, tmp_path: Path, repository: Path
) -> None:
    """XWEAT in German and Italian, which do not ship: built from a local table, read and checked."""
    program = [sys.executable, "scripts/make_translated_tests.py"]
    table = shared_data / "xweat" / f"vocab_en_{code}.csv"
    subprocess.run([*program, str(table), code, "--out", str(tmp_path)], check=True, cwd=repository)
    tests = {one.stem: lexicon(one) for one in tmp_path.glob("*.toml")}
    assert set(tests) == {f"xweat{number}_{code}" for number in (1, 2, 7, 8, 9)}
    assert all(check(one).ok for one in tests.values())
    (shares,) = gender_shares(tests[f"xweat7_{code}"], language_of(code))  # male and female terms are left out
    assert (shares.a, shares.b) == ("math", "arts")
    words = {word for role in "xy" for word in tests[f"xweat7_{code}"].sets[role]}
    assert sum(shares.first.values()) + sum(shares.second.values()) + shares.unknown == len(words)
    told = " ".join(finding.sentence for one in tests.values() for finding in check(one).findings)
    assert "Grammatical gender by endings" in told


def test_the_program_of_the_page_runs(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = (repository / "docs" / "measures" / "languages.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(compile(program, "languages.md", "exec"), {})  # noqa: S102 - the page's own program
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "['de', 'en', 'es', 'it']"
    assert told[1] == "('es_pairs',) feminine"
    assert "the language 'fr' has no base pairs" in told[2]


def test_the_command_checks_a_language(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lexicons", "check", "es"]) == 0
    shown = capsys.readouterr().out
    assert "needs have a list" in shown
    assert "Grammatical gender of compared sets" in shown
    assert run(["lexicons", "check", str(folder / "fr.toml"), "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["language"] == "fr"
    assert content["ok"] is True
    assert [row["apart"] for row in content["genders"]] == [0.75]
    vectors = folder / "v.txt"
    vectors.write_text("il 1 0\nelle 0 1\n", encoding="utf-8")
    assert run(["lexicons", "check", str(folder / "fr.toml"), "--vectors", str(vectors)]) == 2
    assert "must be found" in capsys.readouterr().out
    assert run(["lexicons", "check", "tlh"]) == 2
    assert "there is no language 'tlh': copy the template" in capsys.readouterr().err

"""An audit in another language: verdicts, reliability, robustness, explorer and page, none of it in English."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import biasgauge as bg
from biasgauge.analyses.posterior import compared_words
from biasgauge.analyses.reliability import ReliabilityResult
from biasgauge.analyses.robustness import RobustnessResult
from biasgauge.audits import audit_words
from biasgauge.audits.part import NotMeasured
from biasgauge.audits.transformers import BARE
from biasgauge.cli.entry import run
from biasgauge.lexicons import language_of, lexicon, lexicons_in_language, pairs_of

if TYPE_CHECKING:
    from pathlib import Path

LEAN = 0.8


@pytest.fixture(scope="module")
def spanish() -> list[bg.Embedding]:
    """Two replicates in lower case: science leans to male words, art to female ones; the rest stands about."""
    lists = lexicons_in_language(language_of("es"))
    words = tuple(dict.fromkeys(word.lower() for one in lists for word in one.words)) + tuple(
        f"palabra{number}" for number in range(400)
    )
    random = np.random.default_rng(4)
    base, axis = random.normal(size=(len(words), 30)) / 6, np.eye(30)[0]
    test = lexicon("weat_es_gender")
    ends = {word: sign for pair in pairs_of("es_pairs").pairs for word, sign in zip(pair, (1, -1), strict=True)}
    sides = {**dict.fromkeys(test.sets["x"], LEAN), **dict.fromkeys(test.sets["y"], -LEAN)}
    leans = np.array([ends.get(word, sides.get(word, 0.0)) for word in words])
    matrix = base + leans[:, None] * axis
    return [
        bg.Embedding(words, (matrix + random.normal(size=base.shape) / 40).astype(np.float32), name=f"seed {seed}")
        for seed in range(2)
    ]


@pytest.fixture(scope="module")
def audited(spanish: list[bg.Embedding]) -> bg.audits.AuditResult:
    return bg.audit(spanish, language="es", replicates=True)


def test_verdicts_rest_on_spanish_base_pairs(spanish: list[bg.Embedding]) -> None:
    result = bg.audit(spanish, lexicons=["weat_es_gender"], replicates=True)
    (verdict,) = result.verdicts
    assert verdict.decision in ("report", "report-with-care")
    pairs = next(piece for piece in verdict.evidence if piece.rule == "base pairs")
    assert pairs.counts == (20, 20)
    (broken,) = result.breakdowns
    assert [one.name for one in broken.pairs][:2] == ["él–ella", "hombre–mujer"]


def test_the_spanish_battery_is_judged_with_published_tests_beside_it(audited: bg.audits.AuditResult) -> None:
    """Names stand for men and women in the battery; the published tests have gendered words, and are not judged."""
    assert {verdict.question for verdict in audited.verdicts} == {
        "es_gender_career", "es_gender_science", "es_gender_valence",
    }  # fmt: skip
    assert {row.test for row in audited.published} == {
        "weat_es_gender", "weat_es_migrant", *(f"xweat{number}_es" for number in (1, 2, 7, 8, 9)),
    }  # fmt: skip


def test_reliability_is_that_of_spanish_lists(audited: bg.audits.AuditResult) -> None:
    found = audited.reliability
    assert isinstance(found, ReliabilityResult)
    assert [words.name for words in found.lists] == ["es_occupations", "es_traits"]
    told = next(part for part in audited.summary().parts if part.name == "reliability")
    assert "Spanish occupations, Spanish traits" in told.about
    assert "Du et al." not in told.about


def test_robustness_changes_spanish_pairs_and_forms(audited: bg.audits.AuditResult) -> None:
    found = audited.robustness
    assert isinstance(found, RobustnessResult)
    assert (found.settings["pairs"], found.settings["words"]) == ("es_pairs", "es_occupations")
    assert found.settings["forms"] == ["feminine"]
    assert found.forms[0].found["médico"] == "médica"
    assert found.settings["truths"] == []
    assert any("the language 'es' has no words whose direction is known" in text for text in found.warnings)
    assert found.flips is not None
    assert {"plural", "capitalized"} & {flip.new for flip in found.flips.rows} == {"capitalized"}


def test_the_page_has_spanish_words_and_pairs(audited: bg.audits.AuditResult, tmp_path: Path) -> None:
    explorer = audited.explorer
    assert explorer is not None
    assert explorer.whose == "Spanish pairs"
    content = explorer.packed()
    assert content["pairs"][0] == ["él", "ella"]
    english = {word for one in lexicons_in_language(language_of("en")) for word in one.words}
    spanish = {word.lower() for one in lexicons_in_language(language_of("es")) for word in one.words}
    assert not (set(content["words"]) & english) - spanish
    page = audited.save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Spanish pairs" in page
    assert "he–she" not in page


def test_scores_need_no_english_seed_bank_or_control_words(audited: bg.audits.AuditResult) -> None:
    assert audited.seeds is not None
    assert not [card.a for card in audited.seeds.cards if "Bolukbasi" in card.a]
    assert compared_words("weat_es_gender").controls == {}
    assert set(compared_words("weat7").controls) == {"human", "neutral"}


def test_a_language_without_lists_says_so_everywhere() -> None:
    """Spanish words in a test that calls itself Klingon: nothing English or Spanish stands in."""
    sets = {role: {"name": role, "words": list(lexicon("weat7").sets[role])} for role in "xyab"}
    test = bg.lexicons.parse_lexicon({"kind": "test", "name": "own", "language": "tlh", **sets})
    result = bg.audit(bg.vectors.load_default(4_000), lexicons=[test], policy=bg.core.WordPolicy(min_coverage=0))
    (verdict,) = result.verdicts
    assert not [piece for piece in verdict.evidence if piece.rule == "base pairs"]
    assert result.settings["language"] == "tlh"
    assert isinstance(result.robustness, NotMeasured)
    assert audit_words([test], "tlh") == test.words


def test_a_language_of_ones_own_is_a_file_with_its_lists_beside_it(
    tmp_path: Path, spanish: list[bg.Embedding], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("es_pairs", "es_occupations", "weat_es_gender"):
        content = {**lexicon(name).to_dict(), "language": "xx", "name": f"xx_{name}"}
        _write(tmp_path / f"xx_{name}.toml", content)
    (tmp_path / "xx.toml").write_text(
        'kind = "language"\nlanguage = "xx"\n[roles]\nbase_pairs = ["xx_es_pairs"]\nother_pairs = ["xx_es_pairs"]\n'
        'scored_words = ["xx_es_occupations"]\noccupations = ["xx_es_occupations"]\n'
        'concepts = ["xx_es_occupations:masculine"]\nforms = ["xx_es_occupations"]\n',
        encoding="utf-8",
    )
    vectors = tmp_path / "v.npz"
    np.savez(vectors, words=np.array(spanish[0].words), vectors=spanish[0].vectors)
    command = ["audit", str(vectors), "--language", str(tmp_path / "xx.toml"), "--out", str(tmp_path / "page")]
    assert run([*command, "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [verdict["question"] for verdict in found["verdicts"]] == ["xx_weat_es_gender"]
    assert found["settings"]["language"] == "xx"
    rules = {piece["rule"] for piece in found["verdicts"][0]["evidence"]}
    assert {"base pairs", "measures"} <= rules
    assert found["robustness"]["base_pairs"]


def test_the_text_is_counted_for_attributes_of_unequal_number(spanish: list[bg.Embedding], tmp_path: Path) -> None:
    whole = lexicon("weat_es_gender").to_dict()
    test = bg.lexicons.parse_lexicon({**whole, "name": "own", "b": {"words": ["mujer", "niña", "ella", "hija"]}})
    random = np.random.default_rng(1)
    words = [word for word in test.words if word.isalpha()]
    text = tmp_path / "texto.txt"
    text.write_text("\n".join(" ".join(random.choice(words, 8)) for _ in range(400)), encoding="utf-8")
    found = bg.audit(spanish[0], lexicons=[test], corpus=text, policy=bg.core.WordPolicy(min_coverage=0.5))
    assert found.text is not None
    assert found.text.answers[0].words > 5
    assert found.text.answers[0].slope.value is not None


def test_german_ships_no_question_and_says_so() -> None:
    with pytest.raises(bg.ParameterError, match="association"):
        bg.audit(bg.vectors.load_default(100), language="de")


def test_sentences_of_a_transformer_are_of_the_language() -> None:
    assert language_of("es").templates == ("{}", "Esto es {}.", "La palabra es {}.")
    assert (language_of("tlh").templates or BARE) == ("{}",)


def test_defaults_of_robustness_follow_the_language_of_the_pairs(spanish: list[bg.Embedding]) -> None:
    found = bg.robustness(spanish[0], pairs="es_pairs", measures="dbwa")
    assert found.settings["words"] == "es_occupations"
    assert found.settings["forms"] == ["feminine", "capitalized", "upper"]
    own = bg.lexicons.parse_lexicon({"kind": "pairs", "language": "tlh", "pairs": [["él", "ella"]]})
    with pytest.raises(bg.ParameterError, match="'words'"):
        bg.robustness(spanish[0], pairs=own)
    with pytest.raises(bg.ParameterError, match="'concepts'"):
        bg.analyses.robustness.flips(spanish[0], pairs=own)


def test_words_along_pairs_of_another_language_get_a_warning(spanish: list[bg.Embedding]) -> None:
    found = bg.scores.word_scores(bg.score(spanish[0], pairs="du2021", words="es_traits", measures="dbwa"))
    assert found.warnings == (
        "the pairs du2021 are in 'en', the words es_traits in 'es': name pairs in their language (--pairs es_pairs)",
    )
    own = bg.score(spanish[0], pairs="es_pairs", words="es_occupations:masculine", measures="dbwa")
    assert bg.scores.word_scores(own).warnings == ()


def _write(path: Path, content: dict[str, object]) -> None:
    """A lexicon as TOML: JSON values are TOML values, but for tables."""
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in content.items() if key not in tables]
    for key, table in tables.items():
        lines += [f"[{key}]", *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table.items())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")

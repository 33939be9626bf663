"""Bad files: each gets one sentence that names the file, the key, what was expected and what was found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from biasgauge.errors import LexiconError
from biasgauge.lexicons import Pairs, Stereotypes, Words, lexicon, parse_lexicon, read_lexicon

TEST = '[x]\nwords=["a"]\n[y]\nwords=["b"]\n[a]\nwords=["c"]\n[b]\nwords=["d"]\n'
STEREOTYPES = (
    'kind="stereotypes"\n[groups.p]\nprotected=["a"]\nattributes=["b"]\n[groups.q]\nprotected=["c"]\nattributes=["d"]\n'
)

BAD = [
    ('kind = "words"\nwords = ["a"', ["line 2", "is not valid TOML"]),
    ('kind = "words"\nwords = ["a"]\nwords = ["b"]', ["line 3", "is not valid TOML"]),
    ('words = ["a"]', ["the key 'kind' is missing", "words, pairs, sets, test"]),
    ('kind = 3\nwords = ["a"]', ["'kind' must be a string, found the number 3"]),
    ('kind = "word"\nwords = ["a"]', ["unknown kind 'word'", "translations", "did you mean 'words'?"]),
    ('kind = "zzzzzz"', ["unknown kind 'zzzzzz'", "expected one of words"]),
    ('kind = "words"', ["the key 'words' is missing", "expected an array of words"]),
    ('kind = "words"\nwrods = ["a"]', ["the key 'words' is missing", "is it 'wrods'?"]),
    ('kind = "words"\nwords = []', ["'words' must hold at least one word, found an empty array"]),
    ('kind = "words"\nwords = "a"', ["'words' must be an array of words, found the string 'a'"]),
    ('kind = "words"\nwords = ["a", 7]', ["'words, item 2' must be a word in quotes, found the number 7"]),
    ('kind = "words"\nwords = ["a", true]', ["'words, item 2'", "found the boolean true"]),
    ('kind = "words"\nwords = ["a", ["b"]]', ["'words, item 2'", "found an array of 1"]),
    ('kind = "words"\nwords = ["a", {b = 1}]', ["'words, item 2'", "found a table"]),
    ('kind = "words"\nwords = ["a", 1979-05-27]', ["'words, item 2'", "found a date"]),
    ('kind = "words"\nwords = ["a", ""]', ["'words, item 2' must be a word, found an empty string"]),
    ('kind = "words"\nwords = [" a"]', ["'words, item 1'", "without white space around it, found ' a'"]),
    ('kind = "words"\nwords = ["a\\n"]', ["'words, item 1'", "without white space around it"]),
    ('kind = "words"\nwords = ["a"]\nlicence = "MIT"', ["the key 'licence' is not known", "did you mean 'license'?"]),
    ('kind = "words"\nwords = ["a"]\npairs = []', ["the key 'pairs' is not known", "known keys: kind, name, title"]),
    ('kind = "words"\nwords = ["a"]\ntitle = 1', ["'title' must be a string, found the number 1"]),
    ('kind = "words"\nwords = ["a"]\nbeware = "this"', ["'beware' must be an array of words, found the string"]),
    ('kind = "words"\nwords = ["a"]\nname = ""', ["'name' must be a word, found an empty string"]),
    ('kind = "words"\nwords = ["a"]\nlanguage = " "', ["'language' must not be empty"]),
    ('kind = "pairs"\npairs = [["he", "she"], ["man"]]', ["'pairs, item 2' must have 2 words, found 1"]),
    ('kind = "pairs"\npairs = [["he", "she", "they"]]', ["'pairs, item 1' must have 2 words, found 3"]),
    ('kind = "pairs"\npairs = ["he", "she"]', ["'pairs, item 1' must be an array of 2 words, found the string 'he'"]),
    ('kind = "pairs"\npairs = [["he", 1]]', ["'pairs, item 1, word 2'", "found the number 1"]),
    ('kind = "pairs"\npairs = []', ["'pairs' must hold at least one of pairs of words"]),
    ('kind = "pairs"\nends = ["a"]\npairs = [["b", "c"]]', ["'ends' must be two different names, found a"]),
    ('kind = "pairs"\nends = ["a", "a"]\npairs = [["b", "c"]]', ["'ends' must be two different names, found a, a"]),
    ('kind = "sets"\nsets = ["a"]', ["'sets' must be a table of named sets of words, found an array of 1"]),
    ('kind = "sets"\n[sets]', ["'sets' must hold at least one of sets, found an empty table"]),
    ('kind = "sets"\n[sets]\na = []', ["'sets.a' must hold at least one word"]),
    ('kind = "sets"\n[sets]\na.b = ["c"]', ["'sets.a' must be an array of words, found a table"]),
    ('kind = "sets"\n[sets]\n" a" = ["c"]', ["a key of sets", "without white space around it"]),
    ('kind = "test"\n[x]\nwords = ["a"]', ["the key 'y' is missing: expected a table of name and words"]),
    (
        'kind = "test"\n' + TEST + 'wodrs=["e"]',
        ["the key 'wodrs' is not known in the table 'b'", "did you mean 'words'?"],
    ),
    ('kind = "test"\n' + TEST.replace('["c"]', "[]"), ["'a.words' must hold at least one word"]),
    (STEREOTYPES.replace('attributes=["b"]\n', ""), ["the key 'groups.p.attributes' is missing"]),
    (STEREOTYPES + "[controls]\nhumans='x'", ["the key 'humans' is not known in the table 'controls'", "'human'"]),
    ('eval_targets=["z"]\n' + STEREOTYPES, ["'eval_targets' has 'z', which is no protected word of any group"]),
    (
        'group_order=["p"]\ndefining_sets=[["a","c"]]\n' + STEREOTYPES,
        ["'group_order' must name each group once (p, q)"],
    ),
    ('defining_sets=[["a","c"]]\n' + STEREOTYPES, ["'group_order' must name each group once", "found nothing"]),
    ('group_order=["p","q"]\ndefining_sets=[["a"]]\n' + STEREOTYPES, ["'defining_sets, item 1' must have 2 words"]),
    (
        'group_order=["p","q"]\ndefining_sets=[["c","a"]]\n' + STEREOTYPES,
        ["'defining_sets, item 1' has 'c' for the group 'p'", "not among its protected words"],
    ),
    ('kind = "values"\n[values]\na = 1', ["the key 'unit' is missing"]),
    ('kind = "values"\nunit = " "\n[values]\na = 1', ["'unit' must not be empty"]),
    ('kind = "values"\nunit = "u"\n[values]\na = "1"', ["'values.a' must be a number, found the string '1'"]),
    ('kind = "values"\nunit = "u"\n[values]\na = true', ["'values.a' must be a number, found the boolean true"]),
    ('kind = "values"\nunit = "u"\n[values]\na = nan', ["'values.a' must be a finite number, found the number nan"]),
    ('kind = "values"\nunit = "u"\n[values]\na = inf', ["'values.a' must be a finite number, found the number inf"]),
    ('kind = "values"\nunit = "u"\n[values]\na = 1' + "0" * 400, ["'values.a' must be a finite number"]),
    ('kind = "values"\nunit = "u"\n[values]\na = 1' + "0" * 5000, ["is not valid TOML"]),
    ('kind = "translations"\nto = "en"\n[[entries]]\nword="a"\nforms=["b"]', ["'to' must be another language"]),
    ('kind = "translations"\nto = "es"\nentries = []', ["'entries' must hold at least one table of word and forms"]),
    ('kind = "translations"\nto = "es"\nentries = ["a"]', ["'entries, item 1' must be a table"]),
    ('kind = "translations"\nto = "es"\n[[entries]]\nforms=["b"]', ["the key 'entries, item 1.word' is missing"]),
    (
        'kind = "translations"\nto = "es"\n[[entries]]\nword="a"\nforms=["b"]\n[[entries]]\nword="a"\nforms=["c"]',
        ["'entries' has 'a' twice"],
    ),
    ('kind = "seeds"\n[[seeds]]\nwords=["a"]', ["the key 'seeds, item 1.id' is missing"]),
    ('kind = "seeds"\n[[seeds]]\nid="a"\nwords=["b"]\n[[seeds]]\nid="a"\nwords=[]', ["'seeds' has 'a' twice"]),
    (
        'kind="seeds"\npairings=[["p-x","two-x"]]\n[[seeds]]\nid="p-x"\nwords=["b"]\n[[seeds]]\nid="twos-x"\nwords=["c"]',
        ["'pairings, item 1' names 'two-x', which is no id of a seed set", "did you mean 'twos-x'?"],
    ),
    ('kind = "words"\nwords = ["' + "a" * 99 + ' "]', ["…"]),
    ("a = " + "[" * 5000, ["nested too deeply"]),
]


@pytest.mark.parametrize(("text", "expected"), BAD)
def test_a_bad_file_gets_one_sentence(tmp_path: Path, text: str, expected: list[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LexiconError) as caught:
        read_lexicon(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    for part in expected:
        assert part in message
    assert "\n" not in message
    assert len(message) < len(str(path)) + 400


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xef\xbb\xbfkind = 'words'\nwords = ['a']", "byte order mark"),
        (b"kind = 'words'\nwords = ['\xe9']", "line 2, byte 25: is not UTF-8 text: found the byte 0xe9"),
        (b"k\x00ind = 'words'", "is not valid TOML"),
        (b"", "the key 'kind' is missing"),
        (b"#" * (16 * 2**20 + 1), "holds more than 16 MiB"),
    ],
)
def test_bad_bytes_get_one_sentence(tmp_path: Path, content: bytes, expected: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    with pytest.raises(LexiconError) as caught:
        lexicon(path)
    assert "mine.toml" in str(caught.value)
    assert expected in str(caught.value)


def test_missing_file_folder_and_impossible_names(tmp_path: Path) -> None:
    with pytest.raises(LexiconError, match=r"none\.toml: there is no such file"):
        lexicon(tmp_path / "none.toml")
    with pytest.raises(LexiconError, match="is a folder; name a TOML file"):
        lexicon(tmp_path)
    with pytest.raises(LexiconError, match="usable"):
        lexicon("a\0b.toml")


@pytest.mark.skipif(os.name != "posix", reason="names of devices and the limits of names differ elsewhere")
def test_devices_and_names_that_cannot_be_opened() -> None:
    with pytest.raises(LexiconError, match="is not a regular file"):
        lexicon(Path("/dev/null"))
    with pytest.raises(LexiconError, match="cannot be read"):
        lexicon("x" * 5000 + ".toml")
    with pytest.raises(LexiconError, match="cannot be read"):
        lexicon("/dev/null/mine.toml")


def test_errors_carry_the_line(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('kind = "words"\n\nwords = [\n"a",\n', encoding="utf-8")
    with pytest.raises(LexiconError) as caught:
        read_lexicon(path)
    assert (caught.value.path, caught.value.line) == (str(path), 4)
    path.write_text('kind = "words"\n\nwords == 3\n', encoding="utf-8")
    with pytest.raises(LexiconError) as caught:
        read_lexicon(path)
    assert caught.value.line == 3


def test_a_users_file_needs_only_kind_and_words(tmp_path: Path) -> None:
    path = tmp_path / "my_jobs.toml"
    path.write_text('kind = "words"\nwords = ["nurse", "pilot"]\n', encoding="utf-8")
    mine = lexicon(path)
    assert isinstance(mine, Words)
    assert (mine.name, mine.language, mine.words) == ("my_jobs", "en", ("nurse", "pilot"))
    assert not mine.shipped
    assert mine.path == str(path)


def test_pairs_without_ends_are_first_and_second() -> None:
    pairs = parse_lexicon({"kind": "pairs", "pairs": [["he", "she"]]})
    assert isinstance(pairs, Pairs)
    assert dict(pairs.sets) == {"first": ("he",), "second": ("she",)}


def test_stereotypes_need_no_defining_sets() -> None:
    groups = {
        "p": {"protected": ["a", "b"], "attributes": ["c"]},
        "q": {"protected": ["d"], "attributes": ["e"]},
    }
    mine = parse_lexicon({"kind": "stereotypes", "groups": groups})
    assert isinstance(mine, Stereotypes)
    assert mine.slots == (("p", "a"), ("p", "b"), ("q", "d"))
    assert (mine.human, mine.neutral) == (None, None)


def test_a_family_is_kept_and_changes_no_checksum() -> None:
    plain = parse_lexicon({"kind": "words", "words": ["a"]})
    mine = parse_lexicon({"kind": "words", "words": ["a"], "family": "age"})
    assert (plain.family, mine.family) == ("", "age")
    assert mine.checksum == plain.checksum
    assert parse_lexicon(mine.to_dict()) == mine
    with pytest.raises(LexiconError, match="'family'"):
        parse_lexicon({"kind": "words", "words": ["a"], "family": 3})

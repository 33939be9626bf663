"""Make association tests in another language from English ones and a table of translations.

The table is a CSV file without a header: English word, form, second form (or nothing), as the vocabularies of XWEAT are
(Lauscher & Glavaš 2019, github.com/umanlp/XWEAT, data/vocab_en_XX.csv; no licence is stated, so the lists do not ship).
Each word of a test in its order, masculine form before feminine, repeated forms once; words with a capital (names) stay
as they are, and words that the table lacks are left out and named.

    python scripts/make_translated_tests.py vocab_en_de.csv de --out german
    biasgauge lexicons check german/*.toml --vectors vektoren.vec
    biasgauge audit vektoren.vec --lexicon german/xweat7_de.toml --lexicon german/xweat8_de.toml
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path

from biasgauge.lexicons import AssociationTest, lexicon

TESTS = ("weat1", "weat2", "weat7", "weat8", "weat9")
"""Those whose words are no names, which have no translation."""


def read_forms(table: Path) -> dict[str, tuple[str, ...]]:
    """Forms of each English word, each once."""
    with table.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.reader(stream) if row and row[0].strip()]
    return {row[0].strip(): tuple(dict.fromkeys(form.strip() for form in row[1:] if form.strip())) for row in rows}


def translated(
    test: AssociationTest, forms: dict[str, tuple[str, ...]], code: str
) -> tuple[dict[str, object], list[str]]:
    """A test in the other language under the keys of its file, and the words that the table lacks."""
    lost: list[str] = []
    sets: dict[str, object] = {}
    pairs: list[list[str]] = []
    for role, members in test.roles.items():
        words: dict[str, None] = {}
        for word in members.words:
            known = (word,) if word != word.lower() else forms.get(word, ())
            lost += [] if known else [word]
            words |= dict.fromkeys(known)
            if len(known) == 2:
                pairs.append(list(known))
        sets[role] = {"name": members.name, "words": list(words)}
    held = [pair for pair in pairs if any(set(pair) <= set(one["words"]) for one in sets.values())]  # type: ignore[index]
    about = {
        "kind": "test",
        "title": f"{test.title} ({code})",
        "family": test.family,
        "language": code,
        "source": f"{test.name}, translated by scripts/make_translated_tests.py",
        "counterparts": held,
    }
    return {**about, **sets}, list(dict.fromkeys(lost))


def write_toml(path: Path, content: dict[str, object]) -> None:
    """Strings and arrays of JSON are those of TOML; tables follow."""
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    plain = {key: value for key, value in content.items() if key not in tables}
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in plain.items()]
    for key, table in tables.items():
        lines += [
            "",
            f"[{key}]",
            *(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in table.items()),
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def make(table: Path, code: str, out: Path) -> dict[str, list[str]]:
    """Write the tests; give the words of each that the table lacks."""
    forms, lost = read_forms(table), {}
    out.mkdir(parents=True, exist_ok=True)
    for name in TESTS:
        test = lexicon(name)
        if isinstance(test, AssociationTest):
            content, lost[name] = translated(test, forms, code)
            write_toml(out / f"x{name}_{code}.toml", content)
    return lost


def main() -> None:
    """Read the arguments, write the tests, say what was lost."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, help="CSV: English word, form, second form")
    parser.add_argument("code", help="code of the language, such as de")
    parser.add_argument("--out", type=Path, required=True, help="folder for the TOML files")
    asked = parser.parse_args()
    for name, words in make(asked.table, asked.code, asked.out).items():
        print(f"x{name}_{asked.code}: {'nothing lost' if not words else 'not in the table: ' + ', '.join(words)}")


if __name__ == "__main__":
    main()

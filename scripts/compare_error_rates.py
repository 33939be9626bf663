"""How often `compare` finds a difference between random parts of one source, and how often one that is planted.

    python scripts/compare_error_rates.py imdb.tsv.xz --layout tsv --field 2 --out imdb --first 3 --splits 3
    python scripts/compare_error_rates.py enwiki.txt.xz --documents blank-line --out enwiki --first 2 --splits 3
    python scripts/compare_error_rates.py novels.txt.xz --mark --tokens 1750000 --drawn 100 --out novels --splits 3
    python scripts/compare_error_rates.py imdb.tsv.xz --layout tsv --field 2 --out power --splits 2 --drawn 12
        --shares 0.25,0.5 --no-quarter

The documents of a source are split at random into two texts of --tokens tokens each (half and half), and the second
is halved again (half and quarter): nothing differs. Questions are the shipped tests whose words occur, and --drawn
tests of eight words a list: X and A are neighbors of one random frequent word in the shipped vectors, Y and B of
another, so that X leans to A and Y to B. A difference is planted by exchanging each X with a Y in a share of the
documents of the second text: at a share of a half nothing is left of the association. Finished splits are kept in
--out, one JSON file each.
"""

from __future__ import annotations

import argparse
import json
import lzma
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import biasgauge as bg
from biasgauge.analyses.calibrate import EditableText, Swap
from biasgauge.core import Floats, Integers, WordPolicy
from biasgauge.core.geometry import unit_rows
from biasgauge.errors import ParameterError
from biasgauge.lexicons import AssociationTest, WordSet
from biasgauge.text import TokenCorpus, corpus_of_documents, edited_corpus, read_corpus
from biasgauge.text.training import train_comparable

SHIPPED = ("weat1", "weat2", "weat6", "weat6b", "weat7", "weat8", "human", "race", "du2021_queries", "bolukbasi2016")
LIST = 8
ALPHA = 0.05
SMALLEST = 0.02
POLICY = WordPolicy(min_coverage=0.5)


def main() -> None:
    """Measure the splits that are not in --out yet, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder for finished splits")
    parser.add_argument("--layout", default="auto")
    parser.add_argument("--field", type=int)
    parser.add_argument("--documents", default="line")
    parser.add_argument("--mark", action="store_true", help="a byte order mark begins each document")
    parser.add_argument("--tokens", type=int, default=500_000, help="of a half")
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--drawn", type=int, default=80, help="drawn questions of a split")
    parser.add_argument("--shares", default="0", help="of documents in which a change is planted; 0: none")
    parser.add_argument("--by", default="parts", choices=["parts", "samples"])
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--no-quarter", action="store_true", help="half and half alone")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    corpus = read_source(arguments)
    for split in range(arguments.first, arguments.first + arguments.splits):
        file = arguments.out / f"{split}.json"
        if not file.exists():
            file.write_text(json.dumps(list(measure_split(corpus, split, arguments))))
            print(f"split {split} done", flush=True)
    summarize(arguments.out)


def read_source(arguments: argparse.Namespace) -> TokenCorpus:
    """Return the source as a corpus of documents."""
    if arguments.mark:
        with lzma.open(arguments.source, "rt", encoding="utf-8") as file:
            return read_corpus(text for text in file.read().split("\ufeff") if text.strip())
    return read_corpus(arguments.source, layout=arguments.layout, field=arguments.field, documents=arguments.documents)


def measure_split(corpus: TokenCorpus, split: int, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yield a row for each question, cell and share of one random split."""
    random = np.random.default_rng([split, 1])
    lengths = np.diff(corpus.lines[corpus.documents])
    order = random.permutation(len(lengths))
    ends = np.cumsum(lengths[order])
    half = min(arguments.tokens, int(ends[-1]) // 2)
    first, second, quarter = (
        np.flatnonzero((ends > low * half) & (ends <= high * half)) for low, high in ((0, 1), (1, 2), (1, 1.5))
    )
    part = half / 2 / arguments.parts  # tokens of a model, where the second text is a quarter
    apart = max(read_shares(arguments)) > 0  # a word is exchanged for one other
    drawn = draw_questions(corpus, arguments.drawn, 12 * len(corpus.tokens) / part, random, apart=apart)
    with tempfile.TemporaryDirectory(dir=arguments.out) as folder:
        place = Path(folder)
        one = corpus_of_documents(corpus, order[first], place / "one")
        two = corpus_of_documents(corpus, order[second], place / "two")
        cells = {("half / half", share): planted(two, drawn, share, split, place) for share in read_shares(arguments)}
        if not arguments.no_quarter:
            cells["half / quarter", 0.0] = corpus_of_documents(corpus, order[quarter], place / "quarter")
        for (cell, share), other in cells.items():
            questions = [*drawn, *(() if share else SHIPPED)]
            for row in compare_cell(one, other, questions, place, arguments, split):
                yield {"cell": cell, "share": share, "split": split, **row}


def read_shares(arguments: argparse.Namespace) -> list[float]:
    """Return the shares of documents in which a change is planted."""
    return [float(share) for share in arguments.shares.split(",")]


def compare_cell(
    one: TokenCorpus, other: TokenCorpus, questions: list[Any], place: Path, arguments: argparse.Namespace, split: int
) -> Iterator[dict[str, Any]]:
    """Yield a row for each question that can be compared."""
    settings: dict[str, Any] = {"dim": 50, "epochs": 5, "n_jobs": 1, "random_state": split}
    design: dict[str, Any] = {name: getattr(arguments, name) for name in ("parts", "draws", "by")}
    models = train_comparable({"one": one, "two": other}, out=place / "models", **design, **settings)
    try:
        result = bg.compare(models.paths, questions, policy=POLICY, smallest=SMALLEST)
    except ParameterError as problem:
        print(problem, flush=True)
        return
    finally:
        shutil.rmtree(place / "models")
    for row, verdict in zip(result.differences, result.verdicts, strict=False):
        if row.p is not None and row.p_these_words is not None:
            yield {
                "question": row.question, "value": row.value, "se": row.se, "p": row.p, "p_these": row.p_these_words,
                "se_these": (row.these_words.high or 0.0) - (row.value or 0.0), "decision": verdict.decision,
                "p_adjusted": row.p_adjusted, "contrast": result.contrasts[0].value,
            }  # fmt: skip


def draw_questions(
    corpus: TokenCorpus, count: int, fewest: float, random: np.random.Generator, *, apart: bool
) -> list[AssociationTest]:
    """Draw tests of two topics of frequent words; where they stand apart, no word is in two of them."""
    vectors = bg.vectors.load_default()
    frequent = [word for word, number in zip(corpus.words, corpus.counts, strict=True) if number >= fewest]
    words = [word for word in frequent[100:] if word in vectors.index]
    rows: Floats = unit_rows(np.asarray(vectors.vectors[vectors.lookup(words).rows], np.float64))
    free = np.ones(len(words), bool)
    tests = []
    for number in range(count):
        free |= not apart
        if free.sum() < 4 * LIST:
            break
        topics: list[Integers] = []
        for _ in range(2):
            seed = random.choice(np.flatnonzero(free))
            near = np.argsort(-(rows @ rows[seed]))
            topics.append(random.permutation(near[free[near]][: 2 * LIST]))
            free[topics[-1]] = False
        lists = [[words[index] for index in topic[place::2]] for place in (0, 1) for topic in topics]
        x, y, a, b = (WordSet(role.upper(), tuple(members)) for role, members in zip("xyab", lists, strict=True))
        tests.append(AssociationTest(name=f"drawn{number}", title=f"drawn {number}", x=x, y=y, a=a, b=b))
    return tests


def planted(corpus: TokenCorpus, tests: list[AssociationTest], share: float, seed: int, place: Path) -> TokenCorpus:
    """Return the text with each X exchanged for a Y in a share of its documents."""
    if not share:
        return corpus
    pairs = tuple(pair for test in tests for pair in zip(test.x.words, test.y.words, strict=True))

    def edit(tokens: Any) -> dict[str, Any]:  # noqa: ANN401 - an array
        Swap(pairs, share).apply(EditableText(corpus, tokens), seed)
        return {"edit": "swap", "share": share}

    return edited_corpus(corpus, edit, place / f"planted{share:g}")


def summarize(folder: Path) -> None:
    """Print shares of tests with p < .05, and of verdicts that report a difference."""
    rows = [row for file in sorted(folder.glob("*.json")) for row in json.loads(file.read_text())]
    print(
        f"{'cell':<16}{'share':>6}{'splits':>8}{'tests':>7}{'words':>8}{'these':>8}{'reported':>10}{'|value|':>9}{'sd/se':>7}"
    )
    for cell, share in dict.fromkeys((row["cell"], row["share"]) for row in rows):
        own = [row for row in rows if (row["cell"], row["share"]) == (cell, share)]
        drawn = [row for row in own if row["question"].startswith("drawn")] if share else own
        shares = [np.mean([row[name] < ALPHA for row in drawn]) for name in ("p", "p_these")]
        reported = np.mean([row["decision"].startswith("report") for row in drawn])
        values = np.array([row["value"] for row in drawn])
        ratio = float(np.sqrt(np.mean(values**2) / np.mean(np.square([row["se"] for row in drawn]))))
        splits = len({row["split"] for row in own})
        print(
            f"{cell:<16}{share:>6}{splits:>8}{len(drawn):>7}{shares[0]:>8.3f}{shares[1]:>8.3f}{reported:>10.3f}"
            f"{np.abs(values).mean():>9.4f}{ratio:>7.2f}"
        )


if __name__ == "__main__":
    main()

"""Badder Seeds 2022: are lists of seed words fit to measure bias? A reproduction of Antoniak & Mimno 2021.

Here: its bank of seed sets, its lists, sums of its own numbers, and the sizes of its corpora. Numbers "read off" are
from its figures, which print none; those of the notebooks are from the output that was released with the code.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from biasgauge.errors import CorpusError, LexiconError
from biasgauge.io import ByteSource, parse_json, parse_toml, read_json, read_records
from biasgauge.lexicons import FEWEST, SeedBank, check, published_label, seed_bank
from biasgauge.papers.paper import Data, Progress, Recomputations, Recomputed
from biasgauge.papers.published import data_file, printed_numbers, published_rows
from biasgauge.text import PUBLISHED, read_corpus, statistics, whole_lines

PRINTED = printed_numbers(__name__)
APPENDIX = parse_toml(data_file(__name__, "appendix.toml").read_bytes(), "appendix.toml")
"""Lists by name; the file says what each is."""
CORPORA = ("nyt", "wikitext", "romance", "history")
REVIEWS = 500
"""Reviews of a book that were drawn, and that it must have at least."""
TOKENIZER = "spacy:en"
_LEAST_LETTERS = 20
_CLEANED = (
    "the cleaning that was meant for labels is applied to the seeds too: digits are deleted, “_” and “/” become "
    "spaces, and the compounds that this makes are dropped; corrected keeps them"
)
_PAIRED = "of the cleaned sets; corrected: of the sets as they should have been cleaned"
_DRAWN_ROW = "corrected: its row in the sorted list that is drawn"
_DRAWN_PAIR = "rows of the pairs as released are looked up in a sorted list, so that another pair is highlighted"
_NO_SPACY = 'spaCy, which split the words, is not installed; install it with: pip install "biasgauge[spacy]"'
_NOT_SEEDED = "; which reviews were drawn is not known: no seed was set"
_MIXED = (
    "as published: words are those left with at least 10 occurrences when signs are deleted, but the vocabulary is "
    "that of all tokens, signs and numbers too; corrected: all tokens for all four"
)


def fill_bank(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Count the seed bank that ships with biasgauge, cleaned as published and corrected."""
    raw, theirs, ours = (seed_bank(kind) for kind in ("none", "published", "corrected"))
    cleaned, corrected = _counts(theirs.bank), _counts(ours.bank)
    remaining = f"{_CLEANED}; {theirs.bank.total:,} are in the sets that remain"
    rows = {
        "bank.sets": Recomputed.both(len(raw.bank.seeds)),
        "bank.papers": Recomputed.both(len({seed_set.paper for seed_set in raw.bank.seeds})),
        "bank.categories": Recomputed.both(len(raw.bank.categories)),
        "bank.seeds": Recomputed.both(raw.bank.total),
        "bank.seeds_left": Recomputed(theirs.seeds_left, ours.seeds_left, note=remaining),
        "bank.sets_left": Recomputed(len(theirs.bank.seeds), len(ours.bank.seeds), note=_CLEANED),
    }
    rows |= {name: Recomputed(cleaned[name], corrected[name], note=_PAIRED) for name in cleaned}
    printed = (name for name in PRINTED if name.startswith("lists."))
    return rows | {name: Recomputed.both(len(theirs.bank.sets[name.removeprefix("lists.")])) for name in printed}


def _counts(bank: SeedBank) -> dict[str, int]:
    problems = check(bank)
    return {
        "bank.pairs": len(bank.pairings),
        "bank.unequal": len(problems.unequal),
        "bank.overlapping": len(problems.overlaps),
        "bank.duplicates": sum(bool(seed_set.duplicates) for seed_set in problems.sets),
    }


def fill_sums(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Compute again what follows from numbers and lists that are printed."""
    rows = {}
    for corpus in CORPORA:
        documents, words = (PRINTED[f"tableA1.{corpus}.{size}"] for size in ("documents", "words"))
        original_documents, original_words = APPENDIX["original"][corpus]
        rows[f"sums.mean_length.{corpus}.reproduction"] = Recomputed(words / documents)
        rows[f"sums.mean_length.{corpus}.original"] = Recomputed(original_words / original_documents)
        if corpus in {"romance", "history"}:
            note = f"the original study's documents are those of {original_documents / REVIEWS:g} books"
            rows[f"sums.books.{corpus}"] = Recomputed(documents / REVIEWS, note=note)
    sets = seed_bank("published").bank.sets
    for name, shuffle in APPENDIX["shuffles"].items():
        a, b = (sets[seed_set] for seed_set in shuffle["sets"])
        pairs = set(zip(a, b, strict=False))
        unpaired = max(len(a), len(b)) - len(pairs)
        note = f"{unpaired} words of the longer list have no partner and are cut off" if unpaired else ""
        rows[f"sums.pairs.{name}"] = Recomputed(len(pairs), note=note)
        rows[f"sums.shuffled.{name}"] = _unchanged_pairs(pairs, *shuffle["orders"])
        if name == "gender":
            rows["sums.shuffled.figure1"] = _unchanged_pairs(pairs, *APPENDIX["figure1"]["shuffled"])
    return rows


def _unchanged_pairs(pairs: set[tuple[str, str]], first: str, second: str) -> Recomputed:
    unchanged = [pair for pair in zip(first.split(), second.split(), strict=False) if pair in pairs]
    note = f"{', '.join(' and '.join(pair) for pair in unchanged)}; " if unchanged else ""
    return Recomputed(len(unchanged), note=f"{note}a random order leaves one in the mean")


def fill_labels(_data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Pairs of the rows that Figure 4 highlights, in the list that they are taken from."""
    pairings = seed_bank("published").bank.pairings
    ordered = sorted(pairings)
    rows = {}
    for name, (a, b) in APPENDIX["highlighted"].items():
        places = pairings.index((a, b)), ordered.index((a, b))
        drawn = ordered[places[0]]  # the code looks the row up in the file and takes that row of the sorted list
        rows[f"figure4.{name}.row"] = Recomputed(*places, note=_DRAWN_ROW)
        rows[f"figure4.{name}.drawn"] = Recomputed(_pair_text(drawn), _pair_text((a, b)), note=_DRAWN_PAIR)
    return rows


def _pair_text(pair: tuple[str, str]) -> str:
    """The two sets and their paper, in short: "white_names and black_names (Knoche)"."""
    (a, _, paper), (b, _, _) = (name.rpartition("-") for name in pair)
    return f"{a} and {b} ({paper.partition('_')[0]})"


class _ReleasedSet(BaseModel):
    name: str = Field(alias="Seeds ID")
    seeds: str = Field(alias="Seeds")
    paper: str = Field(alias="Used in Paper")


def fill_files(data: Data, _seed: int, _progress: Progress | None) -> Recomputations:
    """Count the files that are there."""
    rows: Recomputations = {}
    bank = seed_bank("none").bank
    if path := data.find("seed_sets"):
        try:
            released = TypeAdapter(list[_ReleasedSet]).validate_python(read_json(path, error=LexiconError))
        except ValidationError as problem:
            why = "is not the released list of seed sets: no Seeds ID, Seeds, Used in Paper"
            raise LexiconError(why, path=path) from problem
        sets = {seed_set.name: seed_set for seed_set in released}
        lists = {name: _parsed(seed_set.seeds, path) for name, seed_set in sets.items()}
        cleaned = [
            [word for word in _parsed(published_label(seed_set.seeds), path) if len(word.split()) == 1]
            for seed_set in sets.values()
        ]
        rows |= {
            "files.sets": Recomputed(len(sets)),
            "files.papers": Recomputed(len({seed_set.paper for seed_set in sets.values()})),
            "files.seeds": Recomputed(sum(map(len, lists.values()))),
            "files.seeds_left": Recomputed(sum(map(len, cleaned))),
            "files.sets_left": Recomputed(sum(len(words) >= FEWEST for words in cleaned)),
            "files.shipped": Recomputed(sum(bank.sets.get(name) == words for name, words in lists.items())),
        }
    if path := data.find("seed_pairs"):
        records = read_records(path, needed=("ID_A", "ID_B"), error=LexiconError)
        pairs = [(row["ID_A"], row["ID_B"]) for row in records]
        same = sum(pair == shipped for pair, shipped in zip(pairs, bank.pairings, strict=False))
        rows |= {"files.pairs": Recomputed(len(pairs)), "files.pairs_shipped": Recomputed(same)}
    return rows


def _parsed(printed: str, path: Path) -> tuple[str, ...]:
    try:
        return tuple(str(word) for word in ast.literal_eval(printed))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as problem:
        raise LexiconError(f"has seeds that are no printed list: {printed[:60]!r}", path=path) from problem


def fill_corpora(data: Data, seed: int, progress: Progress | None) -> Recomputations:
    """Table A.1: sizes of the corpora that are there, counted as published and plainly."""
    available = [corpus for corpus in CORPORA if data.find(corpus) is not None]
    if find_spec("spacy") is None:
        rows = [row for row in published_rows(__name__) if row.part == "tableA1" and row.needs in available]
        return {row.id: Recomputed(note=_NO_SPACY) for row in rows}
    recomputed: Recomputations = {}
    for number, corpus in enumerate(available):
        recomputed |= _sizes(corpus, data.path(corpus), seed)
        if progress is not None:
            progress(number + 1, len(available))
    return recomputed


def _sizes(corpus: str, path: Path, seed: int) -> Recomputations:
    if corpus == "wikitext":
        tokens = read_corpus(path, layout="wikitext", tokenizer=TOKENIZER)
    else:
        tokens = read_corpus(iter(_articles(path) if corpus == "nyt" else _reviews(path, seed)), tokenizer=TOKENIZER)
    (theirs,), (ours,) = statistics(tokens, as_published=PUBLISHED).rows, statistics(tokens).rows
    drawn = _NOT_SEEDED if corpus in {"romance", "history"} else ""
    start = f"tableA1.{corpus}"
    rows = {f"{start}.documents": Recomputed(theirs.documents, ours.documents)}
    for size in ("words", "vocabulary", "mean_length"):
        both = getattr(theirs, size), getattr(ours, size)
        rows[f"{start}.{size}"] = Recomputed(*both, note=_MIXED + drawn, same_data=not drawn)
    if corpus == "nyt":
        note = "lines that have a word; the paper does not say what it counts"
        rows[f"{start}.paragraphs"] = Recomputed.both(ours.lines, note)
    return rows


def _articles(path: Path) -> Iterator[str]:
    """Articles of the file of New York Times articles, a paragraph a line: each begins with a line "URL: …"."""
    lines: list[str] = []
    with path.open(encoding="utf-8") as file:
        for line in (*file, "URL"):
            if not line.startswith("URL"):
                lines += filter(None, [line.strip()])
            elif lines:
                yield "\n".join(lines)
                lines = []


def _reviews(path: Path, seed: int) -> Iterator[str]:
    """500 reviews, drawn at random, of every book that has as many of more than 20 characters."""
    counts = Counter(book for book, _ in _long_reviews(path))
    random = np.random.default_rng(seed)
    drawn = {
        book: frozenset(random.choice(count, REVIEWS, replace=False).tolist())
        for book, count in sorted(counts.items())
        if count >= REVIEWS
    }
    seen: Counter[str] = Counter()
    for book, text in _long_reviews(path):
        if book in drawn and seen[book] in drawn[book]:
            yield text.replace("\n", "")
        seen[book] += 1


class _Review(BaseModel, coerce_numbers_to_str=True):
    book_id: str
    review_text: str


def _long_reviews(path: Path) -> Iterator[tuple[str, str]]:
    with ByteSource(path, error=CorpusError) as source:
        for number, line in whole_lines(source):
            try:
                review = _Review.model_validate(parse_json(line))
            except ValueError as problem:  # no JSON, or another object
                why = "is no review; expected a JSON object with book_id and review_text"
                raise CorpusError(why, path=path, line=number) from problem
            if len(review.review_text) > _LEAST_LETTERS:
                yield review.book_id, review.review_text

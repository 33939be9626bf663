"""`biasgauge corpus-bias`: what a text itself says about words, from counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.screen import progress
from biasgauge.cli.words import typed_field, typed_words
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options

EXAMPLES = """\
Log odds ratio of words near group A against near group B: positive, more likely
near A; 0, as likely near both. CORPUS is text, or the folder of a tokenized
corpus, such as the one that train leaves. Intervals are over documents: name
what a document is by --documents. --vectors sets the scores of an embedding
beside the text: how much of the one goes into the other?

Examples:
  biasgauge corpus-bias text.txt --words nurse --a he --b she --window 5
  biasgauge corpus-bias wiki.txt.xz --documents blank-line --words bls2015
    --pairs du2021
  biasgauge corpus-bias models/corpus --test weat7 --weighting word2vec --json
  biasgauge corpus-bias models/corpus --words occ16 --pairs du2021
    --vectors models/sgns.safetensors
"""
SET = "words separated by commas, a lexicon, NAME:SET, or a file with one word per line"
TEXT = {
    "corpus": Option("text files or a folder of them, compressed or not; or a tokenized corpus", type=list[Path]),
    "words": Option(f"words to ask about: {SET}", type=str | None, default=None),
    "a": Option("first group", type=str | None, default=None),
    "b": Option("second group", type=str | None, default=None),
    "x": Option("first target set, in the place of --words", type=str | None, default=None),
    "y": Option("second target set", type=str | None, default=None),
    "pairs": Option("base pairs in the place of --a and --b: a lexicon of pairs, or your own TOML file"),
    "test": Option('a lexicon of kind "test" in the place of all of them, or your own TOML file'),
    "documents": Option("in plain lines, what is a document", type=Literal["line", "blank-line", "file"]),
    "tokenizer": Option(
        "words (lower-case letters), ascii-words, whitespace, lower-whitespace, twitter, spacy:en", type=str
    ),
    "field": Option("column or field that holds the text", read=typed_field, type=str | None, default=None),
}
READING = ("layout", "tokenizer", "field", "documents")
"""How text is read."""
_SETS = ("words", "a", "b", "x", "y")


def read_arguments(arguments: JsonObject, options: Options) -> JsonObject:
    """Words as the function takes them, and the corpus read, with progress."""
    from biasgauge.text import corpus_of

    given = dict(arguments)
    for name in _SETS:
        given[name] = None if given.get(name) is None else words_or_word(given[name])
    paths = given.pop("corpus")
    reading = {name: given.pop(name) for name in READING if name in given}
    with progress(options, "reading text") as report:
        corpus = corpus_of(paths[0] if len(paths) == 1 else paths, progress=report, **reading)
    return {**given, "corpus": corpus}


def words_or_word(typed: str | list[str]) -> str | list[str]:
    """Words, a lexicon, a set of one, a file; what is none of those is one word."""
    from biasgauge.errors import LexiconError
    from biasgauge.lexicons import words_of

    words = typed_words(typed) if isinstance(typed, str) else typed
    if isinstance(words, str) and ":" not in words and not words.endswith(".toml"):
        try:
            words_of(words)
        except LexiconError:
            return [words]
    return words


def run(arguments: JsonObject, options: Options) -> Outcome:
    """Count, and set vectors beside it where they are given."""
    from biasgauge.analyses.corpus_bias import corpus_bias
    from biasgauge.analyses.criterion import amplification

    vectors = list(arguments.pop("vectors"))
    beside = {name: arguments.pop(name) for name in ("min_contexts",) if name in arguments}
    given = read_arguments(arguments, options)
    with progress(options, "counting") as report:
        result = corpus_bias(given.pop("corpus"), random_state=options.seed, progress=report, **given)
    also = {"amplification": amplification(result, vectors, random_state=options.seed, **beside)} if vectors else {}
    return Outcome(result, also=also)


app = command(
    "analyses.corpus_bias:corpus_bias",
    arguments="corpus",
    options="words a b pairs test x y window weighting vectors documents layout tokenizer field as_published",
    examples=EXAMPLES,
    terms="replicate",
    sources=("analyses.criterion:amplification",),
    fixed="bias scores measures k",
    changes={
        **TEXT,
        "vectors": Option(
            "vector files, replicates or one model: scores beside the text", type=tuple[Path, ...], default=()
        ),
    },
    call=run,
    figures=True,
)

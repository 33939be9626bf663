"""`biasgauge corpus-bias`: associations of words in a text itself, from counts, and the documents that carry them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from biasgauge import analyses, lexicons
from biasgauge import text as corpora
from biasgauge.cli.command import DRAW, FigureOptions, Options, Outcome, command
from biasgauge.cli.option_groups import Rare
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_field, typed_words
from biasgauge.core import JsonObject, WordPolicy
from biasgauge.errors import LexiconError

EXAMPLES = """\
Log odds ratio of words near group A against near group B: positive, more likely
near A; 0, as likely near both. CORPUS is text, or the folder of a tokenized
corpus, such as the one that train leaves. Intervals are over documents: name
what a document is by --documents. A set has the log odds ratio of its words'
counts together; a word without contexts, or with fewer than
--set min_contexts=N, is undefined. --vectors sets the scores of an embedding
beside the text: how much of the one goes into the other?

Examples:
  biasgauge corpus-bias text.txt --words nurse --a he --b she --window 5
  biasgauge corpus-bias wiki.txt.xz --documents blank-line --words bls2015
    --pairs du2021
  biasgauge corpus-bias models/corpus --test weat7 --weighting word2vec --json
  biasgauge corpus-bias models/corpus --words occ16 --pairs du2021
    --vectors models/sgns.safetensors
"""
INFLUENCE_EXAMPLES = """\
Takes each document out of the counts, exactly, and says how much the log odds
ratio changes without it. Documents are named by their numbers; no text is
shown. --check trains models without sets of documents and correlates the change
of the vectors with the change that the counts predict.

Examples:
  biasgauge corpus-bias influence text.txt --words nurse --a he --b she
  biasgauge corpus-bias influence wiki.txt.xz --documents blank-line \\
    --test weat7 --top 20
  biasgauge corpus-bias influence models/corpus --words nurse --pairs du2021 \\
    --check 12 --set dim=50 --set epochs=3
"""
TextFiles = Annotated[
    list[Path], Parameter(help="text files or a folder of them, compressed or not; or a tokenized corpus")
]
Documents = Literal["line", "blank-line", "file"]
SETTINGS = {
    "min_count": int,
    "interval": str,
    "level": float,
    "resamples": int,
    "min_coverage": float,
    "case_fallback": bool | None,
    "min_contexts": int,
}
COUNTING = {"min_count": int, "level": float, "min_coverage": float, "case_fallback": bool | None}
RETRAINING = {"share": float, "seeds": int, "algorithm": str, "n_jobs": int | None}


@Parameter(name="*")
@dataclass(frozen=True)
class WordsInText:
    """Words to count in a text, and the groups that they are counted with.

    Attributes:
        words: words to ask about: words separated by commas, a lexicon, NAME:SET, or a file with one word per line
        a: first group
        b: second group
        pairs: base pairs in the place of --a and --b: a lexicon of pairs, or your own TOML file
        test: a lexicon of kind "test" in the place of all of them, or your own TOML file
        x: first target set, in the place of --words
        y: second target set
        window: tokens on each side
        weighting: of a context: 1 (flat), (window + 1 − distance) / window (word2vec), or 1 / distance (glove)
    """

    words: str | None = None
    a: str | None = None
    b: str | None = None
    pairs: str | None = None
    test: str | None = None
    x: str | None = None
    y: str | None = None
    window: int = 5
    weighting: Rare[Literal["flat", "word2vec", "glove"]] = "flat"

    def read(self) -> JsonObject:
        """Everything as the functions take it."""
        sets = {name: read_words(getattr(self, name)) for name in ("words", "a", "b", "x", "y")}
        return {**vars(self), **sets}


@Parameter(name="*")
@dataclass(frozen=True)
class Reading:
    """Settings of reading text.

    Attributes:
        documents: in plain lines, what is a document
        layout: lines, paragraphs, wikitext, tsv, csv, jsonl; by the file's ending if not given
        tokenizer: words (lower-case letters), ascii-words, whitespace, lower-whitespace, twitter, reddit, spacy:en
        field: column or field that holds the text
    """

    documents: Documents = "line"
    layout: str = "auto"
    tokenizer: str = "words"
    field: str | None = None

    def read(self, files: list[Path], options: Options) -> corpora.TokenCorpus:
        """Read a corpus, with progress."""
        settings: JsonObject = {**vars(self), "field": typed_field(self.field)}
        with progress(options, "reading text") as report:
            return corpora.corpus_of(files[0] if len(files) == 1 else files, progress=report, **settings)


WORDS_IN_TEXT, READING = WordsInText(), Reading()


def read_words(typed: str | None) -> Any:
    """Read words, a lexicon, a set of one, or a file; a text that is none of those is one word."""
    words = typed_words(typed)
    if isinstance(words, str) and ":" not in words and not words.endswith(".toml"):
        try:
            lexicons.words_of(words)
        except LexiconError:
            return [words]
    return words


@command(examples=EXAMPLES, terms="replicate", settings=SETTINGS)
def corpus_bias(
    corpus: TextFiles,
    /,
    *,
    words: WordsInText = WORDS_IN_TEXT,
    vectors: tuple[Path, ...] = (),
    reading: Reading = READING,
    as_published: Rare[str | None] = None,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Measure what a text itself says about words: log odds ratios from counts.

    Args:
        vectors: vector files, replicates or one model: scores beside the text
        as_published: "valentini2023" adds .5 to the counts that are 0, as statsmodels does
    """
    contexts = {name: further.pop(name) for name in ("min_contexts",) if name in further}
    policy = WordPolicy.from_options(further.pop("min_coverage", None), further.pop("case_fallback", None))
    question = words.read()
    tokens = reading.read(corpus, options)
    with progress(options, "counting") as report:
        result = analyses.corpus_bias.corpus_bias(
            tokens,
            **question,
            policy=policy,
            as_published=as_published,
            **contexts,
            random_state=options.seed,
            progress=report,
            **further,
        )
    also = {}
    if vectors:
        models = list(vectors)
        also["amplification"] = analyses.criterion.amplification(result, models, random_state=options.seed, **contexts)
    return Outcome(result, also=also)


@command(examples=INFLUENCE_EXAMPLES, settings={**COUNTING, **RETRAINING}, open_ended=True)
def influence(
    corpus: TextFiles,
    /,
    *,
    words: WordsInText = WORDS_IN_TEXT,
    top: int = 10,
    check: int = 0,
    reading: Reading = READING,
    options: FigureOptions = DRAW,
    **further: Any,
) -> Outcome:
    """Find the documents of a text that carry an association.

    Args:
        top: how many documents to list, of those that carry the number and of those against it
        check: number of random sets of documents without which to train again; 0 for none
    """
    counting = {name: further.pop(name) for name in COUNTING if name in further}
    policy = WordPolicy.from_options(counting.pop("min_coverage", None), counting.pop("case_fallback", None))
    question = words.read()
    tokens = reading.read(corpus, options)
    with progress(options, "counting") as report:
        result = analyses.calibrate.influence(tokens, **question, top=top, policy=policy, progress=report, **counting)
    also = {}
    if check:
        with progress(options, "training") as report:
            also["check"] = analyses.calibrate.check_influence(
                result, tokens, removals=check, random_state=options.seed, progress=report, **further
            )
    return Outcome(result, also=also)


corpus_bias.command(influence)

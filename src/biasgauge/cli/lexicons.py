"""`biasgauge lexicons list|show|check|build|expand`, and what `lexicon_quality` adds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from biasgauge import lexicons as word_lists
from biasgauge import mitigation, registry
from biasgauge import vectors as embeddings
from biasgauge.cli.command import (
    OPTIONS,
    SAVE,
    UNDEFINED,
    WRITE,
    AutoCaseFallback,
    MinCoverage,
    Options,
    Outcome,
    ResultOptions,
    VectorFile,
    WriteOptions,
    command,
)
from biasgauge.cli.files import Output
from biasgauge.cli.lexicon_quality import quality, seed_bank, subspace
from biasgauge.cli.option_groups import HELP_FLAGS
from biasgauge.cli.screen import progress
from biasgauge.cli.typed_values import typed_words
from biasgauge.core import JsonMapping, WordPolicy
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    from biasgauge.vectors import Embedding

LIST_EXAMPLES = """\
Examples:
  biasgauge lexicons list
  biasgauge lexicons list --kind test --language es
"""

SHOW_EXAMPLES = """\
Examples:
  biasgauge lexicons show du2021
  biasgauge lexicons show seed_bank --words
  biasgauge lexicons show my_words.toml --json
"""

CHECK_EXAMPLES = """\
Reports duplicates, words that stand in two sets, unequal sizes, multi-word
items and, with --vectors, the words that are not in the vocabulary. A test is
usable when weat with the same options would be defined. Exit code 2 when a
lexicon is not usable.

A language by its code, or its file, is checked with all its lists: which needs
of an audit have none, spelling, grammatical gender and frequency of the sets
that are compared.

Examples:
  biasgauge lexicons check my_words.toml
  biasgauge lexicons check my_words.toml weat7 --vectors vectors.bin
  biasgauge lexicons check es --vectors vectores.vec
  biasgauge lexicons check fr.toml
"""

BUILD_EXAMPLES = """\
A recipe says where words come from, which are thrown out, which lists are
matched on frequency, and how many words a list gets. Beside FILE.toml,
FILE.csv lists every candidate with the reason for which it was rejected: read
it, add what does not belong to `exclude` of the recipe, and build again.

Examples:
  biasgauge lexicons build recipe.toml --out my_test.toml
  biasgauge lexicons build recipe.toml --out my_test.toml \\
    --vectors glove.txt --vectors wiki.vec --data downloads/
"""

EXPAND_EXAMPLES = """\
Writes a lexicon of the same kind with each set's nearest words added, and a
record of how it was made. Every word goes to one set, the nearest. Read what
was added, and run again with --exclude for what does not belong.

Examples:
  biasgauge lexicons expand weat7 vectors.bin --out weat7_large.toml
  biasgauge lexicons expand weat7 vectors.bin -n 50 --limit 50000 \\
    --exclude sexy,managment --out weat7_large.toml
"""
_CODE = re.compile("[a-z]{2,3}")
"""Code of a language."""
Limit = Annotated[int | None, Parameter(help="read only this many rows of the vector file")]
Vocabulary = Annotated[Path | None, Parameter(help="the word list that belongs to a bare .npy or safetensors matrix")]

lexicons = App(
    name="lexicons",
    help_flags=HELP_FLAGS,
    help_epilogue="""\
Examples:
  biasgauge lexicons list
  biasgauge lexicons show weat7
  biasgauge lexicons check my_words.toml --vectors vectors.bin
  biasgauge lexicons build recipe.toml --out my_test.toml --vectors vectors.bin
  biasgauge lexicons expand weat7 vectors.bin --out weat7_large.toml
  biasgauge lexicons quality vectors.bin --a weat7:a --b weat7:b
  biasgauge lexicons seed-bank --category female
""",
)


@command(examples=LIST_EXAMPLES, name="list")
def list_lexicons(
    *,
    kind: str | None = None,
    language: str | None = None,
    options: ResultOptions = SAVE,
) -> Outcome:
    """List the word lists that ship, and where they come from.

    Args:
        kind: only lexicons of this kind (words, pairs, sets, test, stereotypes, values, translations, seeds)
        language: only lexicons of this language (en, es)
    """
    return Outcome(word_lists.list_lexicons(kind=kind, language=language))


@command(examples=SHOW_EXAMPLES)
def show(
    reference: str,
    /,
    *,
    words: bool = False,
    options: Options = OPTIONS,
) -> Outcome:
    """Show one word list: its source, what to beware of, and its words.

    Args:
        reference: a lexicon's name, or the path of your own TOML file
        words: print every word, however many there are
    """
    return Outcome(word_lists.show_lexicon(reference, words=words))


@command(examples=CHECK_EXAMPLES)
def check(
    references: Sequence[str] = (),
    /,
    *,
    vectors: Path | None = None,
    min_coverage: MinCoverage = 0.8,
    case_fallback: AutoCaseFallback = None,
    vocabulary: Vocabulary = None,
    limit: Limit = None,
    options: ResultOptions = SAVE,
) -> Outcome:
    """Check word lists, your own or shipped ones; all shipped ones when none is named.

    Args:
        references: names of lexicons, or paths of your own TOML files
        vectors: also say which words this vector file lacks
    """
    names = references or registry.names("lexicon")
    if len(names) == 1 and _CODE.fullmatch(names[0]) and not registry.has("lexicon", names[0]):
        word_lists.check_language(names[0])  # there is none: it says what a language of one's own is made of
    checked = [word_lists.lexicon(reference) for reference in names]
    language = checked[0] if len(checked) == 1 and isinstance(checked[0], word_lists.Language) else None
    embedding = None
    if vectors is not None:
        # A few words are read out of a large file, unless other spellings of them count too.
        if language is not None:
            words = word_lists.words_to_look_up(language)
        else:
            words = {word for lexicon in checked for word in lexicon.words}
        # By default spelling counts in no vocabulary in lower case, which words with capitals have to be compared with.
        whole = case_fallback or (case_fallback is None and any(word != word.lower() for word in words))
        embedding = _load(vectors, vocabulary, limit, options, None if whole else words)
    notices = [] if embedding is None else [notice.message for notice in embedding.notices]
    policy = WordPolicy.from_options(min_coverage, case_fallback)
    result: Any
    if language is not None:
        result = word_lists.check_language(language, embedding, policy=policy)
    else:
        result = word_lists.check_lexicons(checked, embedding, policy=policy)
    settings = {"vectors": vectors, "min_coverage": min_coverage, "case_fallback": case_fallback, "limit": limit}
    return Outcome(result, settings=settings, warnings=notices, exit_code=0 if result.ok else UNDEFINED)


def _candidates_path(typed: JsonMapping) -> Path:
    return word_lists.table_path(Path(typed["out"]))


@command(examples=BUILD_EXAMPLES, outputs=(Output("out"), Output("candidates", otherwise=_candidates_path)))
def build(
    recipe: Path,
    /,
    *,
    out: Path,
    vectors: tuple[Path, ...] = (),
    shipped: bool = False,
    data: tuple[Path, ...] = (),
    options: WriteOptions = WRITE,
) -> Outcome:
    """Make a lexicon from a recipe: words of named sources, filtered, matched on frequency, and documented.

    Args:
        recipe: a TOML file; docs/measures/lexicons.md describes its keys
        out: the TOML file to write; the table of candidates stands beside it, as .csv
        vectors: vectors that must have the words, repeat for several; frequencies are those of the first
        shipped: the vectors that ship must have the words, which `plan` and `audit` measure without a file
        data: folder with the files that sources read, repeat for several
    """
    if out.suffix != word_lists.SUFFIX:
        raise ParameterError(f"The 'out' parameter must be a file that ends in {word_lists.SUFFIX}. Got {str(out)!r}.")
    # Replicates have one vocabulary: the first stands for all.
    models = [*vectors, embeddings.replicate_path(0)] if shipped else list(vectors)
    with progress(options, "building the lexicon") as report:
        result = word_lists.build(recipe, vectors=models, data=data, progress=report)
    result.save(out)
    return Outcome(
        result,
        extra={"path": str(out)},
        settings={"recipe": recipe, "vectors": list(vectors), "shipped": shipped, "data": list(data)},
        written={"lexicon": out, "candidates": word_lists.table_path(out)},
        then=f"read {word_lists.table_path(out)}, then: biasgauge lexicons check {out}",
        seed=result.random_state,
    )


@command(examples=EXPAND_EXAMPLES, outputs=(Output("out"),))
def expand(
    lexicon: str,
    vectors: VectorFile,
    /,
    *,
    out: Path,
    n: Annotated[int, Parameter(alias=("--neighbors", "-n"))] = 100,
    to: Literal["mean", "any"] = "mean",
    exclude: str | None = None,
    case_fallback: AutoCaseFallback = None,
    vocabulary: Vocabulary = None,
    limit: Limit = None,
    options: WriteOptions = WRITE,
) -> Outcome:
    """Add to each set of a word list the words that are nearest to it in an embedding.

    Args:
        lexicon: a lexicon of kind test or sets, or the path of your own TOML file
        out: the TOML file to write
        n: how many words to add to each set
        to: nearness to a set: mean cosine with its words (mean), or the cosine with the nearest of them (any)
        exclude: words that must not be added, separated by commas (one word: with a comma after it), a file with one
            word per line, or a lexicon
    """
    base, excluded = word_lists.lexicon(lexicon), typed_words(exclude)
    embedding = _load(vectors, vocabulary, limit, options)
    policy = WordPolicy.from_options(case_fallback=case_fallback)
    result = mitigation.expand_lexicon(
        base, embedding, name=out.stem, n=n, to=to, exclude=excluded or (), policy=policy
    )
    result.save(out)
    settings = {"reference": lexicon, "vectors": vectors, "neighbors": n, "to": to, "exclude": excluded}
    return Outcome(
        result,
        extra={"path": str(out)},
        settings={**settings, "case_fallback": case_fallback, "limit": limit},
        warnings=[notice.message for notice in embedding.notices],
        written={"lexicon": out},
    )


def _load(
    vectors: Path, vocabulary: Path | None, limit: int | None, options: Options, words: set[str] | None = None
) -> Embedding:
    with progress(options, "reading vectors") as report:
        return embeddings.load(vectors, words, limit=limit, vocabulary=vocabulary, progress=report)


for subcommand in (list_lexicons, show, check, build, expand, quality, subspace, seed_bank):
    lexicons.command(subcommand)

"""`biasgauge lexicons list|show|check|expand`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from biasgauge.cli.from_function import Option, command
from biasgauge.cli.outcome import Outcome
from biasgauge.cli.outputs import Output
from biasgauge.cli.screen import progress
from biasgauge.core import JsonObject

if TYPE_CHECKING:
    from biasgauge.cli.options import Options
    from biasgauge.lexicons import Language
    from biasgauge.vectors import Embedding

_CODE = re.compile("[a-z]{2,3}")
"""How a language is called."""

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

EXPAND_EXAMPLES = """\
Writes a lexicon of the same kind with each set's nearest words added, and a
record of how it was made. Every word goes to one set, the nearest. Read what
was added, and run again with --exclude for what does not belong.

Examples:
  biasgauge lexicons expand weat7 vectors.bin --out weat7_large.toml
  biasgauge lexicons expand weat7 vectors.bin -n 50 --limit 50000 \\
    --exclude sexy,managment --out weat7_large.toml
"""
LIMIT = Option("read only the first so many rows of the vector file", type=int | None, default=None)
VOCABULARY = Option(
    "the word list that belongs to a bare .npy or safetensors matrix", type=Path | None, default=None, read=Path
)
REFERENCE = "the path of your own TOML file"

app = App(
    name="lexicons",
    help_epilogue="""\
Examples:
  biasgauge lexicons list
  biasgauge lexicons show weat7
  biasgauge lexicons check my_words.toml --vectors vectors.bin
  biasgauge lexicons expand weat7 vectors.bin --out weat7_large.toml
""",
)


def _vectors(arguments: JsonObject, options: Options, words: set[str] | None = None) -> Embedding:
    from biasgauge.vectors import load

    about = {name: arguments.pop(name) for name in ("limit", "vocabulary")}
    with progress(options, "reading vectors") as report:
        return load(arguments.pop("vectors"), words, progress=report, **about)


def check(arguments: JsonObject, options: Options) -> Outcome:
    """Read the words that are asked for, where there are vectors; then check."""
    from biasgauge import registry
    from biasgauge.lexicons import Language, check_language, check_lexicons, lexicon

    asked = arguments["references"] or registry.names("lexicon")
    if len(asked) == 1 and _CODE.fullmatch(asked[0]) and asked[0] not in registry.names("lexicon"):
        check_language(asked[0])  # there is none: it says what a language of one's own is made of
    lexicons = [lexicon(reference) for reference in asked]
    if len(lexicons) == 1 and isinstance(lexicons[0], Language):
        return _check_language(lexicons[0], arguments, options)
    if arguments["vectors"] is None:
        result, notices = check_lexicons(lexicons), []
    else:
        rules = {name: arguments.pop(name) for name in ("min_coverage", "case_fallback")}
        words = {word for each in lexicons for word in each.words}
        # A few words are read out of a large file, unless other spellings of them count too.
        embedding = _vectors(arguments, options, None if rules["case_fallback"] else words)
        result = check_lexicons(lexicons, embedding, **rules)
        notices = [notice.message for notice in embedding.notices]
    return Outcome(result, warnings=notices, exit_code=0 if result.ok else 2)


def _check_language(language: Language, arguments: JsonObject, options: Options) -> Outcome:
    """A language with all its lists."""
    from biasgauge.lexicons import check_language
    from biasgauge.lexicons.by_language import words_to_look_up

    rules = {name: arguments.pop(name) for name in ("min_coverage", "case_fallback")}
    embedding = None
    if arguments["vectors"] is not None:
        embedding = _vectors(arguments, options, None if rules["case_fallback"] else words_to_look_up(language))
    result = check_language(language, embedding, **rules)
    notices = [] if embedding is None else [notice.message for notice in embedding.notices]
    return Outcome(result, warnings=notices, exit_code=0 if result.ok else 2)


def expand(arguments: JsonObject, options: Options) -> Outcome:
    """Read the vectors, expand, write the lexicon."""
    from biasgauge.lexicons import lexicon
    from biasgauge.mitigation import expand_lexicon

    base, out = lexicon(arguments.pop("lexicon")), arguments.pop("out")
    embedding = _vectors(arguments, options)
    result = expand_lexicon(base, embedding, name=out.stem, **arguments)
    result.save(out)
    notices = [notice.message for notice in embedding.notices]
    return Outcome(result, extra={"path": str(out)}, warnings=notices, written={"lexicon": out})


app.command(
    command(
        "lexicons.listing:list_lexicons",
        name="list",
        about="List the word lists that ship, and where they come from.",
        options="kind language",
        examples=LIST_EXAMPLES,
    )
)
app.command(
    command(
        "lexicons.listing:show_lexicon",
        name="show",
        about="Show one word list: its source, what to beware of, and its words.",
        arguments="reference",
        options="words",
        examples=SHOW_EXAMPLES,
        changes={"reference": Option(type=str), "words": Option("print every word, however many there are")},
        saves=False,
    )
)
app.command(
    command(
        "lexicons.listing:check_lexicons",
        name="check",
        about="Check word lists, your own or shipped ones; all shipped ones when none is named.",
        arguments="references",
        options="vectors min_coverage case_fallback vocabulary limit",
        examples=CHECK_EXAMPLES,
        changes={
            "references": Option(type=list[str], default=()),
            "vectors": Option("also say which words this vector file lacks", type=Path | None, default=None),
            "vocabulary": VOCABULARY,
            "limit": LIMIT,
        },
        call=check,
        recorded="vectors min_coverage case_fallback limit",
    )
)
app.command(
    command(
        "mitigation:expand_lexicon",
        name="expand",
        about="Add to each set of a word list the words that are nearest to it in an embedding.",
        arguments="lexicon vectors",
        options="out n to exclude case_fallback vocabulary limit",
        examples=EXPAND_EXAMPLES,
        changes={
            "lexicon": Option(f"a lexicon of kind test or sets, or {REFERENCE}"),
            "out": Option("the TOML file to write", type=Path),
            "n": Option(alias=("--neighbors", "-n")),
            "exclude": Option(
                "words that must not be added, separated by commas (one word: with a comma after it), a file with one "
                "word per line, or a lexicon"
            ),
            "vocabulary": VOCABULARY,
            "limit": LIMIT,
        },
        call=expand,
        recorded="reference=lexicon vectors neighbors=n to exclude case_fallback limit",
        fixed="name",
        saves=False,
        outputs=(Output("out"),),
    )
)

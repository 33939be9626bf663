"""`biasgauge lexicons list|show|check|expand`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from biasgauge.cli.options import DEFAULTS, Options
from biasgauge.cli.screen import console, print_json, print_table, progress, shorten
from biasgauge.lexicons import check as check_lexicon
from biasgauge.lexicons import lexicon, lexicon_names

if TYPE_CHECKING:
    from biasgauge.embeddings import Embedding
    from biasgauge.lexicons import Lexicon, LexiconCheck

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
items and, with --vectors, the words that the embedding lost. Exit code 2 when
a lexicon cannot be used for a measurement.

Examples:
  biasgauge lexicons check my_words.toml
  biasgauge lexicons check my_words.toml weat7 --vectors vectors.bin
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


@app.command(name="list", help_epilogue=LIST_EXAMPLES)
def list_lexicons(*, kind: str | None = None, language: str | None = None, options: Options = DEFAULTS) -> None:
    """List the word lists that ship, and where they come from.

    Args:
        kind: only lexicons of this kind (words, pairs, sets, test, stereotypes, values, translations, seeds)
        language: only lexicons of this language (en, es)
        options: those of every command
    """
    shown = [
        one for one in map(lexicon, lexicon_names()) if kind in (None, one.kind) and language in (None, one.language)
    ]
    if options.json:
        rows = [
            {"name": one.name, "kind": one.kind, "language": one.language, "title": one.title, "sets": len(one.sets),
             "words": len(one.words), "source": one.source, "citation": one.citation, "licence": one.licence}
            for one in shown
        ]  # fmt: skip
        print_json(options, {"lexicons": rows}, settings={"kind": kind, "language": language})
        return
    table = [(one.name, one.kind, len(one.words), one.title) for one in shown]
    print_table(console(options), ("name", "kind", "words", "title"), table)


@app.command(help_epilogue=SHOW_EXAMPLES)
def show(reference: str, /, *, words: bool = False, options: Options = DEFAULTS) -> None:
    """Show one word list: its source, what to beware of, and its words.

    Args:
        reference: a lexicon's name, or the path of your own TOML file
        words: print every word, however many there are
        options: those of every command
    """
    one = lexicon(reference)
    if options.json:
        content = {**one.to_dict(), "checksum": one.checksum}
        print_json(options, {"lexicon": content}, settings={"reference": reference})
        return
    screen = console(options)
    counts = f"{len(one.words):,} words in {len(one.sets)} {'set' if len(one.sets) == 1 else 'sets'}"
    screen.print(f"[bold]{one.name}[/bold] ({one.kind}, {one.language}): {counts}")
    for label, text in _about(one):
        screen.print(f"[bold]{label}[/bold] ", end="")
        screen.print(text, markup=False)
    for name, members in one.sets.items():
        screen.print(f"\n[bold]{name}[/bold] ({len(members)})")
        screen.print(", ".join(members) if words else shorten(members, 30), markup=False)


def _about(one: Lexicon) -> list[tuple[str, str]]:
    stated = [(key, getattr(one, key)) for key in ("title", "source", "citation", "licence", "notes")]
    return [(key, text) for key, text in stated if text] + [("beware", text) for text in one.beware]


@app.command(help_epilogue=CHECK_EXAMPLES)
def check(
    *references: str,
    vectors: Path | None = None,
    vocabulary: Path | None = None,
    limit: int | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Check word lists, your own or shipped ones; all shipped ones when none is named.

    Args:
        references: names of lexicons, or paths of your own TOML files
        vectors: also say which words this vector file lost
        vocabulary: the word list that belongs to a bare .npy or safetensors matrix
        limit: read only the first so many rows of the vector file
        options: those of every command
    """
    lexicons = [lexicon(reference) for reference in references or lexicon_names()]
    embedding = None if vectors is None else _load(vectors, lexicons, vocabulary, limit, options)
    checks = [check_lexicon(one, embedding) for one in lexicons]
    if options.json:
        settings = {"vectors": None if vectors is None else str(vectors), "limit": limit}
        notices = () if embedding is None else tuple(notice.message for notice in embedding.notices)
        print_json(options, {"checks": [one.to_dict() for one in checks]}, settings=settings, warnings=notices)
    else:
        _show_checks(checks, options)
    if not all(one.ok for one in checks):
        sys.exit(2)


@app.command(help_epilogue=EXPAND_EXAMPLES)
def expand(
    reference: str,
    vectors: Path,
    /,
    *,
    out: Path,
    neighbours: Annotated[int, Parameter(alias="-n")] = 100,
    to: Literal["mean", "any"] = "mean",
    exclude: str | None = None,
    case_fallback: bool = False,
    vocabulary: Path | None = None,
    limit: int | None = None,
    options: Options = DEFAULTS,
) -> None:
    """Add to each set of a word list the words that are nearest to it in an embedding.

    Args:
        reference: a lexicon of kind test or sets, or the path of your own TOML file
        vectors: the vector file that says which words are near
        out: the TOML file to write
        neighbours: how many words to add to each set
        to: how near a word is to a set: by its mean cosine with the set's words, or by that with any of them
        exclude: words that must not be added, separated by commas (one word: with a comma after it), or a file with one
            a line, or a lexicon
        case_fallback: look a lost word up in lower case, then capitalised
        vocabulary: the word list that belongs to a bare .npy or safetensors matrix
        limit: read only the first so many rows of the vector file
        options: those of every command
    """
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only when there are vectors to read
    from biasgauge.cli.words import asked_words  # noqa: PLC0415 - as above

    base = lexicon(reference)
    with progress(options, "reading vectors") as report:
        embedding = bg.load(vectors, limit=limit, vocabulary=vocabulary, progress=report)
    found = bg.expand_lexicon(
        base, embedding, n=neighbours, to=to, exclude=asked_words(exclude) or (), name=out.stem,
        case_fallback=case_fallback,
    )  # fmt: skip
    found.save(out)
    warnings = [*(notice.message for notice in embedding.notices), *found.warnings]
    if options.json:
        settings = {
            "reference": reference, "vectors": str(vectors), "neighbours": neighbours, "to": to, "exclude": exclude,
            "case_fallback": case_fallback, "limit": limit,
        }  # fmt: skip
        print_json(options, {"path": str(out), **found.to_dict()}, settings=settings, warnings=warnings)
        return
    screen = console(options)
    for warning in () if options.quiet else warnings:
        screen.print(f"note: {warning}", markup=False)
    for name in found.lexicon.sets:
        added = [one.word for one in found.added if one.set_name == name]
        screen.print(f"\n[bold]{name}[/bold] ({len(added)} added)")
        screen.print(shorten(added, 30), markup=False)
    screen.print(f"\nThe lexicon: {out}", markup=False, soft_wrap=True)


def _load(
    vectors: Path, lexicons: list[Lexicon], vocabulary: Path | None, limit: int | None, options: Options
) -> Embedding:
    import biasgauge as bg  # noqa: PLC0415 - numpy is imported only when there are vectors to read

    asked = {word for one in lexicons for word in one.words}
    with progress(options, "reading vectors") as report:
        return bg.load(vectors, words=asked, limit=limit, vocabulary=vocabulary, progress=report)


def _show_checks(checks: list[LexiconCheck], options: Options) -> None:
    screen = console(options)
    styles = {"error": "bold red", "warning": "yellow", "note": "dim"}
    for one in checks:
        found = [it.found for it in one.sets if it.found is not None]
        asked = sum(it.unique for it in one.sets)
        counts = f"{sum(found):,} of {asked:,} words found" if found else f"{asked:,} words"
        verdict = "usable" if one.ok else "not usable"
        screen.print(f"[bold]{one.name}[/bold] ({one.kind}): {counts}, {verdict}")
        for finding in one.findings:
            screen.print(f"  {finding.severity}: ", style=styles[finding.severity], end="")
            screen.print(finding.sentence, markup=False)

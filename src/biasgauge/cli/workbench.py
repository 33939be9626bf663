"""`biasgauge workbench`: a page for one's own word lists."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from biasgauge import audits
from biasgauge.cli.command import WRITE, Outcome, WriteOptions, command
from biasgauge.cli.files import Output
from biasgauge.cli.screen import progress
from biasgauge.errors import ParameterError

EXAMPLES = """\
The page is one file that needs no Python, server or network: type or paste word
lists, and see coverage, the contrast with its interval, p, the verdict, what
each word carries, and a plot. It counts how many lists were tried.

Examples:
  biasgauge workbench vectors.bin --out words.html
  biasgauge workbench GoogleNews-vectors-negative300.bin.gz --limit 500000 \\
    --words 10000 --out words.html
  biasgauge workbench glove.txt --lexicon my_test.toml --out words.html
  biasgauge workbench vectores.vec --language es --out palabras.html
"""


@command(examples=EXAMPLES, terms="contrast", outputs=(Output("out"),))
def workbench(
    vectors: Annotated[Path | None, Parameter(help="a vector file; without it, the vectors that ship")] = None,
    /,
    *,
    out: Path = Path("workbench.html"),
    words: int = 20_000,
    bits: int = 16,
    lexicon: tuple[str, ...] = (),
    language: str = "en",
    smallest: float | None = None,
    limit: int | None = None,
    options: WriteOptions = WRITE,
) -> Outcome:
    """Write a page that measures your own word lists in the browser, offline.

    Args:
        out: the page, FILE.html
        words: number of words of the page: those of the lexicons, then the first of the file
        bits: of each number: 16, or 8 for half the size
        lexicon: a further lexicon to start from: its name or your own TOML file, repeat for several
        language: of the lexicons: its code (en, es)
        smallest: the smallest contrast that matters; by default that of an audit of the shipped tests
        limit: read only this many rows of the file
    """
    if out.suffix.lower() != ".html":
        raise ParameterError(f"--out of workbench is a page, FILE.html. Got {str(out)!r}.")
    with progress(options, "reading vectors") as report:
        result = audits.workbench(
            vectors,
            words=words,
            bits=bits,
            lexicons=lexicon,
            language=language,
            smallest=smallest,
            limit=limit,
            random_state=options.seed,
            progress=report,
        )
    page = result.save(out)
    return Outcome(result, extra={"path": str(page)}, written={"page": page}, then=f"Open {page} in a browser.")

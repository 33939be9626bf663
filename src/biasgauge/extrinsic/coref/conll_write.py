"""Documents as CoNLL-2012 files, which `read_conll` and the reference scorer read."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from biasgauge._io.atomic import write_text
from biasgauge.errors import ParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from biasgauge.extrinsic.coref.document import Document, Span

_UNKNOWN = ("-",) * 5


def write_conll(documents: Iterable[Document], path: str | os.PathLike[str]) -> None:
    """Write documents with their clusters, the whole file or none of it.

    Raises:
        ParameterError: two mentions of one thing cross, which brackets cannot say, or a word or name cannot stand in
            a column.
    """
    write_text(path, "".join(line + "\n" for document in documents for line in conll_lines(document)))


def conll_lines(document: Document) -> Iterator[str]:
    """The lines of one document."""
    name = document.name or "-"
    for text in (name, *document.words, *document.speakers):
        if len(text.split()) != 1:
            raise ParameterError(f"A column of a CoNLL file cannot hold {text!r} ({name}): it is empty or has spaces.")
    if name.startswith("#"):
        raise ParameterError(f"A document of a CoNLL file cannot be called {name!r}: # begins a remark.")
    brackets = _brackets(document)
    yield f"#begin document ({name}); part {document.part:03d}"
    at = 0
    for sentence in document.sentences:
        for place, word in enumerate(sentence):
            speaker = document.speakers[at] if document.speakers else "-"
            cells = (name, str(document.part), str(place), word, *_UNKNOWN, speaker, "*", brackets.get(at, "-"))
            yield "\t".join(cells)
            at += 1
        yield ""
    yield "#end document"


def _brackets(document: Document) -> dict[int, str]:
    """The last column where it is not empty: what ends, inner first, then what begins, outer first."""
    ends: dict[int, list[tuple[Span, int]]] = defaultdict(list)
    begins: dict[int, list[tuple[Span, int]]] = defaultdict(list)
    for number, cluster in enumerate(document.clusters):
        _no_crossing(cluster, document.name)
        for span in cluster:
            begins[span[0]].append((span, number))
            if span[1] > span[0]:
                ends[span[1]].append((span, number))
    found: dict[int, list[str]] = defaultdict(list)
    for at, closing in ends.items():
        found[at] += [f"{number})" for _, number in sorted(closing, key=lambda one: -one[0][0])]
    for at, opening in begins.items():
        for span, number in sorted(opening, key=lambda one: -one[0][1]):
            found[at].append(f"({number}" if span[1] > span[0] else f"({number})")
    return {at: "|".join(cells) for at, cells in found.items()}


def _no_crossing(cluster: tuple[Span, ...], name: str) -> None:
    inside: list[Span] = []
    for span in sorted(cluster, key=lambda one: (one[0], -one[1])):
        while inside and inside[-1][1] < span[0]:
            inside.pop()
        if inside and inside[-1][1] < span[1]:
            raise ParameterError(
                f"The mentions {inside[-1]} and {span} of one thing in {name!r} cross; CoNLL brackets cannot say that."
            )
        inside.append(span)

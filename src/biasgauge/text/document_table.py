"""`read_documents`: texts with covariates as a tokenized corpus and a table beside it.

Texts are tokenized one by one into a corpus on disk; only the covariates that were asked for stay in memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import isnan
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge.core import Integers, JsonObject
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import array_sha256, as_read_back, map_array, usable_path, write_array
from biasgauge.text.table_rows import TEXT, TableRow, TextTable, open_folder, open_table
from biasgauge.text.token_corpus import TokenCorpus, is_corpus, open_corpus
from biasgauge.text.tokenizers import Tokenizer, tokenizer_named
from biasgauge.text.writer import CorpusWriter, make_corpus, writing

if TYPE_CHECKING:
    import pandas as pd

    from biasgauge.io import Progress

PADDING = " "
"""Word of a corpus that an empty token becomes: it keeps its place in a window, and no vectors have it."""
ROWS = "rows.npy"
"""File in the folder of a corpus: the row of the table that each document comes from."""
_ROWS_SHA256 = "rows_sha256"
_AGAIN = "remove the folder and read the table again"
_MISSING = frozenset({"", "na", "n/a", "nan", "null"})


@dataclass(frozen=True, eq=False)
class DocumentTable:
    """Tokenized documents with covariates.

    Attributes:
        corpus: the documents that have a word.
        covariates: one row per document of the corpus: numbers where every cell is one, otherwise text; NaN where
            a cell is missing.
        ids: name of each document: its row in the source, from 1, or its file.
        without_words: rows of the source that have no word.
    """

    corpus: TokenCorpus
    covariates: pd.DataFrame
    ids: tuple[str, ...]
    without_words: int = 0


def read_documents(
    source: object,
    columns: Iterable[str],
    *,
    text: str = "text",
    metadata: object = None,
    file: str = "file",
    tokenizer: str | Callable[[str], Iterable[str]] = "words",
    out: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> DocumentTable:
    """Read documents with covariates.

    Args:
        source: a table (.csv, .tsv, .jsonl, .parquet; or .rds, .RData of R: a data frame, or a corpus of quanteda whose
            texts are the column "text"; all but Parquet also compressed by gzip, xz or zstd), a data frame, a list of
            records, a folder of text files, or a tokenized corpus (or its folder).
        columns: covariates to keep.
        text: the column of the text: strings, or lists of tokens, in which an empty token is padding.
        metadata: of a folder, a table or data frame with a row for each file; of a tokenized corpus, with a row for
            each document, in its order.
        file: of a folder, the column of the metadata that names the file, relative to the folder.
        tokenizer: of texts that are strings, as in `read_corpus`.
        out: a folder to keep the tokenized corpus in; a later call with the same source opens it.
        progress: called with (done, total).

    Raises:
        CorpusError: a file cannot be read as it should, or lacks a column.
        ParameterError: an argument is impossible.
    """
    names = list(dict.fromkeys(columns))
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    if isinstance(source, TokenCorpus) or (path is not None and is_corpus(path)):
        return _join_metadata(source if isinstance(source, TokenCorpus) else open_corpus(str(path)), metadata, names)
    if path is not None and path.is_dir():
        table, text = open_folder(path, metadata, file), TEXT
    elif metadata is not None:
        raise ParameterError("The 'metadata' parameter is for a folder of texts, or for a tokenized corpus.")
    else:
        table = open_table(source)
    reader = _TableReader(table, text, names, tokenizer_named(tokenizer), progress)
    corpus, rows = reader.read_temporary() if out is None else reader.read_into(Path(usable_path(out)).absolute())
    cells = reader.covariate_cells(rows)
    numbers = rows.tolist()
    ids = tuple(str(row + 1) for row in numbers) if table.ids is None else tuple(table.ids[row] for row in numbers)
    return DocumentTable(corpus, covariate_frame(dict(zip(names, cells, strict=True))), ids, reader.n_rows - len(rows))


class _TableReader:
    """Reads the texts of a table into a corpus, and its covariates beside them.

    Attributes:
        n_rows: rows of the table, as far as it was read.
    """

    def __init__(
        self, table: TextTable, text: str, columns: Sequence[str], tokenizer: Tokenizer, progress: Progress | None
    ) -> None:
        self.n_rows = 0
        self._cells: list[list[Any]] | None = None
        self._table = table
        self._text = text
        self._columns = columns
        self._tokenizer = tokenizer
        self._progress = progress

    def read_temporary(self) -> tuple[TokenCorpus, Integers]:
        """Make the corpus in a temporary folder, which goes with the object."""
        with writing(Path("the temporary folder")):
            folder = Path(tempfile.mkdtemp(prefix="biasgauge-corpus-"))
        try:
            rows = self._write(folder, None, {})
            corpus = open_corpus(folder, check=False)  # its checksum was made of the bytes that were written
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        weakref.finalize(corpus, shutil.rmtree, folder, ignore_errors=True)
        return corpus, rows

    def read_into(self, target: Path) -> tuple[TokenCorpus, Integers]:
        """Make the corpus in a folder that is kept, or open the one that an earlier call made there."""
        settings: JsonObject = {
            "files": self._table.file_records(), "layout": "table", "documents": "row",
            "field": self._text.removeprefix("\0"), "tokenizer": self._tokenizer.to_dict(),
        }  # fmt: skip

        def accept(corpus: TokenCorpus) -> TokenCorpus:
            for key, value in as_read_back(settings).items():
                if corpus.settings.get(key) != value:
                    sentence = f"holds a corpus with other {key}; name another folder, or remove it"
                    raise CorpusError(sentence, path=corpus.path)
            if not self._table.files or not self._tokenizer.ours:  # names do not tell: make it and compare
                temporary, _ = self.read_temporary()
                if temporary.checksum != corpus.checksum:
                    raise CorpusError("holds a corpus of other words; name another folder, or remove it", path=target)
            return corpus

        if is_corpus(target):  # nobody has to be waited for
            corpus = accept(open_corpus(target))
        else:
            corpus = make_corpus(target, lambda folder: _ignore(self._write(folder, target, settings)), accept)
        count = len(corpus.documents) - 1
        rows = map_array(target / ROWS, "<i8", (count,), again=_AGAIN, error=CorpusError).view(np.ndarray)
        if array_sha256(rows) != corpus.settings.get(_ROWS_SHA256):
            raise CorpusError(f"is damaged (its checksum differs); {_AGAIN}", path=target / ROWS)
        return corpus, rows

    def covariate_cells(self, rows: Integers) -> list[list[Any]]:
        """Cells of the covariates of some rows; of a corpus that was there, read now, without tokenizing a text."""
        if self._cells is not None:
            return self._cells
        wanted = set(rows.tolist())
        cells: list[list[Any]] = [[] for _ in self._columns]
        for number, row in enumerate(self._table.rows(self._columns, None)) if self._columns else ():
            self.n_rows = number + 1
            if number in wanted:
                _append(cells, row.cells)
        if self._columns and len(rows) and self.n_rows <= rows[-1]:
            raise CorpusError(f"holds fewer rows than the corpus; {_AGAIN}", path=self._table.path)
        self.n_rows = max(self.n_rows, len(rows))
        return cells

    def _write(self, folder: Path, target: Path | None, settings: JsonObject) -> Integers:
        """Tokenize every text; return the rows of those that have a word."""
        cells: list[list[Any]] = [[] for _ in self._columns]
        rows: list[int] = []
        writer = CorpusWriter(folder, replace(self._tokenizer, split=self._split), target=target)
        try:
            for number, row in enumerate(self._table.rows([self._text, *self._columns], self._progress)):
                empty = writer.empty_documents
                self._write_text(writer, row)
                if writer.empty_documents == empty:
                    rows.append(number)
                    _append(cells, row.cells[1:])
                self.n_rows = number + 1
            numbers = np.array(rows, "<i8")
            details = {**settings, _ROWS_SHA256: array_sha256(numbers)}
            writer.finish(details, None if self._table.path is None else str(self._table.path))
        finally:
            writer.close()
        self._cells = cells
        write_array(folder / ROWS, numbers)
        return numbers

    def _write_text(self, writer: CorpusWriter, row: TableRow) -> None:
        """Write one document: a string, or a list of tokens, which is one line."""
        cell = row.cells[0]
        if isinstance(cell, str):
            writer.record(cell)
            return
        if isinstance(cell, np.ndarray):
            cell = cell.tolist()
        if isinstance(cell, list | tuple) and all(isinstance(token, str) for token in cell):
            writer.line(cell)  # type: ignore[arg-type]  # `_split` takes both
        elif not _is_missing(cell):
            sentence = (
                f"the text ({self._text.removeprefix(chr(0))}) must be text or a list of tokens, not {cell!r:.40}"
            )
            raise CorpusError(sentence, path=self._table.path or "the corpus", line=row.line)
        writer.end_document(counted=True)

    def _split(self, text: str | list[str]) -> list[str]:
        return self._tokenizer.split(text) if isinstance(text, str) else [token or PADDING for token in text]


def _append(columns: list[list[Any]], cells: Sequence[Any]) -> None:
    for column, cell in zip(columns, cells, strict=True):
        column.append(cell)


def _ignore(_: object) -> None:
    """Return nothing."""


def _join_metadata(corpus: TokenCorpus, metadata: object, names: Sequence[str]) -> DocumentTable:
    """Set a table with a row for each document beside a tokenized corpus."""
    count = len(corpus.documents) - 1
    cells: list[list[Any]] = [[] for _ in names]
    if names:
        if metadata is None:
            raise ParameterError(
                f"A tokenized corpus needs the 'metadata' parameter: a table with a row for each of its {count:,} "
                "documents."
            )
        table = open_table(metadata)
        for row in table.rows(names, None):
            _append(cells, row.cells)
        if len(cells[0]) != count:
            raise ParameterError(
                f"The 'metadata' parameter must have a row for each of the {count:,} documents. Got {len(cells[0]):,}."
            )
    ids = tuple(str(number + 1) for number in range(count))
    return DocumentTable(corpus, covariate_frame(dict(zip(names, cells, strict=True))), ids)


def covariate_frame(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """Build the table of covariates: a column is of numbers where every cell that is not missing is one."""
    import pandas as pd

    return pd.DataFrame({name: _typed_column(name, cells) for name, cells in columns.items()})


def _typed_column(name: str, cells: list[Any]) -> Any:  # noqa: ANN401 - an array of numbers or of text
    for cell in cells:
        if not (_is_missing(cell) or isinstance(cell, str | Real | np.generic)):
            raise ParameterError(f"The covariate {name!r} must hold numbers or text. Got {cell!r:.40}.")
    present = [cell for cell in cells if not _is_missing(cell)]
    try:
        numeric = bool(present) and not any(isinstance(cell, bool | np.bool_) for cell in present)
        numbers = [float(cell) for cell in present] if numeric else []
    except ValueError:
        numeric = False
    if not numeric:
        return np.array([None if _is_missing(cell) else str(cell) for cell in cells], dtype=object)
    column = np.full(len(cells), np.nan)
    column[[not _is_missing(cell) for cell in cells]] = numbers
    if np.isinf(column).any():
        raise ParameterError(f"The covariate {name!r} must hold finite numbers. Got infinity.")
    return column


def _is_missing(cell: object) -> bool:
    if cell is None:
        return True
    if isinstance(cell, str):
        return cell.strip().casefold() in _MISSING
    return (isinstance(cell, Real) and isnan(cell)) or type(cell).__name__ in {"NAType", "NaTType"}  # of pandas

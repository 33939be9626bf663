"""Rows of tables with a column of text: CSV, TSV, JSON lines, Parquet, R, frames, records, folders with metadata."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from biasgauge.core import JsonObject, as_pandas, did_you_mean
from biasgauge.errors import CorpusError, ParameterError
from biasgauge.io import ByteSource, JSONProblem, csv_rows, file_sha256, parquet_rows, parse_json
from biasgauge.text.corpus_reader import whole_lines
from biasgauge.text.r_texts import r_columns

if TYPE_CHECKING:
    from biasgauge.io import Progress

TEXT = "\0text"
"""Column of a folder with metadata that holds the text of the file."""
_COMPRESSED = (".gz", ".xz", ".zst", ".zstd")
_R = (".rds", ".rda", ".rdata")
_ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", *_R)


class TableRow(NamedTuple):
    """Cells of a row, and the line of the file that it ends on, for errors."""

    cells: tuple[Any, ...]
    line: int | None = None


Rows = Callable[[Sequence[str], "Progress | None"], Iterator[TableRow]]
"""Yields the cells of some columns, row by row."""


@dataclass(frozen=True)
class TextTable:
    """A table that is read row by row.

    Attributes:
        rows: yields the cells of columns.
        path: file that errors name; None for a table in memory.
        files: files that decide the content; empty where that is in memory.
        ids: names of rows; None for their numbers.
    """

    rows: Rows
    path: Path | None = None
    files: tuple[Path, ...] = ()
    ids: tuple[str, ...] | None = None

    def file_records(self) -> list[JsonObject]:
        """Name, bytes and checksum of each file, as a corpus records them."""
        return [{"name": path.name, "bytes": path.stat().st_size, "sha256": file_sha256(path)} for path in self.files]


def open_table(source: object) -> TextTable:
    """Open a file, a data frame or a list of records as a table.

    Raises:
        CorpusError: there is no such file, or its name says no kind of table.
        ParameterError: it is something else.
    """
    if isinstance(source, str | os.PathLike):
        return _table_file(Path(source))
    frame = as_pandas(source)
    if frame is not None:
        columns = {str(name): frame[name] for name in frame.columns}
        return TextTable(lambda names, progress: _select(columns, names, len(frame), progress))
    if isinstance(source, Sequence) and source and all(isinstance(record, Mapping) for record in source):
        return TextTable(lambda names, progress: _select_records(source, names, progress))
    raise ParameterError(
        "The 'corpus' parameter of regress must be a table (.csv, .tsv, .jsonl, .parquet, .rds), a data frame, a list "
        f"of records, a folder with 'metadata', or a tokenized corpus with it. Got {type(source).__name__}."
    )


def open_folder(folder: Path, metadata: object, column: str) -> TextTable:
    """Open the files of a folder with the table that describes them; the column `TEXT` holds their texts.

    Raises:
        CorpusError: the metadata name a file that is not there, or one file in two rows.
        ParameterError: there is no metadata.
    """
    if metadata is None:
        raise ParameterError(
            "A folder of texts needs the 'metadata' parameter: a table with a row for each file, whose column 'file' "
            "names it."
        )
    table = open_table(metadata)
    names = [str(row.cells[0]) for row in table.rows([column], None)]
    paths = [folder / name for name in names]
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise CorpusError(
            f"names the file {repeated!r} in {names.count(repeated)} rows; give each file one row, "
            f"or its text counts more than once", path=table.path or folder,
        )  # fmt: skip
    for name, path in zip(names, paths, strict=True):
        if not path.resolve().is_relative_to(folder.resolve()) or not path.is_file():
            raise CorpusError(
                f"has no file {name!r}, which the metadata name; check the column {column!r}", path=folder
            )

    def rows(columns: Sequence[str], progress: Progress | None) -> Iterator[TableRow]:
        covariates = [name for name in columns if name != TEXT]
        sizes = sum(path.stat().st_size for path in paths) if progress is not None else 0
        done = 0
        for path, row in zip(paths, table.rows(covariates, None), strict=True):
            cells = dict(zip(covariates, row.cells, strict=True))
            if TEXT in columns:
                with ByteSource(path, error=CorpusError) as source:
                    cells[TEXT] = "\n".join(line for _, line in whole_lines(source))
                if progress is not None:
                    done += path.stat().st_size
                    progress(done, sizes)
            yield TableRow(tuple(cells[name] for name in columns), row.line)

    return TextTable(rows, table.path, (*table.files, *paths), tuple(names))


def _table_file(path: Path) -> TextTable:
    name = path.name.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    kind = next((ending for ending in _ENDINGS if name.endswith(ending)), None)
    if not path.is_file():
        raise CorpusError("there is no such file; check the path", path=path)
    if kind is None:
        raise CorpusError(f"is not a table of documents; its name must end in one of {', '.join(_ENDINGS)}", path=path)
    if kind == ".parquet":
        return TextTable(lambda names, _: _read_parquet(path, names), path, (path,))
    if kind in _R:
        return TextTable(lambda names, progress: _read_r(path, names, progress), path, (path,))
    if kind in {".jsonl", ".ndjson"}:
        return TextTable(lambda names, progress: _read_jsonl(path, names, progress), path, (path,))
    separator = "," if kind == ".csv" else "\t"
    return TextTable(lambda names, progress: _read_separated(path, separator, names, progress), path, (path,))


def _read_parquet(path: Path, names: Sequence[str]) -> Iterator[TableRow]:
    return (TableRow(cells) for cells in parquet_rows(path, names, error=CorpusError))


def _read_r(path: Path, names: Sequence[str], progress: Progress | None) -> Iterator[TableRow]:
    with ByteSource(path, error=CorpusError, progress=progress) as source:
        columns = r_columns(source)
    _check_columns(columns, names, path)
    return (TableRow(cells) for cells in zip(*(columns[name] for name in names), strict=True))


def _read_separated(path: Path, separator: str, names: Sequence[str], progress: Progress | None) -> Iterator[TableRow]:
    with ByteSource(path, error=CorpusError, progress=progress) as source:
        lines = (f"{text}\n" for _, text in whole_lines(source))
        rows = csv_rows(lines, path, error=CorpusError, separator=separator, quotes=separator == ",")
        header = next((row.cells for row in rows if row.cells), [])
        if not header:
            raise CorpusError("the file is empty", path=path)
        header = [name.rstrip("\r") for name in header]
        indices = [_column_index(header, name, path) for name in names]
        for row in rows:
            if not row.cells:
                continue
            if len(row.cells) != len(header):
                sentence = f"has {len(row.cells)} cells, expected {len(header)} as in the first row"
                raise CorpusError(sentence, path=path, line=row.line)
            yield TableRow(tuple(row.cells[index] for index in indices), row.line)


def _column_index(header: Sequence[str], name: str, path: Path) -> int:
    if name not in header:
        raise CorpusError(f"has no column {name!r}; {_listed(header)}{did_you_mean(name, header)}", path=path, line=1)
    if header.count(name) > 1:
        raise CorpusError(f"has {header.count(name)} columns {name!r}; give each a name of its own", path=path, line=1)
    return header.index(name)


def _read_jsonl(path: Path, names: Sequence[str], progress: Progress | None) -> Iterator[TableRow]:
    columns: dict[str, None] = {}
    with ByteSource(path, error=CorpusError, progress=progress) as source:
        for number, text in whole_lines(source):
            if not text.strip():
                continue
            try:
                record = parse_json(text)
            except JSONProblem as fault:
                sentence = f"is not JSON ({fault}); expected one object per line"
                raise CorpusError(sentence, path=path, line=number) from fault
            if not isinstance(record, dict):
                raise CorpusError("is not a JSON object; expected one per line", path=path, line=number)
            columns.update(dict.fromkeys(record))
            yield TableRow(tuple(record.get(name) for name in names), number)
    _check_columns(columns, names, path)


def _check_columns(columns: Iterable[str], names: Sequence[str], path: Path | None) -> None:
    """Refuse columns that no record has."""
    present = list(columns)
    for name in names:
        if name not in present:
            sentence = f"has no column {name!r}; {_listed(present)}{did_you_mean(name, present)}"
            raise CorpusError(sentence, path=path or "the corpus")


def _select(
    columns: Mapping[str, Any], names: Sequence[str], rows: int, progress: Progress | None
) -> Iterator[TableRow]:
    _check_columns(columns, names, None)
    for row, cells in enumerate(zip(*(columns[name].tolist() for name in names), strict=True)):
        if progress is not None:
            progress(row + 1, rows)
        yield TableRow(tuple(cells))


def _select_records(
    records: Sequence[Mapping[str, Any]], names: Sequence[str], progress: Progress | None
) -> Iterator[TableRow]:
    _check_columns(dict.fromkeys(key for record in records for key in record), names, None)
    for row, record in enumerate(records):
        if progress is not None:
            progress(row + 1, len(records))
        yield TableRow(tuple(record.get(name) for name in names))


def _listed(names: Sequence[str]) -> str:
    listing = ", ".join(repr(name if len(name) < 40 else f"{name[:39]}…") for name in names[:10])
    return f"its columns: {listing}{', …' if len(names) > 10 else ''}"

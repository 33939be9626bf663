"""A result to a file of the kind that its name says, whole or not at all."""

from __future__ import annotations

import os
import tempfile
import webbrowser
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgauge.errors import InputError, ParameterError
from biasgauge.io import atomic_file, csv_text, make_folder, manifest_text, portable_names, write_text
from biasgauge.results import markup
from biasgauge.results.drawing import fitted_to_grid
from biasgauge.results.read_back import showing

if TYPE_CHECKING:
    from biasgauge.results.result import Result


def _json(result: Result) -> str:
    return manifest_text(result.to_dict(), indent=1, finite=True)


def _latex(result: Result) -> str:
    from biasgauge.results.latex_tables import latex

    return latex(result.summary(), result.to_frame())


WRITERS: dict[str, Callable[[Result], str]] = {
    ".html": lambda result: result.page(),
    ".json": _json,
    ".csv": lambda result: csv_text(result.to_frame()),
    ".md": lambda result: markup.markdown(result.summary()),
    ".tex": _latex,
    ".txt": lambda result: markup.plain_text(result.summary()),
}
"""What each ending is written by; a page has its JSON and its tables beside it (`Result.page_companions`)."""


def save_result(result: Result, path: Path) -> Path:
    """Write a result; return where.

    Raises:
        ParameterError: the ending says nothing that can be written.
    """
    ending = path.suffix.lower()
    if ending not in WRITERS:
        raise ParameterError(f"A result can be saved as {', '.join(WRITERS)}. Got {str(path)!r}.")
    with showing(result):
        frames = result.frames_beside() if ending == ".html" else {}
        companions = result.page_companions if ending == ".html" else ()
        companions = tuple(suffix for suffix in companions if not (suffix == ".csv" and frames))
        texts = {path.with_suffix(suffix): WRITERS[suffix](result) for suffix in companions}
        names = portable_names(frames)
        texts |= {path.with_name(f"{names[name]}.csv"): csv_text(frame) for name, frame in frames.items()}
        texts[path] = WRITERS[ending](result)
    for target, text in texts.items():
        write_text(target, text)
    return path


def show(result: Result, *, browser: bool = True) -> Path:
    """Write the page of a result into a folder for temporary files and open it in the browser.

    Nothing is sent anywhere: the page is one file that loads nothing. It stays there until the machine clears its
    temporary files; `result.save("page.html")` keeps it.

    Args:
        result: of any function of this package.
        browser: whether to open it; where there is no browser, the path is all there is.

    Returns:
        The path of the page.
    """
    folder = Path(tempfile.mkdtemp(prefix="biasgauge-"))
    page = result.save(folder / "page.html")
    if browser:
        webbrowser.open(page.as_uri())
    return page


FORMATS = ("svg", "png", "pdf", "html", "json")
"""What a chart can be written as."""


def save_figures(
    charts: Mapping[str, Any], folder: str | os.PathLike[str], formats: tuple[str, ...] = ("svg", "png")
) -> list[Path]:
    """Write each chart as NAME.FORMAT into `folder`, which is made if need be; each file whole or not at all.

    Signs of a name that some system forbids become hyphens.

    All are 340 or 700 pixels wide: one column of a paper, or both.

    Args:
        charts: what `result.figures()` gives.
        folder: where to.
        formats: of svg, png, pdf, html and json.

    Raises:
        ParameterError: a format is not known.
        InputError: what draws them is not installed.
    """
    if unknown := [kind for kind in formats if kind not in FORMATS]:
        raise ParameterError(f"A figure can be saved as {', '.join(FORMATS)}. Got {unknown[0]!r}.")
    check_figures_extra()
    target = Path(folder)
    make_folder(target)
    written = []
    names = portable_names(charts)
    for name, chart in charts.items():
        drawing = _Drawing(fitted_to_grid(chart))
        for kind in formats:
            path = target / f"{names[name]}.{kind}"
            with atomic_file(path) as temporary:
                temporary.write_bytes(drawing.as_bytes(kind))
            written.append(path)
    return written


def check_figures_extra() -> None:
    """Refuse to save figures where the library that draws them is not installed.

    Raises:
        InputError: it is not.
    """
    if find_spec("vl_convert") is None:
        raise InputError('To save figures, install an extra: pip install "biasgauge[figures]"')


class _Drawing:
    """A chart that is drawn once, whatever it is written as."""

    def __init__(self, chart: Any) -> None:  # noqa: ANN401 - a chart
        self._chart = chart

    def as_bytes(self, kind: str) -> bytes:
        """One of FORMATS."""
        import vl_convert

        match kind:
            case "svg":
                return self._svg.encode()
            case "png":
                return vl_convert.svg_to_png(self._svg, scale=2)
            case "pdf":
                return vl_convert.svg_to_pdf(self._svg)
            case _:
                return self._saved(kind, **{"inline": True} if kind == "html" else {}).encode()

    @cached_property
    def _svg(self) -> str:
        return self._saved("svg")

    def _saved(self, kind: str, **how: bool) -> str:
        text = StringIO()
        self._chart.save(text, format=kind, **how)
        return text.getvalue()

"""Turn the tutorials of docs/tutorials/ into executed notebooks.

    python scripts/make_notebooks.py build/site/tutorials [NAME ...]

A tutorial is a page of Markdown: each block of Python becomes a cell that is run, each block that is a file a cell that
writes it, everything else stays text. So the page is what people edit and compare, and the notebook is made from it
when the site is built. Each runs in an empty folder of its own, with what ships alone; a cell that fails is an error.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from pathlib import Path
from typing import Any

TUTORIALS = Path(__file__).resolve().parents[1] / "docs" / "tutorials"
_BLOCK = re.compile(r"^```(?:python|\w+ file: *(?P<file>\S+))\n(?P<source>.*?)^```$\n?", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")
"""A link to another page, which leads nowhere from a notebook on somebody's disk."""
_DOWNLOAD = re.compile(r"^<p class=\"download\">.*\n", re.MULTILINE)
_PATIENCE = 600
"""Seconds for one cell; only a hang uses them up."""


def cells(page: str) -> list[tuple[str, str]]:
    """The page in order: ("markdown", text), ("code", program), and ("file:NAME", what a file holds)."""
    page, done = _DOWNLOAD.sub("", page), 0
    found: list[tuple[str, str]] = []
    for block in _BLOCK.finditer(page):
        kind = f"file:{block['file']}" if block["file"] else "code"
        found += [("markdown", page[done : block.start()].strip()), (kind, block["source"].strip("\n"))]
        done = block.end()
    found.append(("markdown", page[done:].strip()))
    return [(kind, text) for kind, text in found if text]


def notebook(page: str) -> Any:  # noqa: ANN401 - a notebook node
    """The page as a notebook that was not run yet."""
    from nbformat import v4

    make: Any = v4  # its functions have no types

    made = make.new_notebook(metadata={"language_info": {"name": "python"}})
    for kind, text in cells(page):
        if kind == "markdown":
            plain = _LINK.sub(r"\1", re.sub(r"^```console .*$", "```console", text, flags=re.MULTILINE))
            made.cells.append(make.new_markdown_cell(plain))
        else:
            made.cells += map(make.new_code_cell, _programs(kind, text))
    for place, cell in enumerate(made.cells):
        cell["id"] = f"cell-{place}"  # a random one would make every build another file
    return made


def _programs(kind: str, text: str) -> list[str]:
    """A block as cells: Jupyter's own command writes a file, once its folder is there."""
    _, _, file = kind.partition(":")
    if not file:
        return [text]
    folder = Path(file).parent.as_posix()
    made = [] if folder == "." else [f"from pathlib import Path\n\nPath({folder!r}).mkdir(parents=True, exist_ok=True)"]
    return [*made, f"%%writefile {file}\n{text}"]


def executed(made: Any, folder: Path) -> Any:  # noqa: ANN401 - a notebook node
    """Run the cells of a notebook one after the other, in a kernel of this Python, in a folder."""
    from nbclient import NotebookClient

    where = {"metadata": {"path": str(folder)}}
    quiet = {**os.environ, "PYTHONWARNINGS": "ignore:IProgress not found"}  # of a library whose bars need a widget
    return NotebookClient(made, timeout=_PATIENCE, kernel_name="python3", resources=where, record_timing=False).execute(
        env=quiet
    )


def main() -> None:
    """Write the notebooks."""
    import nbformat

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder for the notebooks")
    parser.add_argument("names", nargs="*", help="tutorials; all when left out")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.names or sorted(page.stem for page in TUTORIALS.glob("*.md")):
        made = notebook((TUTORIALS / f"{name}.md").read_text(encoding="utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            run = executed(made, Path(folder))
        target = arguments.out / f"{name}.ipynb"
        text: str = nbformat.writes(run)
        target.write_text(text + "\n", encoding="utf-8")
        print(target)


if __name__ == "__main__":
    main()

"""What the documentation does when it is built: code is run and its outputs shown, formulas are set.

MkDocs loads this file (`hooks:` in mkdocs.yml). `SITE_OUTPUTS=off` leaves outputs out, for a quick look at prose.
"""

from __future__ import annotations

import os
import re
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page
from site_blocks import Block, BlockError, blocks_of
from site_formulas import with_formulas
from site_graph import drawn
from site_outputs import PageError, Pieces, made_outputs
from site_values import color_sheet

from biasgauge import __version__

_outputs: dict[str, list[Pieces]] = {}
"""Page → pieces of its blocks."""
_texts: dict[str, list[str]] = {}
"""Page → HTML that takes its place once Markdown has been read, which would take it apart."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Run the blocks of all pages that are not kept from an earlier build."""
    _outputs.clear()
    config.extra["made"] = f"biasgauge {__version__}. Code was run, and outputs were made, when this site was built."
    pages = {file.src_uri: _read(file.src_uri, file.content_string) for file in files.documentation_pages()}
    if os.environ.get("SITE_OUTPUTS") == "off":
        return files
    beside = Path(config.config_file_path).parent
    package = beside / config.extra.get("package", "src/biasgauge")
    files_too = config.extra.get("example_files", True)
    try:
        _outputs.update(made_outputs(pages, beside / "build" / "site-outputs", package, example_files=files_too))
    except PageError as failed:
        raise PluginError(str(failed)) from None
    return files


def _read(name: str, markdown: str) -> tuple[Block, ...]:
    try:
        return blocks_of(markdown)
    except BlockError as problem:
        raise PluginError(f"{name}:{problem}") from None


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:  # noqa: ANN401 - MkDocs hands over more
    """Put each block's pieces in its place; what they showed follows when the page is HTML."""
    name = page.file.src_uri
    texts = _texts[name] = []
    made = iter(_outputs.get(name, ()))
    lines, parts, done = markdown.split("\n"), list[str](), 0
    for block in _read(name, markdown):
        parts.append(with_formulas("\n".join(lines[done : block.line - 1]), texts, token))
        pieces = next(made, None) if block.runs else None
        parts += [" " * block.indent + line for line in _block_lines(block, pieces, texts)]
        done = block.last
    parts.append(with_formulas("\n".join(lines[done:]), texts, token))
    return "\n".join(parts)


def _block_lines(block: Block, pieces: Pieces | None, texts: list[str]) -> list[str]:
    if block.language == "mermaid":
        return [token(drawn(block.source, "flowchart of the packages; each arrow leads to what uses it"), texts), ""]
    shown = pieces or [{"code": block.source, "html": ""}]
    lines: list[str] = []
    if block.task == "file":
        lines += ["", token(f'<p class="block-name">{escape(block.told)}</p>', texts), ""]
    for piece in shown:
        if piece["code"]:
            lines += [f"```{block.language}", *piece["code"].split("\n"), "```", ""]
        if piece["html"]:
            lines += [token(piece["html"], texts), ""]
    if block.task == "leave":
        lines += [token(f'<p class="block-note">Not run for this page: {escape(block.told)}.</p>', texts), ""]
    if block.task == "setup":
        inside = [f"    {line}" if line else "" for line in lines]
        lines = ['??? note "What this page needs first"', "", *inside]
    return lines


def token(html: str, texts: list[str]) -> str:
    """A word that stands for HTML until Markdown has been read."""
    texts.append(html)
    return f"htmlpiece{len(texts) - 1}x"


def on_page_content(html: str, page: Page, **_: Any) -> str:  # noqa: ANN401 - MkDocs hands over more
    """Put outputs and formulas where they belong, and say what made them."""
    texts = _texts.get(page.file.src_uri, [])
    html = re.sub(r"<p>htmlpiece(\d+)x</p>|htmlpiece(\d+)x", lambda found: texts[int(found[1] or found[2])], html)
    html = html.replace("<pre>", '<pre tabindex="0">')  # what scrolls can be reached by keys
    html = re.sub(r"<table>.*?</table>", lambda found: _in_a_box(found[0]), html, flags=re.DOTALL)
    return color_sheet(html) + html


def _in_a_box(table: str) -> str:
    return f'<div class="wide" tabindex="0">{table}</div>'


def on_post_build(config: MkDocsConfig) -> None:
    """The index of the search as a script, which a page that was opened from a disk can read."""
    folder = Path(config.site_dir) / "search"
    found = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"window.searchIndex = {found}", encoding="utf-8")
    (folder / "search_index.json").unlink()

"""The site's own machinery: blocks are run in order, their outputs stand below them, and failures name their line."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

FENCE = "`" * 3
CONFIGURATION = """
site_name: tiny
strict: true
use_directory_urls: false
theme: {{name: null, custom_dir: {theme}, search_index_only: true}}
hooks: [{hook}]
plugins: [search]
markdown_extensions: [pymdownx.highlight, pymdownx.superfences, pymdownx.details, tables]
extra: {{package: package, example_files: false}}
"""
INDEX = f"""
# First

{FENCE}python setup
numbers = [1, 2]
{FENCE}

{FENCE}python
numbers.append(3)
print("sum", sum(numbers))
"<script>alert(1)</script>"
{FENCE}

{FENCE}python
import pandas as pd

pd.DataFrame({{"<b>": [0.123456], "n": [len(numbers)]}})
{FENCE}

{FENCE}toml file: own.toml
answer = 42
{FENCE}

{FENCE}console
$ cat own.toml; echo "a & b"
{FENCE}

{FENCE}console exit 3
$ exit 3
{FENCE}

{FENCE}console not run: it needs a <cluster>
$ dask worker
{FENCE}

Inline $a_b = 2$ costs `$5`.
"""
OTHER = f"""# Second

{FENCE}python
from pathlib import Path
print("numbers" in globals(), Path("own.toml").exists())
{FENCE}
"""


@pytest.fixture
def tiny(repository: Path, tmp_path: Path) -> Path:
    """A site of two pages, with files of its own in the place of large examples."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "version.py").write_text("1")
    (tmp_path / "mkdocs.yml").write_text(
        CONFIGURATION.format(theme=repository / "docs" / "_theme", hook=repository / "scripts" / "site_hook.py")
    )
    (tmp_path / "docs" / "index.md").write_text(INDEX)
    (tmp_path / "docs" / "other.md").write_text(OTHER)
    return tmp_path


def build(folder: Path, repository: Path) -> subprocess.CompletedProcess[str]:
    own = {"PYTHONPATH": str(repository / "src")}
    words = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", "site"]
    return subprocess.run(
        words, cwd=folder, env=os.environ | own, capture_output=True, text=True, check=False, timeout=300
    )


def text(folder: Path, name: str) -> str:
    page = (folder / "site" / f"{name}.html").read_text(encoding="utf-8")
    return re.search(r"<main.*</main>", page, re.DOTALL)[0]  # type: ignore[index]


def kept(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (folder / "build" / "site-outputs").glob("*.json")}


def test_a_tiny_site(tiny: Path, repository: Path) -> None:
    done = build(tiny, repository)
    assert done.returncode == 0, done.stderr
    page = text(tiny, "index")
    outputs = [html.unescape(one) for one in re.findall(r'<pre class="output"[^>]*>(.*?)</pre>', page, re.DOTALL)]
    assert outputs == ["sum 6", "'<script>alert(1)</script>'", "answer = 42\na & b"]  # in order, in one namespace
    assert "<script>alert" not in page
    assert "<th>&lt;b&gt;</th>" in page
    assert "0.123<" in page
    assert "Not run for this page: it needs a &lt;cluster&gt;." in page
    assert "<math" in page
    assert "<code>$5</code>" in page
    assert re.findall(r"False\s+False", text(tiny, "other"))  # another page: another namespace, another folder
    assert (tiny / "site" / "search" / "search_index.js").read_text().startswith("window.searchIndex = {")

    first = kept(tiny)
    (tiny / "docs" / "index.md").write_text(INDEX.replace("# First", "# Another title\n\nMore prose."))
    assert build(tiny, repository).returncode == 0
    assert kept(tiny) == first  # prose alone runs nothing again

    (tiny / "docs" / "other.md").write_text(OTHER + f"\n{FENCE}python\nnumbers\n{FENCE}\n\nText.\n")
    failed = build(tiny, repository)
    assert failed.returncode != 0
    assert "other.md:9: " in failed.stderr
    assert "NameError: name 'numbers' is not defined" in failed.stderr

    (tiny / "docs" / "other.md").write_text(OTHER)
    (tiny / "package" / "version.py").write_text("2")
    assert build(tiny, repository).returncode == 0
    assert not {*first} & {name for name, time in kept(tiny).items() if time > max(first.values())}
    assert len({*kept(tiny)} - {*first}) == 2  # another version of the package: both pages are run again


@pytest.mark.parametrize(
    ("block", "line", "problem"),
    [
        (f"{FENCE}sh\nls\n{FENCE}", 1, "```console"),
        (f"text\n\n{FENCE}console\nls\n{FENCE}", 4, "what it prints is made"),
        (f"{FENCE}console\n$ ls\na.txt\n{FENCE}", 3, "what it prints is made"),
        (f"{FENCE}python not run\nx\n{FENCE}", 1, "says nothing that is known"),
        (f"{FENCE}toml file: ../x.toml\nx\n{FENCE}", 1, "not in the page's folder"),
        (f"{FENCE}\nbiasgauge audit\n{FENCE}", 1, "commands stand in a ```console block"),
        (f"text\n{FENCE}python\nx", 2, "does not end"),
    ],
)
def test_a_block_that_would_go_by_unseen_is_refused(block: str, line: int, problem: str, site_scripts: None) -> None:
    del site_scripts
    from site_blocks import BlockError, blocks_of

    with pytest.raises(BlockError) as raised:
        blocks_of(block)
    assert str(raised.value).startswith(f"{line}: ")
    assert problem in str(raised.value)


@pytest.fixture
def site_scripts(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(repository / "scripts"))


def test_every_block_of_every_page_is_run_or_says_why_not(repository: Path, site_scripts: None) -> None:
    del site_scripts
    from site_blocks import PROGRAMS, blocks_of

    tasks: dict[str, int] = {}
    for page in (repository / "docs").rglob("*.md"):
        for block in blocks_of(page.read_text(encoding="utf-8")):
            if block.language in PROGRAMS:
                assert block.runs or len(block.told.split()) >= 4, f"{page.name}:{block.line}"
                tasks[block.task] = tasks.get(block.task, 0) + 1
    assert tasks["run"] >= 50
    assert tasks["leave"] <= 0.25 * sum(tasks.values())  # mostly studies of hours, clusters, data of others


def test_a_flowchart_has_every_box_below_those_that_lead_to_it(site_scripts: None) -> None:
    del site_scripts
    from site_graph import drawn, edges_of, rows_of

    source = "flowchart LR\n    a & b --> c --> d\n    a -- results --> d"
    assert edges_of(source) == [("a", "c", ""), ("b", "c", ""), ("c", "d", ""), ("a", "d", "results")]
    assert rows_of(edges_of(source)) == [["a", "b"], ["c"], ["d"]]
    svg = drawn(source, "x < y")
    assert (svg.count("<rect"), svg.count("<path"), svg.count("&lt;")) == (4, 4, 1)


def test_a_figure_has_the_colors_of_the_page_and_names_of_its_own(site_scripts: None) -> None:
    del site_scripts
    from site_values import color_sheet, inline

    inner = '<defs><clipPath id="clip0"/></defs><g clip-path="url(#clip0)" role="x" fill="#000"/>'
    svg = f'<svg width="10" height="5">{inner}</svg>'
    made, other = inline(svg, "a <b>"), inline(svg.replace("10", "11"), "a")
    assert 'fill="var(--c000000)"' in made
    assert 'role="img" aria-label="a &lt;b&gt;"' in made
    assert made.count("role=") == 1
    names = {re.findall(r'id="([^"]+)"', drawing)[0] for drawing in (made, other)}
    assert len(names) == 2
    assert all(f"url(#{name})" in made + other for name in names)
    assert ":root{--c000000:#000000;}" in color_sheet(made)
    assert "data-theme=dark]{--c000000:#" in color_sheet(made)
    assert color_sheet("<p>no figure</p>") == ""
    assert 'fill="#000"' in inline(svg, "a", of_page=False)  # a heat map keeps its own

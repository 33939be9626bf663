"""The documentation builds without a warning, leaves no page out, and its programs run as they are written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

HERE = Path(__file__).resolve().parents[2] / "docs"
PAGES = tuple(sorted(f"howto/{one.name}" for one in (HERE / "howto").glob("*.md")))


def test_the_site_builds_and_refers_to_nothing_outside(repository: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(site)]
    done = subprocess.run(words, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = {page.relative_to(site).parent.as_posix() for page in site.rglob("index.html")}
    pages = {page.relative_to(repository / "docs").with_suffix("").as_posix() for page in HERE.rglob("*.md")}
    assert {"." if one == "index" else one.removesuffix("/index") for one in pages} == built
    text = (site / "index.html").read_text()
    assert not re.search(r"<(script|link)[^>]+https?://", text)


def test_the_contents_name_every_page(repository: Path) -> None:
    contents = (repository / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    named = set(re.findall(r": ([\w/]+\.md)$", contents, re.MULTILINE))
    assert named == {page.relative_to(HERE).as_posix() for page in HERE.rglob("*.md")}


def program(name: str) -> str:
    """The programs of a page, one after the other."""
    page = (HERE / name).read_text()
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


def run(name: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program(name)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("name", PAGES)
def test_the_programs_of_a_page_run(name: str, tmp_path: Path) -> None:
    assert "import biasgauge as bg" in program(name)
    assert run(name, tmp_path).strip()


def test_the_tutorial_says_what_its_programs_say(tmp_path: Path) -> None:
    """Its sentences about the result are those that the result has."""
    told = run("tutorial.md", tmp_path)
    assert "effect 1.32, p 0.005 (exact)" in told
    assert re.search(r"^report-with-care: WEAT 1", told, re.MULTILINE)
    assert re.search(r"^do-not-report: WEAT 7.*base pairs", told, re.MULTILINE)
    assert "decision: undecided" in told
    assert (tmp_path / "report.html").is_file()

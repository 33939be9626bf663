"""What is told about the package outside of it: one version, the same dependencies, the same commands."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import biasgauge as bg

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def project(repository: Path) -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((repository / "pyproject.toml").read_text())["project"]
    return found


def test_one_version_everywhere(repository: Path) -> None:
    citation = yaml.safe_load((repository / "CITATION.cff").read_text())
    archive = json.loads((repository / ".zenodo.json").read_text())
    recipe = yaml.safe_load((repository / "conda" / "meta.yaml").read_text().replace("{{ PYTHON }}", "python"))
    told = {str(citation["version"]), str(archive["version"]), str(recipe["package"]["version"])}
    assert told == {re.sub(r"\.dev\d+$", "", bg.__version__)}
    assert archive["title"] == citation["title"]
    assert archive["keywords"] == citation["keywords"]


def test_conda_asks_for_what_pip_asks_for(repository: Path, project: dict[str, Any]) -> None:
    recipe = yaml.safe_load((repository / "conda" / "meta.yaml").read_text().replace("{{ PYTHON }}", "python"))
    asked = [line.replace(" ", "") for line in recipe["requirements"]["run"]]
    assert asked == [f"python{project['requires-python']}", *project["dependencies"]]


def test_workflows_run_what_is_run_here(repository: Path, project: dict[str, Any]) -> None:
    folder = repository / ".github" / "workflows"
    tests, docs, publish, nightly, security = (
        yaml.safe_load((folder / f"{name}.yml").read_text())
        for name in ("tests", "docs", "publish", "nightly", "security")
    )
    commands = {
        "tests": [step["run"] for step in tests["jobs"]["test"]["steps"] if "run" in step],
        "docs": [step["run"] for step in docs["jobs"]["site"]["steps"] if "run" in step],
        "publish": [step["run"] for step in publish["jobs"]["package"]["steps"] if "run" in step],
    }
    assert commands == {"tests": [".ci/run"], "docs": ["make docs"], "publish": ["make package"]}
    looked_up = [step["run"] for step in security["jobs"]["dependencies"]["steps"] if "run" in step]
    assert looked_up[0] == "make dependencies"
    assert "pip_audit" in looked_up[-1]
    pythons = tests["jobs"]["test"]["strategy"]["matrix"]["python"]
    assert [f"Programming Language :: Python :: {one}" for one in pythons] == [
        line for line in project["classifiers"] if re.search(r":: 3\.\d+$", line)
    ]
    goals = (repository / "Makefile").read_text()
    assert all(re.search(rf"^{goal}:", goals, re.MULTILINE) for goal in ("docs", "package", "dependencies"))
    every_night = nightly["jobs"]["disturb"]["strategy"]["matrix"]["goal"]
    assert every_night == ["fuzz", "kills", "faults"]
    assert all(re.search(rf"^{goal}:", goals, re.MULTILINE) for goal in every_night)


def test_every_extra_is_told_in_the_readme(repository: Path, project: dict[str, Any]) -> None:
    page = (repository / "README.md").read_text()
    for_users = set(project["optional-dependencies"]) - {"dev", "docs", "release"}
    assert for_users == set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


def test_every_fragment_of_the_changelog_is_one_line_under_a_name_that_towncrier_knows(repository: Path) -> None:
    """Lists within a fragment would stand as "- - …" in the changelog, and "26-name" as the issue "#26-name"."""
    for fragment in (repository / "changelog.d").glob("*.md"):
        assert re.fullmatch(r"(\d+|\+[\w-]+)\.(added|changed|fixed)(\.\d+)?\.md", fragment.name), fragment.name
        text = fragment.read_text(encoding="utf-8")
        assert text.count("\n") == 1, fragment.name
        assert text.endswith(".\n"), fragment.name
        assert not text.startswith(("-", "*", " ", "#")) or text.startswith("**"), fragment.name


def test_paths_that_the_notice_names_exist(repository: Path) -> None:
    text = (repository / "NOTICE").read_text(encoding="utf-8")
    named = [pattern.rstrip(".") for pattern in re.findall(r"src/biasgauge/[\w/.*-]+", text)]
    assert len(named) >= 5
    assert [pattern for pattern in named if not list(repository.glob(pattern))] == []
    beside = re.findall(r"\b[A-Z_]*LICEN[CS]ES?\.txt", text)
    assert beside
    assert [name for name in beside if not list((repository / "src" / "biasgauge").rglob(name))] == []

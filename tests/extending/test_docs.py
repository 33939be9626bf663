"""The page about extending shows the package that the tests install, whole and as it is."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from biasgauge import registry
from biasgauge.core.groups import GROUPS
from biasgauge.testing import check_association_test, check_measure

PACKAGE = Path(__file__).with_name("package")
FILES = sorted(
    path.relative_to(PACKAGE).as_posix()
    for path in PACKAGE.rglob("*")
    if path.suffix in {".py", ".toml"} and path.name != "__init__.py"
)


@pytest.fixture
def page(repository: Path) -> str:
    return (repository / "docs" / "extending.md").read_text()


@pytest.mark.parametrize("file", FILES)
def test_every_file_is_shown_as_it_is(file: str, page: str) -> None:
    kind = "toml" if file.endswith(".toml") else "python"
    name = file.removeprefix("src/")
    assert f"```{kind} file: {name}\n{(PACKAGE / file).read_text().rstrip()}\n```" in page


def test_there_is_a_file_for_every_group(page: str) -> None:
    shown = {Path(file).stem for file in FILES}
    assert {*registry.groups()} - shown == {"lexicon"}
    for group in GROUPS.values():
        assert f"`{group.attribute}" in page or group.attribute == "FOLDER"
    assert page.count("\nIn biasgauge itself: ") == len(registry.groups())


def test_the_example_declares_what_is_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGE / "src"))
    check_measure(import_module("bias_extras.measure").MEASURE)
    check_association_test(import_module("bias_extras.association_test").TEST)

"""Studies of the documentation: their files can be planned, their steps run, and their pages name the command."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest

from biasgauge import registry
from biasgauge.errors import InputError
from biasgauge.study import file_step, plan_study, read_study, run_study, study_from

ROOT = Path(__file__).parents[2]
FILES = sorted(path for path in (ROOT / "studies").glob("*.toml") if path.name != "pyproject.toml")


@pytest.fixture(autouse=True)
def steps() -> Iterator[None]:
    """Register the steps that installing the package of the studies would bring."""
    project = tomllib.loads((ROOT / "studies" / "pyproject.toml").read_text(encoding="utf-8"))
    entries = project["project"]["entry-points"]["biasgauge.study_step"]
    added = [name for name in entries if name not in registry.names("study_step")]
    for name in added:
        module, _, attribute = entries[name].partition(":")
        step = getattr(import_module(module), attribute)
        assert step.name == name
        registry.register(step)
    yield
    for name in added:
        registry.unregister("study_step", name)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_study_can_be_planned_and_its_page_names_the_command(
    file: Path,
    shared_data: Path,
) -> None:
    plan = plan_study(read_study(file, allow=[shared_data]))
    assert len(plan.cells) >= len(plan.results) > 0
    command = f"make study NAME={file.stem}"
    assert command in file.read_text(encoding="utf-8")
    pages = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs" / "studies").glob("*.md"))
    assert command in " ".join(pages.split())  # wherever a line of the page ends


@pytest.mark.slow
def test_analogies_are_those_of_the_page(tmp_path: Path, shared_data: Path) -> None:
    study = read_study(ROOT / "studies" / "zhang2020_analogies.toml", allow=[shared_data])
    result = run_study(study, out=tmp_path, workers=0)
    assert result.failed == 0
    for name in ("summary", "other_pairs", "generated"):
        computed = pd.read_csv(Path(result.results["analogies"]) / f"{name}.csv")
        shown = pd.read_csv(ROOT / "docs" / "studies" / "zhang2020_analogies" / f"{name}.csv")
        pd.testing.assert_frame_equal(computed, shown, atol=1e-3)


class TestAnalysesOfFiles:
    """Kinds that are made of files, and of outcomes of each other."""

    @pytest.fixture(autouse=True)
    def kinds(self) -> Iterator[None]:
        def count(out: Path, inputs: dict[str, Path], *, text: Path, times: int = 1) -> None:  # noqa: ARG001
            (out / "count.txt").write_text(str(times * len(text.read_text().split())))

        def add(out: Path, inputs: dict[str, Path]) -> None:
            numbers = {name: int((folder / "count.txt").read_text()) for name, folder in inputs.items()}
            (out / "sum.json").write_text(json.dumps({**numbers, "sum": sum(numbers.values())}))

        registry.register(file_step("counting", "count words", {"count": count, "add": add}))
        yield
        registry.unregister("study_step", "counting")

    def study(self, folder: Path, **analyses: object) -> object:
        (folder / "text.txt").write_text("one two three")
        content = {"study": {"name": "s"}, "analyses": analyses}
        return study_from(content, folder=folder)

    def test_outcomes_are_handed_on_in_the_order_of_their_names(self, tmp_path: Path) -> None:
        once = {"kind": "count", "settings": {"text": "text.txt"}}
        twice = {"kind": "count", "settings": {"text": "text.txt", "times": 2}}
        study = self.study(tmp_path, total={"kind": "add", "of": ["twice", "once"]}, once=once, twice=twice)
        result = run_study(study, out=tmp_path / "out", workers=0)  # type: ignore[arg-type]
        content = json.loads((Path(result.results["total"]) / "sum.json").read_text())
        assert content == {"twice": 6, "once": 3, "sum": 9}
        assert list(content)[:2] == ["twice", "once"]
        again = run_study(study, out=tmp_path / "out", workers=0)  # type: ignore[arg-type]
        assert (again.done, again.reused) == (0, 3)
        (tmp_path / "text.txt").write_text("one two")
        changed = run_study(study, out=tmp_path / "out", workers=0)  # type: ignore[arg-type]
        assert changed.done == 3

    @pytest.mark.parametrize(
        ("analyses", "key_word"),
        [
            ({"a": {"kind": "add", "of": ["b"]}, "b": {"kind": "add", "of": ["a"]}}, "made of each other"),
            ({"a": {"kind": "add", "of": ["nothing"]}}, "nothing"),
            ({"a": {"kind": "count", "settings": {"text": "absent.txt"}}}, "absent.txt"),
            ({"a": {"kind": "count"}}, "text"),
        ],
    )
    def test_what_is_wrong_is_said_before_any_work(
        self, tmp_path: Path, analyses: dict[str, object], key_word: str
    ) -> None:
        with pytest.raises(InputError, match=key_word):
            plan_study(self.study(tmp_path, **analyses))  # type: ignore[arg-type]

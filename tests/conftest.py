"""What every test may use."""

from __future__ import annotations

import copyreg
import gc
import os
import pickle
import sys
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasgauge import Embedding
    from biasgauge.audits import AuditResult
    from biasgauge.papers import Reproduction

ROOT = Path(__file__).resolve().parents[1]

# Tests start hundreds of processes: without files of bytecode each would translate the whole package again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Nothing that is imported and collected becomes garbage; looking for it takes a good part of the collection.
gc.disable()

# No test depends on how long something takes: a busy machine is not a fault.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=25)
settings.register_profile("thorough", settings.get_profile("any machine"), max_examples=1_000)
settings.load_profile("any machine")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files whose tests are few and long come first: a process that starts on one of them last keeps all waiting."""
    long = {item.path for item in items for mark in ("e2e", "crash", "calibration") if item.get_closest_marker(mark)}
    items.sort(key=lambda item: item.path not in long)


def pytest_collection_finish() -> None:
    """What was imported and collected stays until the end: no garbage collection has to look at it again."""
    gc.collect()
    gc.freeze()
    gc.enable()


NOT_TESTED = {
    "NO BROWSER": "pages in a browser (no Chromium)",
    "NO PLAYWRIGHT": "pages in a browser (no playwright)",
    "NO SHARED DATA": "real data (BIASGAUGE_SHARED)",
    "NO REAL MODEL": "real transformers",
    "NO SMOLLM2": "real transformers",
    "NO PAPER TEXTS": "texts of the papers",
}
"""What tests that were skipped would have tested, by what their reason begins with."""


def pytest_terminal_summary(terminalreporter: Any) -> None:  # noqa: ANN401 - of pytest
    """Say in the last line what was not tested; with BIASGAUGE_REQUIRE_BROWSER, skipped browser tests are an error."""
    counts: dict[str, int] = {}
    for report in terminalreporter.stats.get("skipped", []):
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        about = next((about for start, about in NOT_TESTED.items() if start in reason), "other")
        counts[about] = counts.get(about, 0) + 1
    skipped = ", ".join(f"{about}: {count}" for about, count in sorted(counts.items()))
    terminalreporter.write_line(f"Not tested: {skipped or 'nothing was skipped'}.")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where a browser was required and a test that needs one was skipped."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = [] if reporter is None else reporter.stats.get("skipped", [])
    if os.environ.get("BIASGAUGE_REQUIRE_BROWSER") and any("NO BROWSER" in str(one.longrepr) for one in skipped):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder with real vectors, corpora and published results; tests that need it skip where it is absent."""
    folder = Path(os.environ.get("BIASGAUGE_SHARED", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"NO SHARED DATA at {folder}: set BIASGAUGE_SHARED to the folder to run this test")
    return folder


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the source tree."""
    return ROOT


def _read_only(content: dict[object, object]) -> MappingProxyType[object, object]:
    return MappingProxyType(content)


copyreg.pickle(MappingProxyType, lambda mapping: (_read_only, (dict(mapping),)))


@pytest.fixture(scope="session")
def package() -> Path:
    """Where the package lies: in the source tree, or where a wheel was installed."""
    import biasgauge

    return Path(biasgauge.__file__).parent


@pytest.fixture(scope="session")
def once_a_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[], Any]], Any]:
    """What a function returns, kept under a name: made once for all processes of a run."""
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder

    def kept(name: str, make: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever is made
        from biasgauge.io.locks import writer_lock

        file = folder / name
        with writer_lock(file.with_suffix(".lock")):
            if not file.exists():
                file.write_bytes(pickle.dumps(make()))
        return pickle.loads(file.read_bytes())  # noqa: S301 - written a moment ago by a test of this run

    return kept


@pytest.fixture(scope="session")
def shipped_audit(once_a_run: Callable[[str, Callable[[], Any]], Any]) -> Callable[..., AuditResult]:
    """The audit of the shipped replicates with some lexicons, or with all."""

    @cache
    def audited(*lexicons: str) -> AuditResult:
        import biasgauge as bg

        result: AuditResult = once_a_run(
            f"audit-{'-'.join(lexicons)}", lambda: bg.audit(lexicons=list(lexicons) or None)
        )
        return result

    return audited


@pytest.fixture(scope="session")
def decided_audit(once_a_run: Callable[[str, Callable[[], Any]], Any]) -> AuditResult:
    """The audit of the shipped replicates with two questions, at a level at which both have an association."""
    import biasgauge as bg

    rules = bg.audits.Rules(alpha=0.2)
    result: AuditResult = once_a_run("audit-decided", lambda: bg.audit(lexicons=["weat6b", "gender"], rules=rules))
    return result


@pytest.fixture(scope="session")
def reproduced(once_a_run: Callable[[str, Callable[[], Any]], Any]) -> Callable[..., Reproduction]:
    """The whole reproduction of a paper, without data or with a folder of them."""

    @cache
    def of(name: str, data: Path | None = None) -> Reproduction:
        import biasgauge as bg

        result: Reproduction = once_a_run(
            f"paper-{name}-{'data' if data else 'alone'}", lambda: bg.reproduce(name, data)
        )
        return result

    return of


@pytest.fixture(scope="session")
def small_replicates() -> list[Embedding]:
    """The shipped replicates with 2,500 frequent words and those of the lexicons that ship: cheap to audit."""
    import biasgauge as bg
    from biasgauge import registry

    asked = {word for lexicon in registry.everything("lexicon").values() for word in lexicon.words}
    models = []
    for model in bg.vectors.load_default_replicates():
        rows = [row for row, word in enumerate(model.words) if row < 2_500 or word in asked]
        models.append(model.subset(model.words[row] for row in rows))
    return models


@pytest.fixture
def quick_audits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Audits without posteriors and with few meaningless ones, for tests that look at neither: each takes seconds."""
    from biasgauge.audits import run
    from biasgauge.audits.part import PartRows, ordered_parts
    from biasgauge.audits.parts import false_alarms

    parts = ordered_parts()
    parts["uncertainty"] = replace(parts["uncertainty"], measure=lambda _: PartRows(()))  # type: ignore[type-var]  # a ShippedPart
    monkeypatch.setattr(run, "ordered_parts", lambda: parts)
    monkeypatch.setattr(false_alarms, "error_rates", partial(false_alarms.error_rates, audits=20))

"""Parts of the audit: what ships keeps its promises, and false ones are found."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest

import biasgauge as bg
from biasgauge import registry
from biasgauge.audits.context import build_context
from biasgauge.results import Result, Summary
from biasgauge.testing import PropertyError, check_audit_part

PACKAGE = Path(__file__).parents[2] / "examples" / "bias-extras" / "src"


@pytest.mark.parametrize("name", registry.names("audit_part"))
def test_every_part_keeps_its_promises(name: str) -> None:
    check_audit_part(registry.get("audit_part", name))


@dataclass(frozen=True, eq=False, repr=False)
class Number(Result):
    tables: ClassVar[tuple[str, ...]] = ()
    value: int

    def _headline(self) -> str:
        return str(self.value)


class Counter:
    name, title = "counter", "Words"
    read = Number.from_dict

    def measure(self, context: Any) -> Any:  # noqa: ANN401 - variants give other things
        return Number(len(context.models[0]))

    def summarize(self, result: Number) -> Any:  # noqa: ANN401 - variants give other things
        return result.summary()


def test_a_part_of_somebody_else_is_measured_shown_stored_and_read_back() -> None:
    check_audit_part(Counter())
    registry.register(Counter())
    try:
        result = bg.audit(bg.vectors.load_default(2_000), lexicons=["weat7"])
        assert result.counter.value == 2_000
        assert result.to_dict()["counter"] == {"value": 2_000}
        shown = next(part for part in result.summary().parts if part.name == "counter")
        assert (shown.title, shown.headline) == ("Words", "2000")
        again = bg.audits.AuditResult.from_dict(result.to_dict())
        assert again.counter.value == 2_000
        assert next(part for part in again.summary().parts if part.name == "counter").headline == "2000"
    finally:
        registry.unregister("audit_part", "counter")


def test_the_part_of_the_documentation_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(PACKAGE))
    check_audit_part(import_module("bias_extras.audit_part").PART)


class NoResult(Counter):
    def measure(self, context: Any) -> Any:  # noqa: ANN401 - the mistake
        return len(context.models)


class NotTheSame(Counter):
    calls = 0

    def measure(self, context: Any) -> Any:  # noqa: ANN401 - as above
        self.calls += 1
        return Number(self.calls + len(context.models))


class NoSummary(Counter):
    def summarize(self, result: Number) -> Any:  # noqa: ANN401 - the mistake
        return str(result.value)


class Forgetful(Counter):
    @staticmethod
    def read(_: Any) -> Number:  # noqa: ANN401 - the mistake
        return Number(0)


class Spaced(Counter):
    name = "a counter"


class Unreadable(Counter):
    @staticmethod
    def read(content: Any) -> Number:  # noqa: ANN401 - JSON
        return Number(content["values"])


class Broken(Counter):
    def measure(self, context: Any) -> Any:  # noqa: ANN401 - never returns
        raise KeyError(context.models[0].name)


def test_a_part_that_fails_is_not_measured_and_the_audit_goes_on() -> None:
    registry.register(Broken())
    try:
        result = bg.audit(bg.vectors.load_default(2_000), lexicons=["weat7"])
        content = result.to_dict()
        assert "KeyError" in content["counter"]["reason"]
        again = bg.audits.AuditResult.from_dict(content)
        for audit in (result, again):
            assert "KeyError" in next(part for part in audit.summary().parts if part.name == "counter").headline
        assert again.to_dict() == content
    finally:
        registry.unregister("audit_part", "counter")


class Bias(Counter):
    name = "bias"


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (NoResult, "measure"),
        (NotTheSame, "measure"),
        (Broken, "measure"),
        (NoSummary, "summarize"),
        (Forgetful, "read"),
        (Unreadable, "read"),
        (Spaced, "name"),
        (Bias, "name"),
    ],
)
def test_a_false_part_is_found(part: type[Counter], name: str) -> None:
    with pytest.raises(PropertyError) as problem:
        check_audit_part(part())
    assert problem.value.property == name


def test_the_value_that_is_read_back_wrong_is_named() -> None:
    with pytest.raises(PropertyError, match=r"value = \d+ instead of \d+"):
        check_audit_part(Forgetful())


def test_a_part_may_ask_for_the_results_of_parts_that_ship() -> None:
    class Asking(Counter):
        def measure(self, context: Any) -> Any:  # noqa: ANN401 - a result
            return Number(len(context.result_of("lexicons").to_list()))

    check_audit_part(Asking())


def test_a_class_in_the_place_of_a_part_is_found() -> None:
    with pytest.raises(PropertyError, match="class Counter"):
        check_audit_part(Counter)  # type: ignore[arg-type]  # the mistake


def test_parts_that_wait_for_each_other_are_refused() -> None:
    class Waiting:
        name, title = "waiting", "Waiting"

        def measure(self, context: Any) -> Any:  # noqa: ANN401 - a result
            return context.result_of("waiting")

        def summarize(self, result: Any) -> Summary | None:  # noqa: ANN401 - never called
            return result  # type: ignore[no-any-return]

    context = build_context([bg.vectors.load_default(200)], lexicons=["weat7"], parts={"waiting": Waiting()})
    with pytest.raises(bg.ParameterError, match="waits for itself"):
        context.result_of("waiting")
    with pytest.raises(bg.ParameterError, match="no part"):
        context.result_of("absent")

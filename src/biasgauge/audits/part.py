"""`AuditPart`: one section of an audit, ours or a third party's: what it measures and how it is shown.

JSON, page, progress and study files loop over the registered parts (group "audit_part"; docs/howto/extending.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from biasgauge import registry
from biasgauge.core import JsonObject, to_plain
from biasgauge.errors import BiasgaugeError
from biasgauge.results import Result, Stored, Summary, counted

if TYPE_CHECKING:
    from biasgauge.audits.context import AuditContext
    from biasgauge.audits.result import AuditResult
    from biasgauge.audits.verdicts import Verdict

LAST = 1_000
"""Order of a part that states none: after those that ship."""


@runtime_checkable
class AuditPart(Protocol):
    """One section of an audit.

    A part may also have `order` (smaller is earlier on the page), `stage` (what the user is told while waiting),
    `front` (True: before the appendix of the page) and `read` (JSON back to its result; without it, what is read back
    shows its sentences and tables).

    Attributes:
        name: key in the JSON of the audit, and of the section on the page.
        title: heading of the section.
    """

    name: str
    title: str

    def measure(self, context: AuditContext) -> Result | None:
        """Measure; None where the part does not apply to this audit."""

    def summarize(self, result: Any) -> Summary | None:  # noqa: ANN401 - what `measure` gave
        """Summarize for page and terminal; None: nothing to show. May take the whole `audit` as a second argument."""


@dataclass(frozen=True, eq=False, repr=False)
class PartRows(Result):
    """Records of one kind; in the JSON of an audit they are a list."""

    tables: ClassVar[tuple[str, ...]] = ("rows",)

    rows: tuple[Any, ...]

    @classmethod
    def reader(cls, record: Callable[[Any], Any]) -> Callable[[Any], PartRows]:
        """Return what reads the list back, each item by `record`."""
        return lambda content: cls(tuple(map(record, content)))

    def _headline(self) -> str:
        return f"{counted(self.rows, 'row')}."

    def to_list(self) -> list[Any]:
        """Return the rows as JSON has them."""
        return [to_plain(row) for row in self.rows]


def summarize_result(result: Result) -> Summary | None:
    """Return the summary of a result; None where it has no rows."""
    return None if isinstance(result, PartRows) and not result.rows else result.summary()


@dataclass(frozen=True)
class ShippedPart:
    """A part that ships, as data.

    Attributes:
        name, title, measure: as in `AuditPart`.
        summarize: as in `AuditPart`; by default the summary of the result.
        about: introduction of the section; by default that of the summary.
        anchor: name of the section in the page; by default `name` with hyphens.
        order: on the page, and in which parts are computed: a part may wait for earlier ones.
        stage: shown while one waits for it.
        read: from the value in the audit's JSON back to the result.
        write: from the result to that value.
        verdicts: verdicts that the part adds to those on the queries.
        front: as in `AuditPart`.
    """

    name: str
    title: str
    measure: Callable[[AuditContext], Result | None]
    summarize: Callable[..., Summary | None] = summarize_result
    about: str = ""
    anchor: str = ""
    order: int = LAST
    stage: str = ""
    read: Callable[[Any], Result] = Stored.from_dict
    write: Callable[..., Any] | None = None
    verdicts: Callable[[Any, AuditContext], tuple[Verdict, ...]] | None = None
    front: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class NotMeasured(Result):
    """A part that could not be measured.

    Attributes:
        reason: why.
        empty: keys of the JSON whose lists are empty for that reason.
    """

    abridged: ClassVar[bool] = True
    json_types: ClassVar[Mapping[str, Any]] = {"reason": str}

    reason: str
    empty: tuple[str, ...] = ()

    def to_dict(self) -> JsonObject:
        """Empty lists, and the reason."""
        return {**{name: [] for name in self.empty}, "reason": self.reason}

    def summary(self) -> Summary:
        """The reason."""
        return Summary("Not measured", f"Unknown: {self.reason.rstrip('.')}.")


NOT_REQUESTED = "not requested: with named lexicons, these alone are measured"


def ordered_parts() -> dict[str, AuditPart]:
    """Return every registered part by name, in the order of the page."""
    parts = registry.everything("audit_part")
    return dict(sorted(parts.items(), key=lambda item: (getattr(item[1], "order", LAST), item[0])))


def measure_part(part: AuditPart, context: AuditContext) -> Result | None:
    """Measure a part; a third party's part that fails is not measured, with the error as reason."""
    try:
        return part.measure(context)
    except BiasgaugeError:
        raise
    except Exception as problem:  # whatever a third party's part does
        if isinstance(part, ShippedPart):
            raise
        return NotMeasured(f"the part {part.name} failed with {type(problem).__name__}: {problem}")


def read_part(part: AuditPart, content: Any) -> Result:  # noqa: ANN401 - whatever JSON holds
    """Read the result of a part back from the JSON of an audit."""
    if not isinstance(part, ShippedPart) and isinstance(content, dict) and content.keys() == {"reason"}:
        return NotMeasured(content["reason"])
    if isinstance(content, dict) and content.get("reason") == NOT_REQUESTED:
        return NotMeasured(NOT_REQUESTED, tuple(name for name, value in content.items() if value == []))
    result: Result = getattr(part, "read", Stored.from_dict)(content)
    return result


def write_part(part: AuditPart, result: Result, audit: AuditResult) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return the result of a part as the JSON of an audit has it."""
    if isinstance(result, PartRows):
        return result.to_list()
    if isinstance(result, NotMeasured) and not isinstance(part, ShippedPart):
        return result.to_dict()
    write = getattr(part, "write", None)
    return to_plain(result) if write is None else _call(write, result, audit)


def summarize_part(part: AuditPart, result: Result, audit: AuditResult) -> Summary | None:
    """Return the section of a part; one that was read back and has no reader of its own shows its stored sentences."""
    shipped = isinstance(part, ShippedPart)
    stored = isinstance(result, Stored | NotMeasured) and not shipped
    summary: Summary | None = result.summary() if stored else _call(part.summarize, result, audit)
    if isinstance(result, NotMeasured) and result.reason == NOT_REQUESTED:
        return None
    if not isinstance(summary, Summary):
        return summary
    if not isinstance(part, ShippedPart):
        return replace(summary, name=part.name, title=part.title)
    anchor = part.anchor or part.name.replace("_", "-")
    return replace(summary, name=anchor, title=part.title, about=part.about or summary.about)


def _call(function: Callable[..., Any], result: Result, audit: AuditResult) -> Any:  # noqa: ANN401 - what it gives
    """Call a function of a part with its result, and with the whole audit where it takes that too."""
    return function(result, audit) if len(signature(function).parameters) > 1 else function(result)

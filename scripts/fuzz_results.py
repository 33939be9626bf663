"""Results of every class read back from altered JSON and shown in every form, for `scripts/fuzz.py`."""

from __future__ import annotations

import json
import tempfile
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz_target import Target

if TYPE_CHECKING:
    from collections.abc import Callable

    from biasgauge.results import Result

_TURNS = count()
_LARGEST = 100_000
"""Bytes of JSON that are altered: mutations cut longer inputs."""


@cache
def _classes() -> dict[str, type[Result]]:
    from tests.test_there_and_back import _classes as classes_of_results

    return classes_of_results()


def _show(result: Result) -> object:
    """Show a result in a notebook and in one of the forms that a file may have, another for each."""
    folder = Path(tempfile.gettempdir()) / "shown"
    folder.mkdir(exist_ok=True)
    ending = ("html", "md", "tex", "txt")[next(_TURNS) % 4]
    return repr(result), result._repr_html_(), result.save(folder / f"result.{ending}")


def _read(path: Path) -> object:
    """Read a result whose class stands beside it, and show it."""
    from biasgauge.errors import InputError
    from biasgauge.io import read_json_object

    content = read_json_object(path)
    kind = _classes().get(str(content.get("class")))
    if kind is None:
        raise InputError("the class is not known")
    return _show(kind.from_dict(content.get("content")))  # type: ignore[arg-type]  # whatever stands there


def _seed(result: Result) -> bytes:
    name = f"{type(result).__module__}:{type(result).__name__}"
    return json.dumps({"class": name, "content": _shortened(result.to_dict())}).encode()


def _shortened(value: Any) -> Any:  # noqa: ANN401 - JSON
    """JSON whose lists have at most six members: what is altered is then seldom the hundredth number."""
    if isinstance(value, dict):
        return {key: _shortened(item) for key, item in list(value.items())[:60]}
    return [_shortened(item) for item in value[:6]] if isinstance(value, list) else value


def _made_up(_: str) -> Target:
    """Results with made-up values of the types of their fields."""
    from tests.test_there_and_back import _made_up as made_up

    seeds = []
    for kind in _classes().values():
        if is_dataclass(kind) and fields(kind):
            try:
                seeds.append(_seed(made_up(kind)))
            except Exception:  # noqa: BLE001, S112 - one whose fields must fit each other: it is among the computed
                continue
    return Target(_read, tuple(seed for seed in seeds if len(seed) < _LARGEST), 0.2)


def _computed(_: str) -> Target:
    """Results that were computed."""
    from tests.test_there_and_back import computed_results

    seeds = [_seed(result) for result in computed_results(Path(tempfile.mkdtemp())).values()]
    return Target(_read, tuple(seed for seed in seeds if len(seed) < _LARGEST), 0.2)


def _audit(_: str) -> Target:
    """An audit with all of its parts on a few words."""
    from biasgauge import audit
    from biasgauge.audits import AuditResult
    from biasgauge.io import read_json_object
    from biasgauge.vectors import load_default

    vectors = load_default(3_000)
    content = json.dumps(_shortened(audit([vectors], lexicons=["weat7", "occ16"]).to_dict())).encode()
    return Target(lambda path: _show(AuditResult.from_dict(read_json_object(path))), (content,), 0.1)


GROUPS: dict[tuple[str, ...], Callable[[str], Target]] = {
    ("results-made-up",): _made_up,
    ("results-computed",): _computed,
    ("results-audit",): _audit,
}

"""`check_audit_part`: a part of the audit, checked on random vectors with one association test."""

from __future__ import annotations

import json
import re
from inspect import isclass
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgauge import registry
from biasgauge.io import parse_json
from biasgauge.lexicons import parse_lexicon
from biasgauge.results import Result, Summary
from biasgauge.testing.checks import Checks
from biasgauge.vectors import Embedding

if TYPE_CHECKING:
    from biasgauge.audits import AuditContext, AuditPart


def check_audit_part(part: AuditPart, *, seed: int = 0) -> None:
    """Check a part of the audit on random vectors with one association test.

    Checked are that `name` is a plain key and `title` is there; that `measure` gives a `Result` or None, and the same
    when it is called again; that the result can be written as JSON and read back to the same JSON; and that `summarize`
    gives a `Summary` or None for the result as measured and as read back. The part may ask for the results of the
    parts that ship.

    Raises:
        PropertyError: one of these is not so.
    """
    from biasgauge.audits import audit_from_context, read_part, summarize_part, write_part

    checks = Checks(f"audit part {getattr(part, 'name', part)!r}")
    _check_declaration(part, checks)
    results = []
    for _ in range(2):
        with checks.no_exception("measure", "measure random vectors"):
            results.append(part.measure(_random_context(part, seed)))
    for result in results:
        if not isinstance(result, Result | None):
            checks.fail_requirement("measure", "measure a Result or None", f"it gives {type(result).__name__}")
    if results[0] is None or results[1] is None:
        return
    audit = audit_from_context(_random_context(part, seed))
    contents = [parse_json(json.dumps(write_part(part, result, audit))) for result in results if result is not None]
    if difference := _first_difference(*contents):
        checks.fail_requirement("measure", "be deterministic", f"a second call gives {difference}")
    rule = "read its own JSON back without loss"
    with checks.no_exception("read", rule):
        back = read_part(part, contents[0])
        content = parse_json(json.dumps(write_part(part, back, audit)))
    if difference := _first_difference(contents[0], content):
        checks.fail_requirement("read", rule, f"what is read back has {difference}")
    for result, case in ((results[0], ""), (back, " for what is read back")):
        with checks.no_exception("summarize", "summarize its result", case):
            summary: object = summarize_part(part, result, audit)
        if not isinstance(summary, Summary | None):
            observed = f"it gives {type(summary).__name__}{case}"
            checks.fail_requirement("summarize", "give a Summary or None", observed)


def _check_declaration(part: Any, checks: Checks) -> None:  # noqa: ANN401 - perhaps no part at all
    """Check that a part is an instance with all attributes, that its name is a key, and that it has a title."""
    if isclass(part):
        checks.fail_requirement("type", "be an instance", f"it is the class {part.__name__}")
    missing = [name for name in ("name", "title", "measure", "summarize") if not hasattr(part, name)]
    if missing:
        checks.fail_requirement("type", "have name, title, measure and summarize", f"it lacks {', '.join(missing)}")
    if not isinstance(part.name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", part.name):
        checks.fail("name", part.name, "a key holds small letters, digits and underscores alone")
    ships = part.name in registry.names("audit_part") and part.name not in registry.added("audit_part")
    if ships and registry.get("audit_part", part.name) is not part:
        checks.fail("name", part.name, "a part that ships has this name")
    checks.texts(title=part.title)


def _random_context(part: AuditPart, seed: int) -> AuditContext:
    """Build the context of an audit of one model of Gaussian vectors by a test with eight words in each set."""
    from biasgauge.audits import build_context

    random = np.random.default_rng(seed)
    sets = {role: [f"{role}{number}" for number in range(8)] for role in "xyab"}
    words = tuple(word for members in sets.values() for word in members)
    model = Embedding(words, random.normal(size=(len(words), 16)), name="random")
    roles = {role: {"name": role, "words": sets[role]} for role in sets}
    test = parse_lexicon({"kind": "test", "name": "random", **roles})
    parts = {**registry.everything("audit_part"), part.name: part}
    return build_context([model], lexicons=[test], parts=parts)


def _first_difference(expected: Any, value: Any, place: str = "") -> str:  # noqa: ANN401 - whatever JSON holds
    """Describe the first place where two JSON values differ, as in "rows[0].mean = 0.0 instead of 2.7"; "" if none."""
    if isinstance(expected, dict) and isinstance(value, dict):
        if expected.keys() != value.keys():
            other = ", ".join(sorted(expected.keys() ^ value.keys()))
            return f"other keys{f' in {place}' if place else ''} ({other})"
        inner = [(f"{place}.{name}".lstrip("."), expected[name], value[name]) for name in expected]
    elif isinstance(expected, list) and isinstance(value, list) and len(expected) == len(value):
        inner = [(f"{place}[{index}]", *items) for index, items in enumerate(zip(expected, value, strict=True))]
    elif expected == value:
        return ""
    else:
        return f"{place or 'a value'} = {_shorten(value)} instead of {_shorten(expected)}"
    return next(filter(None, (_first_difference(one, another, name) for name, one, another in inner)), "")


def _shorten(value: Any) -> str:  # noqa: ANN401 - as above
    return f"a list of {len(value)}" if isinstance(value, list) else f"{value!r:.60}"

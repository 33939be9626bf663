"""The interpreter of pickles: what Python's own reader gives for plain values, and one refusal for anything else."""

from __future__ import annotations

import datetime as dt
import os
import pickle
import pickletools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasgauge.io import PickledName, PickledRecord, PickleProblem, interpret_pickle

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**126), 2**126)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec=None))
)
keys = st.text() | st.integers(-(2**40), 2**40)
plain = st.recursive(
    scalars,
    lambda values: (
        st.lists(values, max_size=4)
        | st.lists(values, max_size=4).map(tuple)
        | st.dictionaries(keys, values, max_size=4)
        | st.frozensets(keys, max_size=3)
        | st.sets(keys, max_size=3)
    ),
    max_leaves=20,
)


@given(value=plain, protocol=st.sampled_from([4, 5]))
def test_plain_values_are_those_of_pickle(value: Any, protocol: int) -> None:  # noqa: ANN401 - any plain value
    assert interpret_pickle(pickle.dumps(value, protocol)) == value


lists = st.recursive(
    scalars,
    lambda values: st.lists(values, max_size=4) | st.dictionaries(keys, values, max_size=4) | st.tuples(values, values),
    max_leaves=20,
)


@given(value=lists, protocol=st.sampled_from(PROTOCOLS))
def test_lists_dicts_and_tuples_of_every_protocol(value: Any, protocol: int) -> None:  # noqa: ANN401 - any plain value
    assert interpret_pickle(pickle.dumps(value, protocol)) == value


@given(value=st.binary(max_size=300), protocol=st.sampled_from([3, 4, 5]))
def test_bytes(value: bytes, protocol: int) -> None:
    assert interpret_pickle(pickle.dumps(value, protocol)) == value
    assert interpret_pickle(pickle.dumps(bytearray(value), 5)) == value


def test_long_bytes_are_views() -> None:
    content = pickle.dumps([bytes(2**21)], 4)
    listed: Any = interpret_pickle(content)
    (value,) = listed
    assert isinstance(value, memoryview)
    assert value == bytes(2**21)


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"(lp1\nS'the'\np2\naS'caf\\xc3\\xa9'\np3\na.", ["the", "café"]),
        (b"(lp1\nVna\\u00efve\np2\nag2\na.", ["naïve", "naïve"]),
        (b"]q\x01(U\x03theq\x02T\x05\x00\x00\x00caf\xc3\xa9q\x03e.", ["the", "café"]),
        (b"\x80\x02]q\x01(U\x03theU\x02\xff\xfee.", ["the", b"\xff\xfe"]),
        (b"(dp0\nS'a'\np1\nI01\nsS'b'\nL12L\nsS'c'\nF1.5\ns.", {"a": True, "b": 12, "c": 1.5}),
        (b"(S'a'\nI1\nS'b'\nI2\nd.", {"a": 1, "b": 2}),
        (b"(I1\nI2\nl.", [1, 2]),
        (b"(I1\nI2\nt.", (1, 2)),
        (b"(I1\n0I2\n1I7\n2\x86.", (7, 7)),
    ],
)
def test_python_2_pickles(content: bytes, value: object) -> None:
    """Bytes as Python 2 wrote them; `pickle` reads the same, where it is told that strings are UTF-8."""
    assert interpret_pickle(content) == value


def test_values_that_stand_in_several_places_are_one() -> None:
    shared = ["x"]
    value: Any = interpret_pickle(pickle.dumps([shared, shared]))
    assert value == [["x"], ["x"]]
    assert value[0] is value[1]


class Odd:
    """Something beyond plain values."""

    def __init__(self) -> None:
        self.x = 1


REFUSED = {
    "GLOBAL": pickle.dumps(os.system, 2),
    "STACK_GLOBAL": pickle.dumps(os.system, 4),
    "REDUCE": b"\x80\x02)R.",
    "NEWOBJ": b"\x80\x02N)\x81.",
    "NEWOBJ_EX": b"\x80\x04N)}\x92.",
    "BUILD": b"\x80\x02}}b.",
    "INST": b"(ios\nsystem\n.",
    "OBJ": b"(N)o.",
    "PERSID": b"Pid\n.",
    "BINPERSID": b"NQ.",
    "EXT1": b"\x80\x02\x82\x01.",
    "EXT2": b"\x80\x02\x83\x01\x00.",
    "EXT4": b"\x80\x02\x84\x01\x00\x00\x00.",
    "NEXT_BUFFER": b"\x80\x05\x97.",
    "READONLY_BUFFER": b"\x80\x05\x97\x98.",
}


@pytest.mark.parametrize("name", [name for name in REFUSED if name != "READONLY_BUFFER"])
def test_opcodes_beyond_plain_values_are_refused_by_name(name: str) -> None:
    with pytest.raises(PickleProblem, match=f"opcode {name}\\b"):
        interpret_pickle(REFUSED[name])


def test_every_opcode_of_python_is_interpreted_or_refused() -> None:
    """No byte that Python's own machine takes for an opcode is unknown here."""
    for opcode in pickletools.opcodes:
        with pytest.raises(PickleProblem) as raised:
            interpret_pickle(opcode.code.encode("latin-1"))
        assert "is no opcode" not in str(raised.value), opcode.name


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("value", [Odd(), dt.date(2000, 1, 1), complex(1, 2), Odd, print, range(3)])
def test_objects_are_refused(value: object, protocol: int) -> None:
    with pytest.raises(PickleProblem, match="opcode"):
        interpret_pickle(pickle.dumps([value], protocol))


def test_records_of_names_that_a_reader_lists_are_plain() -> None:
    content = pickle.dumps(Odd(), 2)
    (record,) = [interpret_pickle(content, {f"{__name__}.Odd"})]
    assert isinstance(record, PickledRecord)
    assert (record.name, record.arguments, record.state) == (PickledName(__name__, "Odd"), (), {"x": 1})
    with pytest.raises(PickleProblem, match="opcode GLOBAL for"):
        interpret_pickle(content, {"other.Name"})


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickle_cut_short_is_refused(protocol: int) -> None:
    content = pickle.dumps({"word": [1.5, 2], "other": ("x", None, 300, 2**40)}, protocol)
    for length in range(len(content)):
        with pytest.raises(PickleProblem):
            interpret_pickle(content[:length])


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "ends before"),
        (b".", "damaged"),
        (b"N", "ends before"),
        (b"NN.", "more than one"),
        (b"(N.", "more than one"),
        (b"\xff", "no opcode"),
        (b"\x80\x09.", "protocol 9"),
        (b"\x80\x04\x95" + b"\xff" * 8 + b".", "frame"),
        (b"B\xff\xff\xff\xff.", "cut short"),
        (b"\x8e" + b"\xff" * 8 + b".", "cut short"),
        (b"X\xff\xff\xff\x7f.", "cut short"),
        (b"\x8b\x00\x00\x00\x40.", "integer of"),
        (b"I" + b"9" * 5000 + b"\n.", "damaged"),
        (b"L1_0L\n.", "damaged"),
        (b"F1_0\n.", "damaged"),
        (b"V" + b"x" * 100, "cut short"),
        (b"h\x07.", "damaged"),
        (b"}](Na.", "damaged"),
        (b"}]Ns.", "damaged"),
        (b"(Nd.", "damaged"),
        (b"Na.", "damaged"),
        (b"S'\n.", "damaged"),
        (b"\x8c\x01\xff.", "damaged"),
        (b"(" * 200, "nested deeper"),
    ],
)
def test_damage_is_one_sentence(content: bytes, sentence: str) -> None:
    with pytest.raises(PickleProblem, match=sentence):
        interpret_pickle(content)


def test_nesting_costs_no_stack() -> None:
    """Lists within lists and tuples within tuples, 200,000 deep, are built; as keys they are refused."""
    interpret_pickle(b"]" + b"]" * 200_000 + b"a" * 200_000 + b".")
    interpret_pickle(b")" + b"\x85" * 200_000 + b".")
    with pytest.raises(PickleProblem, match="damaged"):
        interpret_pickle(b"})" + b"\x85" * 200_000 + b"Ns.")


def test_lists_that_hold_themselves() -> None:
    value: Any = interpret_pickle(b"]q\x01h\x01a.")
    assert value[0] is value


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasgauge.io.pickle_file.physical_memory", lambda: 2**20)
    with pytest.raises(PickleProblem, match="memory"):
        interpret_pickle(b"(" + b"}" * 2**20 + b"l.")

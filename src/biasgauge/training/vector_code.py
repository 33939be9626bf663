"""Pieces of machine-independent code that `lanes` and `glove_lanes` are built of: blocks of eight 32-bit numbers.

Each function adds instructions to the compiler's `builder`. None carries a license to reorder or to fuse, so the bits
are the same on every processor; how wide its own instructions are only decides how fast they come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import cgutils

Built = Any
"""Types and values of the compiler, which knows no annotations of its own."""
Codegen = Callable[[Built, Built, Built, tuple[Built, ...]], Built]

LANES = 8
VECTOR = ir.VectorType(ir.FloatType(), LANES)
ZEROS = ir.Constant(VECTOR, [0.0] * LANES)
ONES = ir.Constant(VECTOR, [1.0] * LANES)
INDEX = ir.IntType(32)


def row_of(context: Built, builder: Built, kind: Built, array: Built, number: Built) -> tuple[Built, Built]:
    """Width of a C-contiguous matrix and the address of one of its rows."""
    matrix = context.make_array(kind)(context, builder, array)
    width = builder.extract_value(matrix.shape, 1)
    return width, builder.gep(matrix.data, [builder.mul(number, width)])


@contextmanager
def steps(builder: Built, first: Built | int, last: Built, step: int) -> Iterator[Built]:
    """A loop from `first` to `last`; gives the place."""
    kind = last.type
    start = ir.Constant(kind, first) if isinstance(first, int) else first
    with cgutils.for_range_slice(builder, start, last, ir.Constant(kind, step), kind) as (place, _):
        yield place


def in_two_parts(builder: Built, count: Built, step: int, least: int) -> list[tuple[Built, Built, int]]:
    """Split 0 … count into a part walked in wide steps and a rest walked in the least: (first, last, step) of each."""
    wide = ir.Constant(count.type, step)
    edge = builder.mul(builder.sdiv(count, wide), wide)
    return [(ir.Constant(count.type, 0), edge, step), (edge, count, least)]


def load(builder: Built, start: Built, place: Built) -> Built:
    """A block from memory."""
    block = builder.load(_address(builder, start, place))
    block.align = 4
    return block


def store(builder: Built, block: Built, start: Built, place: Built) -> None:
    """A block to memory."""
    builder.store(block, _address(builder, start, place)).align = 4


def _address(builder: Built, start: Built, place: Built) -> Built:
    return builder.bitcast(builder.gep(start, [place]), VECTOR.as_pointer())


def spread(builder: Built, number: Built) -> Built:
    """A block that holds one number eight times."""
    one = builder.insert_element(ZEROS, number, ir.Constant(INDEX, 0))
    return builder.shuffle_vector(one, one, ir.Constant(ir.VectorType(INDEX, LANES), [0] * LANES))


def add_up(builder: Built, block: Built) -> Built:
    """The sum of a block: its halves added, then theirs, then theirs."""
    count = LANES
    while count > 1:
        count //= 2
        low, high = (
            ir.Constant(ir.VectorType(INDEX, count), list(range(first, first + count))) for first in (0, count)
        )
        block = builder.fadd(builder.shuffle_vector(block, block, low), builder.shuffle_vector(block, block, high))
    return builder.extract_element(block, ir.Constant(INDEX, 0))

"""Sums over vectors, eight numbers at a time, in an order that no processor changes.

A compiler may vectorize a sum only if it may reorder it, and then the bits depend on the processor's width. Here the
order is fixed in the source: eight running sums, added up in pairs at the end. No instruction may be reordered or
fused; the width of a processor's instructions only decides the speed. Rows are those of C-contiguous 32-bit matrices
whose width is a multiple of eight (`padded`); the padding is zero and stays zero.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from biasgauge.errors import InputError
from biasgauge.text.training.algorithms import NEEDS_NUMBA

try:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic
except ImportError as problem:
    raise InputError(NEEDS_NUMBA) from problem

Built = Any
"""Types and values of the compiler, which has no type annotations."""
Codegen = Callable[[Built, Built, Built, tuple[Built, ...]], Built]

LANES = 8
VECTOR = ir.VectorType(ir.FloatType(), LANES)
ZEROS = ir.Constant(VECTOR, [0.0] * LANES)
ONES = ir.Constant(VECTOR, [1.0] * LANES)
INDEX = ir.IntType(32)
TOGETHER = 4
"""Blocks, or rows, that are computed at the same time, so that one load serves several sums."""
LINE = 16
"""Numbers in a line of the processor's cache."""


def row_of(context: Built, builder: Built, kind: Built, array: Built, number: Built) -> tuple[Built, Built]:
    """Width of a C-contiguous matrix and the address of one of its rows."""
    matrix = context.make_array(kind)(context, builder, array)
    width = builder.extract_value(matrix.shape, 1)
    return width, builder.gep(matrix.data, [builder.mul(number, width)])


@contextmanager
def steps(builder: Built, first: Built | int, last: Built, step: int) -> Iterator[Built]:
    """Emit a loop from `first` to `last`; yields its index."""
    kind = last.type
    start = ir.Constant(kind, first) if isinstance(first, int) else first
    with cgutils.for_range_slice(builder, start, last, ir.Constant(kind, step), kind) as (index, _):
        yield index


def split_range(builder: Built, count: Built, step: int, least: int) -> list[tuple[Built, Built, int]]:
    """Split 0 … count into a range of wide steps and one of least steps: (first, last, step) of each."""
    wide = ir.Constant(count.type, step)
    edge = builder.mul(builder.sdiv(count, wide), wide)
    return [(ir.Constant(count.type, 0), edge, step), (edge, count, least)]


def load(builder: Built, start: Built, offset: Built) -> Built:
    """Emit the load of a block."""
    block = builder.load(_address(builder, start, offset))
    block.align = 4
    return block


def store(builder: Built, block: Built, start: Built, offset: Built) -> None:
    """Emit the store of a block."""
    builder.store(block, _address(builder, start, offset)).align = 4


def _address(builder: Built, start: Built, offset: Built) -> Built:
    return builder.bitcast(builder.gep(start, [offset]), VECTOR.as_pointer())


def spread(builder: Built, number: Built) -> Built:
    """Emit a block that repeats one number eight times."""
    first_lane = builder.insert_element(ZEROS, number, ir.Constant(INDEX, 0))
    return builder.shuffle_vector(first_lane, first_lane, ir.Constant(ir.VectorType(INDEX, LANES), [0] * LANES))


def add_up(builder: Built, block: Built) -> Built:
    """Emit the sum of a block: its two halves added, then the halves of that, down to one number."""
    count = LANES
    while count > 1:
        count //= 2
        low, high = (
            ir.Constant(ir.VectorType(INDEX, count), list(range(first, first + count))) for first in (0, count)
        )
        block = builder.fadd(builder.shuffle_vector(block, block, low), builder.shuffle_vector(block, block, high))
    return builder.extract_element(block, ir.Constant(INDEX, 0))


def padded(dim: int) -> int:
    """Width of a row that holds `dim` numbers."""
    return -(-dim // LANES) * LANES


@intrinsic  # type: ignore[untyped-decorator]
def dot_rows(
    _context: Built, a: Built, _i: Built, b: Built, rows: Built, out: Built, _o: Built, _count: Built
) -> tuple[Built, Codegen]:
    """Emit the dot products of one row with several: `dot_rows(a, i, b, rows, out, o, count)`.

    Sets `out[o, n]` to the sum of the products of row `i` of `a` and row `rows[n]` of `b`, for n in 0 … count - 1;
    `rows` holds 64-bit integers.
    """

    def generate(context: Built, builder: Built, signature: Built, args: tuple[Built, ...]) -> Built:
        width, left = row_of(context, builder, signature.args[0], args[0], args[1])
        source = context.make_array(signature.args[2])(context, builder, args[2])
        numbers = context.make_array(signature.args[3])(context, builder, args[3])
        _, results = row_of(context, builder, signature.args[4], args[4], args[5])
        for first, last, together in split_range(builder, args[6], TOGETHER, 1):
            with steps(builder, first, last, together) as n:
                indices = [builder.add(n, ir.Constant(n.type, k)) for k in range(together)]
                chosen = [builder.load(builder.gep(numbers.data, [k])) for k in indices]
                starts = [builder.gep(source.data, [builder.mul(row, width)]) for row in chosen]
                # Eight running sums per row, which live in registers after optimization.
                totals = [cgutils.alloca_once_value(builder, ZEROS) for _ in indices]
                for total in totals:
                    builder.store(ZEROS, total)
                with steps(builder, 0, width, LANES) as offset:
                    block = load(builder, left, offset)
                    for start, total in zip(starts, totals, strict=True):
                        product = builder.fmul(block, load(builder, start, offset))
                        builder.store(builder.fadd(builder.load(total), product), total)
                for k, total in zip(indices, totals, strict=True):
                    builder.store(add_up(builder, builder.load(total)), builder.gep(results, [k]))
        return context.get_dummy_value()

    return types.void(a, types.intp, b, rows, out, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def add_rows(
    _context: Built, a: Built, _i: Built, b: Built, rows: Built, weights: Built, _w: Built, _count: Built
) -> tuple[Built, Codegen]:
    """Add rows of `b`, each times its weight, to row `i` of `a`.

    `add_rows(a, i, b, rows, weights, w, count)` adds `weights[w, n] * b[rows[n]]` for n in 0 … count - 1, in this
    order; `rows` holds 64-bit integers.
    """

    def generate(context: Built, builder: Built, signature: Built, args: tuple[Built, ...]) -> Built:
        width, target = row_of(context, builder, signature.args[0], args[0], args[1])
        source = context.make_array(signature.args[2])(context, builder, args[2])
        numbers = context.make_array(signature.args[3])(context, builder, args[3])
        _, factors = row_of(context, builder, signature.args[4], args[4], args[5])
        for first, last, together in split_range(builder, width, TOGETHER * LANES, LANES):
            with steps(builder, first, last, together) as offset:
                offsets = [builder.add(offset, ir.Constant(width.type, n)) for n in range(0, together, LANES)]
                # A few blocks of the target at a time; within each the rows are added in their order.
                totals = [cgutils.alloca_once_value(builder, ZEROS) for _ in offsets]
                for column, total in zip(offsets, totals, strict=True):
                    builder.store(load(builder, target, column), total)
                with steps(builder, 0, args[6], 1) as n:
                    row = builder.load(builder.gep(numbers.data, [n]))
                    start = builder.gep(source.data, [builder.mul(row, width)])
                    factor = spread(builder, builder.load(builder.gep(factors, [n])))
                    for column, total in zip(offsets, totals, strict=True):
                        product = builder.fmul(factor, load(builder, start, column))
                        builder.store(builder.fadd(builder.load(total), product), total)
                for column, total in zip(offsets, totals, strict=True):
                    store(builder, builder.load(total), target, column)
        return context.get_dummy_value()

    return types.void(a, types.intp, b, rows, weights, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def fetch_row(_context: Built, a: Built, _i: Built) -> tuple[Built, Codegen]:
    """Prefetch row `i` of `a` into the cache; changes no value: `fetch_row(a, i)`."""

    def generate(context: Built, builder: Built, signature: Built, args: tuple[Built, ...]) -> Built:
        width, start = row_of(context, builder, signature.args[0], args[0], args[1])
        address = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [address, INDEX, INDEX, INDEX])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        to_read, to_keep, data = (ir.Constant(INDEX, number) for number in (0, 3, 1))
        with steps(builder, 0, width, LINE) as offset:
            builder.call(fetch, [builder.bitcast(builder.gep(start, [offset]), address), to_read, to_keep, data])
        return context.get_dummy_value()

    return types.void(a, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def product(_context: Built, a: Built, _i: Built, _j: Built, _width: Built) -> tuple[Built, Codegen]:
    """Emit the sum of the products of the first `width` numbers of two rows: `product(a, i, j, width)`."""

    def generate(context: Built, builder: Built, signature: Built, args: tuple[Built, ...]) -> Built:
        left, right = (row_of(context, builder, signature.args[0], args[0], number)[1] for number in args[1:3])
        total = cgutils.alloca_once_value(builder, ZEROS)
        builder.store(ZEROS, total)
        with steps(builder, 0, args[3], LANES) as offset:
            both = builder.fmul(load(builder, left, offset), load(builder, right, offset))
            builder.store(builder.fadd(builder.load(total), both), total)
        return add_up(builder, builder.load(total))

    return types.float32(a, types.intp, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def step(
    _context: Built, a: Built, _i: Built, _j: Built, _width: Built, _slope: Built, _eta: Built, _bound: Built
) -> tuple[Built, Codegen]:
    """One AdaGrad step of GloVe for the vectors of two rows: `step(a, i, j, width, slope, eta, bound)`.

    A row holds the vector of a word (padded with zeros), the sums of its squared gradients (as long), its bias and the
    bias's sum: everything that a step touches is contiguous. Sums start at 0, and 1 is added under the root: most
    squares are below the last place of a 32-bit 1, and a sum that started there lost them.

    The gradient of each vector is `slope` times the other, held within ± `bound`, times `eta`; the vector moves by it
    over the root of 1 plus its sum of squares, which then grows by its square. Both are read before either is changed.
    """

    def generate(context: Built, builder: Built, signature: Built, args: tuple[Built, ...]) -> Built:
        rows = [row_of(context, builder, signature.args[0], args[0], number)[1] for number in args[1:3]]
        sums = [builder.gep(row, [args[3]]) for row in rows]
        slope, eta, high = (spread(builder, number) for number in args[4:])
        low = builder.fsub(ir.Constant(VECTOR, [-0.0] * LANES), high)
        root = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(VECTOR, [VECTOR]), f"llvm.sqrt.v{LANES}f32"
        )
        with steps(builder, 0, args[3], LANES) as offset:
            vectors = [load(builder, row, offset) for row in rows]
            squares = [load(builder, start, offset) for start in sums]
            for row, vector, partner, start, square in zip(rows, vectors, vectors[::-1], sums, squares, strict=True):
                gradient = builder.fmul(slope, partner)
                # Clipping by ordered comparisons: NaN stays NaN, so that divergence is noticed.
                gradient = builder.select(builder.fcmp_ordered("<", gradient, low), low, gradient)
                gradient = builder.select(builder.fcmp_ordered(">", gradient, high), high, gradient)
                gradient = builder.fmul(gradient, eta)
                move = builder.fdiv(gradient, builder.call(root, [builder.fadd(ONES, square)]))
                store(builder, builder.fsub(vector, move), row, offset)
                store(builder, builder.fadd(square, builder.fmul(gradient, gradient)), start, offset)
        return context.get_dummy_value()

    number = types.float32
    return types.void(a, types.intp, types.intp, types.intp, number, number, number), generate

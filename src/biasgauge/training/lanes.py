"""Sums over vectors, eight numbers at a time, in an order that no processor changes.

A compiler may vectorize a sum only if it may reorder it, and then the bits depend on the processor's width. Here the
order is part of the source: eight running sums, added up in pairs at the end. Rows are those of C-contiguous 32-bit
matrices whose width is a multiple of eight (`padded`); the padding is zero and stays zero.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from biasgauge.training.vector_code import (
    INDEX,
    LANES,
    ZEROS,
    Built,
    Codegen,
    add_up,
    in_two_parts,
    load,
    row_of,
    spread,
    steps,
    store,
)

TOGETHER = 4
"""Blocks, or rows, that are worked on at the same time."""
LINE = 16
"""Numbers in a line of the processor's cache."""


def padded(dim: int) -> int:
    """Width of a row that holds `dim` numbers."""
    return -(-dim // LANES) * LANES


@intrinsic  # type: ignore[untyped-decorator]
def dot_rows(
    _context: Built, a: Built, _i: Built, b: Built, rows: Built, out: Built, _o: Built, _count: Built
) -> tuple[Built, Codegen]:
    """Products of one row with several: `dot_rows(a, i, b, rows, out, o, count)`.

    Sets `out[o, n]` to the sum of the products of row `i` of `a` and row `rows[n]` of `b`, for n in 0 … count - 1;
    `rows` holds 64-bit integers.
    """

    def generate(context: Built, builder: Built, signature: Built, args: tuple[Built, ...]) -> Built:
        width, left = row_of(context, builder, signature.args[0], args[0], args[1])
        source = context.make_array(signature.args[2])(context, builder, args[2])
        numbers = context.make_array(signature.args[3])(context, builder, args[3])
        _, results = row_of(context, builder, signature.args[4], args[4], args[5])
        for first, last, together in in_two_parts(builder, args[6], TOGETHER, 1):
            with steps(builder, first, last, together) as n:
                at = [builder.add(n, ir.Constant(n.type, k)) for k in range(together)]
                chosen = [builder.load(builder.gep(numbers.data, [k])) for k in at]
                starts = [builder.gep(source.data, [builder.mul(row, width)]) for row in chosen]
                totals = [cgutils.alloca_once_value(builder, ZEROS) for _ in at]
                for total in totals:
                    builder.store(ZEROS, total)
                with steps(builder, 0, width, LANES) as place:
                    block = load(builder, left, place)
                    for start, total in zip(starts, totals, strict=True):
                        product = builder.fmul(block, load(builder, start, place))
                        builder.store(builder.fadd(builder.load(total), product), total)
                for k, total in zip(at, totals, strict=True):
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
        for first, last, together in in_two_parts(builder, width, TOGETHER * LANES, LANES):
            with steps(builder, first, last, together) as place:
                places = [builder.add(place, ir.Constant(width.type, n)) for n in range(0, together, LANES)]
                totals = [cgutils.alloca_once_value(builder, ZEROS) for _ in places]
                for at, total in zip(places, totals, strict=True):
                    builder.store(load(builder, target, at), total)
                with steps(builder, 0, args[6], 1) as n:
                    row = builder.load(builder.gep(numbers.data, [n]))
                    start = builder.gep(source.data, [builder.mul(row, width)])
                    factor = spread(builder, builder.load(builder.gep(factors, [n])))
                    for at, total in zip(places, totals, strict=True):
                        product = builder.fmul(factor, load(builder, start, at))
                        builder.store(builder.fadd(builder.load(total), product), total)
                for at, total in zip(places, totals, strict=True):
                    store(builder, builder.load(total), target, at)
        return context.get_dummy_value()

    return types.void(a, types.intp, b, rows, weights, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def fetch_row(_context: Built, a: Built, _i: Built) -> tuple[Built, Codegen]:
    """Ask for row `i` of `a` to be brought near; changes nothing: `fetch_row(a, i)`."""

    def generate(context: Built, builder: Built, signature: Built, args: tuple[Built, ...]) -> Built:
        width, start = row_of(context, builder, signature.args[0], args[0], args[1])
        address = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [address, INDEX, INDEX, INDEX])
        fetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        to_read, to_keep, data = (ir.Constant(INDEX, number) for number in (0, 3, 1))
        with steps(builder, 0, width, LINE) as place:
            builder.call(fetch, [builder.bitcast(builder.gep(start, [place]), address), to_read, to_keep, data])
        return context.get_dummy_value()

    return types.void(a, types.intp), generate

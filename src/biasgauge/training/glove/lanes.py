"""The arithmetic of one GloVe step, eight numbers at a time, in an order that no processor changes.

A row of the weights holds the vector of a word (padded with zeros to a multiple of eight), the sums of its squared
gradients (as long), its bias and the bias's own sum: all that a step touches lies side by side. Sums start at 0, and 1
is added under the root: most squares are below the last place of a 32-bit 1, and a sum that started there lost them.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from biasgauge.training.vector_code import (
    LANES,
    ONES,
    VECTOR,
    ZEROS,
    Built,
    Codegen,
    add_up,
    load,
    row_of,
    spread,
    steps,
    store,
)


@intrinsic  # type: ignore[untyped-decorator]
def product(_context: Built, a: Built, _i: Built, _j: Built, _width: Built) -> tuple[Built, Codegen]:
    """Sum of the products of the first `width` numbers of two rows: `product(a, i, j, width)`.

    Eight running sums, added up in pairs at the end.
    """

    def generate(context: Built, builder: Built, signature: Built, args: tuple[Built, ...]) -> Built:
        left, right = (row_of(context, builder, signature.args[0], args[0], number)[1] for number in args[1:3])
        total = cgutils.alloca_once_value(builder, ZEROS)
        builder.store(ZEROS, total)
        with steps(builder, 0, args[3], LANES) as place:
            both = builder.fmul(load(builder, left, place), load(builder, right, place))
            builder.store(builder.fadd(builder.load(total), both), total)
        return add_up(builder, builder.load(total))

    return types.float32(a, types.intp, types.intp, types.intp), generate


@intrinsic  # type: ignore[untyped-decorator]
def step(
    _context: Built, a: Built, _i: Built, _j: Built, _width: Built, _slope: Built, _eta: Built, _bound: Built
) -> tuple[Built, Codegen]:
    """One AdaGrad step for the vectors of two rows: `step(a, i, j, width, slope, eta, bound)`.

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
        with steps(builder, 0, args[3], LANES) as place:
            vectors = [load(builder, row, place) for row in rows]
            squares = [load(builder, one, place) for one in sums]
            for row, own, other, one, square in zip(rows, vectors, vectors[::-1], sums, squares, strict=True):
                gradient = builder.fmul(slope, other)
                gradient = builder.select(builder.fcmp_ordered("<", gradient, low), low, gradient)
                gradient = builder.select(builder.fcmp_ordered(">", gradient, high), high, gradient)
                gradient = builder.fmul(gradient, eta)
                move = builder.fdiv(gradient, builder.call(root, [builder.fadd(ONES, square)]))
                store(builder, builder.fsub(own, move), row, place)
                store(builder, builder.fadd(square, builder.fmul(gradient, gradient)), one, place)
        return context.get_dummy_value()

    number = types.float32
    return types.void(a, types.intp, types.intp, types.intp, number, number, number), generate

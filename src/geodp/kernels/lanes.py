"""Vectors of float64 lanes, one record to a lane, as values that numba can compute with.

Every operation is element-wise and the same on every lane, so a record's result does not depend on
its neighbours or on its place in a batch. LLVM maps the vectors to whatever the processor has.
Arithmetic is IEEE double without contraction or reordering.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import intrinsic as numba_intrinsic
from numba.extending import overload, register_model

WIDTH = 16  # lanes: two 512-bit registers, so that two chains of operations are always under way

_DOUBLE, _INT = ir.DoubleType(), ir.IntType(64)
DOUBLES, INTS = ir.VectorType(_DOUBLE, WIDTH), ir.VectorType(_INT, WIDTH)
_BITS = ir.VectorType(ir.IntType(1), WIDTH)


def intrinsic(function: Callable[..., Any]) -> Any:
    """A function of compiled code that writes its own LLVM instructions."""
    return numba_intrinsic(function)


class LanesType(types.Type):  # type: ignore[misc]
    """``WIDTH`` doubles."""

    def __init__(self) -> None:
        super().__init__(name=f"Lanes{WIDTH}")


class MaskType(types.Type):  # type: ignore[misc]
    """``WIDTH`` truth values."""

    def __init__(self) -> None:
        super().__init__(name=f"Mask{WIDTH}")


lanes_type, mask_type = LanesType(), MaskType()


class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, front: Any) -> None:
        super().__init__(manager, front, DOUBLES)


class _MaskModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, front: Any) -> None:
        super().__init__(manager, front, _BITS)


register_model(LanesType)(_LanesModel)
register_model(MaskType)(_MaskModel)


def _spread(builder: Any, value: Any, kind: Any) -> Any:
    """A scalar on all lanes."""
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.IntType(32)(0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)


def doubles(values: float) -> Any:
    return ir.Constant(DOUBLES, [values] * WIDTH)


def ints(value: int) -> Any:
    return ir.Constant(INTS, [value] * WIDTH)


def call(builder: Any, name: str, *args: Any) -> Any:
    kind = ir.FunctionType(DOUBLES, [DOUBLES] * len(args))
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.{name}.v{WIDTH}f64")
    return builder.call(function, args)


def _binary(name: str, result: Any = lanes_type) -> Any:
    @intrinsic
    def operation(context: Any, a: Any, b: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            if result is mask_type:
                return builder.fcmp_ordered(name, *args)
            return getattr(builder, name)(*args)

        return result(lanes_type, lanes_type), generate

    return operation


_add, _sub, _mul, _div = (_binary(name) for name in ("fadd", "fsub", "fmul", "fdiv"))
_less, _most = _binary("<", mask_type), _binary("<=", mask_type)


@intrinsic
def spread(context: Any, value: Any) -> Any:
    """One float on all lanes."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _spread(builder, args[0], DOUBLES)

    return lanes_type(types.float64), generate


def _overload(symbol: Any, intrinsic_: Any) -> None:
    def lanes(a: Any, b: Any) -> Any:
        return intrinsic_(a, b)

    def right(a: Any, b: Any) -> Any:
        return intrinsic_(a, spread(numba.float64(b)))

    def left(a: Any, b: Any) -> Any:
        return intrinsic_(spread(numba.float64(a)), b)

    def find(a: Any, b: Any) -> Any:
        number = types.Float, types.Integer
        if isinstance(a, LanesType):
            return lanes if isinstance(b, LanesType) else right if isinstance(b, number) else None
        return left if isinstance(a, number) and isinstance(b, LanesType) else None

    overload(symbol)(find)


for _symbol, _intrinsic in (
    (operator.add, _add),
    (operator.sub, _sub),
    (operator.mul, _mul),
    (operator.truediv, _div),
    (operator.lt, _less),
    (operator.le, _most),
):
    _overload(_symbol, _intrinsic)


def _unary(name: str) -> Any:
    @intrinsic
    def operation(context: Any, a: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return call(builder, name, args[0])

        return lanes_type(lanes_type), generate

    return operation


root, absolute, whole = _unary("sqrt"), _unary("fabs"), _unary("rint")


@intrinsic
def signed(context: Any, size: Any, sign: Any) -> Any:
    """``size`` with the sign of ``sign``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return call(builder, "copysign", *args)

    return lanes_type(lanes_type, lanes_type), generate


@intrinsic
def choose(context: Any, mask: Any, a: Any, b: Any) -> Any:
    """``a`` where the mask holds, else ``b``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.select(*args)

    return lanes_type(mask_type, lanes_type, lanes_type), generate


@intrinsic
def both(context: Any, a: Any, b: Any) -> Any:
    """Where both masks hold."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.and_(*args)

    return mask_type(mask_type, mask_type), generate


@intrinsic
def bits(context: Any, mask: Any) -> Any:
    """The mask as an integer, lane 0 in its lowest bit."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        packed = builder.bitcast(args[0], ir.IntType(WIDTH))
        return builder.zext(packed, _INT)

    return types.int64(mask_type), generate


# --- memory -------------------------------------------------------------------------------------
def _address(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic
def load(context: Any, array: Any, index: Any) -> Any:
    """The ``WIDTH`` floats of a contiguous array from ``index`` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, signature.args[0], *args)
        return builder.load(builder.bitcast(at, DOUBLES.as_pointer()), align=8)

    return lanes_type(array, types.intp), generate


@intrinsic
def store(context: Any, array: Any, index: Any, value: Any) -> Any:
    """Put ``value`` into a contiguous array from ``index`` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], builder.bitcast(at, DOUBLES.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.none(array, types.intp, lanes_type), generate


@intrinsic
def gather(context: Any, array: Any, index: Any, stride: Any) -> Any:
    """One float for each lane, ``stride`` apart, from ``index`` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, signature.args[0], args[0], args[1])
        out = ir.Constant(DOUBLES, ir.Undefined)
        for lane in range(WIDTH):
            out = builder.insert_element(out, builder.load(at, align=8), ir.IntType(32)(lane))
            if lane + 1 < WIDTH:
                at = builder.gep(at, [args[2]])
        return out

    return lanes_type(array, types.intp, types.intp), generate


@intrinsic
def places(context: Any) -> Any:
    """0, 1, 2, …: the number of each lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return ir.Constant(DOUBLES, [float(lane) for lane in range(WIDTH)])

    return lanes_type(), generate

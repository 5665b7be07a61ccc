"""Vectors of float64 lanes, one record to a lane, as values that numba can compute with.

Every operation is element-wise and the same on every lane, so a record's result does not depend on
its neighbours or on its place in a batch. LLVM maps the vectors to whatever the processor has.
Arithmetic is IEEE double without contraction or reordering.
"""

from __future__ import annotations

import math
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
_DOUBLES, _INTS = ir.VectorType(_DOUBLE, WIDTH), ir.VectorType(_INT, WIDTH)
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
        super().__init__(manager, front, _DOUBLES)


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


def _doubles(values: float) -> Any:
    return ir.Constant(_DOUBLES, [values] * WIDTH)


def _ints(value: int) -> Any:
    return ir.Constant(_INTS, [value] * WIDTH)


def _call(builder: Any, name: str, *args: Any) -> Any:
    kind = ir.FunctionType(_DOUBLES, [_DOUBLES] * len(args))
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
        return _spread(builder, args[0], _DOUBLES)

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
            return _call(builder, name, args[0])

        return lanes_type(lanes_type), generate

    return operation


root, absolute, whole = _unary("sqrt"), _unary("fabs"), _unary("rint")


@intrinsic
def signed(context: Any, size: Any, sign: Any) -> Any:
    """``size`` with the sign of ``sign``."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _call(builder, "copysign", *args)

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
        return builder.load(builder.bitcast(at, _DOUBLES.as_pointer()), align=8)

    return lanes_type(array, types.intp), generate


@intrinsic
def store(context: Any, array: Any, index: Any, value: Any) -> Any:
    """Put ``value`` into a contiguous array from ``index`` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, signature.args[0], args[0], args[1])
        builder.store(args[2], builder.bitcast(at, _DOUBLES.as_pointer()), align=8)
        return context.get_dummy_value()

    return types.none(array, types.intp, lanes_type), generate


@intrinsic
def gather(context: Any, array: Any, index: Any, stride: Any) -> Any:
    """One float for each lane, ``stride`` apart, from ``index`` on."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at = _address(context, builder, signature.args[0], args[0], args[1])
        out = ir.Constant(_DOUBLES, ir.Undefined)
        for lane in range(WIDTH):
            out = builder.insert_element(out, builder.load(at, align=8), ir.IntType(32)(lane))
            if lane + 1 < WIDTH:
                at = builder.gep(at, [args[2]])
        return out

    return lanes_type(array, types.intp, types.intp), generate


# --- logarithm ----------------------------------------------------------------------------------
_LOG = (  # the remainder's coefficients of e_log.c (fdlibm, Sun Microsystems 1993)
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_HALF_ROOT = 0x3FE6A09E667F3BCD  # bits of 1/sqrt(2)


@intrinsic
def log(context: Any, x: Any) -> Any:
    """Natural logarithm of positive normal numbers, to one unit in the last place.

    fdlibm's: x = 2^k (1 + f), |f| < 0.42; log(1 + f) from s = f/(2 + f) and a polynomial. Anything
    that is not positive, normal and finite gives a number without meaning.
    """

    def generate(context: Any, b: Any, signature: Any, args: Any) -> Any:
        number = b.bitcast(args[0], _INTS)
        offset = b.sub(number, _ints(_HALF_ROOT))
        exponent = b.ashr(offset, _ints(52))
        fraction = b.sub(number, b.shl(exponent, _ints(52)))
        k = b.sitofp(exponent, _DOUBLES)
        f = b.fsub(b.bitcast(fraction, _DOUBLES), _doubles(1.0))
        s = b.fdiv(f, b.fadd(f, _doubles(2.0)))
        z = b.fmul(s, s)
        w = b.fmul(z, z)

        def series(*terms: int) -> Any:
            total = _doubles(_LOG[terms[-1]])
            for term in reversed(terms[:-1]):
                total = b.fadd(_doubles(_LOG[term]), b.fmul(w, total))
            return total

        r = b.fadd(b.fmul(z, series(0, 2, 4, 6)), b.fmul(w, series(1, 3, 5)))
        half = b.fmul(_doubles(0.5), b.fmul(f, f))
        inner = b.fadd(b.fmul(s, b.fadd(half, r)), b.fmul(k, _doubles(_LN2_LOW)))
        return b.fsub(b.fmul(k, _doubles(_LN2_HIGH)), b.fsub(b.fsub(half, inner), f))

    return lanes_type(lanes_type), generate


@intrinsic
def places(context: Any) -> Any:
    """0, 1, 2, …: the number of each lane."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return ir.Constant(_DOUBLES, [float(lane) for lane in range(WIDTH)])

    return lanes_type(), generate


# --- angle --------------------------------------------------------------------------------------
_ATAN = (  # coefficients of s_atan.c (fdlibm, Sun Microsystems 1993)
    3.33333333333329318027e-01,
    -1.99999999998764832476e-01,
    1.42857142725034663711e-01,
    -1.11111104054623557880e-01,
    9.09088713343650656196e-02,
    -7.69187620504482999495e-02,
    6.66107313738753120669e-02,
    -5.83357013379057348645e-02,
    4.97687799461593236017e-02,
    -3.65315727442169155270e-02,
    1.62858201153657823623e-02,
)


@intrinsic
def angle(context: Any, sin: Any, cos: Any) -> Any:
    """The angle in [0, π] with this sine, at least 0, and cosine, up to a common factor.

    The quotient of the smaller by the larger is brought below tan(π/8), where fdlibm's polynomial
    for the arc tangent holds; then at most three sums: within 4 eps of the angle of the floats.
    """

    def generate(context: Any, b: Any, signature: Any, args: Any) -> Any:
        sin, cos = args
        flat = _call(b, "fabs", cos)
        steep = b.fcmp_ordered("<", flat, sin)
        low, high = b.select(steep, flat, sin), b.select(steep, sin, flat)
        middle = b.fcmp_ordered("<", b.fmul(high, _doubles(math.tan(math.pi / 8))), low)
        top = b.select(middle, b.fsub(low, high), low)
        bottom = b.select(middle, b.fadd(low, high), high)
        t = b.fdiv(top, bottom)
        z = b.fmul(t, t)
        total = _doubles(_ATAN[-1])
        for term in reversed(_ATAN[:-1]):
            total = b.fadd(_doubles(term), b.fmul(z, total))
        arc = b.fsub(t, b.fmul(t, b.fmul(z, total)))
        arc = b.select(middle, b.fadd(_doubles(math.pi / 4), arc), arc)
        arc = b.select(steep, b.fsub(_doubles(math.pi / 2), arc), arc)
        back = b.fcmp_ordered("<", cos, _doubles(0.0))
        return b.select(back, b.fsub(_doubles(math.pi), arc), arc)

    return lanes_type(lanes_type, lanes_type), generate

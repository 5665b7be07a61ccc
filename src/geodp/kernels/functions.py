"""Functions of vectors of lanes: logarithm, arc tangent, exponential, t coth t."""

from __future__ import annotations

import math
from typing import Any

from geodp.kernels.lanes import DOUBLES, INTS, call, doubles, intrinsic, ints, lanes_type

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
        number = b.bitcast(args[0], INTS)
        offset = b.sub(number, ints(_HALF_ROOT))
        exponent = b.ashr(offset, ints(52))
        fraction = b.sub(number, b.shl(exponent, ints(52)))
        k = b.sitofp(exponent, DOUBLES)
        f = b.fsub(b.bitcast(fraction, DOUBLES), doubles(1.0))
        s = b.fdiv(f, b.fadd(f, doubles(2.0)))
        z = b.fmul(s, s)
        w = b.fmul(z, z)

        def series(*terms: int) -> Any:
            total = doubles(_LOG[terms[-1]])
            for term in reversed(terms[:-1]):
                total = b.fadd(doubles(_LOG[term]), b.fmul(w, total))
            return total

        r = b.fadd(b.fmul(z, series(0, 2, 4, 6)), b.fmul(w, series(1, 3, 5)))
        half = b.fmul(doubles(0.5), b.fmul(f, f))
        inner = b.fadd(b.fmul(s, b.fadd(half, r)), b.fmul(k, doubles(_LN2_LOW)))
        return b.fsub(b.fmul(k, doubles(_LN2_HIGH)), b.fsub(b.fsub(half, inner), f))

    return lanes_type(lanes_type), generate


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
        flat = call(b, "fabs", cos)
        steep = b.fcmp_ordered("<", flat, sin)
        low, high = b.select(steep, flat, sin), b.select(steep, sin, flat)
        middle = b.fcmp_ordered("<", b.fmul(high, doubles(math.tan(math.pi / 8))), low)
        top = b.select(middle, b.fsub(low, high), low)
        bottom = b.select(middle, b.fadd(low, high), high)
        t = b.fdiv(top, bottom)
        z = b.fmul(t, t)
        total = doubles(_ATAN[-1])
        for term in reversed(_ATAN[:-1]):
            total = b.fadd(doubles(term), b.fmul(z, total))
        arc = b.fsub(t, b.fmul(t, b.fmul(z, total)))
        arc = b.select(middle, b.fadd(doubles(math.pi / 4), arc), arc)
        arc = b.select(steep, b.fsub(doubles(math.pi / 2), arc), arc)
        back = b.fcmp_ordered("<", cos, doubles(0.0))
        return b.select(back, b.fsub(doubles(math.pi), arc), arc)

    return lanes_type(lanes_type, lanes_type), generate


_EXP = tuple(1.0 / math.factorial(k) for k in range(14))
_MAGIC = 1023 << 52  # the bits of 1.0


@intrinsic
def exp(context: Any, x: Any) -> Any:
    """Exponential function of numbers up to 700, to some units in the last place; beyond that and
    for what is no number it gives a number without meaning.

    x = k log 2 + r, |r| <= 0.35; a Taylor polynomial, whose remainder is below 2^-57.
    """

    def generate(context: Any, b: Any, signature: Any, args: Any) -> Any:
        wide = b.select(
            b.fcmp_ordered("<", call(b, "fabs", args[0]), doubles(700.0)), args[0], doubles(0.0)
        )
        k = call(b, "rint", b.fmul(wide, doubles(1.0 / math.log(2.0))))
        r = b.fsub(wide, b.fmul(k, doubles(_LN2_HIGH)))
        r = b.fsub(r, b.fmul(k, doubles(_LN2_LOW)))
        total = doubles(_EXP[-1])
        for term in reversed(_EXP[:-1]):
            total = b.fadd(doubles(term), b.fmul(r, total))
        bits = b.add(b.shl(b.fptosi(k, INTS), ints(52)), ints(_MAGIC))
        return b.fmul(total, b.bitcast(bits, DOUBLES))

    return lanes_type(lanes_type), generate


_COTH = (  # of t coth t in powers of t²: 4^n B_2n/(2n)!, n = 0, 1, ...
    1.0,
    1 / 3,
    -1 / 45,
    2 / 945,
    -1 / 4725,
    2 / 93555,
    -1382 / 638512875,
    4 / 18243225,
    -3617 / 162820783125,
    87734 / 38979295480125,
    -349222 / 1531329465290625,
    310732 / 13447856940643125,
    -472728182 / 201919571963756521875,
)
_DOUBLINGS = 6


@intrinsic
def t_coth(context: Any, x: Any) -> Any:
    """t coth t for x = t², t <= 40, and t cot t for x = -t², t < π.

    A power series at t/64, then c(4 x) = c(x) + x/c(x). For coth the doubling damps errors: within
    9 eps, relatively. For cot it is within 8 eps (t/sin t)², which is what one of x may cost.
    """

    def generate(context: Any, b: Any, signature: Any, args: Any) -> Any:
        at = b.fmul(args[0], doubles(4.0**-_DOUBLINGS))
        c = doubles(_COTH[-1])
        for term in reversed(_COTH[:-1]):
            c = b.fadd(doubles(term), b.fmul(at, c))
        for _ in range(_DOUBLINGS):
            c = b.fadd(c, b.fdiv(at, c))
            at = b.fmul(at, doubles(4.0))
        return c

    return lanes_type(lanes_type), generate

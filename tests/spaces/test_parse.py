"""Space strings, equality, pickling, and what is refused."""

import pickle

import pytest

import geodp as gd
from geodp.spaces import (
    SPD,
    Euclidean,
    Hyperbolic,
    PlanarShapes,
    Power,
    Product,
    Sphere,
    parse_space,
)

ROUND = {
    "euclidean:3": Euclidean(3),
    "spd:3:affine-invariant": SPD(3),
    "spd:2:log-euclidean": SPD(2, "log-euclidean"),
    "spd:4:log-cholesky": SPD(4, "log-cholesky"),
    "hyperbolic:5": Hyperbolic(5),
    "hyperbolic:5:-2.0": Hyperbolic(5, -2),
    "hyperbolic:2:-1e+20": Hyperbolic(2, -1e20),
    "sphere:2": Sphere(2),
    "shapes:50": PlanarShapes(50),
    "sphere:2:0.25": Sphere(2, 0.25),
    "spd:3:affine-invariant^1000": Power(SPD(3), 1000),
    "(sphere:2:1e+20+euclidean:3)^4": Power(Product(Sphere(2, 1e20), Euclidean(3)), 4),
    "sphere:2:1e+20+euclidean:3": Product(Sphere(2, 1e20), Euclidean(3)),
    "sphere:2+euclidean:3+spd:2:log-cholesky": Product(
        Sphere(2), Product(Euclidean(3), SPD(2, "logchol"))
    ),
}


@pytest.mark.parametrize(("text", "space"), ROUND.items())
def test_spec_and_parse_space_are_inverse(text, space):
    assert space.spec == text
    assert parse_space(text) == space
    assert parse_space(text).spec == text
    assert hash(parse_space(text)) == hash(space)
    assert repr(space) == f"<{text}>"
    assert pickle.loads(pickle.dumps(space)) == space


def test_defaults_and_aliases():
    assert parse_space("spd:3") == SPD(3, "riemann") == SPD(3, "affine-invariant")
    assert parse_space(" SPD:3:logeuclid ") == SPD(3, metric="log-euclidean")
    assert parse_space("hyperbolic:5:-1") == Hyperbolic(5)
    assert SPD(3) != SPD(3, "log-euclidean")
    assert parse_space(" ( sphere:2 + spd:2 ) ^ 4 ") == Power(Product(Sphere(2), SPD(2)), 4)
    assert parse_space("sphere:2^2+spd:2") == Product(Sphere(2), Sphere(2), SPD(2))


@pytest.mark.parametrize(
    "text",
    [
        " ",
        "spd",
        "sphere",
        "sphere:two",
        "sphere:2:",
        "sphere:2:1:1",
        "torus:2",
        "euclidean:3:1",
        "shapes:5:1",
        "sphere:-1",
        "sphere:2+",
        "+sphere:2",
        "spd:3:",
        "spd:3:frobenius",
        "euclidean:1.5",
        "euclidean:99999999999",
    ],
)
def test_unknown_strings_are_refused_with_a_hint(text):
    with pytest.raises(gd.SpaceError, match=r"Hint|metric"):
        parse_space(text)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Euclidean(0),
        lambda: Euclidean(2.5),
        lambda: Euclidean(True),
        lambda: SPD(0),
        lambda: SPD(2, "frobenius"),
        lambda: Sphere(2, -1),
        lambda: Sphere(2, 0),
        lambda: Sphere(2, float("inf")),
        lambda: Sphere(2, float("nan")),
        lambda: Hyperbolic(2, 1.0),
        lambda: Hyperbolic(2, "flat"),
        lambda: Hyperbolic(0),
        lambda: Product(Sphere(2)),
        lambda: Product(Sphere(2), "sphere:2"),
        lambda: Power(Sphere(2), 1),
        lambda: Power("sphere:2", 3),
        lambda: Power(Power(Sphere(2), 2), 2),
        lambda: parse_space("sphere:2^2.5"),
        lambda: parse_space("(sphere:2)^3"),
        lambda: parse_space("((sphere:2+euclidean:1)^2"),
        lambda: parse_space("(sphere:2+euclidean:1)"),
        lambda: parse_space("sphere:2:-1"),
        lambda: parse_space("sphere:0"),
        lambda: parse_space("hyperbolic:2:nan"),
    ],
)
def test_bad_parameters_are_refused(make):
    with pytest.raises(gd.SpaceError):
        make()


def test_spaces_are_frozen():
    with pytest.raises(AttributeError):
        Sphere(2)._dim = 3

"""The examples of docs/extend.md run, and stay about as short as the page says."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import geodp as gd
from geodp.errors import GuaranteeError
from geodp.testing import check_mechanism

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"


def example(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # so that its classes can be pickled
    spec.loader.exec_module(module)  # type: ignore[union-attr]
    return module


def test_a_space() -> None:
    value = example("space").main()
    assert value.shape == (1,)
    assert value[0] > 0


def test_a_statistic() -> None:
    module = example("statistic")
    assert module.main().shape == (2, 2)
    with pytest.raises(ValueError, match="flat"):
        module.TrimmedChartMean(gd.Ball(gd.SPD(2), np.eye(2), 1.0), 0.5)
    space = gd.SPD(2, "log-euclidean")
    statistic = module.TrimmedChartMean(gd.Ball(space, np.eye(2), 2.0), 0.5)
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(200):  # one of four records replaced, malformed ones included
        records = np.exp(rng.normal(size=(5, 2)))[:, :, None] * np.eye(2)
        records[0] = np.nan if rng.random() < 0.1 else records[0]
        one, two = statistic.evaluate(records[:4]).value, statistic.evaluate(records[1:]).value
        swapped = statistic.evaluate(records[[4, 1, 2, 3]]).value
        worst = max(worst, float(space.dist(one, swapped)))
        assert two.shape == (2, 2)
    assert worst <= statistic.sensitivity(4) + 2 * statistic.error_bound


def test_a_loss() -> None:
    """Terms of neighbours are at most 2 k apart, and the floor lies below the norm."""
    module = example("loss")
    assert module.main().shape == (2, 2)
    space, rng = gd.SPD(2), np.random.default_rng(3)
    ball = gd.Ball(space, np.eye(2), 2.0)
    statistic = module.HuberLocation(ball, 0.5)
    records = ball.clip(space.exp_coords(np.eye(2), 0.3 * rng.standard_normal((60, 3))))
    value, t = statistic.evaluate(records).value, np.geomspace(1e-3, 4.0, 80)
    floor = statistic.gradient.floor(records, value, 0.0, t)
    norm = statistic.gradient.norm(records, ball.reach)
    for x in space.exp_coords(value, rng.standard_normal((60, 3)) * rng.random((60, 1))):
        at = np.searchsorted(t, float(space.dist(value, x))) - 1
        assert at < 0 or norm(x) >= floor[at]
    assert floor.max() > 0.05
    with pytest.raises(ValueError, match="Hadamard"):
        module.HuberGradient(gd.Ball(gd.Sphere(2), [0.0, 0.0, 1.0], 0.4), 0.1)


def test_a_mechanism() -> None:
    module = example("mechanism")
    once, epsilon = module.main()
    assert float(once[0]) % 0.5 == 0
    assert 6 < epsilon < 12
    with pytest.raises(GuaranteeError, match="pure epsilon only"):
        gd.calibrate(module.GridLaplace(), gd.Euclidean(1), 0.5, gd.GaussianDP(1))
    with pytest.raises(AssertionError, match="keeps none"):
        check_mechanism(module.GridLaplace(), gd.Euclidean(2))


def test_a_receipt_of_it_says_what_cannot_be_recomputed() -> None:
    module = example("mechanism")
    mean = gd.FrechetMean(gd.Ball(gd.Euclidean(1), [0.0], 1.0))
    out = gd.release(np.zeros((40, 1)), mean, gd.PureDP(1), module.GridLaplace())
    failed = {check.name: check.detail for check in gd.verify(out) if not check.passed}
    assert set(failed) == {"sensitivity", "scale", "words"}
    assert "'grid-laplace' is none of geodp's" in failed["scale"]


def test_they_are_short() -> None:
    for path in EXAMPLES.glob("*.py"):
        code = [x for x in path.read_text().splitlines() if x.strip() and '"""' not in x]
        assert len(code) <= 75, path.name


def test_the_mechanism_moves_one_step_for_values_one_sensitivity_apart() -> None:
    """Also where both lie half-way between steps, and rounding halves to even would move two."""
    from geodp.random import GeneratorBits

    cal = gd.calibrate(example("mechanism").GridLaplace(), gd.Euclidean(1), 0.25, gd.PureDP(1))
    for start in (-0.375, -0.125, 0.125, 0.375, 0.6):
        low, high = (
            cal.draw(np.array([at]), GeneratorBits(np.random.default_rng(3)))[0]
            for at in (start, start + 0.25)
        )
        assert high - low == 0.25

"""The audit of every mechanism, which must pass, and of every planted twin, which must fail.

One guarantee per mechanism, a sensitivity of 0.1, on S², S⁹, H³, SPD(2) and SPD(3); the K-norm
gradient on S⁹ at 0.004, since wider noise covers the sphere there and hardly a draw is ever
kept. Twins: noise and draws that are 10 % too small, naive float releases, R1SMG, the Wishart
mechanism, and whole releases with a bug between records and receipt. Two processes.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from recording import Run

import geodp as gd
from geodp.errors import ConditionError
from geodp.mechanisms.base import Mechanism
from geodp.privacy.guarantees import Guarantee
from geodp.testing.audit import Report, audit, audit_release, twins
from geodp.testing.audit.twin_releases import Planted

SPACES = (
    "sphere:2",
    "hyperbolic:3",
    "spd:2:affine-invariant",
    "sphere:9",
    "spd:3:affine-invariant",
)
SENSITIVITY, MINUTES, RELEASES = 0.1, 0.25, 120

WRAPPED_GAUSSIAN = (gd.Wrapped(gd.Gaussian()), gd.GaussianDP(1))
WRAPPED_LAPLACE = (gd.Wrapped(gd.L2Laplace()), gd.PureDP(1))
WRAPPED_BEST = (gd.Wrapped(gd.SphericalGamma()), gd.GaussianDP(1))
LAPLACE = (gd.RiemannianLaplace(), gd.PureDP(1))
GAUSSIAN = (gd.RiemannianGaussian(), gd.GaussianDP(1))
GRADIENT = (gd.KNormGradient(), gd.PureDP(1))
NARROW = 0.004  # of the K-norm gradient on S⁹
TRUNCATED = (gd.RiemannianLaplace(truncated=True), gd.PureDP(1))
EVERYWHERE = (WRAPPED_GAUSSIAN, WRAPPED_LAPLACE, LAPLACE, GAUSSIAN, GRADIENT)


class Case(NamedTuple):
    """What is audited; ``bad`` names a planted bug."""

    kind: str
    space: str
    mechanism: Mechanism | None
    guarantee: Guarantee
    bad: str = ""
    sensitivity: float = SENSITIVITY

    @property
    def slow(self) -> bool:
        """Whether it is begun first, so that two processes end together."""
        return isinstance(self.mechanism, gd.KNormGradient) or self.space.startswith("spd:3")


def planted(bad: str, inner: Mechanism | None) -> Mechanism | None:
    """The mechanism with its bug."""
    makers: dict[str, Callable[[Any], Mechanism]] = {
        "10 % small": twins.small_noise,
        "10 % small draws": twins.small_draws,
        "naive floats": twins.naive,
        "R1SMG": lambda _: twins.r1smg(),
        "Wishart": lambda _: twins.wishart(),
    }
    return makers[bad](inner) if bad in makers else inner


def cases() -> list[Case]:
    """All of them."""
    out = [
        Case("mechanism", spec, *pair)
        for spec in SPACES
        for pair in EVERYWHERE
        if (spec, pair) != ("sphere:9", GRADIENT)
    ]
    out += [Case("mechanism", "sphere:9", *GRADIENT, sensitivity=NARROW)]
    out += [Case("mechanism", "sphere:2", *TRUNCATED)]
    out += [
        Case("mechanism", spec, *WRAPPED_BEST) for spec in ("sphere:2", "spd:2:affine-invariant")
    ]
    small = (WRAPPED_BEST, *EVERYWHERE[:-1])
    out += [Case("twin", "sphere:2", *pair, "10 % small") for pair in small]
    out += [Case("twin", "hyperbolic:3", *LAPLACE, "10 % small")]
    out += [Case("twin", "spd:3:affine-invariant", *WRAPPED_GAUSSIAN, "10 % small")]
    out += [Case("twin", "hyperbolic:3", *pair, "10 % small draws") for pair in (GRADIENT, LAPLACE)]
    out += [Case("twin", spec, *LAPLACE, "naive floats") for spec in SPACES]
    out += [Case("twin", "sphere:2", *GRADIENT, "naive floats")]
    out += [Case("twin", "euclidean:10", None, gd.ApproxDP(1, "1e-5"), "R1SMG")]
    out += [Case("twin", "euclidean:3", None, gd.PureDP(1), "Wishart")]
    ball = releasing("spd:2:affine-invariant")
    out += [
        Case("twin", "spd:2:affine-invariant", None, gd.GaussianDP(1), bad) for bad in ball.twins()
    ]
    return [*out, Case("release", "spd:2:affine-invariant", None, gd.GaussianDP(1))]


def releasing(spec: str) -> Planted:
    space = gd.parse_space(spec)
    return Planted(gd.Ball(space, space.origin, 1.0), gd.GaussianDP(1))


def audited(case: Case, share: float, seed: int) -> Report:
    space = gd.parse_space(case.space)
    whole = releasing(case.space) if case.space.startswith("spd:2") else None
    if whole is not None and case.mechanism is None:
        pipeline = whole.twins().get(case.bad, whole.sound)
        count = max(60, int(share * RELEASES))
        return audit_release(pipeline, whole.ball, case.guarantee, releases=count, seed=seed)
    mechanism = planted(case.bad, case.mechanism)
    assert mechanism is not None
    minutes = max(0.005, share * MINUTES)
    return audit(mechanism, space, case.sensitivity, case.guarantee, minutes=minutes, seed=seed)


def row(job: tuple[Case, float, int]) -> dict[str, Any]:
    case, share, seed = job
    start = time.process_time()
    subject = planted(case.bad, case.mechanism)
    name = "whole release" if subject is None else subject.name
    try:
        report = audited(case, share, seed)
    except ConditionError as refusal:  # a law that does not exist there
        print(f"{name} on {case.space}: {refusal}", file=sys.stderr)
        return {}
    figures = {one.name: one.figures for one in report.findings}
    digits = figures.get("digits", {})
    nearest = [x for name, x in figures.items() if name.startswith("guarantee")]
    shares = [a["at_least"] / a["allowed"] for x in nearest for a in x.values() if a["allowed"] > 0]
    return {
        "kind": case.kind,
        "space": case.space,
        "mechanism": name,
        "bug": case.bad,
        "guarantee": case.guarantee.label,
        "sensitivity": case.sensitivity,
        "passed": report.passed,
        "failed_checks": "; ".join(report.failed),
        "largest_share_of_promise": np.nan if case.bad else max(shares, default=np.nan),
        "digits_advantage": float(digits.get("advantage", np.nan)),
        "digits_allowed": float(digits.get("allowed", np.nan)),
        "false_alarm": report.false_alarm,
        "processor_seconds": time.process_time() - start,
    }


def collect(run: Run, found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of what could be audited, printed and kept one by one."""
    rows: list[dict[str, Any]] = []
    for r in filter(None, found):
        verdict = "passed" if r["passed"] else f"failed ({r['failed_checks']})"
        print(f"{r['mechanism']} on {r['space']} {r['guarantee']}: {verdict}", flush=True)
        rows.append(r)
        run.table("audit", rows)
    return rows


def main() -> int:
    run = Run.parse("audit", __doc__.splitlines()[0])
    wanted = sorted(filter(lambda case: run.wants(case.space), cases()), key=lambda c: not c.slow)
    jobs = [(case, run.share, run.seed) for case in wanted]
    begin = time.monotonic()
    if run.share < 1:  # a small part: not worth two processes
        rows = collect(run, map(row, jobs))
    else:
        os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            rows = collect(run, pool.map(row, jobs))
    wall = time.monotonic() - begin
    wrong = [r for r in rows if r["passed"] == (r["kind"] == "twin")]
    seconds = sum(r["processor_seconds"] for r in rows)
    facts = {
        "mechanisms": sum(r["kind"] != "twin" for r in rows),
        "twins": sum(r["kind"] == "twin" for r in rows),
        "wrong": [f"{r['mechanism']} on {r['space']} {r['bug']}" for r in wrong],
        "false_alarm_of_all": sum(r["false_alarm"] for r in rows if r["kind"] != "twin"),
        "processor_seconds": seconds,
        "elapsed_seconds": wall,
    }
    run.document("audit", facts)
    print(facts)
    return 1 if wrong and run.share == 1 else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Each extra alone, in an environment of its own: what it is for works."""

from __future__ import annotations

import signal
import subprocess
import tomllib
import urllib.request
from collections.abc import Callable
from http.cookiejar import CookieJar
from pathlib import Path

import pytest
from environment import BALL, ROOT, Environment

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def plot(made: Environment) -> None:
    receipt = made.receipt()
    made.done("report", receipt, "--out", "page.html")
    page = (made.folder / "page.html").read_text(encoding="utf-8")
    assert "data:image/svg+xml;base64," in page
    assert "geodp[plot]" not in page
    made.done("inspect", "tensors.npy", *BALL, "--picture", "picture.png")
    assert (made.folder / "picture.png").read_bytes().startswith(b"\x89PNG")


def data(made: Environment) -> None:
    demo = ROOT / "examples" / "digits_demo.py"
    found = made.code(f"import runpy; print(*sorted(runpy.run_path({str(demo)!r})))")
    assert "main" in found.split()
    assert made.code("from sklearn.datasets import load_digits; print(len(load_digits().data))")


def postgres(made: Environment) -> None:
    """The driver is there, and asks a server that is none."""
    result = made.geodp("ledger", "show", "postgresql://geodp@/none?host=/nowhere")
    assert result.returncode == 2
    assert result.stderr.endswith("the database server does not answer.\n")


def accounting(made: Environment) -> None:
    """mu = 1 at epsilon = 1: delta = Phi(-1/2) - e Phi(-3/2) = 0.126937."""
    printed = made.code(
        "import geodp as gd, opendp.prelude as dp\n"
        "dp.enable_features('contrib', 'honest-but-curious')\n"
        "law = gd.Wrapped(gd.Gaussian())\n"
        "profile = gd.calibrate(law, gd.Euclidean(1), 1, gd.GaussianDP(1)).profile\n"
        "losses = profile.to_dp_accounting()\n"
        "print(losses.get_delta_for_epsilon(1.0), profile.to_opendp().delta(1.0))"
    )
    assert [float(word) for word in printed.split()] == pytest.approx([0.126937] * 2, rel=1e-3)


def web(made: Environment) -> None:
    words = [made.home / "bin" / "geodp", "serve", "--port", "0", "--no-browser"]
    with subprocess.Popen(words, cwd=made.folder, stdout=subprocess.PIPE, text=True) as served:
        try:
            assert served.stdout is not None
            url = served.stdout.readline().strip()
            cookies = urllib.request.HTTPCookieProcessor(CookieJar())
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), cookies)
            with opener.open(url, timeout=60) as answer:
                page = answer.read().decode("utf-8")
            with opener.open(url.partition("?")[0].rstrip("/") + "/static/page.css") as answer:
                assert answer.status == 200
        finally:
            served.send_signal(signal.SIGINT)
        assert served.wait(30) in (0, 130)
    assert "<form" in page
    assert "wrapped-gaussian" in page


def sklearn(made: Environment) -> None:
    made.code(
        "import numpy as np\n"
        "from geodp.sklearn import PrivateFrechetMean\n"
        "x = np.random.default_rng(0).uniform(-0.1, 0.1, (200, 2))\n"
        "assert PrivateFrechetMean().fit(x).mean_.shape == (2,)"
    )


def imaging(made: Environment) -> None:
    made.code(
        "import numpy as np\n"
        "from geodp.io import Grid, write_tensors\n"
        "write_tensors('d.nii.gz', np.tile(np.eye(3), (8, 1, 1)), Grid((2, 2, 2), np.eye(4)))"
    )
    unit = ("--physical-unit", "1e-3 mm^2/s")
    assert made.done("inspect", "d.nii.gz", *BALL, *unit)["points"] == 8
    assert made.done("convert", "d.nii.gz", "--space", "spd:3", *unit, "--out", "d.csv")


def parquet(made: Environment) -> None:
    made.code(
        "import numpy as np, geodp as gd\n"
        "from geodp.io import write_parquet\n"
        "write_parquet('d.parquet', np.tile(np.eye(3), (8, 1, 1)), gd.SPD(3))"
    )
    assert made.done("inspect", "d.parquet", *BALL)["points"] == 8


def dask(made: Environment) -> None:
    assert (
        made.code(
            "import dask.array as da, numpy as np, geodp as gd, distributed\n"
            "from geodp.io import DaskRecords\n"
            "records = DaskRecords(da.from_array(np.full((100, 2), 0.25), chunks=(30, 2)))\n"
            "mean = gd.FrechetMean(gd.Ball(gd.Euclidean(2), [0.0, 0.0], 1.0))\n"
            "print(*mean.evaluate(records).value)"
        )
        == "0.25 0.25"
    )


def every(made: Environment) -> None:
    """Every module of the package can be imported, warnings being errors."""
    count = made.code(
        "import importlib, pkgutil, geodp\n"
        "names = [m.name for m in pkgutil.walk_packages(geodp.__path__, 'geodp.')]\n"
        "print(len([importlib.import_module(n) for n in names if not n.endswith('__main__')]))"
    )
    assert int(count) > 200


CHECKS = {
    "plot": plot,
    "data": data,
    "postgres": postgres,
    "accounting": accounting,
    "web": web,
    "sklearn": sklearn,
    "imaging": imaging,
    "parquet": parquet,
    "dask": dask,
    "all": every,
}


def test_every_extra_has_its_check() -> None:
    assert CHECKS.keys() == PROJECT["optional-dependencies"].keys()


@pytest.mark.parametrize("extra", CHECKS)
def test_an_extra_alone(fresh: Callable[..., Environment], wheel: Path, extra: str) -> None:
    CHECKS[extra](fresh(f"geodp[{extra}] @ {wheel.as_uri()}"))

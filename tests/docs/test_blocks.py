"""The runner of code blocks: what it runs, in which order, and that it can fail."""

import traceback
from pathlib import Path

import blocks
import numpy as np
import pytest

import geodp as gd

PAGE = """
<!-- setup
hidden = 3
-->
<!-- file: table.csv -->
```text
a,b
```

```python
from pathlib import Path
seen = Path("table.csv").read_text()
print(hidden, 0.5)
```
```text same
...
3 ...
...
```
<!-- perhaps: A line that is not there. -->
```text form
4 -1.25e-3
```

```sh
cat table.csv
```
```text same
a,b
```

```python
>>> hidden + 1
4
```

```console
$ geodp plan --space sphere:2 \\
    --n 10 --gdp 1    # ends with 2
Error: The ball's centre is missing
```

<!-- not run: it would take a day -->
```sh norun
sleep 86400
```
"""


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_kinds_of_blocks_run(tmp_path: Path) -> None:
    made = page(tmp_path, PAGE)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.tps").touch()
    folder = tmp_path / "empty"
    folder.mkdir()
    blocks.run(made, folder)
    assert sorted(x.name for x in folder.rglob("*")) == ["data", "table.csv", "x.tps"]
    assert Path.cwd() != folder
    assert sum(x.runs for x in blocks.blocks_of(made)) == 5


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("3 ...", "4 x"),
        ("4 -1.25e-3", "4 word"),
        ("4 -1.25e-3", "4"),
        ("hidden + 1\n4", "hidden + 1\n5"),
        ("cat table.csv", "cat nothing.csv"),
        ("cat table.csv", "false"),
        ("cat table.csv", "cat nothing.csv | true"),
        ("ends with 2", "ends with 0"),
        ("centre is missing", "centre is lost"),
        ("sleep 86400\n```", "sleep 86400\n"),
        ("not run: it would take a day", "later"),
        ("print(hidden, 0.5)", "print(hiden, 0.5)"),
    ],
)
def test_a_page_that_is_wrong_fails(tmp_path: Path, shown: str, printed: str) -> None:
    assert PAGE.count(shown) == 1
    with pytest.raises(blocks.PageError, match=r"page\.md:\d+"):
        blocks.run(page(tmp_path, PAGE.replace(shown, printed)), tmp_path)


def test_a_failure_names_the_line(tmp_path: Path) -> None:
    made = page(tmp_path, "Words.\n\n```python\nx = 1\nx.y\n```\n")
    with pytest.raises(blocks.PageError, match=r"page\.md:4: AttributeError") as caught:
        blocks.run(made, tmp_path)
    cause = caught.value.__cause__
    assert cause is not None
    frames = traceback.extract_tb(cause.__traceback__)
    assert (frames[-1].lineno, frames[-1].line) == (5, "x.y")


@pytest.mark.parametrize("shown", ["rare 1\n", "perhaps\nrare 1\n", "perhaps\n"])
def test_a_line_that_noise_adds_now_and_then(tmp_path: Path, shown: str) -> None:
    code = f"```python\nprint({shown!r}, end='')\n```\n"
    made = page(tmp_path, code + "<!-- perhaps: perhaps -->\n```text form\nrare 7\n```\n")
    if "rare" in shown:
        blocks.run(made, tmp_path)
    else:
        with pytest.raises(blocks.PageError, match="printed"):
            blocks.run(made, tmp_path)


def test_the_shell_finds_geodp(tmp_path: Path) -> None:
    blocks.run(page(tmp_path, "```sh\ngeodp --version\n```\n```text form\ngeodp...\n```"), tmp_path)


def test_an_outcome_is_a_figure_and_a_receipt_that_verifies(tmp_path: Path) -> None:
    with pytest.raises(blocks.PageError, match="leaves figure"):
        blocks.outcome(tmp_path)
    figure = tmp_path / "figure.svg"
    figure.touch()
    ball = gd.Ball(gd.Euclidean(1), [0.0], 1.0)
    mean, noise = gd.FrechetMean(ball), gd.Wrapped(gd.Gaussian())
    gd.release([[0.0]] * 9, mean, gd.GaussianDP(1), noise).save(tmp_path / "receipt.json")
    assert blocks.outcome(tmp_path) == figure
    rng = np.random.default_rng(0)
    simulated = gd.release([[0.0]] * 9, mean, gd.GaussianDP(1), noise, rng=rng)
    simulated.save(tmp_path / "receipt.json")
    with pytest.raises(blocks.PageError, match="NOT PRIVATE"):
        blocks.outcome(tmp_path)

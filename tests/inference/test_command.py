"""geodp infer as a user runs it."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

import geodp as gd
from geodp.cli import main
from geodp.inference import equal_means


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "plane.npy"
    np.save(path, np.random.default_rng(1).uniform(-0.5, 0.5, (200, 2)))
    return path


def run(file, *words):
    start = ("infer", file, "--space", "euclidean:2", "--center", "origin", "--radius", "1")
    return CliRunner().invoke(main, [str(word) for word in (*start, *words)])


def test_one_document_on_stdout(file, tmp_path):
    out = tmp_path / "out.json"
    result = run(file, "--gdp", "1", "--confidence", "0.9", "--unit", "scan", "--out", out)
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document == json.loads(out.read_text())
    verified = CliRunner().invoke(main, ["verify", str(out), "--json"])
    assert verified.exit_code == 0
    checks = {check["name"]: check["passed"] for check in json.loads(verified.stdout)["checks"]}
    assert all(checks.values())
    assert {"mean, scale", "covariance, scale", "sum", "records", "results"} <= set(checks)
    piped = json.dumps(document | {"guarantee": {"notion": "gdp", "mu": "0.5"}})
    assert CliRunner().invoke(main, ["verify", "-"], input=piped).exit_code == 1
    assert document["region"]["confidence"] == 0.9
    assert document["releases"]["mean"]["request"]["unit"] == "scan"
    assert "confidence region" in result.stderr


def test_groups_and_refusals(file, tmp_path):
    labels = tmp_path / "labels.txt"
    labels.write_text("a\n" * 100 + "b\n" * 100)
    result = run(file, "--gdp", "1", "--by", labels, "--public-labels", "--json", "--replaced", 0)
    assert result.exit_code == 0
    groups = json.loads(result.stdout)["groups"]
    assert set(groups) == {"a", "b"}
    assert "replaced" not in groups["a"]["releases"]
    assert result.stderr == ""
    result = run(file, "--gdp", "1", "--by", labels, "--public-labels")
    found = [gd.Inference.from_json(one) for one in json.loads(result.stdout)["groups"].values()]
    assert result.stderr.splitlines()[-1] == repr(equal_means(found))
    assert json.loads(result.stdout)["equal_means"] == vars(equal_means(found))
    for words in (
        ("--gdp", 1, "--by", labels),
        ("--gdp", 1, "--confidence", 2),
        ("--gdp", 1, "--pure", 1),
        ("--gdp", 1, "--replaced", 3),
    ):
        result = run(file, *words)
        assert result.exit_code == 2
        assert result.stderr.startswith("Error: ")
        assert result.stdout == ""


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (1, 0, 2, 3), (0, 2, 3, 1), (2, 0, 3, 1)])
def test_labels_and_ids_in_columns_are_those_in_files(tmp_path, order):
    """A long table as other programs write it: quotes, and columns in any order."""
    points = np.random.default_rng(2).uniform(-0.5, 0.5, (200, 2))
    rows = [(f'"p{i // 2}"', f'"{"ab"[i % 4 // 2]}"', x, y) for i, (x, y) in enumerate(points)]
    lines = [('"who"', '"site"', '"x"', '"y"'), *rows]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(",".join(str(line[k]) for k in order) for line in lines) + "\n")
    (tmp_path / "who.txt").write_text("".join(f"p{i // 2}\n" for i in range(200)))
    (tmp_path / "site.txt").write_text("".join("ab"[i % 4 // 2] + "\n" for i in range(200)))
    np.save(tmp_path / "points.npy", points)
    said = ("--gdp", "2", "--public-labels", "--by-name", "site", "--seed", "1", "--json")
    columns = run(table, "--header", "--by", "site", "--entities", "who", *said)
    assert columns.exit_code == 0, columns.stderr
    by_files = ("--by", tmp_path / "site.txt", "--entities", tmp_path / "who.txt")
    files = run(tmp_path / "points.npy", *by_files, *said)
    found, expected = (json.loads(result.stdout)["groups"] for result in (columns, files))
    assert list(found) == ["a", "b"]
    assert [one["region"] for one in found.values()] == [one["region"] for one in expected.values()]
    assert found["a"]["releases"]["mean"]["request"]["n"] == 50


def test_columns_of_labels_that_are_refused(file, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("site,x,y\n" + "a,0.1,0.2\n" * 60 + ",0.1,0.2\n" + "b,0.1,0.2\n" * 60)
    for words, about in (
        ((table, "--header", "--by", "site"), "Some records have no label"),
        ((table, "--header", "--by", "place"), "must name the column 'place'"),
        ((table, "--no-header", "--by", "site"), "first line is one"),
        ((file, "--by", "site"), "'site' is no file"),
    ):
        result = run(*words, "--gdp", "1", "--public-labels")
        assert result.exit_code == 2
        assert about in result.stderr
        assert result.stdout == ""


def test_the_test_of_equal_means_is_in_the_document_and_verified(file, tmp_path):
    labels, out = tmp_path / "labels.txt", tmp_path / "groups.json"
    labels.write_text("a\n" * 100 + "b\n" * 100)
    run(file, "--gdp", "1", "--by", labels, "--public-labels", "--out", out)
    document = json.loads(out.read_text())
    verdict = document["equal_means"]
    assert verdict["null"] == "the 2 means are equal"

    def groups_check(changed):
        result = CliRunner().invoke(main, ["verify", "-", "--json"], input=json.dumps(changed))
        checks = json.loads(result.stdout)["checks"]
        return next(check["passed"] for check in checks if check["name"] == "groups")

    assert groups_check(document)
    assert not groups_check(document | {"equal_means": verdict | {"p_value": 1e-3}})
    assert not groups_check(document | {"equal_means": None})
    del document["equal_means"]  # as documents were before
    assert groups_check(document)
    one = run(file, "--gdp", "1", "--by", labels, "--public-labels", "--json")
    assert list(json.loads(one.stdout))[-1] == "groups"  # the long part comes last
    labels.write_text("a\n" * 200)
    alone = run(file, "--gdp", "1", "--by", labels, "--public-labels")
    assert json.loads(alone.stdout)["equal_means"] is None


def test_a_seed_is_told_once(file):
    result = run(file, "--gdp", "1", "--seed", "1")
    assert result.stderr.count("NOT PRIVATE") == 1
    notes = json.loads(result.stdout)["notes"]
    assert sum(note.startswith("NOT PRIVATE") for note in notes) == 1


def test_a_row_is_cut_to_its_range_beside_the_released_number():
    """Noise moves shares below zero, a half of them; none of these records is replaced."""
    ball, points = gd.Ball(gd.Euclidean(1), [0.0], 1.0), np.full((200, 1), 0.1)
    signs = set()
    for seed in range(12):  # all have one sign with probability 2^-11; the seeds are fixed
        rng = np.random.default_rng(seed)
        out = gd.infer(points, ball, gd.GaussianDP(1), rng=rng)
        rows = {row["what"]: row for row in out.table()}
        for part, what in (
            ("replaced", "share of replaced records"),
            ("variance", "Fréchet variance"),
        ):
            row, released = rows[what], float(out.releases[part].value[0])
            assert row["released"] == released
            assert 0 <= row["low"] <= row["value"] <= row["high"] <= 1
            signs.add((part, released > 0))
            if released > 0:
                assert row["value"] == pytest.approx(released, rel=0.02)  # n/(n - 1) and noise
            else:
                assert row["value"] == 0
                assert f"(released: {released:.4g})" in repr(out)
    assert len(signs) == 4


def test_what_was_spent_is_printed_where_no_test_can_be_made(file, tmp_path, monkeypatch):
    labels = tmp_path / "labels.txt"
    labels.write_text("a\n" * 100 + "b\n" * 100)

    def singular(results):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr("geodp.inference.groups.equal_means", singular)
    result = run(file, "--gdp", "1", "--by", labels, "--public-labels")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["equal_means"] is None
    assert set(document["groups"]) == {"a", "b"}

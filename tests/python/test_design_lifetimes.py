"""Lifetimes fitted to failure records: known parameters come back, damaged rows are counted."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conftest import Command
from headrace.cli.app import run
from headrace.design.lifetimes.fits import fit_lifetimes, fit_model, poisson_interval
from headrace.design.lifetimes.records import read_records
from headrace.design.reliability.laws import parse_lifetime
from headrace.design.reliability.question import Weibull
from headrace.quantities import HOUR


def observed(shape: float, scale: float, disks: int, seed: int) -> pl.DataFrame:
    """Disks of a Weibull law, seen from some age (left truncation) to a later one at most."""
    random = np.random.default_rng(seed)
    entry = random.uniform(0, 30_000, disks)
    # Lives of those that reach their entry.
    lives = scale * ((entry / scale) ** shape - np.log(random.random(disks))) ** (1 / shape)
    ends = entry + random.uniform(2000, 26_000, disks)
    return pl.DataFrame(
        {
            "model": "M",
            "entry": entry,
            "age": np.minimum(lives, ends),
            "failed": lives < ends,
        }
    )


@pytest.mark.parametrize(
    ("shape", "scale"), [(1.12, 222_314), (0.66, 84_082), (1.61, 263_254), (4.17, 25_472)]
)
def test_known_lifetimes_are_within_three_standard_errors(shape: float, scale: float) -> None:
    fit = fit_model("M", observed(shape, scale, 8000, seed=11))
    assert near(fit.shape, fit.shape_interval, shape)
    assert near(fit.scale, fit.scale_interval, scale)
    assert fit.lifetime is not None and fit.shape is not None and fit.scale is not None
    law = parse_lifetime(fit.lifetime)
    assert isinstance(law, Weibull)
    assert (law.shape, law.scale / HOUR) == pytest.approx((fit.shape, fit.scale), rel=1e-3)


def test_truncation_matters() -> None:
    disks = observed(1.6, 100_000, 8000, seed=3)
    fit = fit_model("M", disks)
    ignored = fit_model("M", disks.with_columns(entry=pl.lit(0.0)))
    assert near(fit.shape, fit.shape_interval, 1.6)
    assert not near(ignored.shape, ignored.shape_interval, 1.6)


def test_annual_rate_and_its_exact_interval() -> None:
    # Garwood 1936: 10 events have the 95 % interval 4.795 to 18.39.
    assert poisson_interval(10, 1.0) == pytest.approx((4.795, 18.39), rel=1e-3)
    assert poisson_interval(0, 1.0) == pytest.approx((0.0, 3.689), rel=1e-3)
    disks = pl.DataFrame(
        {
            "model": ["M"] * 100,
            "entry": [0.0] * 100,
            "age": [8760.0] * 100,
            "failed": [number < 2 for number in range(100)],
        }
    )
    fit = fit_model("M", disks)
    assert (fit.annual_rate, fit.disk_years) == pytest.approx((0.02, 100))
    assert fit.lifetime is None
    assert "fewer than 5 failures" in fit.note


def near(value: float | None, interval: tuple[float, float] | None, known: float) -> bool:
    """Whether a known parameter is within three standard errors of its estimate."""
    assert value is not None and interval is not None
    error = math.log(interval[1] / interval[0]) / (2 * 1.96)
    return abs(math.log(value / known)) <= 3 * error


def write(path: Path, header: list[str], rows: list[list[Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
    return path


def test_bad_rows_of_an_own_table_are_counted(tmp_path: Path) -> None:
    good = [["M", 10 + number, number % 2, 0] for number in range(20)]
    bad = [
        ["M", "x", 1, 0],
        ["M", -3, 1, 0],
        ["M", 5, 2, 0],
        ["M", 5, 1, 9],
        ["M", 5],
        ["M", "inf", 1],
    ]
    file = write(tmp_path / "own.csv", ["model", "age_days", "Failed", "entry"], good + bad)
    records = read_records([file])
    assert records.disks.height == 20
    assert records.rows == 26
    assert records.bad == {
        "age is no number above 0": 3,
        "failed is not 0 or 1": 2,
        "entry is no age below the disk's": 1,
    }
    assert records.disks["age"].min() == 240


def daily(tmp_path: Path) -> list[Path]:
    """Two days of three disks in Backblaze's form; one fails on the second."""
    header = ["date", "serial_number", "model", "capacity_bytes", "failure", "smart_9_raw"]
    first = [
        ["2016-01-01", "A", "ST4000DM000", 4000787030016, 0, 1000],
        ["2016-01-01", "B", "ST4000DM000", 4000787030016, 0, 2000],
        ["2016-01-01", "C", "WD30EFRX", 3000592982016, 0, ""],
        ["yesterday", "A", "ST4000DM000", 4000787030016, 0, 1],
    ]
    second = [
        ["2016-01-02", "A", "ST4000DM000", 4000787030016, 0, 1024],
        ["2016-01-02", "B", "ST4000DM000", 4000787030016, 1, ""],
        ["2016-01-02", "D", "ST4000DM000", 4000787030016, 0, 999],
        ["2016-01-02", "", "ST4000DM000", 4000787030016, 0, 999],
    ]
    return [
        write(tmp_path / "2016-01-01.csv", header, first),
        write(tmp_path / "2016-01-02.csv", header, second),
    ]


def test_daily_files_are_summed_up_by_disk(tmp_path: Path) -> None:
    records = read_records(daily(tmp_path))
    disks = records.disks.sort("entry")
    assert disks["entry"].to_list() == [999, 1000, 2000]
    assert disks["age"].to_list() == [1023, 1048, 2024]
    assert disks["failed"].to_list() == [False, False, True]
    assert records.rows == 8
    assert records.bad == {
        "row without date, serial number, model or failure": 2,
        "disk without power-on hours": 1,
    }


def test_simulated_daily_files_give_the_law_back(tmp_path: Path) -> None:
    header = ["date", "serial_number", "model", "failure", "smart_9_raw"]
    disks = observed(1.5, 60_000, 1500, seed=7).rows(named=True)
    rows = []
    for number, disk in enumerate(disks):
        # Of each disk only its first and its last day: what is between changes nothing.
        days = int((disk["age"] - disk["entry"]) // 24)
        begin = np.datetime64("2013-01-01")
        for day, failed in ((0, 0), (days, int(disk["failed"]))):
            hours = int(disk["entry"]) + 24 * day
            rows.append([str(begin + day), f"S{number}", "M", failed, hours])
    file = write(tmp_path / "daily.csv", header, rows)
    (fit,) = fit_lifetimes(read_records([file])).fits
    assert near(fit.shape, fit.shape_interval, 1.5)
    assert near(fit.scale, fit.scale_interval, 60_000)


def test_the_command_prints_fits_and_draws_them(tmp_path: Path, headrace: Command) -> None:
    rows = [
        [it["model"] + name, f"{it['age']:.1f}", int(it["failed"]), f"{it['entry']:.1f}"]
        for name in "AB"
        for it in observed(1.3, 80_000, 400, seed=ord(name)).rows(named=True)
    ]
    file = write(tmp_path / "own.csv", ["model", "age", "failed", "entry"], rows)
    ended = headrace("design", "lifetimes", file, "--json", "--plot", tmp_path / "plots")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert [it["model"] for it in document["fits"]] == ["MA", "MB", "all models"]
    assert document["left_truncated"] == 800
    assert (tmp_path / "plots" / "lifetimes.png").stat().st_size > 10_000
    shown = headrace("design", "lifetimes", file)
    assert document["fits"][0]["lifetime"] in shown.stdout
    assert "800 rows read; left out: none" in shown.stdout


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected a CSV file with the columns age and failed"),
        ("a,b\n1,2\n", "its columns are a, b"),
        ("age,failed\n", "no disk can be used"),
        ("age,failed\nx,1\ny,0\n", "no disk can be used: 2 x age is no number above 0"),
        ("age;failed\n1;1\n", "its columns are age;failed"),
    ],
)
def test_wrong_tables_are_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    file = tmp_path / "table.csv"
    file.write_text(text)
    refused(capsys, message, file)


def test_wrong_files_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused(capsys, "no such file", tmp_path / "none.csv")
    refused(capsys, "is a directory", tmp_path)


def refused(capsys: pytest.CaptureFixture[str], message: str, path: Path) -> None:
    """Check that the command refuses a file, in this process: a start takes far longer."""
    assert run(["design", "lifetimes", str(path)]) == 2
    ended = capsys.readouterr()
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert ended.err.startswith(f"{path}: ")
    assert message in ended.err


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    header=st.sampled_from(
        ["age,failed,entry,model", "date,serial_number,model,failure,smart_9_raw"]
    ),
    cells=st.lists(
        st.lists(
            st.one_of(
                st.sampled_from(["", "0", "1", "12", "-1", "1e400", "nan", "2016-01-01", "A", '"']),
                st.text(max_size=5),
            ),
            max_size=7,
        ),
        max_size=8,
    ),
)
def test_any_table_is_fitted_or_refused(
    tmp_path: Path, header: str, cells: list[list[str]]
) -> None:
    file = tmp_path / "fuzz.csv"
    text = "\n".join([header, *(",".join(row) for row in cells)])
    file.write_text(text, encoding="utf-8", errors="replace")
    try:
        records = read_records([file])
    except ValueError as error:
        assert str(error).startswith(f"{file}: ")
        return
    assert (records.disks["age"] > records.disks["entry"]).all()
    for fit in fit_lifetimes(records).fits:
        assert fit.annual_rate >= 0

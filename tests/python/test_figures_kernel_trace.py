"""What the kernel saw, drawn and as tables."""

import io
from pathlib import Path

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from rich.console import Console

from headrace.calibrate.kernel_times import KernelTime
from headrace.kernel_trace import service
from headrace.kernel_trace.requests import SCHEMA
from headrace.report import plots, validation_tables
from headrace.report.figures import kernel_trace


def requests() -> pl.DataFrame:
    """Of two directions and two sizes each, and some flushes; one size is rare."""
    rows: list[tuple[str | int | float | None, ...]] = [
        (direction, size, size, False, 1, at * 1_000_000, 1e-6, factor * (1 + at / 100) * 1e-3)
        for direction, factor in (("read", 1.0), ("write", 3.0))
        for size, count in ((4096, 40), (1 << 20, 20), (512, 3))
        for at in range(count)
    ]
    rows += [("flush", 0, 0, True, 1, at * 1_000_000, None, 5e-3) for at in range(12)]
    found = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    return found.with_columns((pl.col("issued_ns") * 1e-9).alias("at_s"))


def drawn(figure: Figure) -> dict[str, list[tuple[float, float]]]:
    """The points of each line with a name."""
    found = {}
    for container in figure.axes[0].containers:
        line = container[0]
        points = zip(line.get_xdata(), line.get_ydata(), strict=True)
        found[str(container.get_label())] = [(float(x), float(y)) for x, y in points]
    return found


def test_a_size_is_drawn_with_its_median() -> None:
    points = drawn(kernel_trace.service("name", requests()))
    assert points.keys() == {"read", "write"}
    # The medians of 0 to 39 and 0 to 19 hundredths; three requests make no point.
    read = [(round(x), round(y, 4)) for x, y in points["read"]]
    assert read == [(4096, 1.195), (1 << 20, 1.095)]
    assert [
        round(y / x, 6) for (_, x), (_, y) in zip(points["read"], points["write"], strict=True)
    ] == [3, 3]


def test_nothing_can_be_drawn_too(tmp_path: Path) -> None:
    nothing = requests()[:0]
    written = plots.save_kernel_trace(tmp_path, "name", nothing, [], [])
    assert {path.name for path in written} == {
        *("service.png", "service.svg", "activity.png", "activity.svg")
    }


def test_commits_and_write_back_stand_below_the_requests() -> None:
    figure = kernel_trace.activity(
        "name", requests(), [(0.001, 0.002), (0.02, 0.03)], [(0.0, 0.01)]
    )
    upper, lower = figure.axes
    assert [line.get_label() for line in upper.get_lines()] == ["read", "write", "flush"]
    assert sum(np.size(line.get_xdata()) for line in upper.get_lines()) == requests().height
    paths = [len(it.get_paths()) for it in lower.collections]
    assert paths == [2, 1]


def test_kinds_of_requests_are_counted() -> None:
    found = service(requests())
    assert found["count"].to_list() == [40, 40, 20, 20, 12, 3, 3]
    first = found.row(0, named=True)
    assert (first["direction"], first["bytes"], first["depth"]) == ("read", 4096, 1)
    assert abs(first["median_s"] - 1.195e-3) < 1e-9
    assert service(requests()[:0]).height == 0


def test_the_table_has_both_sides() -> None:
    inside = KernelTime("a flush of the device", "machine.device.flush", (2e-3,) * 5, "s", 3e-3)
    kernel = {
        "times": [inside.json(), KernelTime("a commit", None, (1e-3,), "s").json()],
        "service": service(requests()).to_dicts(),
        "cost": 0.05,
        "lost": 7,
    }
    text = plain_text(
        validation_tables.calibration({"parameters": [], "checks": [], "kernel": kernel})
    )
    line = next(it for it in text.splitlines() if "a flush of the device" in it)
    assert line.split()[-3:] == ["3", "ms", "+50.0"] and "2 ms" in line
    assert "by +5.0 % (median); 7 records were lost" in text


def plain_text(what: object) -> str:
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(what)
    return console.export_text()

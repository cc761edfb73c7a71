"""What the kernel saw, drawn and as tables."""

import io
from collections.abc import Sequence
from pathlib import Path

import polars as pl
from rich.console import Console

from headrace.calibrate.kernel_times import KernelTime
from headrace.kernel_trace import service
from headrace.kernel_trace.requests import SCHEMA
from headrace.render import pictures
from headrace.render.blocks import Chart
from headrace.render.terminal import rendered
from headrace.views.calibration import kernel_trace, view

Spans = Sequence[tuple[float, float]]


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


def charts(commits: Spans = (), write_back: Spans = ()) -> list[Chart]:
    view = kernel_trace("name", requests(), commits, write_back)
    return [block for block in view if isinstance(block, Chart)]


def test_a_size_is_drawn_with_its_median() -> None:
    read, write = charts()[0].lines
    assert (read.name, write.name) == ("read", "write")
    # The medians of 0 to 39 and 0 to 19 hundredths; three requests make no point.
    assert list(read.x) == list(write.x) == [4096, 1 << 20]
    assert [round(y * 1e3, 4) for y in read.y if y] == [1.195, 1.095]
    ratios = [(y or 0) / (x or 1) for x, y in zip(read.y, write.y, strict=True)]
    assert [round(it, 6) for it in ratios] == [3, 3]
    for low, middle, high in zip(read.low, read.y, read.high, strict=True):
        assert (low or 0) < (middle or 0) < (high or 0)


def test_nothing_can_be_drawn_too(tmp_path: Path) -> None:
    written = pictures.save(tmp_path, kernel_trace("name", requests()[:0], [], []))
    assert {path.name for path in written} == {
        *("service.png", "service.svg", "activity.png", "activity.svg")
    }


def test_commits_and_write_back_stand_behind_the_requests() -> None:
    activity = charts([(0.001, 0.002), (0.02, 0.03)], [(0.0, 0.01)])[1]
    assert [line.name for line in activity.lines] == ["read", "write", "flush"]
    assert sum(len(line.x) for line in activity.lines) == requests().height
    assert [span.name for span in activity.spans] == ["commit", "commit", "write-back"]
    (axes,) = pictures.drawn([activity])["activity"].axes
    assert len(axes.patches) == 3
    assert len(axes.lines) == 3 and all(line.get_marker() != "None" for line in axes.lines)


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
    text = plain_text(rendered(view({"parameters": [], "checks": [], "kernel": kernel})))
    line = next(it for it in text.splitlines() if "a flush of the device" in it)
    assert line.split()[-3:] == ["3", "ms", "+50.0"] and "2 ms" in line
    assert "by +5.0 % (median); 7 records were lost" in text


def plain_text(what: object) -> str:
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(what)
    return console.export_text()

"""What figures show."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from rich.console import Console

import headrace as hr
from conftest import SMALL, Command
from headrace.kinds import blocks
from headrace.render import pictures
from headrace.render.style import short
from headrace.render.terminal import rendered
from headrace.simulate.frames import SERIES
from headrace.views.parts import percentile_chart


def test_the_last_window_is_as_long_as_the_run_lasted() -> None:
    result = hr.run(hr.load(SMALL, {"run.window": "0.3 s"}))
    end = result.document["simulated_seconds"]
    assert 0.3 < end < 0.6
    last = result.series.filter(pl.col("time_s") >= 0.3 - 1e-9)
    assert last["window_s"].to_list() == pytest.approx([end - 0.3] * last.height)
    rate = result.series["throughput_bytes_per_s"] * result.series["window_s"]
    assert rate.to_list() == pytest.approx(result.series["bytes"].to_list())


@pytest.mark.parametrize("ends", [[2.5], [3.0], [5.0], [2.5, 2.25]])
def test_a_steady_rate_is_drawn_steady_to_the_end(ends: list[float]) -> None:
    rows = [
        {"seed": seed, "time_s": float(start), "window_s": min(1.0, end - start)}
        | {"group": "all", "operation": "read", "bytes": int(8e6 * min(1.0, end - start))}
        for seed, end in enumerate(ends)
        for start in range(int(np.ceil(min(end, 3.0))))
    ]
    series = pl.DataFrame(rows, schema={k: SERIES[k] for k in list(SERIES)[:-1]})
    document = hr.run(hr.load(SMALL)).document
    document["latency"]["all"]["count"] = 1e6
    runs = [{"seed": seed, "simulated_seconds": end} for seed, end in enumerate(ends)]
    document |= {"simulated_seconds": max(ends), "replications": runs}
    view = blocks("simulated", document, series=series)
    axes = pictures.drawn_one(view, "throughput").axes[0]
    (line,) = axes.lines
    edges, values = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    assert axes.get_xlim() == (0.0, max(ends))
    assert edges[-1] == max(ends)
    assert values[:3].tolist() == pytest.approx([8.0] * 3)
    assert values[3:-1].tolist() == [0.0] * len(values[3:-1]) and values[-1] == values[-2]


@pytest.mark.parametrize("name", ["n" * 1_000_000, "日本語の名前" * 100, "a\\nb$x$", "\\u001b[31m"])
def test_names_of_any_kind_in_plots(name: str, headrace: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    groups = f'["{name[:100]}", "G2"]'
    scenario.write_text(SMALL.replace('"small"', f'"{name}"').replace('["G1", "G2"]', groups))
    ended = headrace("run", scenario, "--json", "--plot", tmp_path / "plots")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert {imread(path).shape[1] for path in (tmp_path / "plots").glob("*.png")} == {1200, 1650}


def test_long_names_are_cut() -> None:
    assert short("n" * 80) == "n" * 80
    assert short("n" * 81) == "n" * 79 + "…"


def test_long_stations_are_cut_in_the_figure_of_utilisation() -> None:
    document = hr.run(hr.load(SMALL)).document
    row = document["stations"][0]
    names = ["s" * 500, "a\nb", "system/server/device"]
    rows = [row | {"station": name, "servers": 1, "visits": 1} for name in names]
    view = blocks("simulated", document | {"stations": rows})
    labels = pictures.drawn_one(view, "utilisation").axes[0].get_yticklabels()
    shown = [label.get_text() for label in labels]
    assert sorted(shown) == ["a\nb", "s" * 47 + "…", "system/server/device"]


def a_study(unit: str, values: dict[str, list[float]], half: float | None) -> dict[str, Any]:
    return {
        "scenario": {"name": "bench x", "description": "files of all sizes"},
        "parameters": ["file", "block"],
        "sizes": ["file", "block"],
        "wanted_repeats": 3,
        "benchmark": "x",
        "stop": {"reason": "workload"},
        "warnings": [],
        "summary": [
            {"file": file, "block": 4096 << 4 * number, "test": test, "unit": unit, "repeats": 3}
            | {"median": value, "mean": 1.5 * value, "least": value / 2, "most": 2 * value}
            | {"half_width": None if half is None else half * value, "in_memory": False}
            for test, several in values.items()
            for number, value in enumerate(several)
            for file in (1 << 20, 2 << 20)
        ],
    }


MANY = {f"test {number}": [5e6 * (1 + number), 2e10] for number in range(5)}


@pytest.mark.parametrize("half", [None, 0.1])
@pytest.mark.parametrize(
    ("unit", "label"), [("throughput", "MB/s"), ("per_second", "operations/s")]
)
def test_all_panels_of_a_study_have_the_same_labelled_axis(
    unit: str, label: str, half: float | None
) -> None:
    view = blocks("study", a_study(unit, MANY, half))
    figure = pictures.drawn(view)["x"]
    figure.canvas.draw()
    panels = [axes for axes in figure.axes if axes.get_visible()]
    assert len(panels) == len(MANY)
    assert len({axes.get_ylim() for axes in panels}) == 1
    for axes in panels:
        assert axes.get_ylabel() == label and axes.get_xlabel() == "block size"
        low, high = axes.get_ylim()
        ticks = zip(axes.get_yticks(), axes.get_yticklabels(), strict=True)
        shown = [it.get_text() for at, it in ticks if low <= at <= high and it.get_visible()]
        # 5 MB/s beside 20,000: each decade is named.
        assert axes.get_yscale() == "log"
        assert [it for it in shown if it] and all("10^" not in it for it in shown)
        if unit == "throughput":
            assert {"10", "100", "1,000", "10,000"} <= set(shown)
    # The statistic of the table, and its name.
    text = io.StringIO()
    Console(file=text, width=400).print(rendered(view))
    words = "medians of 3 repeats" if half is None else "means of 3 repeats"
    assert words in text.getvalue().lower()
    assert words in figure.get_suptitle()
    scale = 1.0 if unit == "per_second" else 1e-6
    drawn = panels[0].lines[0].get_ydata()
    assert np.asarray(drawn).tolist() == pytest.approx(
        [(1.0 if half is None else 1.5) * it * scale for it in MANY["test 0"]]
    )


def test_metadata_rates_are_on_a_logarithmic_axis() -> None:
    values = {"create": [1e3, 2e3], "stat": [2e5, 4e5]}
    (axes,) = pictures.drawn(blocks("study", a_study("per_second", values, None)))["x"].axes
    assert axes.get_yscale() == "log" and axes.get_ylim()[0] < 1e3
    alike = {"create": [1e3, 2e3], "stat": [2e3, 4e3]}
    (axes,) = pictures.drawn(blocks("study", a_study("per_second", alike, None)))["x"].axes
    assert axes.get_yscale() == "linear" and axes.get_ylim()[0] == 0


def test_latencies_of_zero_have_a_place() -> None:
    distribution = pl.DataFrame(
        {"latency_s": [0.0, 0.0001008, 0.001, 0.012], "share": [0.96, 0.98, 0.995, 1.0]}
    )
    document = hr.run(hr.load(SMALL)).document

    def drawn(frame: pl.DataFrame) -> Axes:
        view = blocks("simulated", document, latency_distribution=frame)
        return pictures.drawn_one(view, "latency").axes[0]

    axes = drawn(distribution)
    assert [it.get_text() for it in axes.texts] == ["p50  0 s", "p95  0 s", "p99  1 ms"]
    assert axes.get_xscale() == "symlog" and axes.get_xticks()[0] == 0.0
    marks = np.asarray(axes.lines[1].get_xydata()).tolist()
    assert marks == [[0.0, 50.0], [0.0, 95.0], [1.0, 99.0]]
    # Without zeros the axis is logarithmic as a whole.
    above = distribution.filter(pl.col("latency_s") > 0)
    assert drawn(above).get_xscale() == "log"


def test_percentiles_of_zero_are_drawn() -> None:
    quantiles = [0.0, 0.5, 0.99]
    frame = pl.DataFrame(
        {
            "operation": ["read"] * 3,
            "time": ["service"] * 3,
            "quantile": quantiles,
            "time_s": [0.0, 0.0, 0.003],
            "count": [1000] * 3,
        }
    )
    axes = pictures.drawn([percentile_chart("zeros", frame)])["zeros"].axes[0]
    assert np.asarray(axes.lines[0].get_ydata()).tolist() == [0.0, 0.0, 3.0]
    assert axes.get_yscale() == "symlog" and axes.get_yticks()[0] == 0.0


@pytest.mark.parametrize(("least", "most"), [(300, 900), (0.02, 5000), (12, 14)])
def test_logarithmic_axes_are_labelled_with_numbers(
    least: float, most: float, tmp_path: Path
) -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.loglog([least, most], [least, most])
    pictures.save_figures(tmp_path, {"x": figure})
    drawn = [
        label.get_text()
        for axis in (axes.xaxis, axes.yaxis)
        for minor in (False, True)
        for label in axis.get_ticklabels(minor=minor)
    ]
    labels = [label for label in drawn if label]
    assert labels
    for label in labels:
        assert float(label.replace(",", "")) > 0

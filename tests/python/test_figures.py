"""What figures show."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.image import imread
from matplotlib.patches import StepPatch

import headrace as hr
from conftest import SMALL, Command
from headrace.report.figures import Figures, throughput, utilisation
from headrace.report.figures.style import short
from headrace.simulate.frames import SERIES, stations


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
    empty = pl.DataFrame()
    axes = throughput.draw(Figures("n", 1e6, ends, series, empty, empty)).axes[0]
    (line,) = (it for it in axes.patches if isinstance(it, StepPatch))
    values, edges, _ = line.get_data()
    assert axes.get_xlim() == (0.0, max(ends))
    assert edges[-1] == max(ends)
    assert list(values[:3]) == pytest.approx([8.0] * 3)
    assert list(values[3:]) == [0.0] * len(values[3:])


@pytest.mark.parametrize("name", ["n" * 1_000_000, "日本語の名前" * 100, "a\\nb$x$", "\\u001b[31m"])
def test_names_of_any_kind_in_plots(name: str, headrace: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    groups = f'["{name[:100]}", "G2"]'
    scenario.write_text(SMALL.replace('"small"', f'"{name}"').replace('["G1", "G2"]', groups))
    ended = headrace("run", scenario, "--json", "--plot", tmp_path / "plots")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert {imread(path).shape[1] for path in (tmp_path / "plots").glob("*.png")} == {1200}


def test_long_names_are_cut() -> None:
    assert short("n" * 80) == "n" * 80
    assert short("n" * 81) == "n" * 79 + "…"


def test_long_stations_are_cut_in_the_figure_of_utilisation() -> None:
    row = hr.run(hr.load(SMALL)).document["stations"][0]
    names = ["s" * 500, "a\nb", "system/server/device"]
    rows = [row | {"station": name, "servers": 1, "visits": 1} for name in names]
    empty = pl.DataFrame()
    data = Figures("n", 1, [1.0], empty, empty, stations({"stations": rows}))
    shown = [label.get_text() for label in utilisation.draw(data).axes[0].get_yticklabels()]
    assert sorted(shown) == ["a b", "s" * 47 + "…", "system/server/device"]

"""The Python API."""

import importlib
import io
import json
import signal
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal
from rich.console import Console

import headrace as hr
from conftest import SMALL
from headrace.kinds import blocks
from headrace.render.terminal import rendered


def test_a_scenario_from_text_and_from_a_file(small: Path) -> None:
    from_file, from_text = hr.load(small), hr.load(SMALL)
    assert from_file.name == "small"
    assert from_file.toml == from_text.toml == hr.load(str(small)).toml
    assert hr.load(from_file.toml).toml == from_file.toml
    more = from_file.with_({"clients.count": 8, "network.latency": "1 ms"})
    small.unlink()
    assert more.with_({"clients.count": 4, "network.latency": "0.2 ms"}).toml == from_file.toml
    assert "count = 8" in more.toml
    assert from_file.structure()["page"]["name"] == "system"


def test_values_of_every_kind_can_be_set() -> None:
    scenario = hr.load(
        SMALL,
        {
            "clients.groups": {"a b": 1, "c": 3.0},
            "workload.0.phases": ["read"],
            "workload.0.think": "0 s",
            "metadata.client_cache": False,
            "clients.count": pl.Series([8]).to_numpy()[0],
        },
    )
    assert 'phases = ["read"]' in scenario.toml
    assert "client_cache = false" in scenario.toml
    assert '"a b" = 1' in scenario.toml
    document = hr.run(scenario).json()
    assert {name: group["clients"] for name, group in document["groups"].items()} == {
        "a b": 2,
        "c": 6,
    }


def test_a_wrong_scenario_says_where(small: Path) -> None:
    small.write_text(SMALL.replace("count = 4", "count = -4"))
    with pytest.raises(hr.ScenarioError) as raised:
        hr.load(small)
    error = raised.value
    assert isinstance(error, ValueError)
    assert (error.file, error.line, error.column) == (str(small), 5, 9)
    assert error.text == "clients.count = -4"
    with pytest.raises(hr.ScenarioError, match="none.toml") as raised:
        hr.load("none.toml")
    assert raised.value.line is None


def test_frames_are_tidy_and_agree_with_the_document() -> None:
    result = hr.run(hr.load(SMALL), requests=True)
    document = result.json()
    summary = result.summary
    assert summary.columns[:3] == ["group", "operation", "count"]
    row = summary.filter(pl.col("group") == "G1", pl.col("operation") == "read")
    group = document["groups"]["G1"]
    assert row["throughput_bytes_per_s"].item() == group["throughput"]["read"]
    assert row["operations_per_s"].item() == group["operations"]["read"]["per_second"]
    assert row["latency_p99_s"].item() == group["latency"]["read"]["p99"]
    overall = summary.filter(pl.col("group").is_null(), pl.col("operation").is_null())
    assert overall["latency_mean_s"].item() == document["latency"]["all"]["mean"]
    assert overall["count"].item() == 40
    moved = result.series.group_by("group", "operation").agg(pl.col("bytes").sum())
    assert moved.height == 4
    assert (moved["bytes"] == 10 << 20).all()
    last = result.series["time_s"] == result.series["time_s"].max()
    assert result.series.filter(~last)["window_s"].n_unique() == 1
    rate = result.series["bytes"] / result.series["window_s"]
    assert_frame_equal(
        rate.alias("rate").to_frame(),
        result.series["throughput_bytes_per_s"].alias("rate").to_frame(),
    )
    curve = result.latency_distribution
    assert curve["share"].is_sorted()
    assert curve["share"].last() == 1.0
    assert result.requests is not None
    assert result.requests.height == 40
    assert hr.run(hr.load(SMALL)).requests is None
    assert result.stations["station"].to_list() == [s["station"] for s in document["stations"]]
    assert result.breakdown["share"].sum() == pytest.approx(1.0)
    assert result.bottleneck == document["bottleneck"]["sentence"]
    document["groups"].clear()
    assert result.json()["groups"]


def test_a_result_is_saved_loaded_and_run_again(tmp_path: Path) -> None:
    result = hr.run(hr.load(SMALL, {"run.replications": 2}))
    path = tmp_path / "result.json"
    result.save(path)
    loaded = hr.load_result(path)
    assert loaded.json() == result.json()
    for frame in ("series", "latency_distribution", "summary", "stations", "breakdown"):
        assert_frame_equal(getattr(loaded, frame), getattr(result, frame))
    again = loaded.rerun()
    assert again.json() | {"wall_seconds": 0} == result.json() | {"wall_seconds": 0}
    assert hr.load(path).toml == hr.load(result.json()["scenario"]["toml"]).toml
    assert [it.name for it in tmp_path.iterdir()] == ["result.json"]
    with pytest.raises(hr.ScenarioError, match="saved result"):
        hr.load_result(Path(__file__))
    with pytest.raises(FileNotFoundError):
        hr.load_result(tmp_path / "none.json")


ENDLESS = {"workload.0.repeat": "forever", "run.stop.time": "200 d"}


class Enough(Exception):
    """Raised by a test's progress."""


def test_progress_is_told_and_can_break_off() -> None:
    told: list[tuple[float, int, float | None]] = []

    def progress(seconds: float, requests: int, part: float | None) -> None:
        told.append((seconds, requests, part))
        if len(told) == 3:
            raise Enough

    with pytest.raises(Enough):
        hr.run(hr.load(SMALL, ENDLESS), progress=progress)
    assert len(told) == 3
    assert told == sorted(told)
    assert all(part is not None and 0 <= part < 1 for _, _, part in told)
    # Nothing is broken by it.
    assert hr.run(hr.load(SMALL)).json()["operations"]["read"]["count"] == 20


def test_ctrl_c_breaks_a_run_a_sweep_and_a_what_if_off() -> None:
    def calls() -> None:
        hr.run(hr.load(SMALL, ENDLESS))

    def sweeps() -> None:
        hr.sweep(hr.load(SMALL, ENDLESS), {"clients.count": [2, 4, 8]}, on="threads:2")

    def whatifs() -> None:
        hr.whatif(hr.load(SMALL, ENDLESS))

    for call in (calls, sweeps, whatifs):
        main = threading.main_thread().ident
        assert main is not None
        timer = threading.Timer(0.3, signal.pthread_kill, (main, signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            call()
        timer.join()
    assert hr.run(hr.load(SMALL)).json()["operations"]["read"]["count"] == 20


def test_runs_in_threads_do_not_wait_for_each_other() -> None:
    """While one thread is in a run without end, others go on."""
    over = threading.Event()

    def progress(*_: object) -> None:
        if over.is_set():
            raise Enough

    def endless() -> None:
        with pytest.raises(Enough):
            hr.run(hr.load(SMALL, ENDLESS), progress=progress)

    thread = threading.Thread(target=endless)
    thread.start()
    assert hr.run(hr.load(SMALL)).json()["operations"]["read"]["count"] == 20
    assert thread.is_alive()
    over.set()
    thread.join(30)
    assert not thread.is_alive()


def test_a_trace_that_cannot_be_replayed(tmp_path: Path) -> None:
    text = SMALL[: SMALL.index("[[workload]]")]
    text += f'[[workload]]\nkind = "trace"\nfile = "{tmp_path}/none.csv"\n'
    with pytest.raises(hr.TraceError, match="none.csv: No such file"):
        hr.run(hr.load(text))
    with pytest.raises(hr.TraceError, match="none.csv: No such file"):
        hr.load(text).structure()


def test_more_than_there_are_numbers_for_is_refused() -> None:
    with pytest.raises(hr.ScenarioError, match="4000000000: .* at most 2000000"):
        hr.load(SMALL, {"clients.count": 4_000_000_000, "clients.processes": 4_000_000_000})


def _without(*keys: str) -> Any:
    def edit(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        del document[keys[-1]]

    return edit


def _with(value: Any, *keys: str) -> Any:
    def edit(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "lacks"),
    [
        (_without("stop"), "The run ended"),
        (_without("events"), " events"),
        (_without("wall_seconds"), " simulated in "),
    ],
)
def test_results_of_earlier_versions_lack_fields(edit: Any, lacks: str, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    hr.run(hr.load(SMALL)).save(path)
    document = json.loads(path.read_text())
    whole = plain_table(document)
    edit(document)
    path.write_text(json.dumps(document))
    loaded = hr.load_result(path)
    assert loaded.stations.height > 0 and loaded.bottleneck
    shown = plain_table(loaded.document)
    assert lacks in whole and lacks not in shown


def plain_table(document: dict[str, Any]) -> str:
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(rendered(blocks("simulated", document)))
    return console.export_text()


@pytest.mark.parametrize(
    "edit",
    [
        _with([1, 2], "series"),
        _with({"seed": 3}, "series"),
        _with(["much"], "series", "bytes"),
        _with([-1], "series", "bytes"),
        _without("series", "group"),
        _with("x", "latency_distribution"),
        _with({"latency_s": ["a"], "share": [1.0]}, "latency_distribution"),
        _without("latency"),
        _without("groups"),
        _without("stations"),
        _without("bottleneck"),
        _without("bottleneck", "sentence"),
        _without("scenario", "name"),
        _without("operations", "read"),
        _with(3, "stations"),
        _with(3, "breakdown"),
        _with(None, "throughput"),
        _with("x", "groups"),
    ],
)
def test_an_edited_result_is_told_with_its_name(edit: Any, tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    hr.run(hr.load(SMALL)).save(path)
    assert hr.load_result(path).stations.height > 0
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))
    with pytest.raises(hr.ScenarioError) as raised:
        hr.load_result(path)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value)


def test_the_old_names_of_the_trace_module_warn() -> None:
    old, trace = (importlib.import_module(f"headrace.{it}") for it in ("profile", "trace"))
    with pytest.warns(DeprecationWarning, match=r"use headrace\.trace\.import_trace"):
        assert old.import_trace is trace.import_trace

"""Monitors of nets of one's own: figures with known answers, rows, breakpoints, intervals."""

import json
from pathlib import Path

import polars as pl
import pytest

from conftest import ROOT, Command
from headrace import ScenarioError
from headrace.net import (
    Firing,
    Net,
    breakpoint_when,
    collector,
    counter,
    exponential,
    load,
    marking,
    now,
    observation,
    tokens,
)

NETS = ROOT / "scenarios" / "nets"
MONITORED = NETS / "monitored-queue.toml"


def queue(load: float = 0.5) -> tuple[Net, "object"]:
    """An M/M/1 queue with one customer a second, and its transition `leave`."""
    net = Net("queue")
    source = net.station("source", discipline="infinite", service=exponential(1.0), initial=1)
    desk = net.station("desk", service=exponential(load))
    served = net.place("served", sink=True)
    with net.transition("arrive") as t:
        t.take(source)
        t.put(source)
        t.put(desk)
    with net.transition("leave") as leave:
        leave.take(desk)
        leave.put(served)
    net.monitor("inside", marking(tokens(desk)))
    net.monitor("left", counter(leave))
    net.monitor("when", observation(leave, now()))
    net.monitor("rows", collector(leave, {"at": now(), "inside": "desk"}, limit=20))
    return net, leave


def test_the_mean_number_of_one_server_lies_in_its_interval() -> None:
    net, _ = queue(0.5)
    result = net.run(until=4000.0, warmup=200.0, replications=10)
    row = result["inside"]
    # r / (1 - r) with the load r = 1/2, and the variance r / (1 - r) ** 2.
    assert abs(row["mean"] - 1.0) < 1.5 * row["mean_half_width"] < 0.15
    assert abs(row["deviation"] - 2**0.5) < 0.15
    assert result["left"]["count"] == result["queue/leave"]["firings"]
    assert abs(result["left"]["rate"] - 1.0) < 2 * result["left"]["rate_half_width"]
    steady = result.steady_state("inside")
    assert steady is not None
    assert steady.mean == pytest.approx(row["mean"], rel=0.01)
    assert steady.batches == 10 and steady.correlation is None
    assert result.monitors["path"].to_list() == ["inside", "left", "when", "rows"]
    assert "inside" in result._repr_html_()


def test_batch_means_of_one_run() -> None:
    result = queue(0.5)[0].run(until=20_000.0, warmup=1000.0)
    steady = result.steady_state("inside")
    assert steady is not None and steady.half_width is not None
    assert steady.batches == 20 and abs(steady.correlation or 0.0) < 0.6
    assert abs(steady.mean - 1.0) < 2 * steady.half_width < 0.3
    assert result["inside"]["mean_half_width"] == steady.half_width
    # Without a longer warm-up it is the one of the run.
    longer = result.steady_state("inside", warmup=10_000.0)
    assert longer is not None and longer.mean != steady.mean


def test_transients_are_means_over_intervals() -> None:
    net, _ = queue(0.8)
    result = net.run(until=100.0, replications=200)
    curve = result.transient("inside")
    assert curve["time_s"].to_list()[-1] == pytest.approx(100.0)
    assert 128 <= curve.height <= 256
    assert (curve["runs"] == 200).all()
    # An empty queue fills: the band at the end lies above the start.
    start, end = curve.row(0, named=True), curve.row(-1, named=True)
    assert start["mean"] + start["half_width"] < end["mean"] - end["half_width"]
    first = result.runs[0]["monitors"][0]
    # All intervals together have the mean of the run.
    mean = sum(first["means"]) / len(first["means"])
    assert mean == pytest.approx(first["mean"], rel=1e-9)
    assert len(first["means"]) == curve.height
    with pytest.raises(ValueError, match="a collector has no values over time"):
        result.transient("rows")
    with pytest.raises(KeyError, match="the monitors are: inside, left"):
        result.transient("outside")


def test_runs_without_an_end_have_transients_too() -> None:
    net = Net("countdown")
    left = net.place("left", int, initial=[1000], rest=True)
    done = net.place("done", sink=True)
    wait = net.station("wait", int, service=exponential(1.0))
    with net.transition("begin") as t:
        number = t.take(left)
        t.when(number > 0)
        t.put(wait, number)
    with net.transition("end") as t:
        number = t.take(wait)
        t.put(left, number - 1)
        t.put(done)
    net.monitor("ended", counter(t))
    result = net.run(replications=3)
    assert result.stop == "quiet"
    curve = result.transient("ended")
    assert 64 <= curve.height <= 257
    assert abs(curve["mean"].mean() - 1.0) < 0.1  # type: ignore[operator]


def test_rows_are_collected_and_counted() -> None:
    result = queue()[0].run(until=100.0, replications=2)
    rows = result.collected("rows")
    assert rows.columns == ["run", "time_s", "at", "inside"]
    assert rows.height == 40
    assert rows.schema["inside"] == pl.Int64 and rows.schema["at"] == pl.Float64
    assert (rows["time_s"] == rows["at"]).all()
    counts = [run["monitors"][3]["left_out"] + 20 for run in result.runs]
    assert counts == [run["monitors"][1]["count"] for run in result.runs]
    assert result["rows"]["left_out"] == sum(counts) - 40


def test_records_are_columns_of_their_own() -> None:
    model = load(MONITORED)
    result = model.run(until=50.0, warmup=0.0, replications=1)
    rows = result.collected("customers")
    assert rows["number"].n_unique() == rows.height > 50
    assert rows.filter(pl.col("stay") <= 0).is_empty()
    net = Net("n")
    from dataclasses import dataclass

    @dataclass
    class Pair:
        a: int
        b: float

    start = net.place("start", Pair, initial=[Pair(1, 2.5), Pair(3, 4.5)])
    with net.transition("t") as t:
        pair = t.take(start)
    net.monitor("pairs", collector(t, {"pair": pair, "sum": pair.a + pair.b}))
    rows = net.run().collected("pairs")
    assert rows.columns == ["time_s", "pair.a", "pair.b", "sum"]
    assert rows["pair.b"].to_list() == [2.5, 4.5]


def test_a_breakpoint_ends_the_run() -> None:
    net, leave = queue()
    net.monitor("third", breakpoint_when(transition=leave, count=3))  # type: ignore[arg-type]
    result = net.run(until=1000.0)
    assert result.stop == "breakpoint"
    assert result.runs[0]["stopped_by"] == "third"
    assert result["left"]["count"] == 3
    net, _ = queue()
    net.monitor("crowd", breakpoint_when("desk == 4"))
    assert net.run(until=1e6).runs[0]["nodes"][2]["inside"] == 4


def test_a_monitor_of_ones_own() -> None:
    net, leave = queue()
    seen: list[Firing] = []

    def watch(firing: Firing) -> float:
        seen.append(firing)
        assert firing.tokens("desk") == firing.tokens("queue/desk")
        if len(seen) == 10:
            firing.stop()
        return firing.tokens("desk")

    net.monitor("mine", watch, transition=leave)  # type: ignore[arg-type]
    result = net.run(until=1000.0)
    assert result.stop == "breakpoint" and result.runs[0]["stopped_by"] == "mine"
    assert [it.transition for it in seen] == ["queue/leave"] * 10
    assert [it.time for it in seen] == result.collected("rows")["time_s"].to_list()
    assert result["mine"]["count"] == 9
    with pytest.raises(ValueError, match="with_marking=True"):
        _ = seen[0].marking
    net, leave = queue()
    markings: list[int] = []

    def count(firing: Firing) -> None:
        markings.append(sum(it.count for it in firing.marking if it.place == "queue/desk"))

    net.monitor("mine", count, transition=leave, with_marking=True)  # type: ignore[arg-type]
    result = net.run(until=30.0)
    assert markings[:20] == result.collected("rows")["inside"].to_list()[:20]
    with pytest.raises(ValueError, match="no document has functions of Python"):
        net.save("net.toml")
    with pytest.raises(ValueError, match="observe runs only"):
        net.play()

    def wrong(firing: Firing) -> float:
        raise LookupError("mine")

    model = load(NETS / "queue.toml")
    model.monitor("wrong", wrong)
    with pytest.raises(LookupError, match="mine"):
        model.run(until=10.0)
    model = load(NETS / "queue.toml")
    model.monitor("wrong", lambda _: "text")  # type: ignore[arg-type, return-value]
    with pytest.raises(TypeError, match="expected a number or None"):
        model.run(until=10.0)


def test_monitors_change_nothing(tmp_path: Path) -> None:
    net, _ = queue()
    watched = net.run(until=500.0, seed=4).runs[0]
    model = net.model()
    for name in ("net.toml", "net.json"):
        net.save(tmp_path / name)
        again = load(tmp_path / name)
        assert again.run(until=500.0, seed=4).runs == [watched]
        assert again.structure() == model.structure()
    bare, _ = queue()
    bare._monitors.clear()
    alone = bare.run(until=500.0, seed=4).runs[0]
    assert "monitors" not in alone
    assert {key: watched[key] for key in alone} == alone


def test_monitors_are_added_to_a_document() -> None:
    model = load(NETS / "queue.toml")
    model.monitor("inside", marking("desk"))
    model.monitor("left", counter("leave", when="desk == 0"))
    assert model.structure() == load(NETS / "queue.toml").structure()
    result = model.run(until=300.0)
    assert result["inside"]["mean"] == pytest.approx(result["desk"]["mean_inside"])
    assert 0 < result["left"]["count"] < result["queue/leave"]["firings"]
    # The condition becomes true, false, and true again.
    model.monitor("second", breakpoint_when("desk == 2", count=2))
    ended, play = model.run(until=1e6), load(NETS / "queue.toml").play()
    assert play.run_until("desk == 2") == "condition"
    assert play.run_until("desk != 2") == "condition"
    assert play.run_until("desk == 2") == "condition"
    assert ended.runs[0]["stopped_by"] == "second" and ended.runs[0]["time"] == play.time
    with pytest.raises(ValueError, match="two monitors are called 'left'"):
        model.monitor("left", lambda _: None)
    with pytest.raises(ScenarioError, match=r"monitors\.lost\.transition: no transition"):
        model.monitor("lost", counter("leaves"))


def test_mistakes_name_the_monitor() -> None:
    net, leave = queue()
    net.monitor("wrong", marking("desc"))
    with pytest.raises(ScenarioError, match=r"monitors\.wrong\.value: nothing here is called desc"):
        net.run(until=1.0)
    with pytest.raises(ValueError, match="two monitors are called 'left'"):
        net.monitor("left", counter(leave))  # type: ignore[arg-type]


def test_the_command_shows_and_saves(headrace: Command, tmp_path: Path) -> None:
    rows, frames, plots = tmp_path / "rows.csv", tmp_path / "run.parquet", tmp_path / "plots"
    ended = headrace(
        *("net", "run", MONITORED, "--until", "150 s", "--replications", "3"),
        *("--rows", f"customers={rows}", "--rows", f"customers={tmp_path / 'rows.parquet'}"),
        *("--plot", plots, "--playback", frames),
    )
    assert ended.returncode == 0, ended.stderr
    assert "share of the time with a queue" in ended.stdout and "±" in ended.stdout
    assert rows.exists() and (tmp_path / "rows.parquet").exists()
    assert {it.name for it in plots.iterdir()} == {"monitors.png", "monitors.svg"}
    ended = headrace("net", "run", MONITORED, "--until", "150 s", "--json")
    document = json.loads(ended.stdout)
    assert len(document["runs"]) == 10
    assert document["runs"][0]["monitors"][0]["name"] == "inside"
    page = tmp_path / "net.html"
    ended = headrace("net", MONITORED, "--playback", frames, "-o", page)
    assert ended.returncode == 0, ended.stderr
    assert '"time":[0.0' in page.read_text().replace("&quot;", '"')
    for option, part in (
        ("rows.csv", "expected a monitor, ="),
        (f"inside={rows}", "of these: customers"),
        (f"customers={tmp_path / 'rows.xls'}", ".csv or .parquet"),
    ):
        ended = headrace("net", "run", MONITORED, "--rows", option)
        assert ended.returncode == 2 and part in ended.stderr
    other = NETS / "philosophers.toml"
    ended = headrace("net", other, "--playback", frames, "-o", page)
    assert ended.returncode == 2 and "of another net" in ended.stderr


def test_the_example_has_the_figures_of_its_formula() -> None:
    result = load(MONITORED).run(until=1000.0)
    # M/M/2 with a load of 3/4: 2 r / (1 - r ** 2) inside, and by Little's law a third of it a stay.
    inside, stay = result["inside"], result["stay"]
    assert abs(inside["mean"] - 1.5 / (1 - 0.75**2)) < 2 * inside["mean_half_width"]
    assert abs(stay["mean"] - 0.5 / (1 - 0.75**2)) < 2 * stay["mean_half_width"]
    queued = result["share of the time with a queue"]
    # Erlang's C is 9/14, and one in four of them leaves no queue.
    assert abs(queued["mean"] - 0.75 * 9 / 14) < 2 * queued["mean_half_width"]
    assert result["customers"]["left_out"] > 0

"""Sweeps: points, designs, replications and the result, through Python."""

import threading
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import headrace as hr
from conftest import SMALL
from headrace._core import replication_seed
from headrace.quantities import amounts
from headrace.render.style import NotebookFigure
from headrace.sweeps import Axis, Precision, Sweep, WrongAxis, of_mapping, parse
from headrace.sweeps.axis import between
from headrace.sweeps.designs import design
from headrace.sweeps.finished_runs import FILE, FinishedRuns


def without_wall(found: Sweep) -> list[Any]:
    return [
        msgspec.structs.replace(
            run, figures=run.figures and msgspec.structs.replace(run.figures, wall_seconds=0.0)
        )
        for run in found.runs
    ]


def test_a_sweep_is_every_run_by_itself() -> None:
    scenario = hr.load(SMALL)
    values = {"clients.count": [2, 4], "layout.unit": ["64 KiB", "1 MiB"]}
    found = hr.sweep(scenario, values, on="threads:2")
    assert found.points.columns[:3] == ["clients.count", "layout.unit", "layout.unit_bytes"]
    assert found.points.height == 4 and not found.failed and found.left == 0
    for count in (2, 4):
        for unit in ("64 KiB", "1 MiB"):
            alone = hr.run(scenario.with_({"clients.count": count, "layout.unit": unit}))
            part = found.summary.filter(
                pl.col("clients.count") == count, pl.col("layout.unit") == unit
            )
            assert_frame_equal(part.select(alone.summary.columns), alone.summary)
    assert "4 points, 4 runs" in found._repr_html_()


def test_replications_have_the_same_seeds_at_every_point() -> None:
    scenario = hr.load(SMALL, {"run.seed": 5})
    found = hr.sweep(scenario, {"clients.count": [2, 4]}, replications=3)
    seeds = [replication_seed(5, number) for number in range(3)]
    assert found.frame["seed"].to_list() == seeds * 2
    mean = found.frame.group_by("clients.count", maintain_order=True).agg(
        pl.col("latency_mean_s").mean()
    )
    assert found.points["latency_mean_s"].to_list() == pytest.approx(
        mean["latency_mean_s"].to_list()
    )
    assert found.points["latency_mean_s_half_width"].null_count() == 0


def test_precision_adds_replications_where_the_interval_is_wide() -> None:
    until = Precision(0.02, "latency")
    found = hr.sweep(hr.load(SMALL), {"workload.0.think": ["0 s", "20 ms"]}, precision=until)
    for row in found.points.iter_rows(named=True):
        assert row["latency_mean_s_half_width"] <= 0.02 * row["latency_mean_s"]
    assert found.points["runs"].n_unique() == 2


def test_linked_fields_change_together() -> None:
    found = hr.sweep(hr.load(SMALL), {("clients.count", "servers.count"): [(8, 1), (16, 2)]})
    assert found.points.select("clients.count", "servers.count").rows() == [(8, 1), (16, 2)]
    assert found.axes == ["clients.count,servers.count"]


def test_ranges_have_values_as_scenarios_have_them() -> None:
    found = hr.sweep(
        hr.load(SMALL),
        {"layout.unit": "64 KiB..256 KiB:log3", "network.latency": "100 us..2 ms:2"},
    )
    assert found.points["layout.unit"].unique(maintain_order=True).to_list() == [
        "64 KiB",
        "128 KiB",
        "256 KiB",
    ]
    assert found.points["network.latency"].to_list()[:2] == ["0.1 ms", "2 ms"]


def test_equal_points_run_once(tmp_path: Path) -> None:
    values = {"clients.count": [2, 2, 4, 2]}
    found = hr.sweep(hr.load(SMALL), values, directory=tmp_path, on="threads:2")
    assert len(found.runs) == 4 and found.reused == 0
    assert len((tmp_path / FILE).read_bytes().splitlines()) == 2


def test_a_point_that_fails_is_part_of_the_result() -> None:
    found = hr.sweep(hr.load(SMALL), {"clients.count": [2, -1, 4]})
    assert [run.set for run in found.failed] == [{"clients.count": -1}]
    assert found.points["runs"].to_list() == [1, 0, 1]
    document = found.json()
    assert [it["set"]["clients.count"] for it in document["points"]] == [2, 4]
    assert "clients.count" in document["failed"][0]["error"]


def test_no_point_of_which_can_run_is_an_error() -> None:
    with pytest.raises(hr.ScenarioError, match="clients.cuont"):
        hr.sweep(hr.load(SMALL), {"clients.cuont": [1]})


def test_a_document_gives_the_sweep_back() -> None:
    found = hr.sweep(hr.load(SMALL), {"clients.count": [2, -1]}, replications=2)
    again = Sweep.from_document(found.document)
    assert again.document == found.document
    assert_frame_equal(again.frame, found.frame)
    assert_frame_equal(again.points, found.points)


def test_what_was_finished_is_not_run_again(tmp_path: Path) -> None:
    scenario, values = hr.load(SMALL), {"clients.count": [2, 4, 8]}
    whole = hr.sweep(scenario, values, replications=2)
    first = hr.sweep(scenario, {"clients.count": [4]}, replications=2, directory=tmp_path)
    record = tmp_path / FILE
    # A kill has cut a line off.
    record.write_bytes(record.read_bytes() + b'{"key": "abc", "outc')
    resumed = hr.sweep(scenario, values, replications=2, directory=tmp_path)
    assert (first.reused, resumed.reused) == (0, 2)
    assert without_wall(resumed) == without_wall(whole)
    keys = [msgspec.json.decode(line)["key"] for line in record.read_bytes().splitlines()]
    assert len(keys) == len(set(keys)) == 6
    again = hr.sweep(scenario, values, replications=2, directory=tmp_path)
    assert again.document == resumed.document


def test_a_record_belongs_to_one_sweep_at_a_time(tmp_path: Path) -> None:
    with FinishedRuns(tmp_path), pytest.raises(ValueError, match="another sweep writes it"):
        FinishedRuns(tmp_path)
    (tmp_path / FILE).write_text("something else\n")
    with pytest.raises(ValueError, match="expected a run of a sweep"):
        FinishedRuns(tmp_path)


def test_who_stops_a_sweep_gets_the_finished_runs() -> None:
    partial: list[Sweep] = []

    def progress(done: int, known: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hr.sweep(
            hr.load(SMALL),
            {"clients.count": list(range(2, 22))},
            on="threads:1",
            progress=progress,
            on_stop=partial.append,
        )
    (found,) = partial
    assert len(found.runs) == 3 and found.left == 17
    assert not [it for it in threading.enumerate() if it.name.startswith("sweep")]


@pytest.mark.parametrize("name", ["latency", "throughput"])
def test_plots_of_lines_and_dots(name: str) -> None:
    scenario = hr.load(SMALL)
    lines = hr.sweep(scenario, {"layout.unit": "64 KiB..1 MiB:log3", "layout.first": ["random"]})
    assert lines.plot(name).axes[0].get_xscale() == "log"
    dots = hr.sweep(
        scenario,
        {"layout.unit": "64 KiB..1 MiB:log", "clients.count": "2..32"},
        design="latin-hypercube",
        samples=30,
    )
    drawn = dots.plot(name)
    assert len(drawn.axes) == 2 and isinstance(drawn, NotebookFigure)


def test_samples_fill_the_ranges() -> None:
    axes = [parse("layout.unit=64 KiB..1 MiB:log"), parse("clients.count=1,2,3,4")]
    for name in ("latin-hypercube", "sobol"):
        made = design(name, axes, hr.load(SMALL), 16, 7)
        assert made == design(name, axes, hr.load(SMALL), 16, 7)
        assert [it["clients.count"] for it in made.points].count(3) == 4
        sizes, _ = amounts([it["layout.unit"] for it in made.points]) or ([], "")
        assert sum(size < 256 * 1024 for size in sizes) == 8


@given(st.floats(1e-6, 1e6), st.floats(1.001, 1e6), st.floats(0, 1))
def test_a_value_of_a_range_lies_between_its_ends(low: float, times: float, part: float) -> None:
    for scale in ("linear", "log"):
        value = between(low, low * times, scale, part)
        assert low * (1 - 1e-9) <= value <= low * times * (1 + 1e-9)


@given(
    st.lists(
        st.text("abcxyz0123456789 .", min_size=1).filter(lambda it: it.strip() and ".." not in it),
        min_size=1,
        max_size=5,
    )
)
def test_lists_are_read_as_they_are_written(values: list[str]) -> None:
    axis = parse(f"clients.count={','.join(values)}")
    assert [str(row[0]) for row in axis.rows] == [
        str(row[0]) for row in parse("clients.count=" + ",".join(map(str.strip, values))).rows
    ]
    assert len(axis.rows) == len(values)


@pytest.mark.parametrize(
    ("text", "axis"),
    [
        ("a=1,2.5,x", Axis(("a",), ((1,), (2.5,), ("x",)))),
        ('a="x,y",z', Axis(("a",), (('"x,y"',), ("z",)))),
        ('a="p/../q"', Axis(("a",), (('"p/../q"',),))),
        ("a,b=(1,x),(2,y)", Axis(("a", "b"), ((1, "x"), (2, "y")))),
    ],
)
def test_axes_are_read(text: str, axis: Axis) -> None:
    assert parse(text) == axis


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"vary": {}}, "nothing varies"),
        ({"vary": {"clients.count": []}}, "at least one value"),
        ({"vary": {"clients.count": 4}}, r"such as \[4\]"),
        ({"vary": {("clients.count", "servers.count"): [(1,)]}}, "expected 2 values"),
        ({"samples": 4}, "leave samples out"),
        ({"design": "sobol"}, "give the number of samples"),
        ({"design": "sobol", "samples": 0}, "give the number of samples"),
        ({"design": "sobol", "samples": 10**9}, "at most 1,000,000"),
        ({"sensitivity": "sobol", "samples": 10**6}, "3,000,000 points"),
        ({"design": "spiral"}, "expected full, latin-hypercube, sobol"),
        ({"sensitivity": "fast"}, "expected sobol or morris"),
        ({"sensitivity": "sobol", "design": "sobol", "samples": 4}, "design of its own"),
        ({"replications": 0}, "expected 1 to 10,000"),
        ({"on": "moon"}, "expected threads"),
        ({"on": "threads:0"}, "from 1 to 4096"),
        ({"vary": {"clients.count": "4..2:3"}}, "larger end"),
        ({"vary": {"system": "pvfs2..pvfs2:3"}}, "no amount"),
        ({"vary": {"clients.count": "2..1000000:1000000", "servers.count": "1..9:9"}}, "points"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    vary = arguments.pop("vary", {"clients.count": [2, 4]})
    with pytest.raises(ValueError, match=message):
        hr.sweep(hr.load(SMALL), vary, **arguments)


def test_one_field_is_varied_once() -> None:
    with pytest.raises(WrongAxis, match="varied twice"):
        hr.sweep(hr.load(SMALL), [*of_mapping({"clients.count": [2]}), parse("clients.count=4")])

"""Use of time by process, and the tables of calls that the terminal, pages and the report share."""

import json
from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

import profile_sample as sample
from headrace.profile import document
from headrace.profile.activity import FEWEST_ROWS, MOST_ROWS, activity
from headrace.profile.analysis import analyse
from headrace.profile.characterise import characterise
from headrace.profile.characteristics import Characteristics
from headrace.profile.recording import PROCESS_COLUMNS
from headrace.render.blocks import Chart, HeatMap, Table
from headrace.render.echarts import heat_map
from headrace.render.pictures import drawn
from headrace.views import calls
from headrace.views.profile import phase_view, verdicts

TRACES = Path(__file__).parents[1] / "data" / "traces"
HEADER = "time,process,operation,file,offset,size,duration\n"


def sampled(*rows: tuple[float, float, int, str, float]) -> pl.DataFrame:
    """Figures by process: interval, number, name and processors."""
    return pl.DataFrame(
        [
            {"from_s": begin, "to_s": end, "pid": pid, "name": name, "user": cores, "system": None}
            for begin, end, pid, name, cores in rows
        ],
        schema=PROCESS_COLUMNS,
    )


def traced(*rows: tuple[float, str, float]) -> pl.DataFrame:
    """Calls: begin, process and duration."""
    return pl.DataFrame(
        {
            "time_ns": [round(begin * 1e9) for begin, _, _ in rows],
            "process": [process for _, process, _ in rows],
            "duration_ns": [round(length * 1e9) for _, _, length in rows],
        }
    )


def test_a_call_counts_in_each_column_that_it_covers() -> None:
    calls_of_two = traced((0.5, "7", 2.0), (6.0, "8", 0.25), (7.5, "8", 0.5))
    use = activity(sampled((0, 8, 7, "cp", 0.1)), calls_of_two, 8.0)
    assert use is not None and use.kind == "calls" and use.column_s == pytest.approx(0.1)
    assert use.processes == ["cp 7", "8"] and use.merged == 0
    assert use.calls_s == pytest.approx(2.75) and use.processor_s == pytest.approx(0.8)
    first, second = use.shares
    assert len(first) == 80
    assert first[5:25] == [1.0] * 20 and sum(first) == pytest.approx(20)
    assert second[60:63] == [1.0, 1.0, 0.5] and second[75:] == [1.0] * 5


def test_samples_count_where_they_have_more_time() -> None:
    table = sampled((0, 1, 7, "a", 1.5), (1, 2, 7, "a", 0.5), (1, 2, 8, "b", 1.0))
    use = activity(table, traced((0.0, "7", 0.5)), 2.0)
    assert use is not None and use.kind == "processor" and use.column_s == 1.0
    assert use.processes == ["a 7", "b 8"] and use.shares == [[1.5, 0.5], [0.0, 1.0]]
    assert activity(table, None, 2.0) == msgspec.structs.replace(use, calls_s=None)


def test_one_process_has_no_map() -> None:
    assert activity(sampled((0, 1, 7, "a", 1.0), (0, 1, 8, "b", 0.0)), None, 1.0) is None
    assert activity(sampled(), None, 0.0) is None


def test_threads_of_one_process_have_rows(tmp_path: Path) -> None:
    header = {"format": 1, "version": "0", "name": "a", "command": ["a"], "interval_s": 1.0}
    header |= {"started": "2026-11-22T13:17:28Z", "hosts": ["a"], "duration_s": 3.0}
    (tmp_path / "recording.json").write_text(json.dumps(header))
    lines = []
    for t in range(4):
        # The second thread starts with the third sample.
        times = {"7": 1.0 + 0.5 * t, "8": t - 1.5}
        used = sum(times.values()) if t >= 2 else times["7"]
        tree: dict[str, Any] = {"user": used, "system": 0.0, "minor_faults": 0, "major_faults": 0}
        tree |= {"busiest": 0.5, "states": {"R": 1}, "threads": 1, "alive": 1, "begin": 0}
        tree |= {"resident": 0, "processes": {"7": ["a", 5, used, 0.0, 0, None, None]}}
        tree |= {"thread_times": times} if t >= 2 else {}
        lines.append(json.dumps({"t": t, "host": "a", "tree": tree}))
    (tmp_path / "samples.jsonl").write_text("".join(f"{line}\n" for line in lines))
    use = analyse(tmp_path, advice=False).activity
    assert use is not None and use.kind == "processor" and use.column_s == 1.0
    assert use.processes == ["thread 7", "thread 8"]
    assert use.shares == [[0.0, 0.5, 0.5], [0.0, 0.5, 1.0]]


@pytest.mark.parametrize(("processes", "shown"), [(80, MOST_ROWS), (500, FEWEST_ROWS)])
def test_the_least_active_processes_are_merged(processes: int, shown: int) -> None:
    rows = traced(*((number / 100, str(number), 0.01) for number in range(processes)))
    use = activity(sampled(), rows, processes / 100)
    assert use is not None and len(use.processes) == shown and use.merged == processes - shown
    assert len(use.shares) == shown + 1
    spent = sum(sum(row) for row in use.shares) * use.column_s
    assert spent == pytest.approx(processes / 100, rel=1e-3)
    (chart,) = calls.activity_map(use)
    assert chart.rows[-1].startswith(f"{processes - shown} others, added up: ")


def test_latency_and_files_of_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{at},1,read,/a,{4096 * at},4096,{0.001 * (1 + (at == 50))}" for at in range(100)]
    rows += ["100,1,sync,/b,0,0,2.5", "103,2,stat,/c,0,0,0.001", "104,2,unlink,/c,0,0,0.001"]
    path.write_text(HEADER + "\n".join(rows) + "\n")
    trace = msgspec.convert(characterise(path), Characteristics)
    kinds = {kind.operation: kind for kind in trace.operations}
    latency = kinds["read"].latency
    assert latency is not None and latency.count == 100
    assert latency.p1_s == pytest.approx(0.001, rel=0.05)
    assert latency.p99_s == pytest.approx(0.001, rel=0.05) and latency.max_s == 0.002
    assert kinds["read"].time_s == pytest.approx(0.101)
    assert [file.file for file in trace.busiest_files] == ["/b", "/a", "/c"]
    assert [file.time_s for file in trace.busiest_files] == pytest.approx([2.5, 0.101, 0.002])
    table, chart, files = calls.view(trace)
    assert isinstance(table, Table) and isinstance(chart, Chart) and isinstance(files, Table)
    # A call that occurs once has a row if it takes much of the time.
    assert [row[0] for row in table.rows()] == ["sync", "read", "2 other kinds"]
    assert [row[0] for row in files.rows()] == ["/b", "/a", "1 other file"]
    assert chart.y.scale == "log" and chart.lines[0].x == ["read"]
    assert (trace.files_only_read, trace.files_only_written) == (1, 0)


def test_a_trace_without_durations_has_no_times(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{at},1,read,/a,{at},1," for at in range(9)]
    path.write_text(HEADER + "\n".join(rows) + "\n")
    trace = msgspec.convert(characterise(path), Characteristics)
    assert trace.operations[0].latency is None and trace.operations[0].time_s is None
    table, files = calls.view(trace)
    assert isinstance(table, Table) and [column.name for column in table.columns][-1] == "data"
    assert isinstance(files, Table) and files.rows()[0][:2] == ("/a", "9")


@pytest.mark.parametrize("name", ["tar.strace", "build.strace", "git.strace", "sqlite.strace"])
def test_rows_add_up_to_the_trace(name: str) -> None:
    trace = msgspec.convert(characterise(TRACES / name), Characteristics)
    table, *_, files = calls.view(trace)
    assert isinstance(table, Table) and isinstance(files, Table)
    time_s = sum(kind.time_s or 0.0 for kind in trace.operations)
    for part in (table, files):
        columns = {column.name: column.values for column in part.columns}
        assert sum(columns["calls"]) == trace.records
        assert sum(columns["time"]) == pytest.approx(time_s)
    columns = {column.name: column.values for column in files.columns}
    assert sum(columns["read"]) == trace.bytes_read
    assert sum(columns["written"]) == trace.bytes_written


def test_all_views_show_the_same_figures() -> None:
    profile = document.from_json(json.dumps(sample.profile()).encode())
    view = verdicts(profile)
    titles = [part.title for part in view if isinstance(part, Table)]
    assert titles[-2:] == ["Calls by time", "Files by time"]
    (chart,) = (part for part in view if isinstance(part, HeatMap))
    assert chart.rows == ["seqprocessor 4711: 2.7 min", "4712: 20 s", "7 others, added up: 1.8 s"]
    assert chart.columns[:3] == ["0", "20", "40"] and chart.most == 0.9
    assert heat_map(chart)["visualMap"]["max"] == pytest.approx(90)
    assert {"latency", "process-map"} <= set(drawn(view))


def test_a_gain_has_the_error_of_the_model() -> None:
    profile = document.from_json(json.dumps(sample.profile()).encode())
    tables = {part.title: part for part in verdicts(profile) if isinstance(part, Table)}
    for title in ("Phases", "Advice"):
        columns = {column.name: column.values for column in tables[title].columns}
        assert columns["model error"][0] == "-4 %", title
    (advice,) = (
        part
        for part in phase_view(profile.phases[0])
        if isinstance(part, Table) and part.title == "Advice"
    )
    # The second change is of an earlier version.
    assert {row[1]: row[-1] for row in advice.rows()} == {
        "larger-requests": "-4 %",
        "separate-disks": "\N{EN DASH}",
    }


def test_a_profile_of_an_earlier_version_has_no_tables_of_calls() -> None:
    profile = document.from_json(json.dumps(sample.profile()).encode())
    profile.characteristics = {"records": 3}
    profile.activity = None
    titles = [part.title for part in verdicts(profile) if isinstance(part, Table)]
    assert "Calls by time" not in titles and "Advice" in titles

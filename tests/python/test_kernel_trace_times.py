"""Where time goes, by what the kernel recorded."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from headrace import kernel_trace
from headrace.kernel_trace import Recording
from headrace.kernel_trace.intervals import Intervals

SETS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=8)


def instants(intervals: Intervals) -> set[int]:
    pairs = zip(intervals.starts, intervals.ends, strict=True)
    return {it for start, end in pairs for it in range(int(start), int(end))}


def of(pairs: list[tuple[int, int]]) -> Intervals:
    return Intervals.of([it[0] for it in pairs], [it[1] for it in pairs])


@given(SETS, SETS)
def test_intervals_are_sets_of_instants(
    one: list[tuple[int, int]], two: list[tuple[int, int]]
) -> None:
    a, b = of(one), of(two)
    every = [{it for start, end in pairs for it in range(start, end)} for pairs in (one, two)]
    assert [instants(a), instants(b)] == every
    assert instants(a.common(b)) == every[0] & every[1]
    assert instants(a.without(b)) == every[0] - every[1]
    assert a.seconds == pytest.approx(len(every[0]) * 1e-9)
    within = [
        len(set(range(int(s), int(e))) & every[1]) for s, e in zip(a.starts, a.ends, strict=True)
    ]
    assert list(a.within(b)) == pytest.approx([it * 1e-9 for it in within])


def frame(columns: dict[str, list[object]], **types: type[pl.DataType]) -> pl.DataFrame:
    schema: dict[str, type[pl.DataType]] = {
        "time_ns": pl.Int64,
        "thread": pl.Int32,
        "pid": pl.Int32,
        "sector": pl.UInt64,
        "bytes": pl.UInt32,
    }
    return pl.DataFrame(
        columns, schema_overrides={k: v for k, v in schema.items() if k in columns} | types
    )


def block(event: list[tuple[int, int, int, str]]) -> pl.DataFrame:
    times, sectors, sizes, letters = zip(*event, strict=True)
    return frame(
        {
            "time_ns": list(times),
            "sector": list(sectors),
            "bytes": list(sizes),
            "rwbs": list(letters),
        }
    )


LAST = (1 << 64) - 1
REQUESTS = {
    "block_rq_insert": block([(10, 8, 4096, "WS"), (30, 16, 4096, "WS")]),
    "block_rq_issue": block(
        [
            (20, 8, 4096, "WS"),
            (50, 16, 4096, "WS"),
            (60, 0, 0, "FF"),
            (200, 99, 512, "RA"),
            (300, 8, 512, "R"),
        ]
    ),
    # One that was issued before the trace began; a flush, and the end of what waited for it.
    "block_rq_complete": block(
        [
            (5, 8, 0, "WS"),
            (70, 16, 0, "WS"),
            (80, 8, 0, "WS"),
            (90, LAST, 0, "FF"),
            (91, 0, 0, "WS"),
            (260, 99, 0, "RA"),
        ]
    ),
}


def test_requests_are_paired_with_their_ends() -> None:
    found = kernel_trace.requests(Recording(REQUESTS))
    assert found["direction"].to_list() == ["write", "write", "flush", "read"]
    assert found["bytes"].to_list() == [4096, 4096, 0, 512]
    assert found["service_s"].to_list() == pytest.approx([60e-9, 20e-9, 30e-9, 60e-9])
    assert found["queued_s"].to_list()[:2] == pytest.approx([10e-9, 20e-9])
    assert found["queued_s"].to_list()[2:] == [None, None]
    assert found["depth"].to_list() == [1, 2, 3, 1]
    assert found["in_order"].to_list() == [False, True, False, False]
    assert kernel_trace.requests(Recording({})).height == 0


def switches(rows: list[tuple[int, int, int, int]]) -> pl.DataFrame:
    times, before, state, after = zip(*rows, strict=True)
    return pl.DataFrame(
        {
            "time_ns": list(times),
            "prev_pid": list(before),
            "prev_state": list(state),
            "next_pid": list(after),
        }
    )


def test_time_in_calls_goes_where_the_thread_was() -> None:
    tables = REQUESTS | {
        "sys_enter_pwrite64": frame({"time_ns": [0, 400], "thread": [7, 7]}),
        "sys_exit_pwrite64": frame({"time_ns": [150, 500], "thread": [7, 7], "ret": [4096, 4096]}),
        "sys_enter_read": frame({"time_ns": [190], "thread": [7]}),
        "sys_exit_read": frame({"time_ns": [290], "thread": [7], "ret": [1]}),
        "task_rename": frame(
            {"time_ns": [-9], "thread": [7], "pid": [7], "newcomm": ["process 0.0"]}
        ),
        # Asleep from 12 to 140, woken at 100; preempted from 142 to 145; asleep from 205 to 280,
        # whose end is not told, but that it was woken at 270; asleep from 410 to 490.
        "sched_switch": switches(
            [
                (12, 7, 2, 0),
                (140, 0, 0, 7),
                (142, 7, 0, 3),
                (145, 3, 1, 7),
                (205, 7, 2, 0),
                (410, 7, 2, 0),
                (490, 0, 0, 7),
            ]
        ),
        "sched_waking": frame({"time_ns": [100, 270, 480], "pid": [7, 7, 7]}),
        "jbd2_start_commit": pl.DataFrame({"time_ns": [85, 250], "transaction": [1, 2]}),
        "jbd2_end_commit": pl.DataFrame({"time_ns": [95, 265], "transaction": [1, 2]}),
        "balance_dirty_pages": frame({"time_ns": [405], "thread": [7], "pause": [10]}),
    }
    recording = Recording(tables)
    made = kernel_trace.timed(recording, 500e-9)
    assert made["call"].to_list() == ["pwrite64", "read", "pwrite64"]
    found = kernel_trace.breakdown(recording, made)
    assert {name: round(seconds * 1e9) for name, seconds in found.items()} == {
        # 12 and 2 and 5, 15 and 20, 10 and 10.
        "processor": 74,
        "dirty limit": 70,
        # A commit is waited for by a write, not by a read.
        "journal": 10,
        # Writes from 20 to 85 and again to 90, of which 85 to 90 was a commit; a read to 260.
        "device": 65 + 55,
        "I/O queue": 8,
        # 100 to 140, and preempted; and 480 to 490.
        "processor queue": 40 + 3 + 10,
        "other waiting": 5 + 10,
    }
    assert sum(found.values()) == pytest.approx((150 + 100 + 100) * 1e-9)


def test_calls_before_the_measurement_do_not_count() -> None:
    tables = {
        "sys_enter_read": frame({"time_ns": [0, 10_000, 20_000, 20_500], "thread": [7, 7, 7, 8]}),
        "sys_exit_read": frame(
            {"time_ns": [100, 10_100, 20_100, 20_900], "thread": [7, 7, 7, 8], "ret": [1] * 4}
        ),
        "task_rename": frame(
            {"time_ns": [-9], "thread": [7], "pid": [7], "newcomm": ["process 0.0"]}
        ),
    }
    assert kernel_trace.timed(Recording(tables), 10_100e-9)["entered_ns"].to_list() == [
        10_000,
        20_000,
    ]
    assert kernel_trace.timed(Recording({}), 1.0).height == 0
    assert (
        kernel_trace.breakdown(Recording({}), kernel_trace.timed(Recording({}), 1.0))["device"] == 0
    )

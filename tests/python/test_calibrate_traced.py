"""A calibration beside what the kernel says."""

import os

import polars as pl
import pytest

from headrace import kernel_trace
from headrace.calibrate.estimators import calls, device
from headrace.calibrate.fitted_parameter import FLUSH
from headrace.calibrate.kernel_times import COLD_READS, KERNEL_ESTIMATORS, TracedProbe, kernel_times
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.probe import Probe
from headrace.calibrate.traced_calibration import probes
from headrace.kernel_trace import Recording
from headrace.measure.report import Latency

CALL_NS = 700


def seen(probe: Probe, service_ns: int, size: int, direction: str = "read") -> TracedProbe:
    """Ten calls of a thread, in each of which the device has one request for so long; a request
    waits 100 ns in the queue."""
    letters = {"read": "R", "write": "W", "flush": "FF"}[direction]
    starts = [1_000_000_000 + number * 100_000_000 for number in range(10)]
    ends = [start + service_ns + CALL_NS for start in starts]
    sectors = pl.Series(range(10), dtype=pl.UInt64) * 8 * (direction != "flush")
    done = sectors if direction != "flush" else pl.Series([(1 << 64) - 1] * 10, dtype=pl.UInt64)
    letters_of_all = {"rwbs": [letters] * 10}
    recording = Recording(
        {
            "block_rq_insert": pl.DataFrame(
                {"time_ns": [it + 200 for it in starts], "sector": sectors, **letters_of_all}
            ),
            "block_rq_issue": pl.DataFrame(
                {
                    "time_ns": [it + 300 for it in starts],
                    "sector": sectors,
                    "bytes": pl.Series([size] * 10, dtype=pl.UInt32),
                    **letters_of_all,
                }
            ),
            "block_rq_complete": pl.DataFrame(
                {
                    "time_ns": [it + 300 + service_ns for it in starts],
                    "sector": done,
                    **letters_of_all,
                }
            ),
            "mm_filemap_add_to_page_cache": pl.DataFrame({"order": [0, 4, 2]}),
            "jbd2_start_commit": pl.DataFrame({"time_ns": [10], "transaction": [1]}),
            "jbd2_end_commit": pl.DataFrame({"time_ns": [3_000_010], "transaction": [1]}),
        }
    )
    made = pl.DataFrame(
        {
            "thread": [7] * 10,
            "call": ["pread64"] * 10,
            "entered_ns": starts,
            "left_ns": ends,
            "result": [size or 1] * 10,
        }
    )
    engine = {"read": latency((service_ns + CALL_NS + 150) * 1e-9)}
    return TracedProbe(engine, recording, made, kernel_trace.requests(recording))


def latency(mean_s: float) -> Latency:
    return Latency(10, mean_s, mean_s, mean_s, mean_s, mean_s)


def test_parameters_follow_from_what_the_kernel_did() -> None:
    # 40 us for 4 KiB, and 1 GB/s beyond.
    large = 40_000 + (device.LARGE - device.SMALL)
    every = {probe.name: seen(probe, 0, 0) for probe in probes(())}
    for direction in ("read", "write"):
        for block, service in ((device.SMALL, 40_000), (device.LARGE, large)):
            probe = device.PROBES[direction, block]
            every[probe.name] = seen(probe, service, block, direction)
    every[FLUSH.probe.name] = seen(FLUSH.probe, 900_000, 0, "flush")
    every[COLD_READS.name] = seen(COLD_READS, 1000, 1 << 20)
    outside = (
        Parameter("machine.device.latency", (50e-6, 60e-6, 90e-6), "s", "measured"),
        Parameter("machine.memory.largest_folio", (1 << 20,), "B", "read"),
    )
    found = {it.field or it.what: it for it in kernel_times(every, outside)}
    expected = {
        "machine.cpu.system_call": 700e-9,
        "what the engine and tracing take of a call": 150e-9,
        "machine.cpu.transfer": 40e-6,
        "machine.device.latency": 40e-6 - 4096e-9,
        "machine.device.rate": 1e9,
        "machine.device.write_latency": 40e-6 - 4096e-9,
        "machine.device.device_write_rate": 1e9,
        "machine.device.flush": 900e-6,
        "a request in the I/O queue": 100e-9,
        "a commit of the journal": 3e-3,
        "machine.io_scheduler.largest_request": 1 << 20,
        "machine.memory.largest_folio": 16 * os.sysconf("SC_PAGE_SIZE"),
    }
    for name, value in expected.items():
        assert found[name].value == pytest.approx(value, rel=1e-3), name
    latency = found["machine.device.latency"].json()
    assert latency["outside"] == pytest.approx(60e-6)
    assert latency["difference"] == pytest.approx(60e-6 / latency["value"] - 1)
    assert latency["count"] == 10
    assert found["machine.device.rate"].json()["difference"] is None
    assert len(KERNEL_ESTIMATORS) == len({find.__name__ for find in KERNEL_ESTIMATORS})


def test_what_was_not_seen_is_left_out() -> None:
    nothing = Recording({})
    empty = TracedProbe(
        {"read": latency(1e-6)},
        nothing,
        kernel_trace.timed(nothing, 1.0),
        kernel_trace.requests(nothing),
    )
    found = kernel_times({probe.name: empty for probe in probes(())}, ())
    assert [it.what for it in found] == ["what the engine and tracing take of a call"]


def test_each_workload_is_traced_once() -> None:
    every = probes(())
    assert len({probe.workload for probe in every}) == len(every)
    names = {probe.name for probe in every}
    assert {calls.CALL.name, FLUSH.probe.name, COLD_READS.name} <= names
    assert {probe.name for probe in device.PROBES.values()} <= names

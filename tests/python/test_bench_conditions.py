"""What is told beside a measurement: counters and warnings."""

from dataclasses import replace
from pathlib import Path

import msgspec
import psutil
import pytest

import headrace.measure as measure
from headrace.measure.conditions import CHECKS, Measured, conditions, reports_free_pages
from headrace.measure.counters import SERIES, Counters, device_below
from headrace.measure.report import CounterMeans, OperationFigures


def operation(group: str, moved: int, prepare_seconds: float) -> OperationFigures:
    return OperationFigures(group, 1, moved, 1.0, 1.0, prepare_seconds)


QUIET = Measured(
    calls="posix",
    processes=1,
    seconds=10.0,
    file_bytes=1 << 60,
    operations={"read": operation("read", 1, 0.1)},
    counters=CounterMeans(
        device=None,
        processors=4,
        cpu_user=0.02,
        cpu_system=0.05,
        cpu_iowait=0.0,
        cpu_steal=0.0,
        cpu_own=0.05,
        device_busy=None,
        device_flushing=None,
        device_read_bytes_per_s=None,
        device_write_bytes_per_s=None,
        device_reads_per_s=None,
        device_writes_per_s=None,
    ),
    direct=False,
    free=0.5,
)


def found(measured: Measured) -> set[str]:
    # What this machine's clock, frequencies and memory are like is its own affair.
    machine = {"clock", "governor", "memory-given-back"}
    return {warning.condition for warning in conditions(measured)} - machine


def counters(**values: float) -> Measured:
    return replace(QUIET, counters=msgspec.structs.replace(QUIET.counters, **values))


def test_nothing_is_said_of_a_quiet_machine() -> None:
    assert found(QUIET) == set()


def test_a_file_set_smaller_than_memory_is_said_unless_the_cache_is_passed_by() -> None:
    small = replace(QUIET, file_bytes=psutil.virtual_memory().total // 2)
    assert found(small) == {"fits-in-memory"}
    assert found(replace(small, direct=True)) == set()
    assert found(replace(small, operations={"write": operation("write", 1, 0.0)})) == set()


@pytest.mark.parametrize(
    ("measured", "condition"),
    [
        (replace(QUIET, processes=5), "oversubscribed"),
        (replace(QUIET, calls="null"), "no-calls"),
        # One process of four processors' cannot take more than a quarter.
        (counters(cpu_own=0.24, cpu_user=0.2), "generator-was-the-limit"),
        (counters(cpu_user=0.3), "others-computed"),
        (counters(cpu_steal=0.05), "steal"),
        (replace(QUIET, early=[2]), "stonewall-not-reached"),
    ],
)
def test_what_disturbs_is_said(measured: Measured, condition: str) -> None:
    assert found(measured) == {condition}


def test_preparation_that_takes_most_of_the_time_is_said() -> None:
    slow = {"create": operation("file", 0, 6.0)}
    assert found(replace(QUIET, operations=slow)) == {"generator-was-the-limit"}


def test_memory_that_goes_back_to_the_host_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not reports_free_pages(tmp_path / "none")
    # Bit 4 is the poisoning of free pages, bit 5 their reporting.
    features = tmp_path / "virtio0" / "features"
    features.parent.mkdir()
    for bits, reports in (("0110000", False), ("0110100", False), ("0110010", True)):
        features.write_text(bits + "0" * 57 + "\n")
        assert reports_free_pages(tmp_path) == reports
    monkeypatch.setattr("headrace.measure.conditions.BALLOONS", tmp_path)

    def said(measured: Measured) -> bool:
        return "memory-given-back" in {warning.condition for warning in conditions(measured)}

    assert said(QUIET)
    assert not said(replace(QUIET, direct=True)) and not said(replace(QUIET, calls="null"))
    assert not said(replace(QUIET, operations={"stat": operation("file", 0, 0.0)}))


def test_a_full_file_system_is_said() -> None:
    assert found(replace(QUIET, free=0.01)) == {"nearly-full"}


def test_every_warning_is_in_the_documentation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "reference" / "conditions.md").read_text(
        encoding="utf-8"
    )
    assert all(f"| `{condition}` |" in text for condition in CHECKS)


def test_the_device_below_a_directory_is_the_kernels() -> None:
    # Neither has a block device below it.
    assert device_below("/proc") is None
    assert device_below("/missing") is None
    device = device_below(Path.home())
    assert device is None or device in psutil.disk_io_counters(perdisk=True)


def test_counters_are_shares_and_rates(tmp_path: Path) -> None:
    taken = Counters(tmp_path)
    taken.sample(at_once=True)
    frame = taken.frame()
    assert frame.schema == SERIES and frame.height == 1
    row = frame.row(0, named=True)
    shares = [value for name, value in row.items() if name.startswith("cpu")]
    assert all(0 <= share <= 1 for share in shares)
    taken.restart()
    assert taken.frame().height == 0


def test_a_measurement_tells_its_files_and_counters(tmp_path: Path) -> None:
    text = '[clients]\nprocesses = 2\n[[workload]]\nblock = "1 MiB"\nphases = ["write"]\n'
    result = measure.measure(measure.load(text), tmp_path)
    assert result.document["files"] == {"count": 2, "bytes": 2 << 20}
    assert result.document["counters"]["processors"] == psutil.cpu_count()
    assert result.counters.height >= 1

"""The time balance of a phase, and the looks and limits that it is made of."""

import fcntl
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import to_builtins

from headrace.profile.counters.limits import GroupLimits
from headrace.profile.counters.source import Watched
from headrace.profile.counters.thread_states import (
    KINDS,
    NEW,
    ThreadStates,
    call_kinds,
    most_active,
)
from headrace.profile.document import BALANCE_PARTS, Phase, TimeBalance
from headrace.profile.figures import busiest_disk
from headrace.profile.time_balance import OWN_PARTS, own_share, time_balance
from headrace.profile.traced_calls import traced_calls
from headrace.report.profile_report.charts import OF_SAMPLES
from headrace.report.profile_report.data import ProfileData
from headrace.report.profile_report.sections.summary import verdict
from headrace.views.time_balance import PARTS

MB = 1e6
SHARES = st.floats(0, 3)
COLUMNS = {
    **{f"tree.{name}": SHARES for name in ("user", "system", "core_wait", "short_lived")},
    **{f"states.{kind}": st.floats(0, 40) for kind in KINDS},
    "tree.read_bytes_per_s": st.floats(0, 1e9),
    "tree.write_bytes_per_s": st.floats(0, 1e9),
    "tree.voluntary_switches_per_s": st.floats(0, 1e5),
    "disk.sda.read_bytes_per_s": st.floats(0, 1e9),
    "disk.sda.reads_per_s": st.floats(0, 1e5),
}


def rows(**levels: float) -> pl.DataFrame:
    """Ten seconds at levels of columns, whose dots are written as double underscores."""
    columns = {name.replace("__", "."): value for name, value in levels.items()}
    base = {"tree.user": 0.0, "tree.system": 0.0, "tree.core_wait": 0.0, "tree.threads": 1.0}
    return pl.DataFrame(
        [{"from_s": float(at), "to_s": at + 1.0} | base | columns for at in range(10)]
    )


def calls_of(operation: str, count: int, seconds: float) -> pl.DataFrame:
    """A trace of calls that begin evenly in ten seconds."""
    times = [round(1e10 * at / count) for at in range(count)]
    durations = [round(1e9 * seconds)] * count
    return pl.DataFrame(
        {"time_ns": times, "operation": [operation] * count, "duration_ns": durations}
    )


@given(st.lists(st.fixed_dictionaries({}, optional=COLUMNS), min_size=1, max_size=4), st.booleans())
def test_the_parts_add_up_to_the_phase(levels: list[dict[str, float]], stops: bool) -> None:
    table = [
        {"from_s": at * 0.5, "to_s": at * 0.5 + 0.5, "tree.user": 0.1, "tree.system": 0.0} | level
        for at, level in enumerate(levels)
    ]
    names = {name for row in table for name in row}
    frame = pl.DataFrame([{name: row.get(name, 0.0) for name in names} for row in table])
    trace = traced_calls(calls_of("read", 20, 0.01), 0.0, 0.5 * len(levels)) if stops else None
    balance = time_balance(frame, "sda", trace, stops=stops, cores=2)
    assert balance is not None
    assert tuple(balance.seconds) == BALANCE_PARTS
    assert min(balance.seconds.values()) >= 0
    assert sum(balance.seconds.values()) == pytest.approx(0.5 * len(levels))
    assert sum(balance.sleeps.values()) <= balance.seconds["sleep"] + 1e-9


@pytest.mark.parametrize(
    ("levels", "part", "share"),
    [
        ({"tree__user": 0.9}, "user", 0.9),
        # Eight threads on two cores: two compute, six wait.
        ({"tree__user": 2.0, "tree__core_wait": 6.0}, "core", 0.75),
        # Random reads through mmap: 50 us each, most of the time.
        ({"tree__system": 0.21, "states__fault": 14.0, "states__running": 5.0}, "read", 0.78),
        ({"tree__system": 0.05, "states__sync": 10.0}, "sync", 0.94),
        ({"states__lock": 20.0}, "sleep", 0.99),
        ({"states__network": 20.0}, "network", 0.99),
        # State D without a transfer: a parent in vfork.
        (
            {"tree__user": 0.4, "tree__short_lived": 0.4, "tree__disk_wait": 1.0},
            "process",
            0.54,
        ),
        # Nobody looked.
        ({"tree__user": 0.1}, "unknown", 0.9),
    ],
)
def test_a_program_of_one_use(levels: dict[str, float], part: str, share: float) -> None:
    balance = time_balance(rows(**levels))
    assert balance is not None
    assert balance.seconds[part] / 10 == pytest.approx(share, abs=0.02)


def test_a_tracer_and_neighbours_do_not_change_the_shares_of_own_time() -> None:
    alone = time_balance(rows(tree__system=0.2, states__sync=16.0, states__running=4.0))
    traced = time_balance(
        rows(
            tree__system=0.1,
            tree__core_wait=0.5,
            tree__voluntary_switches_per_s=1000.0,
            states__sync=8.0,
            states__running=12.0,
        ),
        None,
        traced_calls(calls_of("sync", 2500, 0.0016), 0.0, 10.0),
        stops=True,
    )
    assert alone is not None and traced is not None
    assert traced.seconds["tracer"] > 2.0
    assert own_share(traced, ("sync",)) == pytest.approx(own_share(alone, ("sync",)), abs=0.05)
    assert sum(own_share(traced, (part,)) for part in OWN_PARTS) == pytest.approx(1.0)


def test_traced_calls_name_the_wait_of_a_recording_without_looks() -> None:
    moved = {"tree__write_bytes_per_s": MB, "disk__sda__write_bytes_per_s": MB}
    moved |= {"disk__sda__writes_per_s": 250.0}
    calls = traced_calls(calls_of("sync", 1000, 0.006), 0.0, 10.0)
    balance = time_balance(rows(tree__system=0.05, **moved), "sda", calls)
    assert balance is not None
    assert balance.seconds["sync"] == pytest.approx(5.5, rel=0.1)


def test_another_programs_disk_is_not_the_programs() -> None:
    levels = {
        "tree__read_bytes_per_s": 0.0,
        "tree__write_bytes_per_s": 0.7 * MB,
        "disk__loop0__read_bytes_per_s": 5e9,
        "disk__loop0__reads_per_s": 13_000.0,
        "disk__vda__write_bytes_per_s": 1.2 * MB,
        "disk__vda__writes_per_s": 360.0,
    }
    assert busiest_disk(rows(**levels), None) == "vda"
    both = levels | {"disk__md0__write_bytes_per_s": 0.8 * MB, "disk__md0__writes_per_s": 300.0}
    assert busiest_disk(rows(**both), None, of_directory="md0") == "md0"


@pytest.mark.parametrize(
    ("states", "kinds"),
    [
        ([("R", ""), ("D", "sync")], {"running": 1.0}),
        ([("D", "sync"), ("S", "lock")], {"sync": 1.0}),
        ([("D", "process"), ("S", "")], {"process": 1.0}),
        ([("D", "")], {"disk": 1.0}),
        ([("t", ""), ("S", "lock")], {"traced": 1.0}),
        # A request to a FUSE server sleeps in state S.
        ([("S", "read"), ("S", "lock")], {"read": 1.0}),
        ([("S", "child"), ("S", "pipe")], {"pipe": 1.0}),
        ([("S", "lock"), ("S", "timer")], {"lock": 0.5, "timer": 0.5}),
        ([("S", "")], {"asleep": 1.0}),
        ([], {}),
    ],
)
def test_a_look_counts_the_most_active_thread(
    states: list[tuple[str, str]], kinds: dict[str, float]
) -> None:
    assert most_active(states) == kinds
    assert set(kinds) <= set(KINDS)


@pytest.fixture
def fifo() -> Iterator[Path]:
    """A FIFO without a writer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fifo"
        os.mkfifo(path)
        yield path


WAITS = {
    "timer": "import time; time.sleep(600)",
    "pipe": "import os; os.read(os.open({path!r}, os.O_RDWR), 1)",
    "lock": "import fcntl; fcntl.flock(open({lock!r}), fcntl.LOCK_EX)",
    "events": "import select, os; select.select([os.open({path!r}, os.O_RDWR)], [], [])",
    "signal": "import signal; signal.pause()",
    "network": "import socket; a, b = socket.socketpair(); a.recv(1)",
}


@pytest.mark.skipif(
    not call_kinds(platform.machine()), reason="no numbers of calls for this processor"
)
@pytest.mark.parametrize("kind", WAITS)
def test_looks_name_what_a_real_program_waits_for(kind: str, fifo: Path) -> None:
    lock = fifo.parent / "lock"
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        code = WAITS[kind].format(path=str(fifo), lock=str(lock))
        with subprocess.Popen([sys.executable, "-c", code], start_new_session=True) as program:
            try:
                states = ThreadStates(Watched(roots=lambda: [program.pid]))
                seen = _until(lambda: _looked(states) if kind in _looked(states) else None)
                assert seen[kind] >= 1
                assert set(seen) <= {*KINDS, NEW}
            finally:
                os.killpg(program.pid, 9)


def _looked(states: ThreadStates) -> dict[str, float]:
    states.look()
    return states.read()


def _until(
    attempt: Callable[[], dict[str, float] | None], deadline_s: float = 60.0
) -> dict[str, float]:
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        if (value := attempt()) is not None:
            return value
        time.sleep(0.02)
    raise AssertionError("the program never waited")


def _group() -> Path | None:
    """A new control group with a quota and a limit; None if this user can make none."""
    for root, quota in (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us"), ("/sys/fs/cgroup", "cpu.max")):
        group = Path(root) / f"headrace-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / quota).write_text("50000" if "quota" in quota else "50000 100000")
        except OSError:
            group.rmdir()
            continue
        return group
    return None


def test_the_quota_of_a_real_group_is_read() -> None:
    group = _group()
    if group is None:
        pytest.skip("this user can make no control group with a processor quota")
    code = "import sys; sys.stdin.read(1)\nwhile True: pass"
    try:
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE) as program:
            try:
                (group / "cgroup.procs").write_text(str(program.pid))
                limits = GroupLimits(Watched(roots=lambda: [program.pid]))
                first = limits.read()
                assert first is not None and first["quota"] == 0.5
                assert program.stdin is not None
                program.stdin.write(b"x")
                program.stdin.flush()
                # The kernel counts the stop before its time.
                raw = _until(lambda: raw if (raw := limits.read()) and raw["throttled_s"] else None)
                assert raw["throttled"] > 0
            finally:
                program.kill()
    finally:
        _until(lambda: _removed(group))


def test_the_path_of_a_group_may_be_no_utf8(tmp_path: Path) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "cgroup").write_bytes(b"1:cpu:/caf\xe9\n0::/caf\xe9\n")
    assert GroupLimits(Watched(proc=tmp_path, roots=lambda: [7])).read() == {}


def _removed(group: Path) -> dict[str, float] | None:
    try:
        group.rmdir()
    except OSError:
        return None
    return {}


def test_the_report_begins_with_the_balance() -> None:
    balance = TimeBalance(seconds={"system": 1.0, "sync": 7.0, "sleep": 2.0})
    phase = Phase(from_s=0.0, to_s=10.0, verdict="latency", balance=balance, confidence=0.9)
    data = ProfileData({"name": "db", "verdict": "latency", "phases": [to_builtins(phase)]})
    lead = verdict(data)
    assert "70.0 % waiting for syncs, 20.0 % waiting for a lock" in lead
    (chart,) = OF_SAMPLES[0](data)
    assert chart.name == "time-balance"
    labels = chart.figure.axes[0].get_legend_handles_labels()[1]
    assert labels == [PARTS[part].words for part in ("system", "sync", "sleep")]

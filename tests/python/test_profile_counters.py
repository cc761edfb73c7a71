"""Counter sources: recorded texts of several kernels, and texts that are none."""

import os
import shlex
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from headrace.profile.counters import (
    ALL,
    Raw,
    Watched,
    cgroup,
    disks,
    infiniband,
    interfaces,
    lustre,
    memory,
    nfs,
    pressure,
    processors,
    tcp,
    tree,
)
from headrace.profile.counters.process_files import (
    ignores_children,
    parse_io,
    parse_stat,
    parse_switches,
)

DATA = ROOT / "tests" / "data" / "proc"
SECONDS = 2.0


def text(name: str) -> bytes:
    return (DATA / name).read_bytes()


def parsed(parse: Callable[[bytes, Counter[str]], Any], name: str) -> Any:
    """A recorded text, of which nothing is left out."""
    left_out: Counter[str] = Counter()
    raw = parse(text(name), left_out)
    assert not left_out
    return raw


def of_disks(text: bytes, left_out: Counter[str]) -> Raw:
    return disks.Parser(lambda _number, _name: True, left_out).parse(text)


def test_processors() -> None:
    before, after = (parsed(processors.parse, it) for it in ("stat-6.1", "stat-6.1-b"))
    columns = processors.rates(before, after, SECONDS)
    # 75 user, 15 system, 5 I/O wait and 5 steal of 100 ticks.
    assert columns["cpu.0.user"] == 0.75
    assert columns["cpu.0.steal"] == 0.05
    assert columns["cpu.0.idle"] == 0
    # 20 user, 20 system, 50 idle; the kernel has taken 1 of I/O wait back.
    assert columns["cpu.2.idle"] == pytest.approx(50 / 90)
    assert columns["cpu.2.iowait"] == 0
    assert columns["cpu.user"] == pytest.approx((0.75 + 20 / 90) / 2)
    assert columns["context_switches_per_s"] == 1500
    assert columns["interrupts_per_s"] == 1000
    assert columns["load.running"] == 5
    assert "cpu.1.user" not in columns


def test_processors_without_steal() -> None:
    raw = parsed(processors.parse, "stat-2.6")
    assert raw["cpu"]["1"] == [200, 10, 100, 4000, 50, 2, 4]
    columns = processors.rates(raw, raw | {"cpu": {"1": [210, 10, 100, 4030, 50, 2, 4]}}, SECONDS)
    assert columns["cpu.1.user"] == 0.25
    assert columns["cpu.steal"] is None


@pytest.mark.parametrize("kernel", ["4.17", "5.5"])
def test_disks(kernel: str) -> None:
    before = parsed(of_disks, f"diskstats-{kernel}")
    after = parsed(of_disks, f"diskstats-{kernel}-b")
    columns = disks.rates(before, after, SECONDS)
    assert columns["disk.sda.read_bytes_per_s"] == 20480 * 512 / SECONDS
    assert columns["disk.sda.write_bytes_per_s"] == 65536 * 512 / SECONDS
    assert columns["disk.sda.reads_per_s"] == 50
    assert columns["disk.sda.writes_per_s"] == 200
    assert columns["disk.sda.read_service_s"] == pytest.approx(0.010)
    assert columns["disk.sda.write_service_s"] == pytest.approx(0.005)
    assert columns["disk.sda.queue"] == pytest.approx(1.5)
    assert columns["disk.sda.utilisation"] == pytest.approx(0.45)
    assert columns["disk.sda.flushes_per_s"] == (5 if kernel == "5.5" else None)
    if kernel == "4.17":
        # It had no request before.
        assert columns["disk.loop0.reads_per_s"] == 2
        assert columns["disk.loop0.write_service_s"] is None


def test_disks_with_discards_and_partitions_of_old_kernels() -> None:
    assert len(parsed(of_disks, "diskstats-4.18")["sda"]) == 15
    left_out: Counter[str] = Counter()
    assert list(of_disks(text("diskstats-2.6"), left_out)) == ["sda"]
    assert left_out == {"disks": 1}


def test_disk_counters_that_start_again_at_0() -> None:
    before, after = [0] * 11, [10] * 11
    before[disks.READ_MS] = 2**32 - 90
    before[disks.WRITES] = 1000
    columns = disks.rates({"sda": before}, {"sda": after}, SECONDS)
    assert columns["disk.sda.read_service_s"] == pytest.approx(0.010)
    # A reset is no request.
    assert columns["disk.sda.writes_per_s"] is None


def test_only_whole_devices_and_mounted_partitions_count(tmp_path: Path) -> None:
    (tmp_path / "sda").mkdir()
    (tmp_path / "cciss!c0d0").mkdir()
    selection = disks.Selection(tmp_path)
    assert selection("8:0", "sda")
    assert selection("104:0", "cciss/c0d0")
    assert not selection("0:987654", "sda1")


def test_interfaces() -> None:
    before, after = (parsed(interfaces.parse, it) for it in ("net-dev", "net-dev-b"))
    assert list(before) == ["eth0", "eth0:1"]
    columns = interfaces.rates(before, after, SECONDS)
    assert columns["net.eth0.receive_bytes_per_s"] == 1_000_000
    assert columns["net.eth0.send_packets_per_s"] == 500
    assert columns["net.eth0.errors_per_s"] == 1
    assert columns["net.eth0.drops_per_s"] == 2.5
    assert columns["net.eth0.collisions_per_s"] == 5
    assert columns["net.lo.send_bytes_per_s"] == 100


def test_tcp() -> None:
    before, after = (parsed(tcp.parse, it) for it in ("snmp", "snmp-b"))
    assert tcp.rates(before, after, SECONDS) == {"tcp.retransmits_per_s": 10}


def test_nfs() -> None:
    before, after = (parsed(nfs.parse, it) for it in ("mountstats-a", "mountstats-b"))
    columns = nfs.rates(before, after, SECONDS)
    mount = "nfs./home/my files"
    assert columns[f"{mount}.read_bytes_per_s"] == 500_000
    assert columns[f"{mount}.write_bytes_per_s"] == 1_000_000
    # 100 reads, 200 writes and 10 commits.
    assert columns[f"{mount}.calls_per_s"] == 155
    assert columns[f"{mount}.rtt_s"] == pytest.approx(4.4 / 310)
    assert columns[f"{mount}.read_rtt_s"] == pytest.approx(0.003)
    assert columns[f"{mount}.write_execute_s"] == pytest.approx(0.022)
    assert columns[f"{mount}.retransmits_per_s"] == 2
    assert columns["nfs./data.calls_per_s"] == 0
    assert columns["nfs./data.rtt_s"] is None


@pytest.mark.parametrize(
    ("version", "read", "written", "metadata"), [("2.10", 20e6, 0, 50), ("2.15", 0, 30e6, 2)]
)
def test_lustre(version: str, read: float, written: float, metadata: float) -> None:
    before, after = (parsed(lustre.parse, f"llite-{version}-{it}") for it in "ab")
    columns = lustre.rates({"scratch": before}, {"scratch": after}, SECONDS)
    assert columns["lustre.scratch.read_bytes_per_s"] == read
    assert columns["lustre.scratch.write_bytes_per_s"] == written
    assert columns["lustre.scratch.metadata_per_s"] == metadata


@pytest.mark.parametrize("below", ["proc/fs/lustre", "sys/kernel/debug/lustre"])
def test_lustre_mounts_are_found(tmp_path: Path, below: str) -> None:
    for name in ("scratch-ffff88085e8fc000", "home-ffff88085e8fd000", "home-ffff88085e8fe000"):
        directory = tmp_path / below / "llite" / name
        directory.mkdir(parents=True)
        (directory / "stats").write_bytes(text("llite-2.15-a"))
    read = lustre.SOURCE.open(Watched(proc=tmp_path / "proc", sys=tmp_path / "sys"))
    assert read is not None
    raw = read()
    assert raw is not None
    assert sorted(raw) == ["home-ffff88085e8fd000", "home-ffff88085e8fe000", "scratch"]
    assert raw["scratch"]["read_bytes"] == [100, 50_000_000]


def test_infiniband(tmp_path: Path) -> None:
    counters = tmp_path / "class" / "infiniband" / "mlx5_0" / "ports" / "1" / "counters"
    counters.mkdir(parents=True)
    (counters / "port_rcv_data").write_text("1000\n")
    (counters / "port_xmit_data").write_text("2000\n")
    read = infiniband.SOURCE.open(Watched(sys=tmp_path))
    assert read is not None
    before = read()
    assert before == {"mlx5_0:1": [1000, 2000]}
    (counters / "port_rcv_data").write_text("1500\n")
    columns = infiniband.rates(before, read() or {}, SECONDS)
    assert columns["infiniband.mlx5_0:1.receive_bytes_per_s"] == 1000
    assert columns["infiniband.mlx5_0:1.send_bytes_per_s"] == 0


def test_cgroup(tmp_path: Path) -> None:
    for name in ("cpu.stat", "memory.stat", "io.stat"):
        (tmp_path / name).write_bytes(text(f"cgroup-{name}"))
    watched = Watched(cgroup=tmp_path)
    read = cgroup.SOURCE.open(watched)
    assert read is not None
    before = read()
    assert before is not None and not watched.left_out
    (tmp_path / "cpu.stat").write_text("user_usec 5000000\nsystem_usec 1000000\n")
    (tmp_path / "io.stat").write_text("8:0 rbytes=5000 wbytes=6000 rios=40 wios=62\n")
    columns = cgroup.rates(before, read() or {}, SECONDS)
    assert columns["cgroup.user"] == 1.5
    assert columns["cgroup.throttled"] is None
    assert columns["cgroup.read_bytes_per_s"] == 500
    assert columns["cgroup.writes_per_s"] == 1
    assert columns["cgroup.cached_bytes"] == 5_000_000


def test_pressure() -> None:
    left_out: Counter[str] = Counter()
    some = b"some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\n"
    before, after = (pressure.parse(some % it, left_out) for it in (1_000_000, 2_000_000))
    columns = pressure.rates({"io": before}, {"io": after}, SECONDS)
    assert columns == {"pressure.io": 0.5, "pressure.cpu": None, "pressure.memory": None}


def test_sources_of_this_system() -> None:
    watched = Watched(roots=lambda: (os.getpid(),))
    reads = {source: source.open(watched) for source in ALL}
    columns: dict[str, float | None] = {}
    before = {source: read() for source, read in reads.items() if read is not None}
    sum(range(3_000_000))
    for source, read in reads.items():
        if read is not None and (now := read()) is not None and before[source] is not None:
            columns |= source.rates(before[source] or {}, now, 1.0)
    assert columns["memory.total_bytes"] == os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    assert columns["memory.used_bytes"] and columns["tree.resident_bytes"]
    assert columns["tree.processes"]
    assert columns["tree.user"] is not None and columns["tree.user"] >= 0
    assert not watched.left_out


def test_a_system_without_any_file_has_no_source(tmp_path: Path) -> None:
    watched = Watched(proc=tmp_path, sys=tmp_path, cgroup=tmp_path)
    assert [it.name for it in ALL if it.open(watched) is not None] == []


# The process tree.


class Shell:
    """A shell program whose tree is read."""

    def __init__(self, script: str) -> None:
        self.roots: list[int] = []
        self.watched = Watched(roots=lambda: self.roots)
        read = tree.SOURCE.open(self.watched)
        assert read is not None
        self.read = read
        self.first = self.read()
        self.process = subprocess.Popen(["sh", "-c", script])
        self.roots.append(self.process.pid)

    def sample(self) -> Raw:
        raw = self.read()
        assert raw is not None
        return raw

    def has_ended(self) -> bool:
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        return os.waitid(os.P_PID, self.process.pid, flags) is not None

    def to_the_end(self, pause_s: float) -> tuple[list[Raw], Any]:
        """All samples, the last of the ended program, and the kernel's own sums."""
        samples = []
        while not self.has_ended():
            samples.append(self.sample())
            time.sleep(pause_s)
        samples.append(self.sample())
        usage = os.wait4(self.process.pid, 0)[2]
        self.process.returncode = 0
        return samples, usage


@pytest.mark.parametrize("pause_s", [0.0, 0.01])
def test_ended_children_count_once(pause_s: float) -> None:
    shell = Shell("for i in 1 2 3 4 5 6 7 8 9; do (for j in 1 2 3; do cat /dev/null; done); done")
    samples, usage = shell.to_the_end(pause_s)
    # Each process has some 75. One that ends while the tree is read may be in two sums for once.
    assert samples[-1]["minor_faults"] == pytest.approx(usage.ru_minflt, rel=0.1)
    assert samples[-1]["user"] == pytest.approx(usage.ru_utime, abs=0.021)
    assert samples[-1]["threads"] == 0
    counted = [it["minor_faults"] for it in samples]
    assert counted == sorted(counted)


def test_children_that_no_process_waits_for_keep_their_last_counters() -> None:
    shell = Shell(
        f"trap '' CHLD; exec {shlex.quote(sys.executable)} -c '"
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    x = bytearray(20_000_000)\n"
        "    time.sleep(1.5)\n"
        "    os._exit(0)\n"
        "time.sleep(2.5)'"
    )
    samples, usage = shell.to_the_end(0.05)
    alive = [it["alive"] for it in samples]
    assert max(alive) == 2 and alive[-2] == 1
    # The child's 20 MB are pages that the kernel does not add to the parent's.
    assert samples[-1]["minor_faults"] > usage.ru_minflt + 1000


def test_calls_and_transfers_of_the_tree(tmp_path: Path) -> None:
    shell = Shell(f"dd if=/dev/zero of={tmp_path}/file bs=1000 count=500 2>/dev/null; sleep 0.2")
    samples, _ = shell.to_the_end(0.01)
    assert 500_000 <= samples[-1]["wchar"] < 510_000
    assert samples[-1]["syscw"] >= 500
    assert samples[-1]["rchar"] >= 500_000


def test_what_a_running_process_did_before_does_not_count() -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", "x = bytearray(50_000_000); print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert program.stdout is not None
        program.stdout.readline()
        read = tree.SOURCE.open(Watched(roots=lambda: (program.pid,)))
        assert read is not None
        raw = read()
        assert raw is not None
        assert raw["minor_faults"] == 0 and raw["rchar"] == 0 and raw["busiest"] == 0
        assert raw["resident"] > 50_000_000
        for _ in range(500):
            if (raw := read()) is not None and raw["states"] == {"S": 1}:
                break
            time.sleep(0.01)
        assert raw is not None and raw["states"] == {"S": 1}
    finally:
        program.communicate(b"\n")


def test_the_busiest_thread_and_all_threads() -> None:
    script = (
        "import threading, time\n"
        "def spin():\n"
        "    end = time.process_time() + 0.3\n"
        "    while time.process_time() < end: pass\n"
        "ts = [threading.Thread(target=spin), threading.Thread(target=time.sleep, args=(2,))]\n"
        "[t.start() for t in ts]; [t.join() for t in ts]\n"
    )
    shell = Shell(f"exec {shlex.quote(sys.executable)} -c '{script}'")
    samples, _ = shell.to_the_end(0.05)
    assert max(it["threads"] for it in samples) == 3
    assert sum(it["busiest"] for it in samples) >= 0.2
    by_thread = [it["thread_times"] for it in samples if it["threads"] == 3]
    assert all(len(times) == 3 for times in by_thread) and max(by_thread[-1].values()) >= 0.1
    assert samples[-1]["user"] + samples[-1]["system"] >= 0.3


def test_figures_of_the_tracer_do_not_count() -> None:
    # This process may have children of other tests.
    tracer = subprocess.Popen(["sleep", "60"])
    try:
        read = tree.SOURCE.open(Watched(roots=lambda: (tracer.pid,), tracer=tracer.pid))
        assert read is not None
        raw = read()
    finally:
        tracer.kill()
        tracer.wait()
    assert raw is not None
    assert (raw["alive"], raw["threads"], raw["processes"]) == (0, 0, {})


def test_transfers_of_children_that_ended_below_a_tracer_count(tmp_path: Path) -> None:
    shell = Shell(
        f"dd if=/dev/zero of={tmp_path}/file bs=1000 count=500 2>/dev/null; sleep 0.2;"
        " printf %9000s x >/dev/null; sleep 0.1"
    )
    shell.watched.tracer = shell.process.pid
    samples, _ = shell.to_the_end(0.01)
    assert 500_000 <= samples[-1]["wchar"] < 510_000
    assert 500 <= samples[-1]["syscw"] < 510


def test_a_program_of_the_tracers_name_counts() -> None:
    shell = Shell("sh -c 'sleep 0.3; :'; :")
    shell.watched.tracer = shell.process.pid
    samples, _ = shell.to_the_end(0.02)
    assert max(it["alive"] for it in samples) == 2


def test_descendants_are_found_without_lists_of_children() -> None:
    child = subprocess.Popen(["sh", "-c", "sleep 30 & wait"])
    try:
        for _ in range(500):
            found = tree.ParentFinder("/proc").descendants([child.pid])
            if len(found) == 2:
                break
            time.sleep(0.01)
        assert [parent for _, parent in found] == [child.pid, None]
    finally:
        for number, _ in found:
            os.kill(number, 15)
        child.wait()


# Texts that are none.

LINES = st.binary(max_size=300) | st.builds(
    lambda words: b" ".join(words),
    st.lists(
        st.sampled_from(
            [
                *(b"cpu0", b"\nintr", b"\nctxt", b"8", b"0", b"sda", b"eth0:", b"Tcp:", b"\n"),
                *(b"device", b"mounted on", b"/a with fstype nfs4", b"per-op statistics", b"READ:"),
                *(b"bytes:", b"read_bytes", b"samples", b"[bytes]", b"some", b"total=5", b"-7"),
                *(b"99999999999999999999999", b"1", b"2.5", b"RetransSegs", b"rbytes=x", b"\t"),
                *(b"MemTotal:", b"\npgpgin", b"(a)", b"R", b"\nSigIgn:", b"\xff", b"1_0"),
            ]
        ),
        max_size=40,
    ),
)
PARSERS: dict[Any, Callable[[bytes, Counter[str]], Any]] = {
    processors: processors.parse,
    pressure: lambda text, left_out: {"io": pressure.parse(text, left_out)},
    memory: lambda text, left_out: memory.parse(text, text, left_out),
    disks: of_disks,
    interfaces: lambda text, left_out: interfaces.parse(b"\n\n" + text, left_out),
    tcp: tcp.parse,
    nfs: nfs.parse,
    lustre: lambda text, left_out: {"a": lustre.parse(text, left_out)},
    cgroup: lambda text, left_out: {
        "cpu": cgroup.parse_pairs(text, left_out),
        "io": cgroup.parse_transfers(text, left_out),
    },
}


@pytest.mark.parametrize("source", PARSERS, ids=lambda it: it.NAME)
@given(before=LINES, after=LINES)
def test_other_texts_are_left_out(source: Any, before: bytes, after: bytes) -> None:
    import msgspec

    left_out: Counter[str] = Counter()
    raws = [PARSERS[source](it, left_out) for it in (before, after)]
    if None not in raws:
        again = msgspec.json.decode(msgspec.json.encode(raws))
        assert all(
            it is None or isinstance(it, float | int)
            for it in source.rates(*again, SECONDS).values()
        )
    assert set(left_out) <= {source.NAME}


@given(text=LINES)
def test_files_of_a_process_that_are_damaged_are_none(text: bytes) -> None:
    assert parse_stat(text) is None
    parse_io(text)
    parse_switches(text)
    ignores_children(text)


def test_files_of_a_process() -> None:
    fields = " ".join(map(str, range(4, 53)))
    stat = parse_stat(f"7 (a) b (c) S {fields}".encode())
    assert stat is not None
    assert (stat.name, stat.state, stat.parent) == ("a) b (c", "S", 4)
    assert (stat.times, stat.children) == ([14, 15, 10, 12], [16, 17, 11, 13])
    assert (stat.threads, stat.started, stat.resident, stat.io_wait) == (20, 22, 24, 42)
    assert ignores_children(b"Name:\ta\nSigIgn:\t0000000000010004\n")
    assert not ignores_children(b"Name:\ta\nSigIgn:\t0000000000000004\n")
    switches = b"Name:\ta\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t6\n"
    assert parse_switches(switches) == [5, 6]

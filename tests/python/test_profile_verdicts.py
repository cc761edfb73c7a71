"""Verdicts: frames whose limit is known by construction, and published profiles."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from headrace.profile.document import VERDICTS, Phase
from headrace.profile.figures import FIGURES, PhaseSamples
from headrace.profile.recording import rates
from headrace.profile.rules import load_rules
from headrace.profile.verdict import NO_BASELINE, UNDETECTED, judge, overall
from profile_frames import Figure, Figures, baseline, frame

REPOSITORY = Path(__file__).parents[2]
RECORDINGS = Path(__file__).parents[1] / "data/profiles"
MB = 1e6
ATLANTIS = baseline(
    character_write=33 * MB,
    block_write=171 * MB,
    rewrite=72 * MB,
    character_read=39 * MB,
    block_read=183 * MB,
)
"""Hindman 2011, table 5.2."""
SLOW = baseline(
    character_write=200 * MB,
    character_read=220 * MB,
    block_write=40 * MB,
    block_read=40 * MB,
    rewrite=20 * MB,
    random_read=4000.0,
    sync_write=900.0,
    create=20e3,
    stat=300e3,
    remove=20e3,
    network_send=12 * MB,
)


def _copy(rate: float, busiest: float, waits: float, **more: float) -> dict[str, float]:
    """Columns of a program that reads and writes sda at the same rate."""
    return {
        "tree.user": 0.1 * busiest,
        "tree.system": 0.9 * busiest,
        "tree.busiest_thread": busiest,
        "tree.io_wait": waits,
        "tree.running": 1.0 if busiest > waits else 0.0,
        "tree.disk_wait": 0.0 if busiest > waits else 1.0,
        "tree.read_call_bytes_per_s": rate,
        "tree.write_call_bytes_per_s": rate,
        "tree.read_bytes_per_s": rate,
        "tree.write_bytes_per_s": rate,
        "disk.sda.read_bytes_per_s": rate,
        "disk.sda.write_bytes_per_s": rate,
        "disk.sda.reads_per_s": rate / 131072,
        "disk.sda.writes_per_s": rate / 131072,
    } | {name.replace("__", "."): value for name, value in more.items()}


def _two_arrays(rate: float, busiest: float, waits: float) -> dict[str, float]:
    """The same with one array read and another one written."""
    both = _copy(rate, busiest, waits)
    return both | {
        "disk.sda.write_bytes_per_s": 0.0,
        "disk.sda.writes_per_s": 0.0,
        "disk.sdb.write_bytes_per_s": rate,
        "disk.sdb.writes_per_s": rate / 131072,
    }


@pytest.mark.parametrize(
    ("version", "level", "verdict"),
    [
        # Fig. 5.8, 5.10: 99.1 % of a core, 16 MB/s each way.
        ("1", _copy(16 * MB, 0.991, 0.009), "cpu"),
        # Fig. 5.11: just over 50 % of a core, 70 MB/s each way.
        ("2", _copy(70 * MB, 0.52, 0.48), "rewrite"),
        # Fig. 5.12, 5.13: 89.4 % of a core, 115 MB/s from one array to another.
        ("2 on two arrays", _two_arrays(115 * MB, 0.894, 0.09), "cpu"),
        # Fig. 5.14: 135 MB/s with two threads. Their load is not given: any below 95 %.
        ("3", _two_arrays(135 * MB, 0.6, 0.3), "disk-write"),
    ],
)
def test_limits_of_table_5_5(version: str, level: dict[str, float], verdict: str) -> None:
    """Hindman 2011, table 5.5."""
    [phase] = judge(frame((60, level), noise=0.02), ATLANTIS)
    assert phase.verdict == verdict, phase


def test_reading_with_dd_is_limited_by_reads() -> None:
    """Hindman 2011, figures 5.4 and 5.5: 43.5 % of a core, 175 to 190 MB/s."""
    level = _copy(183 * MB, 0.435, 0.542) | {
        "disk.sda.write_bytes_per_s": 0.0,
        "disk.sda.writes_per_s": 0.0,
        "tree.write_bytes_per_s": 0.0,
    }
    assert judge(frame((30, level)), ATLANTIS)[0].verdict == "disk-read"


def test_writing_with_dd_is_limited_by_writes_although_it_uses_a_core() -> None:
    """Hindman 2011, figures 5.6 and 5.7: 91.1 % of a core at the rate of the baseline."""
    level = _copy(171 * MB, 0.911, 0.08) | {
        "disk.sda.read_bytes_per_s": 0.0,
        "disk.sda.reads_per_s": 0.0,
        "tree.read_bytes_per_s": 0.0,
    }
    assert judge(frame((30, level)), ATLANTIS)[0].verdict == "disk-write"


SPIN = {
    "tree.user": 1.0,
    "tree.busiest_thread": 1.0,
    "tree.running": 1.0,
    "cpu.0.user": 1.0,
}
SMALL_READS = {
    "tree.busiest_thread": 0.2,
    "tree.system": 0.2,
    "tree.disk_wait": 1.0,
    "tree.read_bytes_per_s": 20 * MB,
    "disk.sda.read_bytes_per_s": 20 * MB,
    "disk.sda.reads_per_s": 5000.0,
    "disk.sda.queue": 0.8,
    "disk.sda.utilisation": 0.9,
}
SYNCS = {
    "tree.system": 0.1,
    "tree.busiest_thread": 0.1,
    "tree.disk_wait": 1.0,
    "tree.write_call_bytes_per_s": 3.5 * MB,
    "tree.write_bytes_per_s": 3.5 * MB,
    "disk.sda.write_bytes_per_s": 9 * MB,
    "disk.sda.writes_per_s": 1800.0,
    "disk.sda.queue": 0.9,
}
SEND = {
    "tree.system": 0.05,
    "tree.busiest_thread": 0.05,
    "net.eth0.send_bytes_per_s": 11.8 * MB,
    "net.eth0.send_packets_per_s": 8000.0,
    "net.eth0.receive_bytes_per_s": 0.2 * MB,
    "net.eth0.receive_packets_per_s": 3000.0,
}
PING = {
    "tree.system": 0.2,
    "tree.busiest_thread": 0.2,
    "tree.voluntary_switches_per_s": 4000.0,
    "net.eth0.send_bytes_per_s": 0.4 * MB,
    "net.eth0.send_packets_per_s": 4000.0,
    "net.eth0.receive_bytes_per_s": 0.4 * MB,
    "net.eth0.receive_packets_per_s": 4000.0,
}
STORM = {
    "tree.user": 0.1,
    "tree.system": 0.88,
    "tree.busiest_thread": 0.98,
    "tree.running": 1.0,
    "disk.sda.writes_per_s": [200.0, 0.0, 0.0, 0.0, 0.0] * 4,
    "disk.sda.write_bytes_per_s": [2 * MB, 0.0, 0.0, 0.0, 0.0] * 4,
}
SWAP = {
    "tree.system": 0.2,
    "tree.busiest_thread": 0.3,
    "tree.disk_wait": 1.0,
    "tree.major_faults_per_s": 2000.0,
    "paging.swap_in_bytes_per_s": 8 * MB,
    "paging.swap_out_bytes_per_s": 8 * MB,
    "disk.sda.read_bytes_per_s": 8 * MB,
    "disk.sda.reads_per_s": 2000.0,
}
PRESSED = SWAP | {
    "paging.swap_in_bytes_per_s": 0.0,
    "paging.swap_out_bytes_per_s": 0.0,
    "pressure.memory": 0.6,
}


MACHINE = {"cpu.user": 0.3, "cpu.idle": 0.7, "cpu.iowait": 0.0, "pressure.memory": 0.0}
"""A machine with time to spare."""


@pytest.mark.parametrize(
    ("level", "verdict", "text"),
    [
        (MACHINE, None, "no resource of the machine is at its limit"),
        (MACHINE | {"cpu.user": 0.98, "cpu.idle": 0.02}, "cpu", "all processors are busy"),
        (MACHINE | {"pressure.memory": 0.4}, "memory", "tasks wait for it"),
        (MACHINE | {"paging.swap_in_bytes_per_s": 4 * MB}, "memory", "the machine swaps"),
    ],
)
def test_a_whole_machine_has_its_limit(
    level: dict[str, float], verdict: str | None, text: str
) -> None:
    """It is watched without a program, whose figures are unknown."""
    rates = frame((20, level))
    [phase] = judge(rates.select(pl.exclude("^tree\\..*$")))
    assert phase.verdict == verdict and text in " ".join(phase.notes)


@pytest.mark.parametrize(
    ("level", "verdict", "rule"),
    [
        (SPIN, "cpu", "cpu-never-waits"),
        # Two other programs leave half of a core.
        (
            SPIN | {"tree.user": 0.5, "tree.busiest_thread": 0.5, "cpu.idle": 0.0},
            "cpu",
            "cpu-contended",
        ),
        # A pipeline whose parts compute in turn.
        (
            SPIN | {"tree.user": 0.9, "tree.busiest_thread": 0.5, "cpu.idle": 0.5},
            "cpu",
            "cpu-in-turn",
        ),
        # Short-lived processes, as of make -j.
        (
            {"tree.user": 1.8, "tree.busiest_thread": 0.3, "cpu.1.user": 0.9},
            "cpu",
            "cpu-all-cores",
        ),
        # Threads that wait for each other now and then.
        (
            {
                "tree.user": 0.85,
                "tree.sleeping": [1.0] * 4 + [0.0] * 16,
                "tree.running": [0.0] * 4 + [1.0] * 16,
            },
            "cpu",
            "cpu-in-turn",
        ),
        (SMALL_READS, "latency", "latency-random-read"),
        (SYNCS, "latency", "latency-sync-write"),
        (SEND, "network", "network-at-baseline"),
        (PING, "latency", "latency-network"),
        (STORM, "metadata", "metadata-system-time"),
        (SWAP, "memory", "memory-swap"),
        (PRESSED, "memory", "memory-pressure"),
        (
            SMALL_READS | {"paging.refault_bytes_per_s": 18 * MB, "pressure.memory": 0.01},
            "memory",
            "memory-refaults-of-a-group",
        ),
        # Another program re-reads evicted pages on a machine with free memory.
        (
            SMALL_READS | {"paging.refault_bytes_per_s": 18 * MB, "pressure.memory": 0.0},
            "latency",
            "latency-random-read",
        ),
        (
            SMALL_READS
            | {
                "limits.memory_share": 0.99,
                "limits.refault_pages_per_s": 4000.0,
                "limits.memory_limit_bytes": 64 * MB,
            },
            "memory",
            "memory-group",
        ),
        (
            SPIN
            | {
                "tree.user": 0.5,
                "tree.busiest_thread": 0.5,
                "limits.quota": 0.5,
                "limits.throttled_periods": 0.95,
            },
            "cpu-quota",
            "quota",
        ),
        # A loop of a shell over short programs.
        (
            {
                "tree.user": 0.5,
                "tree.busiest_thread": 0.05,
                "tree.short_lived": 0.45,
                "forks_per_s": 800.0,
                "tree.disk_wait": 1.0,
            },
            "process-creation",
            "process-creation",
        ),
        # The same on a machine whose cores are busy.
        (
            SMALL_READS
            | {
                "tree.busiest_thread": 0.05,
                "tree.running": [1.0, 1.0, 0.0] * 6 + [1.0, 1.0],
                "tree.disk_wait": [0.0, 0.0, 1.0] * 6 + [0.0, 0.0],
            },
            "latency",
            "latency-random-read",
        ),
        # Another program lacks memory.
        (SPIN | {"paging.refault_bytes_per_s": 18 * MB}, "cpu", "cpu-never-waits"),
        ({}, "waiting", "waiting"),
        # The disk still writes back after the program went to sleep.
        (
            {"disk.sda.write_bytes_per_s": 40 * MB, "disk.sda.writes_per_s": 80.0},
            "waiting",
            "waiting",
        ),
        # 32 reads at once at the disk's rate.
        (
            SMALL_READS | {"disk.sda.queue": 30.0, "tree.disk_wait": 32.0},
            "disk-read",
            "random-read-at-baseline",
        ),
        (
            SMALL_READS
            | {
                "disk.sda.reads_per_s": 1000.0,
                "disk.sda.queue": 5.0,
                "disk.sda.read_service_s": [0.002 * it for it in range(20)],
            },
            "disk-read",
            "read-queue-grows",
        ),
        (_copy(16 * MB, 0.2, 0.8), "rewrite", "rewrite-at-baseline"),
    ],
)
def test_the_rule_that_decides(
    level: dict[str, float | list[float]], verdict: str, rule: str
) -> None:
    [phase] = judge(frame((20, level)), SLOW)
    assert phase.verdict == verdict, phase
    assert {it.rule for it in phase.evidence} >= {rule}
    assert NO_BASELINE not in phase.notes


@pytest.mark.parametrize(
    ("level", "verdict"),
    [
        (SPIN, "cpu"),
        (SMALL_READS, "latency"),
        (SYNCS, "latency"),
        (SEND, "network"),
        (PING, "latency"),
        (STORM, "metadata"),
        (SWAP, "memory"),
        ({}, "waiting"),
        (_copy(16 * MB, 0.2, 0.8), "rewrite"),
    ],
)
def test_without_a_baseline_the_verdict_comes_from_shares_of_time(
    level: dict[str, float], verdict: str
) -> None:
    [phase] = judge(frame((20, level)))
    assert phase.verdict == verdict, phase
    assert NO_BASELINE in phase.notes
    assert all(it.baseline is None for it in phase.evidence)


def test_evidence_has_value_baseline_rule_and_source() -> None:
    [phase] = judge(frame((20, _copy(70 * MB, 0.5, 0.5))), ATLANTIS)
    rate = next(it for it in phase.evidence if it.baseline is not None)
    assert rate.figure == "disk sda throughput of the slower of reads and writes"
    assert (rate.value, rate.baseline, rate.unit) == (70 * MB, 72 * MB, "B/s")
    assert rate.rule == "rewrite-at-baseline"
    assert rate.source == "Hindman 2011, sections 5.1 and 5.4"


def test_two_phases_have_their_own_verdicts() -> None:
    write = {
        "tree.system": 0.1,
        "tree.busiest_thread": 0.1,
        "tree.disk_wait": 1.0,
        "tree.write_bytes_per_s": 40 * MB,
        "disk.sda.write_bytes_per_s": 40 * MB,
        "disk.sda.writes_per_s": 80.0,
    }
    found = judge(frame((20, SPIN), (30, write)), SLOW)
    assert [it.verdict for it in found] == ["cpu", "disk-write"]
    assert (found[0].from_s, found[-1].to_s) == (0.0, 50.0)
    assert overall(found) == "disk-write"


def test_the_verdict_of_a_run_has_the_longest_time_in_total() -> None:
    lengths = (("cpu", 4.0), ("disk-read", 5.0), ("cpu", 4.0))
    run = [Phase(from_s=0.0, to_s=length, verdict=word) for word, length in lengths]  # type: ignore[arg-type]
    assert overall(run) == "cpu"
    assert overall([]) is None
    assert judge(frame((0, {}))) == []


def test_each_disk_may_have_its_own_baseline() -> None:
    read = {
        "tree.disk_wait": 1.0,
        "tree.read_bytes_per_s": 90 * MB,
        "disk.sdb.read_bytes_per_s": 90 * MB,
        "disk.sdb.reads_per_s": 90.0,
    }
    own = {"sda": SLOW, "sdb": ATLANTIS}
    [phase] = judge(frame((20, read)), own)
    # 90 of 183 MB/s is not the baseline.
    assert {it.rule for it in phase.evidence} == {"read-waits"}
    assert judge(frame((20, read)), {"sda": SLOW})[0].notes[-1] == NO_BASELINE


RECORDED = {
    "spin": ["cpu"],
    "spin-all-cores": ["cpu"],
    "memory-stream": ["cpu"],
    "thrash": ["memory"],
    "sync-writes": ["latency"],
    "random-reads": ["latency"],
    "sequential-read": ["disk-read"],
    "sequential-write": ["disk-write"],
    "rewrite": ["rewrite"],
    "characters": ["cpu"],
    "network-send": ["network"],
    "sleeper": ["waiting"],
    "lock-waiter": ["waiting"],
    "pipe-waiter": ["waiting"],
    "metadata": ["metadata"],
    "spin-then-write": ["cpu", "disk-write"],
    "read-then-compute": ["disk-read", "cpu"],
}
"""Verdicts of the programs of benches/verdicts, which were recorded there. The limit of each is
known by construction."""


def _recorded(name: str, directory: Path, every: int = 1) -> pl.DataFrame:
    """Return the rates of a recording of benches/verdicts, of every n-th sample."""
    packed = (RECORDINGS / f"{name}.jsonl.gz").read_bytes()
    header, *samples = gzip.decompress(packed).splitlines(keepends=True)
    (directory / "recording.json").write_bytes(header)
    (directory / "samples.jsonl").write_bytes(b"".join(samples[::every]))
    return rates(directory)


@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("name", RECORDED)
def test_recorded_programs(name: str, every: int, tmp_path: Path) -> None:
    saved = json.loads((RECORDINGS / "baseline.json").read_text())
    measured = Figures({key: Figure(value) for key, value in saved["figures"].items()})
    found = judge(
        _recorded(name, tmp_path, every), measured, disks=[saved["disk"]], link_rates=saved["link"]
    )
    assert [it.verdict for it in found] == RECORDED[name], found
    assert all(it.evidence for it in found)


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_programs_without_a_baseline(name: str, tmp_path: Path) -> None:
    disk = json.loads((RECORDINGS / "baseline.json").read_text())["disk"]
    found = judge(_recorded(name, tmp_path), disks=[disk])
    assert [it.verdict for it in found] == RECORDED[name], found


def test_a_trace_shows_metadata_operations() -> None:
    seconds = range(20)
    trace = pl.DataFrame(
        {
            "time_ns": [int(it * 1e9) for it in seconds],
            "operation": ["create", "stat"] * 10,
            "duration_ns": [800_000_000] * 20,
        }
    )
    busy = SPIN | {"tree.user": 0.2, "tree.system": 0.8, "tree.busiest_thread": 0.9}
    [phase] = judge(frame((20, busy)), SLOW, trace=trace)
    assert phase.verdict == "metadata"
    [other] = judge(frame((20, busy)), SLOW, trace=trace.with_columns(operation=pl.lit("read")))
    assert other.verdict == "cpu"


def test_waiting_says_what_it_cannot_distinguish() -> None:
    assert UNDETECTED in judge(frame((20, {})), SLOW)[0].notes


@pytest.mark.parametrize(
    ("utilisation", "service", "source"),
    [
        (0.10, 0.040, "Wang 2002, section 4.3.2"),
        (0.30, 0.060, "Wang 2002, section 4.3.2"),
        (0.10, 0.060, "declared, for a case that Wang 2002, section 4.3.2, leaves open"),
        (0.30, 0.040, "declared, for a case that Wang 2002, section 4.3.2, leaves open"),
        (0.04, 0.060, None),
        (0.30, 0.020, None),
    ],
)
def test_warnings_of_wang_and_of_the_cases_between_them(
    utilisation: float, service: float, source: str | None
) -> None:
    level = SMALL_READS | {
        "disk.sda.utilisation": utilisation,
        "disk.sda.read_service_s": service,
    }
    [phase] = judge(frame((20, level)), SLOW)
    warnings = {it.source for it in phase.evidence if it.rule.startswith("disk-")}
    assert warnings == ({source} if source else set())


def test_a_program_that_no_sample_shows_does_not_sleep() -> None:
    row = {"from_s": 0.0, "to_s": 0.3, "tree.user": 0.1, "tree.system": 0.1, "tree.threads": 0.0}
    states = {f"tree.{it}": 0.0 for it in ("running", "disk_wait", "sleeping", "busiest_thread")}
    (phase,) = judge(pl.DataFrame([row | states]))
    assert not [it for it in phase.evidence if "sleeps" in it.figure]
    assert any("it is too short" in it for it in phase.notes)


def test_a_program_that_was_never_seen_has_no_verdict() -> None:
    row = {"from_s": 0.0, "to_s": 0.01, "tree.user": 0.0, "tree.system": 0.0, "tree.threads": 0.0}
    (phase,) = judge(pl.DataFrame([row | {"cpu.idle": 0.9}]))
    assert (phase.verdict, phase.balance, phase.confidence) == (None, None, None)
    assert any("it is too short" in note for note in phase.notes)


def test_the_sample_after_the_end_of_a_program_does_not_count() -> None:
    row = {"from_s": 0.0, "to_s": 1.0, "tree.threads": 1.0, "tree.running": 1.0}
    row |= {"tree.disk_wait": 0.0, "tree.sleeping": 0.0, "tree.user": 1.0, "tree.system": 0.0}
    ended = {"from_s": 1.0, "to_s": 1.2, "tree.threads": 0.0, "tree.running": 0.0}
    ended["tree.user"] = 0.0
    samples = PhaseSamples(pl.DataFrame([row, row | ended]))
    assert FIGURES["balance.sleep"].value(samples) == 0.0
    assert FIGURES["balance.computing"].value(samples) == pytest.approx(1.0)


def test_unknown_counters_never_stop_a_verdict() -> None:
    levels = frame((20, SPIN))
    for column in levels.columns[2:]:
        assert judge(levels.drop(column), SLOW)
        assert judge(levels.with_columns(pl.lit(None, pl.Float64).alias(column)), SLOW)
    [phase] = judge(levels.select("from_s", "to_s"), Figures({}))
    assert phase.evidence == []
    # No rule holds: the limit is unknown.
    assert phase.verdict is None and overall([phase]) is None


def test_a_user_changes_a_threshold(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text("[cpu-never-waits.when]\nbusy = { at_least = 1.5 }\n")
    [phase] = judge(frame((20, SPIN)), SLOW, load_rules(file))
    assert {it.rule for it in phase.evidence} == {"cpu-thread"}
    file.write_text("cpu-never-waits.enabled = false\ncpu-thread.verdict = 'memory'\n")
    assert judge(frame((20, SPIN)), SLOW, load_rules(file))[0].verdict == "memory"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[cpu-thred]\n", r":1:2: unknown rule 'cpu-thred': expected one of unsure-unknown, "),
        (
            "\n[cpu-thread]\nverdct = 'cpu'\n",
            r":3:1: cpu-thread\.verdct: unknown key: expected one of verdict, text, ",
        ),
        (
            "[cpu-thread.when]\nbuzy = { above = 1 }\n",
            r":2:1: cpu-thread\.when\.buzy: unknown condition: expected one of busy, wait",
        ),
        (
            "[cpu-thread.when]\nbusy = { abov = 1 }\n",
            r":2:10: cpu-thread\.when\.busy\.abov: unknown key: expected one of figure, above, ",
        ),
        (
            "cpu-thread.when.busy.above = 'much'\n",
            r":1:1: cpu-thread\.when\.busy\.above: expected a number",
        ),
        (
            "[cpu-thread.when.busy]\nfigure = 'program.busyest'\n",
            r":2:1: .*unknown figure 'program\.busyest': expected one of balance\.computing, ",
        ),
        ("[cpu-thread.when]\nbusy = { above = 1, below = 2 }\n", r":2:1: .*expected one of above"),
        ("cpu-thread.when.busy.of = 'baseline.'\n", r":1:1: .*unknown figure .*, baseline\.NAME$"),
        ("cpu-thread.verdict = 'slow'\n", r":1:1: .*expected one of cpu, cpu-quota, "),
        ("cpu-thread = 3\n", r":1:1: cpu-thread: expected a table"),
        ("cpu-thread.when = 3\n", r":1:1: .*expected a table of conditions"),
        ("cpu-thread.when.busy = 3\n", r":1:1: .*expected a condition such as"),
        ("cpu-thread.enabled = 3\n", r":1:1: .*expected true or false"),
        ("cpu-thread.source = 3\n", r":1:1: .*expected a text"),
        ("[cpu-thread\n", r":1:12: expected a file of rules in TOML: "),
    ],
)
def test_a_wrong_file_of_rules_gets_one_line_with_its_position(
    tmp_path: Path, text: str, message: str
) -> None:
    file = tmp_path / "my.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=re.escape(str(file)) + message) as caught:
        load_rules(file)
    assert "\n" not in str(caught.value)


def test_a_file_of_rules_that_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="it is not UTF-8"):
        load_rules(file)
    with pytest.raises(OSError, match="No such file"):
        load_rules(tmp_path / "absent")


def test_every_verdict_has_a_rule_and_every_rule_a_source() -> None:
    rules = load_rules()
    assert {it.verdict for it in rules} - {None} == set(VERDICTS)
    assert all(re.search(r"declared|Hindman 2011|Wang 2002|Linux", it.source) for it in rules)


def test_the_documentation_has_the_current_tables_of_rules_and_figures() -> None:
    checked = subprocess.run(
        [sys.executable, REPOSITORY / "tools/rule_tables.py", "--check"],
        capture_output=True,
        text=True,
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_a_copy_between_disks_is_limited_by_the_one_nearer_to_its_baseline() -> None:
    level = _two_arrays(150 * MB, 0.3, 0.5) | {"disk.sda.read_bytes_per_s": 152 * MB}
    # 83 % of 183 MB/s are read, and 88 % of 171 MB/s written.
    assert [it.verdict for it in judge(frame((60, level)), ATLANTIS)] == ["disk-write"]

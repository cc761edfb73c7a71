"""A synthetic profile: a program that reads characters from a disk and then writes blocks."""

from typing import Any

import numpy as np
import polars as pl

MB = 1e6
SECONDS = 180
CHANGE = 110
"""Second at which the second phase begins."""

BASELINE: dict[str, dict[str, Any]] = {
    "character-write": {"value": 33e6, "unit": "B/s", "cpu": 0.99},
    "character-read": {"value": 39e6, "unit": "B/s", "cpu": 0.97},
    "block-write": {"value": 171e6, "unit": "B/s", "cpu": 0.99},
    "rewrite": {"value": 72e6, "unit": "B/s", "cpu": 0.32},
    "block-read": {"value": 183e6, "unit": "B/s", "cpu": 0.27},
    "random-read": {"value": 420.0, "unit": "1/s", "cpu": 0.02},
    "random-write": {"value": 610.0, "unit": "1/s", "cpu": 0.03},
    "sync-write": {"value": 95.0, "unit": "1/s", "cpu": 0.01},
    "create": {"value": 11170.0, "unit": "1/s", "cpu": 0.6},
    "stat": {"value": 194149.0, "unit": "1/s", "cpu": 0.9},
    "remove": {"value": 2794.0, "unit": "1/s", "cpu": 0.3},
    "memory-copy": {"value": 6.1e9, "unit": "B/s", "cpu": 1.0},
}

WORKSHEET: dict[str, Any] = {
    "processors": {
        "model": "Intel(R) Xeon(TM) CPU 2.60GHz",
        "sockets": 2,
        "cores": 2,
        "threads": 4,
    },
    "memory_bytes": 2075608 * 1024,
    "arrays": [
        {
            "name": "md0",
            "state": "active",
            "level": "raid0",
            "chunk_bytes": 262144,
            "members": ["sda", "sdb", "sdc", "sdd"],
            "failed": [],
            "spare": [],
        }
    ],
    "disks": [
        {"name": "md0", "model": None, "bytes": 146_000_000_000, "rotational": True}
        | {"made_of": ["sda", "sdb", "sdc", "sdd"]},
        *(
            {"name": name, "model": "ST336753LW", "bytes": 36_700_000_000, "rotational": True}
            | {"made_of": []}
            for name in ("sda", "sdb", "sdc", "sdd")
        ),
        {
            "name": "sde",
            "model": "ST3500630NS",
            "bytes": 500_000_000_000,
            "rotational": True,
            "made_of": [],
        },
    ],
    "interfaces": [
        {"name": "eth0", "bits_per_s": 1e9, "duplex": "full", "driver": "e1000"}
        | {"mtu": 1500, "state": "up"},
        {"name": "eth1", "bits_per_s": None, "duplex": None, "driver": "e1000"}
        | {"mtu": 1500, "state": "down"},
    ],
    "storage": {
        "directory": "/mnt/data_disk1",
        "mount_point": "/mnt/data_disk1",
        "mount_source": "/dev/md0",
        "file_system": "ext3",
        "mount_options": "rw,relatime,data=ordered",
        "device": "md0",
        "devices": ["md0", "sda", "sdb", "sdc", "sdd"],
    },
}


def rates(seconds: int = SECONDS, seed: int = 1) -> pl.DataFrame:
    """Intervals of one second: four cores, the array md0 of four disks, an interface."""
    random = np.random.default_rng(seed)
    at = np.arange(seconds, dtype=float)
    first = at < CHANGE

    def noisy(level: Any, spread: float = 0.08) -> Any:
        return np.clip(level * random.normal(1.0, spread, seconds), 0.0, None)

    read = noisy(np.where(first, 16e6, 0.4e6))
    burst = np.where(at % 7 < 5, 1.3, 0.25)
    write = np.where(first, noisy(16e6, 0.5), noisy(150e6, 0.1) * burst)
    owner = (at // 40 % 4).astype(int)
    columns: dict[str, Any] = {"from_s": at, "to_s": at + 1}
    totals: dict[str, Any] = {}
    for core in range(4):
        here = owner == core
        user = np.clip(noisy(np.where(here & first, 0.86, 0.01), 0.03), 0, 0.97)
        system = np.where(here, np.where(first, 0.11, 0.55), np.where(first, 0.02, 0.12))
        wait = np.where(here & ~first, 0.38, np.where(~first, 0.3, 0.03))
        states = {"user": user, "system": noisy(system, 0.05), "iowait": noisy(wait, 0.1)}
        states |= {"nice": at * 0, "irq": at * 0 + 0.002, "softirq": noisy(0.01 + at * 0)}
        states["steal"] = at * 0
        states["idle"] = np.clip(1 - sum(states.values()), 0, 1)
        for state, values in states.items():
            columns[f"cpu.{core}.{state}"] = values
            totals[state] = totals.get(state, 0) + values / 4
    columns |= {f"cpu.{state}": values for state, values in totals.items()}
    columns["cpu.kernel_threads"] = noisy(np.where(first, 0.04, 0.55))
    columns |= {
        "load.running": np.where(first, 1.0, 3.0),
        "context_switches_per_s": noisy(2000 + at * 0),
        "interrupts_per_s": noisy(3000 + at * 0),
        "memory.total_bytes": at * 0 + 2075608 * 1024.0,
        "memory.used_bytes": noisy(180e6 + at * 0, 0.01),
        "memory.available_bytes": noisy(1.75e9 + at * 0, 0.01),
        "memory.buffers_bytes": at * 0 + 3e6,
        "memory.cached_bytes": np.minimum(1.9e9, 2e8 + 4e7 * at),
        "memory.dirty_bytes": np.where(first, noisy(3e7 + at * 0), 2.6e8 * burst),
        "memory.write_back_bytes": np.where(first, 0.0, noisy(4e7 + at * 0)),
        "memory.swap_used_bytes": at * 0 + 68e3,
        "paging.major_faults_per_s": at * 0,
        "pressure.cpu": noisy(0.05 + at * 0),
        "pressure.memory": at * 0,
        "pressure.io": noisy(np.where(first, 0.04, 0.7)),
        "disk.md0.read_bytes_per_s": read,
        "disk.md0.write_bytes_per_s": write,
        "disk.md0.reads_per_s": read / 131072,
        "disk.md0.writes_per_s": write / 262144,
        "disk.md0.flushes_per_s": at * 0 + 0.2,
        "disk.md0.queue": noisy(np.where(first, 1.2, 11.0)),
        "disk.md0.read_service_s": noisy(np.where(first, 3e-3, 9e-3)),
        "disk.md0.write_service_s": noisy(np.where(first, 6e-3, 28e-3)),
        "disk.md0.utilisation": np.clip(noisy(np.where(first, 0.2, 0.97)), 0, 1),
        "disk.sda.read_bytes_per_s": read / 4,
        "disk.sda.write_bytes_per_s": write / 4,
        "disk.sde.read_bytes_per_s": at * 0,
        "disk.sde.write_bytes_per_s": noisy(2e4 + at * 0),
        "net.eth0.receive_bytes_per_s": noisy(4e4 + at * 0, 0.4),
        "net.eth0.send_bytes_per_s": noisy(9e4 + at * 0, 0.4),
        "net.eth0.errors_per_s": at * 0,
        "net.eth0.drops_per_s": at * 0,
        "net.eth0.collisions_per_s": at * 0,
        "tcp.retransmits_per_s": at * 0,
        "tree.user": noisy(np.where(first, 0.86, 0.02), 0.03),
        "tree.system": noisy(np.where(first, 0.12, 0.5), 0.05),
        "tree.io_wait": noisy(np.where(first, 0.01, 0.42)),
        "tree.busiest_thread": np.clip(noisy(np.where(first, 0.98, 0.52), 0.01), 0, 1),
        "tree.running": np.where(first, 1.0, at % 2),
        "tree.disk_wait": np.where(first, 0.0, 1 - at % 2),
        "tree.sleeping": at * 0,
        "tree.threads": at * 0 + 1,
        "tree.processes": at * 0 + 1,
        "tree.resident_bytes": noisy(1.4e6 + at * 0, 0.01),
        "tree.major_faults_per_s": at * 0,
        "tree.minor_faults_per_s": at * 0,
        "tree.read_calls_per_s": read / np.where(first, 4096, 1 << 20),
        "tree.write_calls_per_s": write / np.where(first, 4096, 1 << 20),
        "tree.read_call_bytes_per_s": read,
        "tree.write_call_bytes_per_s": write,
        "tree.read_bytes_per_s": read,
        "tree.write_bytes_per_s": write,
    }
    return pl.DataFrame(columns).with_columns(pl.all().cast(pl.Float64))


def processes(seconds: int = SECONDS) -> pl.DataFrame:
    """The program and the kernel's threads, in each interval."""
    rows = [
        {"from_s": float(at), "to_s": at + 1.0, "pid": pid, "name": name}
        | {"user": user if at < CHANGE else 0.02, "system": system}
        | {"resident_bytes": resident, "read_bytes_per_s": 16e6, "write_bytes_per_s": 16e6}
        for at in range(seconds)
        for pid, name, user, system, resident in (
            (23861, "seqprocessor-1", 0.86, 0.12, 1.4e6),
            (173, "kswapd0", 0.0, 0.017, 0.0),
            (1465, "kjournald", 0.0, 0.013, 0.0),
            (19312, "pdflush", 0.0, 0.25 if at >= CHANGE else 0.007, 0.0),
        )
    ]
    return pl.DataFrame(rows)


def times(count: int, total_s: float) -> dict[str, Any]:
    """A distribution of times around their mean."""
    mean = total_s / count
    quantiles = {"p1_s": mean / 4, "p50_s": mean / 2, "p90_s": 2 * mean, "p99_s": 4 * mean}
    return {"count": count, "total_s": total_s, "mean_s": mean, "max_s": 9 * mean} | quantiles


def profile() -> dict[str, Any]:
    """The document, as decoded from profile.json."""
    source = "Hindman 2011, section 5.4"
    return {
        "version": "0.1.0",
        "name": "seqprocessor-1",
        "command": ["./seqprocessor-1", "/mnt/data_disk1/est_human", "/mnt/data_disk1/processed"],
        "started": "2026-02-23T11:23:40Z",
        "duration_s": float(SECONDS),
        "exit_status": 0,
        "interval_s": 1.0,
        "hosts": ["atlantis01"],
        "verdict": "cpu",
        "phases": [
            {
                "from_s": 0.0,
                "to_s": float(CHANGE),
                "verdict": "cpu",
                "evidence": [
                    {
                        "figure": "busiest thread",
                        "value": 0.98,
                        "unit": "",
                        "baseline": None,
                        "rule": "single-thread-cpu",
                        "source": source,
                    },
                    {
                        "figure": "disk md0 read throughput",
                        "value": 16.1e6,
                        "unit": "B/s",
                        "baseline": 39e6,
                        "rule": "character-throughput",
                        "source": source,
                    },
                ],
                "advice": [
                    {
                        "change": "larger-requests",
                        "predicted_gain": 3.1,
                        "error": -0.037,
                        "description": "Read and write 1 MiB at a time instead of single"
                        " characters.",
                        "source": "Hindman 2011, section 5.6",
                        "kind": "software",
                        "scenario": 'name = "larger requests"\n\n[[workload]]\nsize = "1 MiB"\n',
                    },
                    {
                        "change": "separate-disks",
                        "predicted_gain": 0.08,
                        "description": "Write to a disk of its own.",
                        "source": source,
                        "kind": "hardware",
                        "scenario": None,
                    },
                ],
                "notes": [],
            },
            {
                "from_s": float(CHANGE),
                "to_s": float(SECONDS),
                "verdict": "disk-write",
                "evidence": [
                    {
                        "figure": "disk md0 write throughput",
                        "value": 148e6,
                        "unit": "B/s",
                        "baseline": 171e6,
                        "rule": "block-write",
                        "source": source,
                    }
                ],
                "advice": [
                    {
                        "change": "faster-device",
                        "predicted_gain": 0.9,
                        "description": "Use a disk that writes 400 MB/s.",
                        "source": source,
                        "kind": "hardware",
                        "scenario": None,
                    }
                ],
                "notes": ["The baseline is 40 days old."],
            },
        ],
        "samples": "samples.jsonl",
        "trace": "trace.strace",
        "capture": {"method": "strace", "left_out": ["memory-mapped files"]},
        "characteristics": {
            "records": 81016,
            "processes": 1,
            "files": 3,
            "moving_processes": 1,
            "span_s": 179.2,
            "operations": [
                {"operation": "read", "count": 40013, "share": 0.49, "bytes": 1_760_000_000}
                | {"time_s": 12.2, "failed": 0, "latency": times(40013, 12.2)},
                {"operation": "write", "count": 41000, "share": 0.5, "bytes": 11_900_000_000}
                | {"time_s": 61.0, "failed": 2, "latency": times(41000, 61.0)},
                {"operation": "sync", "count": 1, "share": 0.0, "bytes": 0}
                | {"time_s": 0.4, "failed": 0, "latency": times(1, 0.4)},
                {"operation": "stat", "count": 1, "share": 0.0, "bytes": 0}
                | {"time_s": 0.06, "failed": 1, "latency": times(1, 0.06)},
                {"operation": "open", "count": 1, "share": 0.0, "bytes": 0}
                | {"time_s": 0.04, "failed": 0, "latency": times(1, 0.04)},
            ],
            "bytes_read": 1_760_000_000,
            "bytes_written": 11_900_000_000,
            "read_share_of_bytes": 0.129,
            "read_share_of_requests": 0.494,
            "request_sizes": [
                {"from_bytes": 2048, "to_bytes": 4095, "reads": 10, "writes": 12},
                {"from_bytes": 4096, "to_bytes": 8191, "reads": 40000, "writes": 30978},
                {"from_bytes": 1048576, "to_bytes": 2097151, "reads": 3, "writes": 10010},
            ],
            "common_sizes": [{"operation": "read", "bytes": 4096, "count": 40000}],
            "access": {"first": 3, "consecutive": 79000, "forward": 900, "backward": 0}
            | {"strided": 120, "jump": 1000},
            "access_patterns": {"sequential": 80_000, "random": 1013},
            "file_lengths": [{"to_bytes": 1 << 34, "files": 2, "mean_bytes": 6.8e9}],
            "heat": {"files": 2, "top_tenth_bytes": 0.87, "top_tenth_requests": 0.5}
            | {"gini_bytes": 0.37},
            "busiest_files": [
                {"file": "/mnt/data_disk1/processed", "bytes_read": 0, "time_s": 61.4}
                | {"bytes_written": 11_900_000_000, "reads": 0, "writes": 41000}
                | {"operations": 41001, "share_of_bytes": 0.87, "share_of_operations": 0.51}
                | {"length": 11_900_000_000, "pattern": "sequential", "steps": {}},
                {"file": "/mnt/data_disk1/est_human", "bytes_read": 1_760_000_000, "time_s": 12.2}
                | {"bytes_written": 0, "reads": 40013, "writes": 0}
                | {"operations": 40013, "share_of_bytes": 0.13, "share_of_operations": 0.49}
                | {"length": 1_760_000_000, "pattern": "sequential", "steps": {}},
            ],
            "bursts": {"gap_s": 0.1, "count": 3, "bytes_mean": 4.5e9, "requests_mean": 27000.0}
            | {"lengths": times(3, 100.0)},
            "think_times": times(81000, 97.0),
            "concurrency": {"busy_s": 73.7, "call_s": 73.7, "share_of_span": 0.41, "mean": 1.0}
            | {"max": 1, "alive": 1.0},
            "syncs": {"count": 1, "data_only": 0, "time_s": 0.4}
            | {"bytes_written_per_sync": 11.9e9},
            "direct_opens": 0,
            "synchronous_opens": 0,
            "mapped": 12,
            "skipped": [{"name": "mmap", "reason": "left_out", "count": 12, "examples": []}],
        },
        "workload": {
            "kind": "pipeline",
            "toml": '[clients]\ncount = 1\nprocesses = 1\n\n[[workload]]\nkind = "pipeline"\n',
            "workload": '[[workload]]\nkind = "pipeline"\n',
            "processes": 1,
            "goodness": {
                "operation_distance": 0.004,
                "read_size_distance": 0.0,
                "write_size_distance": 0.0,
                "sequential_share": 0.99,
                "recorded_sequential_share": 0.97,
                "requests_ratio": 1.0,
                "bytes_read_ratio": 1.0,
                "bytes_written_ratio": 1.02,
                "score": 0.011,
            },
            "not_reproduced": ["pauses between calls"],
            "others": {"ior": 0.2},
        },
        "baseline": {"id": "b1234567", "started": "2026-01-14T08:00:00Z", "outdated": []},
        "prediction": {
            "machine": "baseline",
            "tracer_s_per_call": 30e-6,
            "recorded_s": 178.0,
            "simulated_s": 171.4,
            "error": -0.037,
            "phases": [
                {"from_s": 0.0, "to_s": float(CHANGE), "recorded_s": 110.0}
                | {"without_tracer_s": 108.0, "simulated_s": 104.0, "error": -0.037}
                | {"bottleneck": "processor", "gaps": "compute", "cached": False},
                {"from_s": float(CHANGE), "to_s": float(SECONDS), "recorded_s": 70.0}
                | {"without_tracer_s": 70.0, "simulated_s": 67.4, "error": -0.037}
                | {"bottleneck": "device", "gaps": "wait", "cached": False},
            ],
        },
        "activity": {
            "kind": "calls",
            "column_s": 20.0,
            "processes": ["seqprocessor 4711", "4712"],
            "shares": [[0.9] * 9, [0.0] * 5 + [0.25] * 4, [0.01] * 9],
            "merged": 7,
            "calls_s": 184.6,
            "processor_s": 97.0,
        },
        "environment": {
            "host": "atlantis01",
            "kernel": "Linux 6.18",
            "processor": "Intel(R) Xeon(TM) CPU 2.60GHz",
            "processors": 4,
            "memory_bytes": 2075608 * 1024,
            "worksheet": WORKSHEET,
        },
        "notes": [],
    }

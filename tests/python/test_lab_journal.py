"""What goes into a journal of all data and out of it, as the kernel itself counts it."""

import json
import os
import sys
from pathlib import Path

import pytest

import headrace as hr
from headrace import kernel_trace
from headrace.calibrate.memory import kernel
from headrace.lab import down, find
from lab import as_before, done, skip_unless_possible

OPERATIONS = 4000
LAB = f"""
system = "ext3"
[machine.memory]
size = "256 MiB"
[machine.device]
kind = "throttled"
rate = "1 GB/s"
write_operations = {OPERATIONS}
[machine.write_back]
background_bytes = "100 MB"
bytes = "200 MB"
[machine.file_system.journal]
mode = "journal"
size = "16 MiB"
checkpoint_at = 0.3333
[lab]
image = "1 GiB"
mount_options = "noatime"
"""
WORK = """
[[workload]]
block = "16 MiB"
transfer = "128 KiB"
phases = ["write"]
io = { existing = true, cached = true }
"""
COUNTED = """
import json, sys
import polars as pl
from headrace import kernel_trace
from headrace.calibrate.case import Case
work, below = sys.argv[1:]
with kernel_trace.trace_session(below) as session:
    case = Case("rewrites", "device", work)
    result, events = session.record(lambda: case.measure(below))
first = kernel_trace.timed(events, result.document["measured_seconds"])["entered_ns"].min()
blocks = events.of("block_bio_queue").filter(
    (pl.col("time_ns") >= first) & pl.col("rwbs").cast(pl.String).str.contains("W.*M")
)
print(json.dumps({"blocks": blocks.height, "bytes": 512 * int(blocks["nr_sector"].sum())}))
"""


def test_the_kernel_writes_the_blocks_that_the_model_counts(tmp_path: Path) -> None:
    skip_unless_possible("mkfs.ext3")
    if kernel() < (6, 18):
        pytest.skip("a transaction has a third of the journal since Linux 6.18 or shortly before")
    try:
        kernel_trace.check("/")
    except (kernel_trace.KernelTraceError, OSError) as error:
        pytest.skip(f"the kernel cannot be traced here: {error}")
    file = tmp_path / f"journal-{os.getpid()}.toml"
    file.write_text(LAB + WORK)
    with as_before():
        try:
            done("up", file)
            mount = json.loads(done("status", file, "--json"))["mount_point"]
            work = WORK.replace("[[workload]]", "").strip()
            inside = (file, "client-0", "--", sys.executable, "-c", COUNTED, work, mount)
            counted = json.loads(done("exec", *inside))
            done("down", file)
        finally:
            if (left := find(file.stem)) is not None:
                down(left)
    # Of 4,096 blocks a transaction can have 1,365: 4 for descriptors and its record, 20 in reserve,
    # so 1,341, with 3 descriptors and a record 1,345. Three of them leave no room, and the first
    # one goes to its place, but for the inode; then superblocks.
    blocks = 3 * 1345 + 1340
    assert counted["bytes"] == counted["blocks"] * 4096
    assert blocks <= counted["blocks"] <= blocks + 8
    # A flush waits for these operations, by whole slices of 100 ms.
    longest = hr.run(hr.load(file)).document["latency"]["write"]["max"]
    assert longest == pytest.approx(blocks / OPERATIONS, abs=0.1)

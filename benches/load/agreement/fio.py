"""fio: one job of system calls."""

from __future__ import annotations

import json
import shlex
import tempfile
from pathlib import Path

from ground import KIB, LARGE_DIRECT, SIZE, Case, Figures, Ground, output, rate

READS = 16_000
"""Number of random reads."""
FORGET = "iflag=nocache count=0"
"""Makes dd evict a whole file from the page cache (GNU coreutils, dd invocation)."""


def job(file: Path, block: int, kind: str, *more: str) -> float:
    """Return bytes per second of a job."""
    with tempfile.TemporaryDirectory() as folder:
        said = output(
            "fio",
            "--name=agreement",
            f"--filename={file}",
            f"--size={SIZE}",
            f"--bs={block}",
            f"--rw={kind}",
            "--ioengine=psync",
            "--thread",
            # Dropping what memory has of a file would count: `cold` does it before.
            "--invalidate=0",
            # As Headrace's buffer: copies from and to whole pages are faster.
            "--iomem_align=4096",
            # Headrace gives no advice about the order of what it reads.
            "--fadvise_hint=0",
            "--fallocate=none",
            # Headrace writes the same bytes with each call.
            "--scramble_buffers=0",
            "--output-format=json",
            *more,
            # What a command before the job prints is put into a file there.
            folder=Path(folder),
        )
    found = json.loads(said[said.index("{") : said.rindex("}") + 1])["jobs"][0]
    part = found["read" if "read" in kind else "write"]
    return float(part["io_bytes"]) / (float(part["runtime"]) / 1e3)


def cold(file: Path, block: int, kind: str, *more: str) -> float:
    """Return bytes per second of a job on a file that was just evicted. As with Headrace, it is
    evicted right before the first call, not some tenths of a second earlier at the start of fio."""
    return job(file, block, kind, f"--exec_prerun=dd if={shlex.quote(str(file))} {FORGET}", *more)


def _new(block: int) -> Case:
    def theirs(ground: Ground) -> Figures:
        with ground.folder() as folder:
            return {"write": job(folder / "file", block, "write", "--end_fsync=1")}

    workload = f'block = "{SIZE} B"\ntransfer = "{block} B"\nphases = ["write", "sync"]\n'
    return Case(
        "fio",
        f"a new file, {block // KIB} KiB, fsync",
        {"write": "MB/s"},
        lambda ground: {"write": rate(ground.on_own_files(workload), "write")},
        theirs,
    )


def _common(name: str, block: int, kind: str, workload: str, *more: str) -> Case:
    operation = "read" if "read" in kind else "write"

    def theirs(ground: Ground) -> Figures:
        return {operation: cold(ground.common, block, kind, *more)}

    workload = f'transfer = "{block} B"\n{workload}'
    return Case(
        "fio",
        name,
        {operation: "MB/s"},
        lambda ground: {operation: rate(ground.on_common(workload), operation)},
        theirs,
        cold=kind == "read" and "--direct=1" not in more,
    )


CASES = [
    _new(64 * KIB),
    _common(
        "the common file over, 64 KiB, fsync",
        64 * KIB,
        "write",
        'phases = ["write", "sync"]\n',
        "--overwrite=1",
        "--end_fsync=1",
    ),
    _common("in order, 64 KiB, cold", 64 * KIB, "read", 'phases = ["read"]\n'),
    _common(
        "at random, 4 KiB, direct",
        4 * KIB,
        "randread",
        f'phases = ["read"]\norder = "random"\nrequests = {READS}\nio.direct = true\n',
        "--direct=1",
        f"--io_size={READS * 4 * KIB}",
    ),
    _common(
        "in order, 64 KiB, direct",
        LARGE_DIRECT,
        "read",
        'phases = ["read"]\nio.direct = true\n',
        "--direct=1",
    ),
]

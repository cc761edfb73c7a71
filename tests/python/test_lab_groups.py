"""A testbed with control groups of the second version alone: in a Linux kernel of its own in
user mode (Debian's package user-mode-linux), which cannot change this machine's files."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCENARIO = """
system = "ext4"
[machine.memory]
size = "32 MiB"
[machine.device]
kind = "throttled"
rate = "1 GB/s"
read_rate = "16 MB/s"
write_rate = "8 MB/s"
[machine.file_system.journal]
size = "8 MiB"
[lab]
image = "256 MiB"
[[workload]]
block = "1 MiB"
"""
FINIT_MODULE = 313
"""The system call's number on x86-64 (finit_module(2)): Debian's insmod is in a package of its
own."""
IN_HOST = """
time_of() { local from=$(date +%s%N); "$@" 2> /dev/null; echo $(($(date +%s%N) - from)); }
cd "$1"
time_of dd if=/dev/zero of=direct bs=256k count=16 oflag=direct
time_of dd if=direct of=/dev/null bs=256k iflag=direct
time_of dd if=/dev/zero of=buffered bs=1M count=48 conv=fsync
fincore --bytes --noheadings -o RES buffered
"""
JOB = """
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$pythonpath
"$python" -c "import ctypes, os; module = os.open('$module', os.O_RDONLY)
ctypes.CDLL(None).syscall($finit_module, module, b'', 0)"
lab() { local word=$1; shift; "$python" -m headrace lab "$word" folder/lab.toml "$@"; }
handed_on() { cat /sys/fs/cgroup/cgroup.subtree_control; }
handed_on > folder/before
lab up > /dev/null && lab status --json > folder/status.json
handed_on > folder/meanwhile
# Hosts have a /run of their own.
at=/var/lib/headrace/labs/lab/mount
lab exec client-0 -- bash -c "$(cat folder/in_host)" in_host "$at" > folder/measured
lab down && (ls /sys/fs/cgroup /sys/block /var/lib | grep -E 'headrace|loop1..') > folder/left
handed_on > folder/after
"""


def test_limits_hold_with_the_second_version(tmp_path: Path) -> None:
    if shutil.which("linux.uml") is None or shutil.which("mkfs.ext4") is None:
        pytest.skip(
            "no kernel to try control groups of the second version in: apt install"
            " user-mode-linux e2fsprogs"
        )
    modules = list(Path("/usr/lib/uml/modules").glob("*/kernel/drivers/block/loop.ko"))
    if len(modules) != 1:
        pytest.skip("linux.uml has no module for loop devices, or several kernels have")
    words = {
        "pythonpath": os.pathsep.join(sys.path[1:]),
        "python": sys.executable,
        "module": str(modules[0]),
        "finit_module": str(FINIT_MODULE),
    }
    job = JOB
    for name, word in words.items():
        job = job.replace(f"${name}", word)
    for name, text in (("lab.toml", SCENARIO), ("in_host", IN_HOST), ("job", job)):
        (tmp_path / name).write_text(text)
    disk = tmp_path / "disk"
    with disk.open("wb") as file:
        file.truncate(600 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", disk], check=True)
    kernel = ["linux.uml", "mem=1G", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro"]
    kernel += [f"init={Path(__file__).with_name('groups_kernel.sh')}", f"folder={tmp_path}"]
    kernel += [f"ubd0={disk}", "con=null", "con0=null,fd:1"]
    booted = subprocess.run(
        kernel,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | {"TMPDIR": str(tmp_path)},
    )
    log = tmp_path / "log"
    if not log.exists():
        pytest.skip(f"a kernel in user mode does not start here: {booted.stdout[-500:]}")
    told = log.read_text()
    assert (tmp_path / "meanwhile").read_text().split() == ["io", "memory"], told
    (host,) = json.loads((tmp_path / "status.json").read_text())["hosts"]
    assert host["memory_bytes"] == 32 << 20
    assert 0 < host["memory_used_bytes"] < 32 << 20
    assert host["disks"][0]["limits"] == {"read_rate": 16e6, "write_rate": 8e6}
    *nanoseconds, cached = map(int, (tmp_path / "measured").read_text().split())
    bytes_of_each = (4 << 20, 4 << 20, 48 << 20)
    written, read, behind = (
        1e9 * size / time for size, time in zip(bytes_of_each, nanoseconds, strict=True)
    )
    # However slow the machine is, no faster; some slices may pass before a limit holds.
    assert written < 1.3 * 8e6 and read < 1.3 * 16e6
    # What the page cache writes is its host's.
    assert behind < 1.3 * 8e6
    assert 0 < cached <= 32 << 20
    assert (tmp_path / "left").read_text() == "", told
    for when in ("before", "after"):
        assert (tmp_path / when).read_text().split() == []

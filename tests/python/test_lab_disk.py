"""A testbed of one host with a disk: real loop devices, limits, namespaces, as root."""

import ast
import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headrace.lab import (
    Lab,
    cgroups,
    down,
    find,
    plan,
    processes,
    programs,
    running_testbed,
    status,
    up,
)
from headrace.lab.hosts import Hosts
from headrace.lab.state import LABS, remove_above
from headrace.lab.steps import LoopDevice, journaled_steps
from headrace.lab.steps.loop_device import ADD, CONTROL
from headrace.simulate.scenario import load
from headrace.validate import validate
from lab import EXT3, as_before, done, lab, machine, skip_unless_possible


@pytest.fixture
def before() -> Iterator[dict[str, Any]]:
    """What the machine looks like, and must look like at the end."""
    skip_unless_possible("mkfs.ext3")
    with as_before() as found:
        yield found


@pytest.fixture
def file(tmp_path: Path, before: dict[str, Any]) -> Iterator[Path]:
    """A scenario. Whatever a test leaves of it is taken down."""
    path = tmp_path / f"test-{os.getpid()}.toml"
    path.write_text(EXT3)
    yield path
    for name in (path.stem, f"other-{os.getpid()}"):
        if (left := find(name)) is not None:
            down(left)


def made(file: Path, name: str | None = None) -> Lab:
    """A testbed, without a command for it."""
    return up(plan(load(file)), name or file.stem)


def test_a_disk_is_as_the_scenario_says_and_goes_without_a_trace(
    file: Path, before: dict[str, Any]
) -> None:
    done("up", file)
    found = json.loads(done("status", file, "--json"))
    assert found["up"]
    (host,) = found["hosts"]
    assert host["memory_bytes"] == 256 << 20
    # The process that keeps the namespaces, and what the kernel has for it.
    assert 0 < host["memory_used_bytes"] < 64 << 20
    (disk,) = host["disks"]
    assert disk["limits"] == {"read_rate": 40e6, "write_rate": 20e6}
    assert disk["queue"]["read_ahead_kb"] == "64"
    assert {"data=ordered", "noatime"} <= set(disk["mount_options"].split(","))
    assert found["mount_point"] not in Path("/proc/mounts").read_text()
    told = {it["field"] for it in found["not_carried"]}
    assert {"machine.cpu", "machine.copying", "machine.write_back"} <= told
    kind = done("exec", file, "client-0", "--", "stat", "-f", "-c", "%T", found["mount_point"])
    assert kind.strip() == "ext2/ext3"
    assert done("exec", file, "client-0", "--", "hostname").strip() == "client-0"
    links = done("exec", file, "client-0", "--", "cat", "/proc/self/net/dev").splitlines()[2:]
    assert [it.split(":")[0].strip() for it in links] == ["lo"]
    done("down", file)
    assert machine() == before
    assert "there is no such testbed" in done("down", file)


def test_a_disk_has_a_limit_of_dirty_data_of_its_own(file: Path) -> None:
    if not any(Path("/sys/class/bdi").glob("*/max_bytes")):
        pytest.skip("this kernel has no limits of dirty data for a disk (Linux 6.2)")
    file.write_text(f'{EXT3}\n[machine.write_back]\nbytes = "8 MiB"\n')
    stood = made(file)
    (disk,) = status(stood).hosts[0].disks
    limits = disk.write_back
    assert limits.pop("strict_limit") == "1"
    # A millionth of what the whole machine may have is the unit.
    assert [int(it or 0) for it in limits.values()] == [pytest.approx(8 << 20, rel=1e-2)] * 2
    script = (
        "import sys; from headrace.calibrate import mount_of;"
        "from headrace.calibrate.settings import settings;"
        "print({it.field: it.value for it in settings(mount_of(sys.argv[1]))})"
    )
    told = Hosts(stood).run("client-0", sys.executable, "-c", script, stood.mount_point)
    found = ast.literal_eval(told)
    # It is a part of the machine's limit, which follows its free memory.
    assert found["machine.write_back.bytes"] == pytest.approx(8 << 20, rel=0.1)
    assert 0 < found["machine.write_back.background_bytes"] < found["machine.write_back.bytes"]


def test_one_file_is_simulated_measured_and_compared(file: Path, tmp_path: Path) -> None:
    made(file)
    result = tmp_path / "result.json"
    done("bench", file, "-o", result, "--no-store")
    errors = {it.name: it.error for it in validate(file, [result]).points}
    # The limits decide; what is behind them takes little.
    assert errors == {"read": pytest.approx(0, abs=0.3), "write": pytest.approx(0, abs=0.3)}


def test_another_scenario_than_the_one_that_stands_is_refused(file: Path) -> None:
    done("up", file, "--set", "machine.device.read_rate=30 MB/s")
    text = file.read_text()
    # Other work on the same system is what a testbed is for.
    file.write_text(text.replace('block = "16 MiB"', 'block = "1 MiB"'))
    result = file.with_suffix(".json")
    done("bench", file, "--no-store", "-o", result)
    assert validate(file, [result]).sets == ("machine.device.read_rate=30 MB/s",)
    file.write_text(text.replace('"20 MB/s"', '"25 MB/s"').replace("noatime", "nodiratime"))
    refused = lab("bench", file, "--no-store")
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    for told in ("machine.device.write_rate is 25 MB/s, there 20 MB/s", "nodiratime"):
        assert told in refused.stderr
    # What `up` was told by --set holds on.
    assert "read_rate" not in refused.stderr


def test_a_host_has_the_memory_that_the_scenario_says_and_no_more(file: Path) -> None:
    text = EXT3.replace('size = "256 MiB"', 'size = "32 MiB"')
    file.write_text(text.replace('rate = "20 MB/s"', 'rate = "1 GB/s"'))
    stood = made(file)
    hosts, at = Hosts(stood), stood.mount_point / "file"
    hosts.run("client-0", "dd", "if=/dev/zero", f"of={at}", "bs=1M", "count=96", "conv=fsync")
    cached = int(hosts.run("client-0", "fincore", "--bytes", "--noheadings", "-o", "RES", at))
    assert 0 < cached <= 32 << 20


@pytest.mark.parametrize(
    ("system", "kind", "options"),
    [
        ("ext2", "ext2", set()),
        ("ext3", "ext3", {"data=journal", "commit=7"}),
        ("ext4", "ext4", {"data=writeback", "nobarrier"}),
        ("xfs", "xfs", set()),
        ("btrfs", "btrfs", set()),
    ],
)
def test_a_file_system_is_made_and_mounted_as_the_scenario_says(
    file: Path, system: str, kind: str, options: set[str]
) -> None:
    skip_unless_possible(f"mkfs.{kind}")
    if kind not in Path("/proc/filesystems").read_text().split():
        pytest.skip(f"this kernel has no {kind}")
    journal = "machine.file_system.journal"
    sets: dict[str, dict[str, object]] = {
        "ext3": {f"{journal}.mode": "journal", f"{journal}.commit_interval": "7 s"},
        "ext4": {f"{journal}.mode": "writeback", f"{journal}.barriers": False},
        "btrfs": {"system": "ext4", "lab.file_system": "btrfs"},
    }
    changed = {"system": system, f"{journal}.size": "64 MiB"} | sets.get(system, {})
    found = status(up(plan(load(file, changed)), file.stem))
    (disk,) = found.hosts[0].disks
    assert disk.file_system == kind
    assert options <= set((disk.mount_options or "").split(","))
    # The kernel tells it under the name that it was mounted by.
    assert found.up


def test_two_of_one_file_are_refused_and_two_of_two_names_are_not(file: Path) -> None:
    one = made(file)
    again = lab("up", file)
    assert again.returncode == 2
    assert "a testbed of this name exists" in again.stderr and len(again.stderr.splitlines()) == 1
    two = made(file, f"other-{os.getpid()}")
    devices = [status(it).hosts[0].disks[0].device for it in (one, two)]
    assert devices[0] != devices[1]
    down(two)
    assert status(one).up


def test_one_that_stands_meanwhile_goes_with_an_error(file: Path, before: dict[str, Any]) -> None:
    with pytest.raises(KeyError), running_testbed(file, ["machine.memory.size=128 MiB"]) as stood:
        assert status(stood).hosts[0].memory_bytes == 128 << 20
        raise KeyError
    assert find(file.stem) is None
    assert machine() == before


def test_memory_used_is_that_of_programs_and_not_of_files(file: Path) -> None:
    stood = made(file)
    before = status(stood).hosts[0]
    program = """
held = bytearray(b"x") * (48 << 20)
with open("cached", "wb") as cached:
    cached.write(held)
print("there", flush=True)
input()
"""
    there = ["sh", "-c", 'cd "$1"; exec "$2" -c "$3"', "sh", str(stood.mount_point)]
    command = Hosts(stood).command("client-0", *there, sys.executable, program)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as holding:  # type: ignore[call-overload]
        assert holding.stdout.readline() == "there\n"
        after = status(stood).hosts[0]
        holding.communicate("\n")
    # An interpreter has some MiB of its own; the file's pages would be as many again.
    assert 48 << 20 <= (after.memory_used_bytes or 0) - (before.memory_used_bytes or 0) < 80 << 20
    kept = (after.memory_page_cache_bytes or 0) - (before.memory_page_cache_bytes or 0)
    assert 48 << 20 <= kept < 64 << 20


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 4, 6])
def test_what_was_killed_half_made_is_taken_down(
    file: Path, before: dict[str, Any], steps: int
) -> None:
    """Killed when the journal has `steps` steps: the last one may be half done."""
    journal = Path("/var/lib/headrace/labs") / file.stem / "journal"
    command = [sys.executable, "-m", "headrace", "lab", "up", str(file)]
    making = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while making.poll() is None:
        if journal.exists() and len(journal.read_text().splitlines()) > steps:
            break
        time.sleep(0.0005)
    making.kill()
    making.wait()
    if (left := find(file.stem)) is not None:
        down(left)
    assert machine() == before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_is_interrupted_takes_itself_down(
    file: Path, before: dict[str, Any], number: signal.Signals
) -> None:
    folder = Path("/var/lib/headrace/labs") / file.stem
    command = [sys.executable, "-m", "headrace", "lab", "up", str(file)]
    making = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while making.poll() is None and not (folder / "disk-0").exists():
        time.sleep(0.001)
    making.send_signal(number)
    making.communicate(timeout=60)
    assert making.returncode == 128 + number
    assert machine() == before


def test_disks_lie_where_the_scenario_says(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "disks"
    folder.mkdir()
    stood = up(plan(load(file, {"lab.directory": str(folder)})), file.stem)
    (disk,) = status(stood).hosts[0].disks
    assert Path(disk.image or "").parent.parent == folder
    down(stood)
    assert list(folder.iterdir()) == []


def test_what_others_made_is_left_alone(file: Path, tmp_path: Path) -> None:
    """A device of the number that the journal has, over somebody else's file."""
    other = tmp_path / "other"
    with other.open("wb") as image:
        image.truncate(1 << 20)
    stood = made(file)
    (step,) = [it for it in journaled_steps(stood) if isinstance(it, LoopDevice)]
    processes.end(stood)
    step.undo(stood)
    with CONTROL.open("rb") as control:
        fcntl.ioctl(control, ADD, step.number)
    subprocess.run(["losetup", str(step.device), str(other)], check=True)
    try:
        down(stood)
        listed = subprocess.run(["losetup", "-a"], capture_output=True, text=True).stdout
        assert str(step.device) in listed
    finally:
        subprocess.run(["losetup", "-d", str(step.device)], check=True)
        step._remove(time.monotonic() + 10)


def test_all_processes_of_a_host_end_with_it(file: Path, before: dict[str, Any]) -> None:
    stood = made(file)
    command = [sys.executable, "-m", "headrace", "lab", "exec", str(file), "client-0", "--"]
    script = f"cd {stood.mount_point}; trap '' TERM; sleep 1000; sleep 1"
    stubborn = subprocess.Popen([*command, "sh", "-c", script])
    while len(status(stood).hosts[0].processes) < 2:
        time.sleep(0.05)
    down(stood)
    stubborn.wait(timeout=30)
    assert machine() == before


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('kind = "throttled"', 'kind = "disk"\nmodel = "ST3146707LC"', "machine.device.kind"),
        ("[lab]", '[lab]\nfile_system = "ntfs"', 'lab.file_system = "ntfs"'),
        ("[lab]", '[lab]\nserver = "nfs"', 'lab.server = "nfs"'),
        ("[lab]", '[lab]\nserver = "glusterfs"', 'lab.server = "glusterfs"'),
        (
            "noatime",
            "nonsense",
            'lab.mount_options = "nonsense": ext3 cannot be mounted with these',
        ),
        ("noatime", "data=foo,noatime", 'lab.mount_options = "data=foo,noatime"'),
        ('"1 GiB"', '"0 B"', 'lab.image = "0 B": expected a size'),
        (
            '"1 GiB"',
            '"4 MiB"',
            'lab.image = "4 MiB": mkfs.ext3 cannot create a file system of that size',
        ),
        (
            '"1 GiB"',
            '"8000 PiB"',
            "lab.image = .* does not support files of that size: expected a smaller",
        ),
    ],
)
def test_what_cannot_be_is_one_clear_line(
    file: Path, before: dict[str, Any], old: str, new: str, told: str
) -> None:
    text = EXT3.replace(old, new)
    if 'kind = "disk"' in new:
        rates = ("rate = ", "read_rate = ", "write_rate = ")
        text = "\n".join(it for it in text.splitlines() if not it.startswith(rates))
    file.write_text(text)
    with pytest.raises(ValueError, match=told):
        made(file)
    assert machine() == before


def test_a_folder_that_is_no_testbed_is_left_alone(file: Path) -> None:
    folder = Path("/var/lib/headrace/labs") / file.stem
    folder.mkdir(parents=True)
    (folder / "something").touch()
    try:
        ended = lab("down", file)
        assert ended.returncode == 1 and "not a testbed" in ended.stderr
        assert (folder / "something").exists()
    finally:
        (folder / "something").unlink()
        done("down", file)


def test_it_is_not_taken_down_from_within(file: Path) -> None:
    stood = made(file)
    command = [sys.executable, "-m", "headrace", "lab", "down", str(file)]
    ended = lab("exec", file, "client-0", "--", *command)
    assert ended.returncode == 2 and "this is one of its hosts" in ended.stderr
    assert status(stood).up


def test_an_error_is_one_line(file: Path) -> None:
    file.write_text(EXT3.replace('image = "1 GiB"', 'server = "glusterfs"'))
    ended = lab("up", file)
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert line.startswith('lab.server = "glusterfs"')


def test_without_root_it_is_said(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ValueError, match="run it as root"):
        up(plan(load(file)), "never")


def test_without_a_program_its_package_is_named(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "path", lambda: "/nowhere")
    with pytest.raises(
        ValueError, match="losetup: program not found: install the Debian package mount"
    ):
        up(plan(load(file)), "never")


def test_what_is_mounted_in_its_folder_is_left_alone(
    file: Path, before: dict[str, Any], tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("mine")
    made_here = made(file)
    subprocess.run(["mount", "--bind", precious, made_here.mount_point], check=True)
    try:
        refused = lab("down", file)
        assert refused.returncode == 1 and "a file system is mounted here" in refused.stderr
        assert (precious / "file").read_text() == "mine"
    finally:
        subprocess.run(["umount", made_here.mount_point], check=True)
    done("down", file)
    assert machine() == before


def test_a_group_that_is_there_is_somebody_elses(file: Path, before: dict[str, Any]) -> None:
    group = cgroups.of_host(file.stem, "client-0")
    if group is None:
        pytest.skip("there are no control groups for memory")
    other = group.parent / "other"
    other.mkdir(parents=True)
    sleeping = subprocess.Popen(["sleep", "60"])
    try:
        (other / "cgroup.procs").write_text(str(sleeping.pid))
        refused = lab("up", file)
        assert refused.returncode == 1 and "does not belong to this testbed" in refused.stderr
        assert "there is no such testbed" in done("down", file)
        assert sleeping.poll() is None
    finally:
        sleeping.kill()
        sleeping.wait()
        deadline = time.monotonic() + 10
        while other.exists() and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                other.rmdir()
                group.parent.rmdir()
            time.sleep(0.02)
    assert machine() == before


def test_disks_behind_a_link_go_as_well(file: Path, before: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    done("up", file, "--set", f"lab.directory={tmp_path / 'link'}")
    done("down", file)
    assert machine() == before
    assert list((tmp_path / "real").iterdir()) == []


def test_down_goes_on_where_it_was_killed_while_removing(
    file: Path, before: dict[str, Any]
) -> None:
    here = made(file)
    for step in reversed(journaled_steps(here)):
        step.undo(here)
    # All but the journal is gone.
    for path in here.folder.iterdir():
        if path.is_dir():
            path.rmdir()
        elif path.name != "journal":
            path.unlink()
    done("down", file)
    assert machine() == before


def test_somebody_elses_journal_is_left_alone(file: Path, before: dict[str, Any]) -> None:
    folder = LABS / file.stem
    folder.mkdir(parents=True)
    try:
        for text in ("mine", "{}\n", "[1]\n"):
            (folder / "journal").write_text(text)
            refused = lab("down", file)
            assert refused.returncode == 1 and " testbed" in refused.stderr
            assert len(refused.stderr.splitlines()) == 1
            assert (folder / "journal").read_text() == text
    finally:
        shutil.rmtree(folder)
        remove_above()

"""Two disks of known rates, each with an ext4 file system, for the duration of a `with` block.

The testbed (`headrace lab`) limits reads and writes apart, and a scenario for it has one disk for a
host. A disk here (disk.c) serves reads and writes one after the other, as the heads of a disk do.

Everything is in a mount namespace of this process, and a loop device is freed with its last mount.
The kernel thus removes all when this process ends, however it ends; only the dirty limits of the
loop devices stay if it is killed.
"""

import contextlib
import ctypes
import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headrace.lab.steps.loop_device import (
    CONFIGURATION,
    CONFIGURE,
    CONTROL,
    DIRECT_IO,
    INFO,
    locked_control,
)

SOURCES = Path(__file__).parent
NEW_NAMESPACE = 0x20000
"""CLONE_NEWNS of linux/sched.h."""
GET_FREE, AUTOCLEAR = 0x4C82, 4
"""LOOP_CTL_GET_FREE and LO_FLAGS_AUTOCLEAR of linux/loop.h."""
PROGRAMS = ("cc", "mkfs.ext4", "mount", "umount")
"""Programs that the disks need."""


def missing() -> str | None:
    """Return what the disks need and this machine lacks; None if it has all."""
    if os.geteuid() != 0:
        return "root, for loop devices and mounts"
    if not Path("/dev/fuse").exists():
        return "a kernel with FUSE"
    lacking = [it for it in PROGRAMS if shutil.which(it) is None]
    return ", ".join(lacking) if lacking else None


@dataclass(frozen=True)
class Disk:
    """A mounted disk."""

    mount_point: Path
    device: str
    """Kernel name, such as loop0."""


def compile_program(source: str, folder: Path) -> Path:
    """Compile a source of this folder. Raises OSError if the compiler fails."""
    program = folder / Path(source).stem
    _run("cc", "-O2", "-Wall", "-pthread", "-o", program, SOURCES / source)
    return program


@contextlib.contextmanager
def disks(
    folder: Path,
    count: int,
    size: int,
    read_rate: float,
    write_rate: float,
    dirty_limit: int,
    latency_s: float = 0.0,
) -> Iterator[list[Disk]]:
    """Make disks of `size` bytes in memory, mounted below `folder`; remove them at the end.

    Parameters
    ----------
    folder
        Directory for mount points and the program of the disks.
    count
        Number of disks.
    size
        Bytes of each. All of it is memory.
    read_rate, write_rate
        Bytes per second of a disk that only reads, or only writes.
    dirty_limit
        Limit of dirty data of each disk, in bytes.
    latency_s
        Time of each transfer besides, in seconds; those of several transfers overlap.

    Raises
    ------
    OSError
        If a disk cannot be made.
    """
    _enter_namespace()
    program = compile_program("disk.c", folder)
    properties = (size, read_rate, write_rate, latency_s)
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                _disk(folder / f"disk{number + 1}", program, properties, dirty_limit)
            )
            for number in range(count)
        ]


def _enter_namespace() -> None:
    """Give this process mounts of its own. Raises OSError."""
    if ctypes.CDLL(None, use_errno=True).unshare(NEW_NAMESPACE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), "a mount namespace")
    _run("mount", "--make-rprivate", "/")


@contextlib.contextmanager
def _disk(
    place: Path, program: Path, properties: tuple[float, ...], dirty_limit: int
) -> Iterator[Disk]:
    content, mount_point = place.with_name(f"{place.name}-content"), place
    for it in (content, mount_point):
        it.mkdir()
    command = [str(program), str(content), *map(str, properties)]
    # A group of its own: Ctrl-C must not end a disk that is still mounted.
    process = subprocess.Popen(command, stdout=subprocess.PIPE, process_group=0)
    with contextlib.ExitStack() as stack:
        stack.callback(_end, process)
        assert process.stdout is not None
        if not process.stdout.readline():
            raise OSError(f"disk.c: ended with status {process.wait()}")
        stack.callback(_run, "umount", "--lazy", content)
        with _loop_device(content / "disk") as device:
            _run("mkfs.ext4", "-q", "-E", "nodiscard,lazy_itable_init=0", device)
            _run("mount", "-o", "noatime", device, mount_point)
            stack.callback(_unmount, mount_point)
        stack.enter_context(_dirty_limit(device.name, dirty_limit))
        yield Disk(mount_point, device.name)


@contextlib.contextmanager
def _loop_device(image: Path) -> Iterator[Path]:
    """Attach an image to a free loop device, which is detached with its last user."""
    with contextlib.ExitStack() as stack:
        with locked_control(), CONTROL.open("rb") as control:
            device = Path(f"/dev/loop{fcntl.ioctl(control, GET_FREE)}")
            node = stack.enter_context(device.open("rb+", buffering=0))
            with image.open("rb+", buffering=0) as file:
                info = INFO.pack(*[0] * 8, DIRECT_IO | AUTOCLEAR, b"", b"", b"", 0, 0)
                fcntl.ioctl(node, CONFIGURE, CONFIGURATION.pack(file.fileno(), 0, info))
        yield device


@contextlib.contextmanager
def _dirty_limit(device: str, size: int) -> Iterator[None]:
    """Limit a device's dirty data, as a machine of little memory does; lift the limit at the end.

    The device stays when it is detached, and so would its limit.
    """
    settings = Path(f"/sys/block/{device}/bdi")
    if not (settings / "max_bytes").exists():
        raise OSError("dirty limits of a disk need Linux 6.2 or later")

    def write(name: str, value: int) -> None:
        try:
            (settings / name).write_text(str(value), encoding="ascii")
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(settings / name)) from None

    # The kernel keeps sizes as parts of the free memory, which changes: a least one of the same
    # size could be above the most (Linux 6.18, mm/page-writeback.c: __bdi_set_min_ratio).
    write("min_ratio", 0)
    write("max_bytes", size)
    write("strict_limit", 1)
    write("min_bytes", size // 2)
    try:
        yield
    finally:
        write("min_ratio", 0)
        write("strict_limit", 0)
        write("max_ratio", 100)


def _unmount(mount_point: Path) -> None:
    """Unmount a disk; one that an interrupted program uses goes when that has ended."""
    try:
        _run("umount", mount_point)
    except OSError:
        _run("umount", "--lazy", mount_point)


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def _run(*command: str | Path) -> str:
    """Run a program and return its output. Raises OSError with its complaint if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        complaint = done.stderr.strip() or f"status {done.returncode}"
        raise OSError(f"{' '.join(map(str, command))}: {complaint}")
    return done.stdout.strip()

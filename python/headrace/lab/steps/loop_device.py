"""Step that creates a loop device over a sparse image."""

import contextlib
import errno
import fcntl
import os
import struct
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headrace import _core
from headrace._core import RunError
from headrace.lab.programs import run
from headrace.lab.state import Lab
from headrace.lab.steps.step import Step
from headrace.locks import hold

CONTROL = Path("/dev/loop-control")
ADD, REMOVE = 0x4C80, 0x4C81
"""LOOP_CTL_ADD and LOOP_CTL_REMOVE of include/uapi/linux/loop.h."""
FIRST = 100
"""First number that is used; `losetup --find` takes the lowest free one."""
CONFIGURE, GET_STATUS = 0x4C0A, 0x4C05
"""LOOP_CONFIGURE, since Linux 5.8, and LOOP_GET_STATUS64."""
INFO = struct.Struct("=5Q4I64s64s32s2Q")
"""struct loop_info64: device, inode, special file, offset, limit of the size, number, two of
encryption, flags, name, two of encryption, two of the past."""
CONFIGURATION = struct.Struct(f"=2I{INFO.size}s64x")
"""struct loop_config: the file's descriptor, the size of a block (0: the kernel's choice)."""
DIRECT_IO = 16
"""LO_FLAGS_DIRECT_IO."""
NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
PATIENCE_S = 120.0
"""Longest wait for write-back before a device is detached, in seconds."""


@dataclass(frozen=True)
class LoopDevice(Step):
    """A loop device of a certain number. It is added for the image, and removed with all its
    settings."""

    number: int
    image: str
    size: int

    @property
    def device(self) -> Path:
        """Path of the device node."""
        return Path(f"/dev/loop{self.number}")

    @property
    def settings(self) -> Path:
        """Directory of the device in sysfs."""
        return Path(f"/sys/block/loop{self.number}")

    def check(self, lab: Lab) -> None:
        if os.path.lexists(self.image):
            raise RunError(
                f"{self.image}: the file exists and does not belong to this testbed: remove it"
            )

    def do(self, lab: Lab) -> None:
        folder, name = os.path.split(self.image)
        directory = _core.open_directory(folder, strictly=True)
        try:
            image = os.open(name, NEW, 0o600, dir_fd=directory)
        finally:
            os.close(directory)
        # Use the descriptor: the owner of a parent directory could replace the file.
        try:
            os.ftruncate(image, self.size)
            # losetup --direct-io does the same; not every file system supports it.
            with contextlib.suppress(OSError):
                fcntl.fcntl(image, fcntl.F_SETFL, os.O_DIRECT)
            with CONTROL.open("rb") as control:
                fcntl.ioctl(control, ADD, self.number)
            # Without direct I/O the machine would cache the image.
            info = INFO.pack(*[0] * 8, DIRECT_IO, _mark(lab), b"", b"", 0, 0)
            with self.device.open("r+b", buffering=0) as device:
                fcntl.ioctl(device, CONFIGURE, CONFIGURATION.pack(image, 0, info))
        finally:
            os.close(image)

    def undo(self, lab: Lab) -> None:
        moved = None
        if lab.same_boot and self.settings.exists():
            with locked_control():
                moved = self._detached(lab)
        with contextlib.suppress(FileNotFoundError):
            directory = _core.open_directory(os.path.dirname(self.image))
            try:
                os.unlink(os.path.basename(self.image), dir_fd=directory)
            finally:
                os.close(directory)
        if moved is not None:
            raise RunError(
                f"{moved}: the image of a testbed's disk, moved here from {self.image}, was not"
                " removed: delete it if you do not need it"
            )

    def remaining(self, lab: Lab) -> str | None:
        if lab.same_boot and self._is_own(lab):
            return str(self.device)
        return self.image if os.path.lexists(self.image) else None

    def _detached(self, lab: Lab) -> str | None:
        """Detach and remove the device; return the current path of its image if it was moved."""
        if self._name() is not None and not self._is_own(lab):
            return None
        at = self._backing()
        deadline = time.monotonic() + PATIENCE_S
        if at is not None:
            run("losetup", "--detach", self.device)
        while self._backing() is not None:
            if time.monotonic() > deadline:
                raise RunError(
                    f"{self.device}: the loop device is in use: end the programs that use it"
                )
            time.sleep(0.02)
        self._remove(deadline)
        return None if at in (None, self.image) or not os.path.lexists(at) else at

    def _is_own(self, lab: Lab) -> bool:
        """Return True if the device has the testbed's mark, or the image of an earlier version's
        testbed."""
        name = self._name()
        return name is not None and (name == _mark(lab) or self._backing() == self.image)

    def _name(self) -> bytes | None:
        """Return the name that the device got with its image; None if it has no image."""
        return name_of_loop_device(self.number)

    def _remove(self, deadline: float) -> None:
        while True:
            try:
                with CONTROL.open("rb") as control:
                    fcntl.ioctl(control, REMOVE, self.number)
            except OSError as error:
                if error.errno == errno.ENODEV:
                    return
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise OSError(error.errno, error.strerror, str(self.device)) from None
                time.sleep(0.02)
            else:
                return

    def _backing(self) -> str | None:
        """Return the path of the image; None if there is none."""
        with contextlib.suppress(OSError):
            text = (self.settings / "loop" / "backing_file").read_text(encoding="utf-8")
            return text.strip().removesuffix(" (deleted)") or None
        return None


def _mark(lab: Lab) -> bytes:
    """Return the mark of the testbed's devices, which holds even if their images are moved."""
    return f"{lab.name}/{lab.token}".encode("ascii")


def name_of_loop_device(number: int) -> bytes | None:
    """Return the name that a loop device got with its image; None if it has no image."""
    try:
        # Open read-only, so that a missing device is not created.
        with Path(f"/dev/loop{number}").open("rb", buffering=0) as device:
            status = fcntl.ioctl(device, GET_STATUS, bytes(INFO.size))
    except OSError:
        return None
    name: bytes = INFO.unpack(status)[9]
    return name.rstrip(b"\0")


@contextlib.contextmanager
def locked_control() -> Iterator[None]:
    """Lock loop devices against other testbeds for the duration of a `with` block."""
    with hold(CONTROL):
        yield


@contextlib.contextmanager
def free_number() -> Iterator[int]:
    """Yield a free device number, locked against other testbeds."""
    with locked_control():
        number = FIRST
        while os.path.exists(f"/sys/block/loop{number}"):
            number += 1
        yield number

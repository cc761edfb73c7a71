"""A loop device of the laboratory's own, over a sparse file."""

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from headrace._core import RunError
from headrace.lab.programs import run
from headrace.lab.state import Lab
from headrace.lab.steps.step import Step

CONTROL = Path("/dev/loop-control")
ADD, REMOVE = 0x4C80, 0x4C81
"""LOOP_CTL_ADD and LOOP_CTL_REMOVE of include/uapi/linux/loop.h."""
FIRST = 100
"""Numbers below are left to others: `losetup --find` takes the first free one."""
PATIENCE_S = 120.0
"""What is still to be written goes out before a device is given up."""


@dataclass(frozen=True)
class LoopDevice(Step):
    """The device of a number; it is added for this file, and removed with all its settings."""

    number: int
    image: str
    size: int

    @property
    def device(self) -> Path:
        """Its special file."""
        return Path(f"/dev/loop{self.number}")

    @property
    def settings(self) -> Path:
        """Its folder in sysfs."""
        return Path(f"/sys/block/loop{self.number}")

    def do(self, lab: Lab) -> None:
        with Path(self.image).open("xb") as file:
            file.truncate(self.size)
        with CONTROL.open("rb") as control:
            fcntl.ioctl(control, ADD, self.number)
        # Without direct I/O the machine would cache what the disk has.
        run("losetup", "--direct-io=on", self.device, self.image)

    def undo(self, lab: Lab) -> None:
        if lab.same_boot and self.settings.exists() and self._backing() in (None, self.image):
            deadline = time.monotonic() + PATIENCE_S
            if self._backing() is not None:
                run("losetup", "--detach", self.device)
            while self._backing() is not None:
                if time.monotonic() > deadline:
                    raise RunError(f"{self.device}: it is in use")
                time.sleep(0.02)
            self._remove(deadline)
        Path(self.image).unlink(missing_ok=True)

    def left(self, lab: Lab) -> str | None:
        if self._backing() == self.image:
            return str(self.device)
        return self.image if Path(self.image).exists() else None

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
        """The file below it; None if there is none."""
        with contextlib.suppress(OSError):
            text = (self.settings / "loop" / "backing_file").read_text(encoding="utf-8")
            return text.strip().removesuffix(" (deleted)") or None
        return None


@contextlib.contextmanager
def free_number() -> Iterator[int]:
    """A number that no device has, and that no other laboratory takes meanwhile."""
    with CONTROL.open("rb") as control:
        fcntl.flock(control, fcntl.LOCK_EX)
        number = FIRST
        while os.path.exists(f"/sys/block/loop{number}"):
            number += 1
        yield number

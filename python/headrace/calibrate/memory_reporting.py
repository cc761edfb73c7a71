"""Whether a host takes back what memory its virtual machine has free."""

from pathlib import Path

from headrace.calibrate.small_file import word

DEVICES = Path("/sys/bus/virtio/devices")
BALLOON = "0x0005"
REPORTING = 5
"""The number of the feature (virtio 1.2, sections 5 and 5.5.3: VIRTIO_BALLOON_F_REPORTING)."""

TAKEN_BACK = 5.0
"""Seconds after which memory that was given back is the host's: the kernel waits 2 s before it
reports any, and begins with what was freed last (Linux 6.18, mm/page_reporting.c). Reads of 64 MiB
that were not cached took 30 to 40 ms right after the file's pages were dropped, and 56 to 99 ms 5 s
later."""


def takes_free_memory_back(devices: Path = DEVICES) -> bool:
    """Whether some virtio balloon was told to report free memory."""
    return any(
        word(it / "device") == BALLOON and (word(it / "features") or "")[REPORTING:][:1] == "1"
        for it in sorted(devices.glob("*"))
    )

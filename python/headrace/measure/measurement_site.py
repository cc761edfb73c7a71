"""Site of a measurement: its host and file system. Figures of two sites do not belong together."""

import os
import platform
from os import PathLike

from headrace import ranks
from headrace.mountinfo import mounted


def measurement_site(directory: str | PathLike[str]) -> dict[str, str]:
    """Return the first rank's host, and the type and identifier of a directory's file system.

    The kernel distinguishes file systems by the identifier (statvfs(3), f_fsid).

    Raises OSError if there is no such directory.
    """
    here = ranks.current()

    def found() -> dict[str, str]:
        return {
            "host": platform.node(),
            "file_system": _type(os.stat(directory).st_dev),
            "file_system_id": f"{os.statvfs(directory).f_fsid:x}",
        }

    first: dict[str, str] = here.broadcast(here.run_on_all(found))
    return first


def _type(device: int) -> str:
    """A file system's type by the number of its device."""
    number = f"{os.major(device)}:{os.minor(device)}"
    try:
        return next((mount.kind for mount in mounted() if mount.device == number), "unknown")
    except OSError:
        return "unknown"

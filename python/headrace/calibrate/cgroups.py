"""Control groups of this process."""

from collections.abc import Iterator
from pathlib import Path


def own_cgroups(controller: str) -> Iterator[tuple[Path, str]]:
    """Yield this process's control group and its ancestors, innermost first.

    Parameters
    ----------
    controller
        Name of the controller in cgroup v1, such as "blkio" or "memory".

    Yields
    ------
    tuple of Path and str
        Directory of the group, and the cgroup version, "1" or "2" (cgroups(7)).
    """
    for line in Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            mounts = [Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified")]
        elif controller in controllers.split(","):
            mounts = [Path("/sys/fs/cgroup") / controller]
        else:
            continue
        for mounted in mounts:
            folder = mounted / path.lstrip("/")
            while folder.is_dir():
                yield folder, "2" if controllers == "" else "1"
                if folder == mounted:
                    break
                folder = folder.parent

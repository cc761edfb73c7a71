"""The control groups of this process."""

from collections.abc import Iterator
from pathlib import Path


def own_cgroups(controller: str) -> Iterator[tuple[Path, str]]:
    """The folders of this process's group and of those above it, innermost first, each with the
    version of the control groups (cgroups(7)).

    `controller` is what the first version calls it, such as "blkio" or "memory".
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

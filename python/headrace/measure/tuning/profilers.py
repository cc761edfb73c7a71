"""What the protocol below a file system counts. To add a profiler, write a function that reads
its counters and name it in `PROFILERS`."""

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

Profiler: TypeAlias = Callable[[], Mapping[str, int]]
"""Counts so far, by the protocol's operations in small letters."""

# The order of RFC 1813, section 3.3, and of RFC 1094, section 2.2: /proc/net/rpc has numbers.
NFSV2 = (
    "null getattr setattr root lookup readlink read wrcache write create remove rename link"
    " symlink mkdir rmdir readdir fsstat"
)
NFSV3 = (
    "null getattr setattr lookup access readlink read write create mkdir symlink mknod remove"
    " rmdir rename link readdir readdirplus fsstat fsinfo pathconf commit"
)
VERSIONS = {"proc2": NFSV2.split(), "proc3": NFSV3.split()}

PATIENCE_S = 30
"""How long a command may take."""


def of_rpc(path: Path) -> Profiler:
    """The kernel's NFS client or server."""

    def read() -> dict[str, int]:
        counts: dict[str, int] = {}
        for line in path.read_text(encoding="ascii").splitlines():
            name, *fields = line.split()
            names = VERSIONS.get(name)
            if names is None:
                continue
            # The first number says how many follow.
            for operation, count in zip(names, fields[1:], strict=False):
                counts[operation] = counts.get(operation, 0) + int(count)
        return counts

    return read


def of_command(command: str) -> Profiler:
    """A command that prints counts so far as a JSON object."""

    def read() -> dict[str, int]:
        try:
            done = subprocess.run(
                command, shell=True, capture_output=True, text=True, timeout=PATIENCE_S, check=True
            )
            counts = json.loads(done.stdout)
        except subprocess.CalledProcessError as error:
            last = (error.stderr or "").strip().split("\n")[-1]
            raise ValueError(f"profiler {command!r} failed ({error.returncode}): {last}") from None
        except subprocess.TimeoutExpired:
            raise ValueError(f"profiler {command!r} took over {PATIENCE_S} s") from None
        except ValueError as error:
            raise ValueError(f"profiler {command!r}: expected JSON: {error}") from None
        whole = isinstance(counts, dict) and all(
            isinstance(count, int) and not isinstance(count, bool) for count in counts.values()
        )
        if not whole:
            raise ValueError(f"profiler {command!r}: expected an object of whole numbers")
        return {name.lower(): count for name, count in counts.items()}

    return read


def of_gluster(volume: str) -> Profiler:
    """A GlusterFS volume on whose bricks `gluster volume profile VOLUME start` was said: calls
    of all bricks since then."""

    def read() -> dict[str, int]:
        command = ["gluster", "volume", "profile", volume, "info", "cumulative"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        if done.returncode != 0:
            raise ValueError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
        return gluster_counts(done.stdout)

    return read


def gluster_counts(text: str) -> dict[str, int]:
    """The calls in what `gluster volume profile info` prints: a line for each kind of call,
    with its share, three latencies, the number of calls, and the name."""
    counts: dict[str, int] = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 3 and fields[-1].isupper() and fields[-2].isdigit():
            name = fields[-1].lower()
            counts[name] = counts.get(name, 0) + int(fields[-2])
    return counts


PROFILERS: dict[str, Callable[[str], Profiler]] = {
    "nfs-client": lambda _: of_rpc(Path("/proc/net/rpc/nfs")),
    "nfs-server": lambda _: of_rpc(Path("/proc/net/rpc/nfsd")),
    "gluster": of_gluster,
    "command": of_command,
}


def profiler(text: str) -> Profiler:
    """A profiler as the command line names it: `nfs-client`, `nfs-server`, `gluster:VOLUME` or
    `command:COMMAND`.

    Raises ValueError if there is none of this name.
    """
    name, _, argument = text.partition(":")
    make = PROFILERS.get(name)
    if make is None or (name in ("gluster", "command")) != bool(argument):
        raise ValueError(
            f"{text!r}: expected nfs-client, nfs-server, gluster:VOLUME or command:COMMAND"
        )
    return make(argument)

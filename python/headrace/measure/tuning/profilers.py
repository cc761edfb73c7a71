"""Counters of the protocol below a file system. To add a profiler, write a function that reads its
counters and name it in `PROFILERS`."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from headrace._core import RunError
from headrace.host import NFS_CLIENT_CALLS, NFS_SERVER_CALLS
from headrace.measure.tuning.mirror import mirror, options

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
"""Time limit of a command in seconds."""


def rpc_profiler(path: Path) -> Profiler:
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


def command_profiler(command: str) -> Profiler:
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


def gluster_profiler(volume: str) -> Profiler:
    """Return a profiler of a GlusterFS volume, after `gluster volume profile VOLUME start`: calls
    of all bricks since then."""

    def read() -> dict[str, int]:
        command = ["gluster", "volume", "profile", volume, "info", "cumulative"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S)
        if done.returncode != 0:
            raise ValueError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
        return gluster_counts(done.stdout)

    return read


def gluster_counts(text: str) -> dict[str, int]:
    """Parse `gluster volume profile info`: one line for each call, with its share, three latencies,
    the number of calls, and the name."""
    counts: dict[str, int] = {}
    for line in text.splitlines():
        fields = line.split()
        if len(fields) >= 3 and fields[-1].isupper() and fields[-2].isdigit():
            name = fields[-1].lower()
            counts[name] = counts.get(name, 0) + int(fields[-2])
    return counts


@dataclass(frozen=True)
class Watched:
    """A directory to work in, with a profiler of the operations in it."""

    below: Path
    profiler: Profiler
    original: Path | None = None
    """The directory itself, where `below` only shows it."""
    name: str = ""
    """The profiler as the command line names it."""

    @property
    def directory(self) -> Path:
        """The directory itself."""
        return self.original or self.below


Watching: TypeAlias = Callable[[Path], AbstractContextManager[Watched]]
"""Context in which operations in a directory are counted."""


def watch_directly(profiler: Profiler) -> Watching:
    """Count operations in the directory itself."""
    return lambda below: nullcontext(Watched(below, profiler))


def fuse_profiler(text: str) -> Watching:
    """A mirror of the directory. Raises ValueError if its options are none."""
    given = options(text)

    @contextmanager
    def watching(below: Path) -> Iterator[Watched]:
        with mirror(below, given) as mounted, rename_directory_in_errors(below, mounted.at):
            yield Watched(mounted.at, mounted, below)

    return watching


@dataclass(frozen=True)
class Kind:
    """A kind of profiler."""

    argument: str
    """Name of the argument after the colon; in brackets if optional, empty if there is none."""
    make: Callable[[str], Watching]

    def takes(self, argument: str) -> bool:
        """Return whether the profiler accepts this argument."""
        return self.argument.startswith("[") or bool(argument) == bool(self.argument)


PROFILERS: dict[str, Kind] = {
    "fuse": Kind("[OPTIONS]", fuse_profiler),
    "nfs-client": Kind("", lambda _: watch_directly(rpc_profiler(NFS_CLIENT_CALLS))),
    "nfs-server": Kind("", lambda _: watch_directly(rpc_profiler(NFS_SERVER_CALLS))),
    "gluster": Kind("VOLUME", lambda volume: watch_directly(gluster_profiler(volume))),
    "command": Kind("COMMAND", lambda command: watch_directly(command_profiler(command))),
}


def profiler(text: str) -> Watching:
    """A profiler as the command line names it: `fuse`, `nfs-client`, `nfs-server`,
    `gluster:VOLUME` or `command:COMMAND`.

    Raises ValueError if there is none of this name.
    """
    name, _, argument = text.partition(":")
    kind = PROFILERS.get(name)
    if kind is None or not kind.takes(argument):
        raise ValueError(f"{text!r}: expected {named()}")
    tool = kind.make(argument)

    @contextmanager
    def watching(below: Path) -> Iterator[Watched]:
        with tool(below) as watched:
            yield replace(watched, name=text)

    return watching


def named() -> str:
    """All profilers as they are named."""
    names = []
    for name, kind in PROFILERS.items():
        optional, argument = kind.argument.startswith("["), kind.argument.strip("[]")
        behind = f"[:{argument}]" if optional else f":{argument}"
        names.append(f"{name}{behind}" if argument else name)
    return f"{', '.join(names[:-1])} or {names[-1]}"


@contextmanager
def rename_directory_in_errors(given: Path, worked_in: Path) -> Iterator[None]:
    """Replace one directory by another in errors that are raised in this context."""

    def named(text: object) -> str:
        return str(text).replace(str(worked_in), str(given))

    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise type(error)(named(error)) from None
        raise OSError(error.errno, error.strerror, named(error.filename)) from None
    except RunError as error:
        raise RunError(named(error)) from None
    except ValueError as error:
        if str(worked_in) not in str(error):
            raise
        raise ValueError(named(error)) from None

"""Space and time of benchmarks: stated before they start, and limited.

The limit is one of the process, as a benchmark has many steps and all share a file system.
"""

import contextlib
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from typing import NamedTuple

from headrace import _core, ranks
from headrace.quantities import duration, numbered, size, whole

EXAMPLE = 'expected a part of the free space or a size, such as "25 %" or "2 GB"'
BYTES_PER_SECOND, NAMES_PER_SECOND = 100e6, 1000.0
"""Declared rates of making files, those of a hard disk: times are stated at them."""


class SpaceLimit(NamedTuple):
    """Space that the files of a benchmark may take.

    Examples:
        >>> hr.measure.SpaceLimit(share=0.25).allowed(10**12)
        250000000000
    """

    share: float = 0.5
    """Part of the free bytes and inodes. The default is declared: others write there too."""
    bytes: int | None = None
    """Bytes, in place of the part."""

    def allowed(self, free: int) -> int:
        """Return the bytes that files may take of the free ones."""
        return min(self.bytes, free) if self.bytes is not None else int(self.share * free)

    def __str__(self) -> str:
        """Return the limit in words."""
        part = f"{100 * self.share:g} % of the free space"
        return part if self.bytes is None else size(self.bytes)


DEFAULT = SpaceLimit()
_limit = DEFAULT
_state: Callable[[str], object] | None = None


def parse_space_limit(text: str) -> SpaceLimit:
    """Return the limit in a text such as "25 %" or "2 GB". Raises ValueError."""
    part = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*%\s*", text)
    if part is not None:
        share = float(part[1]) / 100
        if not 0 < share <= 1:
            raise ValueError(f"{EXAMPLE}: a part is more than 0 %, and at most 100 %")
        return SpaceLimit(share)
    try:
        bytes_ = _core.parse_bytes(text)
    except ValueError as error:
        raise ValueError(f"{EXAMPLE}: {str(error).partition(': ')[2] or text}") from None
    if bytes_ <= 0:
        raise ValueError(f"{EXAMPLE}, more than 0")
    return SpaceLimit(1.0, bytes_)


def space_limit() -> SpaceLimit:
    """Return the limit in force."""
    return _limit


@contextlib.contextmanager
def limited_space(limit: SpaceLimit) -> Iterator[None]:
    """Limit the space that benchmarks take.

    Examples:
        >>> workload = hr.measure.load("scenarios/striped-read.toml")
        >>> with hr.measure.limited_space(hr.measure.SpaceLimit(bytes=10**6)):
        ...     measured = hr.measure.measure(workload, ".")
        Traceback (most recent call last):
            ...
        headrace.ScenarioError: .: the benchmark needs ... GB, and its files may take 1.00 MB ...
    """
    before = _limit
    set_space_limit(limit)
    try:
        yield
    finally:
        set_space_limit(before)


def set_space_limit(limit: SpaceLimit, state: Callable[[str], object] | None = None) -> None:
    """Limit the space that benchmarks of this process take.

    Parameters
    ----------
    limit
        The limit.
    state
        Function that gets the text that states the need of a benchmark, before it starts.
    """
    global _limit, _state
    _limit = limit
    _state = state or _state


def check_room(loaded: _core.Loaded, below: str | PathLike[str]) -> None:
    """Check that the files of a scenario fit within the limit.

    Raises ScenarioError if they do not.
    """
    _core.check_room(loaded, below, _limit)


def has_room(loaded: _core.Loaded, directory: _core.BenchmarkDirectory) -> bool:
    """Return whether the files of a scenario fit in a directory, beside or in place of those that
    are there."""
    try:
        names, there = directory.usage()
        system = os.statvfs(directory.path)
    except OSError:
        # The directory is gone: the next step says so.
        return True
    free = there + system.f_bavail * system.f_frsize
    return Need.of([loaded]).fits(free, names + system.f_favail, system)


class Need(NamedTuple):
    """Space and time of a benchmark, about."""

    bytes: int
    """Of the largest step: files are used again or removed between steps."""
    names: int
    """Files, directories and links, likewise."""
    seconds: float
    """Of all steps: their time limits, and the rest at the declared rates."""
    replays: bool = False
    """Whether a trace is replayed, whose writes are not known before."""

    @staticmethod
    def of(scenarios: Iterable[_core.Loaded]) -> "Need":
        """Return the need of scenarios that run one after the other."""
        most_bytes = most_names = 0
        seconds, replays = 0.0, False
        for loaded in scenarios:
            needed, names = _core.room_needed(loaded)
            most_bytes, most_names = max(most_bytes, needed), max(most_names, names)
            seconds += needed / BYTES_PER_SECOND + names / NAMES_PER_SECOND
            scenario = tomllib.loads(loaded.toml)
            stop = scenario.get("run", {}).get("stop", {})
            if "time" in stop:
                seconds += _core.parse_seconds(stop["time"])
            workloads = scenario.get("workload", ())
            replays |= any(workload.get("kind") == "trace" for workload in workloads)
        return Need(most_bytes, most_names, seconds, replays)

    def fits(self, free: int, free_names: int, system: os.statvfs_result) -> bool:
        """Return whether the limit allows it. Each name takes a block beside its bytes."""
        if self.bytes + self.names * system.f_frsize > _limit.allowed(free):
            return False
        return not system.f_files or self.names <= int(_limit.share * free_names)

    def __str__(self) -> str:
        """Return the space as progress shows it."""
        return f"{size(self.bytes)} in {numbered(self.names, 'file')}"


def state_need(
    task: str, scenarios: Iterable[_core.Loaded], below: str | PathLike[str], times: int = 1
) -> None:
    """State the space and time of a benchmark before it starts.

    Parameters
    ----------
    task
        The benchmark: a name, or what each of the scenarios is.
    scenarios
        Its steps.
    below
        A directory on the file system.
    times
        Repetitions of all steps.
    """
    if _state is not None:
        needed = Need.of(scenarios)
        state(task, needed._replace(seconds=times * needed.seconds), below)


def state(task: str, needed: Need, below: str | PathLike[str], more: str = "") -> None:
    """State a need; `more` follows it. A benchmark that is refused states nothing."""
    if _state is None or not ranks.current().first:
        return
    try:
        system = os.statvfs(below)
    except OSError:
        return
    free = system.f_bavail * system.f_frsize
    if not os.path.isdir(below) or not system.f_blocks:
        return
    if not needed.fits(free, system.f_favail, system):
        return
    more += "; writes of the trace are not counted" if needed.replays else ""
    _state(
        f"{task}: up to {needed}, of {size(_limit.allowed(free))} allowed ({_limit}; --space);"
        f" about {duration(needed.seconds)}, with files made at {BYTES_PER_SECOND / 1e6:g} MB/s"
        f" and {whole(int(NAMES_PER_SECOND))} a second{more}"
    )


def allowed_below(below: str | PathLike[str]) -> int | None:
    """Return the bytes that files may take below a directory; None if that is unknown."""
    try:
        system = os.statvfs(below)
    except OSError:
        return None
    return _limit.allowed(system.f_bavail * system.f_frsize) if system.f_blocks else None

"""Processes to watch: a program that is started, or running ones by number, name or group."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

Roots = Callable[[], Iterable[int]]


def by_number(number: int) -> Roots:
    """A process and its descendants. Raises ValueError if there is no such process."""
    if not Path(f"/proc/{number}").exists():
        raise ValueError(f"--pid {number}: no such process: expected the number of a running one")
    return lambda: (number,)


def by_cgroup(directory: Path) -> Roots:
    """The processes of a control group and of the groups below it.

    Raises ValueError if the directory is no control group of version 2.
    """
    if not (directory / "cgroup.procs").exists() or not (directory / "cgroup.controllers").exists():
        raise ValueError(
            f"--cgroup {directory}: no control group of version 2: expected a directory such as"
            " /sys/fs/cgroup/system.slice"
        )

    def roots() -> list[int]:
        numbers: list[int] = []
        for path, _, names in os.walk(directory):
            if "cgroup.procs" in names:
                try:
                    with open(f"{path}/cgroup.procs", "rb") as file:
                        numbers += map(int, file.read().split())
                except OSError:
                    continue  # The group was removed, or its processes are those of a thread group.
        return numbers

    return roots


class ByName:
    """The processes with a name, and their descendants."""

    def __init__(self, name: str) -> None:
        # The kernel cuts names (proc(5), /proc/PID/comm).
        self._name = name.encode()[:15]
        self._known: dict[int, bool] = {}
        self._were_there = False

    def __call__(self) -> list[int]:
        there = [int(name) for name in os.listdir("/proc") if name.isdigit()]
        known = {number: self._known[number] for number in there if number in self._known}
        for number in there:
            # A process has another name before it executes its program: ask again later.
            if not known.get(number):
                known[number] = self._has_name(number)
        self._known = known
        matches = [number for number, is_named in known.items() if is_named]
        self._were_there = self._were_there or bool(matches)
        return matches

    def have_come(self) -> bool:
        """Return whether there have been such processes."""
        return self._were_there

    def have_ended(self) -> bool:
        """Return whether there have been such processes and there are none any more."""
        return self._were_there and not any(self._known.values())

    def _has_name(self, number: int) -> bool:
        try:
            with open(f"/proc/{number}/comm", "rb") as file:
                return file.read().rstrip(b"\n") == self._name
        except OSError:
            return False

"""Record the file operations of a program in a trace."""

import re
from pathlib import Path

from headrace.profile.capture.method import Method
from headrace.profile.capture.none import NoCapture
from headrace.profile.capture.strace import Strace
from headrace.profile.capture.tracefs import Tracefs

METHODS: dict[str, Method] = {method.name: method for method in (Strace(), Tracefs(), NoCapture())}
"""All methods. To add one, add a file with a class like `Strace` and put it here."""

AUTO = "auto"

EPOCH = re.compile(rb"(?:\d+ +)?(\d{9,11}\.\d+) ")

__all__ = ["AUTO", "METHODS", "Method", "choose", "start_time"]


def choose(name: str = AUTO) -> Method:
    """Return a method by name; `auto` is strace if it is installed, else none.

    Raises ValueError if there is no such method, or if it does not work here.
    """
    if name == AUTO:
        strace = METHODS["strace"]
        return strace if strace.available() is None else METHODS["none"]
    if name not in METHODS:
        known = ", ".join([AUTO, *METHODS])
        raise ValueError(f'capture method "{name}": expected one of {known}')
    method = METHODS[name]
    if (reason := method.available()) is not None:
        raise ValueError(f'capture method "{name}": {reason}')
    return method


def start_time(trace: Path) -> float | None:
    """Return the time 0 of a captured trace, in seconds since the epoch; None if it has none.

    Samples and trace are put on one clock by it. Raises OSError if the trace cannot be read.
    """
    with trace.open("rb") as file:
        match = EPOCH.match(file.readline(200))
    return float(match[1]) if match else None

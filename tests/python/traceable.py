"""Whether the kernel tells what happens below a directory."""

from pathlib import Path

import pytest

from headrace import ScenarioError, calibrate, kernel_trace
from headrace.kernel_trace import KernelTraceError


def modelled(directory: Path) -> Path:
    """The directory, if its file system can be simulated."""
    try:
        calibrate.mount_of(directory)
    except ScenarioError as error:
        pytest.skip(str(error))
    return directory


def not_traceable(directory: Path) -> str:
    """Why the kernel may not be traced there; nothing if it may."""
    try:
        kernel_trace.check(directory)
    except KernelTraceError as error:
        return str(error)
    return ""


def traceable(directory: Path) -> Path:
    """The directory, if its file system can be simulated and the kernel may be traced there."""
    if (why := not_traceable(modelled(directory))) != "":
        pytest.skip(why)
    return directory

"""Record the file operations of a program in a trace."""

from headrace.profile.capture.method import Method
from headrace.profile.capture.none import NoCapture
from headrace.profile.capture.strace import Strace
from headrace.profile.capture.tracefs import Tracefs

METHODS: dict[str, Method] = {it.name: it for it in (Strace(), Tracefs(), NoCapture())}
"""All methods. To add one, add a file with a class like `Strace` and put it here."""

AUTO = "auto"

__all__ = ["AUTO", "METHODS", "Method", "choose"]


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

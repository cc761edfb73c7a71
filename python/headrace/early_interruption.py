"""Ctrl-C while the command starts: one line and status 130.

The package calls it before it imports any other module, and this module imports none that Python
has not imported yet. An interruption of an import elsewhere would print a traceback.
"""

import _signal  # type: ignore[import-not-found]  # the module signal imports enum
import os
import sys

INTERRUPTED = 130
"""Exit status of an interrupted command."""


def end(_signal_number: int, _frame: object) -> None:
    """Handle a signal: print a line and end the process."""
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def is_command() -> bool:
    """Return whether this process starts as the command `headrace`, or as `python -m headrace`."""
    if sys.argv[:1] == ["-m"]:
        # While Python looks for the module, only the arguments after its name are in argv.
        return sys.orig_argv[-len(sys.argv)] in ("headrace", "-mheadrace")
    return bool(sys.argv) and os.path.basename(sys.argv[0]) == "headrace"


def install() -> None:
    """End the process at Ctrl-C from now on, if it starts as the command and Ctrl-C is not
    ignored."""
    if is_command() and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, end)

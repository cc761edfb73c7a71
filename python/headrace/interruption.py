"""Ctrl-C: one line and status 130, whenever it comes.

This module imports little: it must be ready before most is imported.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from headrace.early_interruption import INTERRUPTED as INTERRUPTED
from headrace.early_interruption import end

PAPER_SCRIPT = "headrace.cli.paper_script"
"""Module by which `headrace papers` runs a script. The command itself reports the interruption."""
LOOK_S = 0.05
"""Seconds to wait for another thread at a time. Polars' handlers restart the system's waits for
locks (pola-rs/polars issue 21739), so a longer wait would delay Ctrl-C."""
RESEND_S = 0.01
"""Seconds after which a lost signal is sent again."""
_commanded = False


class EndedBySignal(SystemExit):
    """A signal ended the process."""

    def __init__(self, number: int) -> None:
        self.status = 128 + number
        super().__init__(self.status)

    def __str__(self) -> str:
        return f"ended by {signal.Signals(self.status - 128).name}"


STOP_EXCEPTIONS = (KeyboardInterrupt, EndedBySignal)
"""Exceptions that Ctrl-C and the signals SIGTERM and SIGHUP raise. A benchmark then shows its
partial result."""


def end_at_once() -> None:
    """End the process at Ctrl-C until `raise_keyboard_interrupt` is called, unless it is ignored.

    During an import, an exception may be raised anywhere. A program that starts the command may
    have blocked the signal until now, so that it does not come while Python starts.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler and not _of_command():
        signal.signal(signal.SIGINT, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def raise_keyboard_interrupt() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def after_polars() -> None:
    """Restore Python's handler of Ctrl-C in a command after polars has replaced it.

    Importing polars installs a handler that makes its threads panic, and waiting threads print that
    on standard error (pola-rs/polars pull request 20961, crates/polars-error/src/signals.rs). In a
    notebook it stays, because it ends queries of the user.
    """
    if _commanded and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.getsignal(signal.SIGINT))


def run_interruptible(work: Callable[[], int]) -> int:
    """Run work and return the exit status. On Ctrl-C, print a message and return 130."""
    global _commanded
    _commanded = True
    earlier_hook, sys.unraisablehook = sys.unraisablehook, _resend
    try:
        raise_keyboard_interrupt()
        if "polars" in sys.modules:
            after_polars()
        return work()
    except KeyboardInterrupt as error:
        if _of_command():
            raise
        print("; ".join(["interrupted", *getattr(error, "__notes__", ())]), file=sys.stderr)
        # A text that Ctrl-C ends within `exec`, as a named tuple's, would make Python end itself by
        # the signal, whatever its status (Py_RunMain). The next text makes it forget that.
        exec("pass")
        return INTERRUPTED
    finally:
        sys.unraisablehook = earlier_hook


def _resend(lost: "sys.UnraisableHookArgs") -> None:
    """Send a signal again whose exception Python ignores, as it was raised in a callback of a weak
    reference or in a finaliser. Imports have such callbacks."""
    if lost.exc_type is KeyboardInterrupt:
        number = signal.SIGINT
    elif isinstance(lost.exc_value, EndedBySignal):
        number = signal.Signals(lost.exc_value.status - 128)
    else:
        sys.__unraisablehook__(lost)
        return

    def send() -> None:
        # The callback has ended by then.
        time.sleep(RESEND_S)
        os.kill(os.getpid(), number)

    threading.Thread(target=send, daemon=True).start()


@contextlib.contextmanager
def defer_signals() -> Iterator[None]:
    """Defer Ctrl-C and signals to end until the context exits. Without it, Python raises them
    before a new resource has a name by which it could be removed."""
    if threading.current_thread() is not threading.main_thread():
        yield  # They come to the main thread alone.
        return
    came: list[int] = []
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if callable(handler := signal.getsignal(number))
    }
    for number in before:
        signal.signal(number, lambda it, _frame: came.append(it))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        # Raise it even if the body fails, so that the program ends.
        if came:
            signal.raise_signal(came[0])


@contextlib.contextmanager
def end_process() -> Iterator[None]:
    """Let Ctrl-C and termination signals end the process at once, by the system's default action.

    It serves library calls that may wait forever, during which Python handles no signal. Handlers
    that were set within it stay.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # They come to the main thread alone.
        return
    numbers = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
    before = {
        number: handler for number in numbers if callable(handler := signal.getsignal(number))
    }
    # One that has come already is Python's to raise before its handler is gone.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, before)
    try:
        for number in before:
            signal.signal(number, signal.SIG_DFL)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, handler)


@contextlib.contextmanager
def record_signals() -> Iterator[list[int]]:
    """Record Ctrl-C and signals to end while their handlers run as usual. A measurement that is
    nearly complete may finish; its caller then starts no other."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came  # They come to the main thread alone.
        return
    before = {
        number: handler
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        if callable(handler := signal.getsignal(number))
    }

    def note(number: int, frame: FrameType | None) -> None:
        came.append(number)
        before[signal.Signals(number)](number, frame)

    for number in before:
        signal.signal(number, note)
    try:
        yield came
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _of_command() -> bool:
    return PAPER_SCRIPT in sys.orig_argv


def import_numpy() -> None:
    """Import numpy for the extension module now. It would do so when it first returns a table, and
    an interruption there would be a panic instead of an exception."""
    from headrace import _core

    with defer_signals():
        _core.import_numpy()

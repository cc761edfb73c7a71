"""Exit codes of commands: 0 done, 1 failed, 2 wrong input, 130 interrupted."""

import errno
import sys
import traceback
from collections.abc import Callable

import msgspec

from headrace import RunError
from headrace.fields import in_words
from headrace.interruption import STOP_EXCEPTIONS
from headrace.plain_text import plain
from headrace.store.errors import StoreFailure

REFUSALS = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EIO,
        errno.ESTALE,
        errno.ENODEV,
        errno.ENOTCONN,
        errno.ESHUTDOWN,
        errno.ETIMEDOUT,
        errno.EMFILE,
        errno.ENFILE,
    }
)
"""Errors of the file system or the system itself, for which a command exits with 1. Other errors of
a named file are wrong input."""


def run(work: Callable[[], int]) -> int:
    """Run work and return the exit status. Errors are printed in one line on standard error."""
    try:
        return work()
    except (RunError, StoreFailure) as error:
        return report_failure(with_notes(error), 1)
    except msgspec.ValidationError as error:
        return report_failure("; ".join([in_words(error), *getattr(error, "__notes__", ())]), 2)
    except ValueError as error:
        return report_failure(with_notes(error), 2)
    except OSError as error:
        return _of_system(error)
    except MemoryError:
        return report_failure("out of memory", 1)
    except Exception as error:
        if isinstance(error.__cause__, STOP_EXCEPTIONS):
            # Python 3.11 raises a RuntimeError for what comes while it makes a class.
            raise error.__cause__ from None
        return report_failure(f"internal error, please report it: {_where(error)}", 1)


def with_notes(error: BaseException) -> str:
    """Return an error's text with its notes, such as names of directories that were not removed."""
    return "; ".join([str(error), *getattr(error, "__notes__", ())])


def report_failure(message: str, status: int) -> int:
    """Print a message in one line on standard error and return the status."""
    print(plain(" ".join(message.split())), file=sys.stderr)
    return status


def _where(error: Exception) -> str:
    """An error in one line, with the place in the source that raised it."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({place.filename}:{place.lineno})"


def _of_system(error: OSError) -> int:
    if error.errno == errno.EPIPE:
        return 1
    if error.errno is None:
        return report_failure(str(error), 2)
    wrong = error.filename is not None and error.errno not in REFUSALS
    return report_failure(describe(error), 2 if wrong else 1)


def describe(error: OSError) -> str:
    """Return the message for an error of the system; one without a file name is about standard
    output."""
    if error.errno is None:
        return str(error)
    name = "cannot write" if error.filename is None else str(error.filename)
    reason = error.strerror or str(error)
    return f"{name}: {reason[:1].lower()}{reason[1:]}"

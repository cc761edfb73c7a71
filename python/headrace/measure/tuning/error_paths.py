"""Errors name the directory that the user gave, not the one that it was mounted at."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from headrace._core import RunError


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

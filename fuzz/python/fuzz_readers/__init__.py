"""Readers of foreign files, and the contract that fuzzing checks.

A group of readers is a module of this package with a tuple `READERS` of functions. Each reads the
file of a path as Headrace's commands do. Minimal cases are in `fuzz/corpus`, in the directory
`CORPUS` of the module, by default in that of its name.
"""

import pkgutil
import warnings
from importlib import import_module
from pathlib import Path

GROUPS = tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))
"""Names of all groups."""
CORPUS = Path(__file__).parents[2] / "corpus"
FILE = "fuzzed-file"
"""Name of the file that is read, without a suffix."""


class ContractViolation(AssertionError):
    """A reader refused a file in a message that does not name it."""


def corpus(group: str) -> Path:
    """Return the directory with the minimal cases of a group."""
    module = import_module(f"{__name__}.{group}")
    return CORPUS / getattr(module, "CORPUS", group)


def check(group: str, content: bytes, directory: Path) -> None:
    """Write a file into a directory and read it by each reader of a group.

    A reader reads the file, or raises an error for which commands exit with 2: a ValueError, or an
    OSError without a number of the system. Its message names the file, or the preset of the file's
    scenario. Raises ContractViolation if the name is missing. Other errors are raised as they are;
    decoding errors of Python are no messages for users, and among these.
    """
    path = directory / FILE
    for read in import_module(f"{__name__}.{group}").READERS:
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read(path)
            except UnicodeError:
                raise
            except (OSError, ValueError) as error:
                if getattr(error, "errno", None) is not None:
                    raise
                if not any(name in str(error) for name in (FILE, "preset ")):
                    raise ContractViolation(f"no file name in the message: {error}") from error


def with_suffix(path: Path, suffix: str) -> Path:
    """Rename the file and return its new path."""
    return path.rename(path.with_suffix(suffix))

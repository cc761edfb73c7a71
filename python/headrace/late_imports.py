"""Imports at first use: names of a package, and packages of Headrace's extras.

The command line must be ready for Ctrl-C at once, and imports are most of a short command.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any


@contextmanager
def imports_of(extra: str) -> Iterator[None]:
    """Import packages of an extra. Raises ValueError, which names the extra, if one is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or extra).partition(".")[0]
        raise ValueError(f"{package} is not installed: pip install 'headrace[{extra}]'") from None


def late_names(package: str, modules: Mapping[str, Sequence[str]]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    Parameters:
        package: The package's `__name__`.
        modules: Public names by the module of the package that has them.
    """
    module_of = {name: module for module, names in modules.items() for name in names}

    def get(name: str) -> Any:
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{module_of[name]}"), name)

    return get

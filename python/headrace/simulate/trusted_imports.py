"""Imports of modules whose files must be trusted, unless they are installed."""

import site
import sys
import sysconfig
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

from headrace.simulate.trust import Trust


class TrustedLoader(SourceFileLoader):
    """Executes a source file that is trusted, and what was read of it then.

    Compiled files beside it are not used: a user who can write there can put any code into them.
    """

    def __init__(self, name: str, path: str, trust: Trust) -> None:
        super().__init__(name, path)
        self._trust = trust

    def get_code(self, fullname: str) -> CodeType:
        """The code of the module. Raises UntrustedCode."""
        content = self.get_data(self.path)
        self._trust.require(Path(self.path), content)
        code: CodeType = self.source_to_code(content, self.path)
        return code


class _Finder(MetaPathFinder):
    """Find modules as usual; files that are not installed must be trusted."""

    def __init__(self, trust: Trust) -> None:
        self._trust = trust
        self._thread = threading.get_ident()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if threading.get_ident() != self._thread:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin is None or not spec.has_location:
            return spec
        if not _is_installed(Path(spec.origin)):
            if isinstance(spec.loader, SourceFileLoader):
                spec.loader = TrustedLoader(fullname, spec.origin, self._trust)
            else:
                self._trust.require(Path(spec.origin), Path(spec.origin).read_bytes())
        return spec


@contextmanager
def trusted_imports(trust: Trust) -> Iterator[None]:
    """Require trust for all modules that this thread imports in this context, unless they are
    installed."""
    finder = _Finder(trust)
    places = [number for number, one in enumerate(sys.meta_path) if one is PathFinder]
    sys.meta_path.insert(places[0] if places else len(sys.meta_path), finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def _is_installed(file: Path) -> bool:
    real = file.resolve()
    return any(real.is_relative_to(folder) for folder in _installed())


@cache
def _installed() -> tuple[Path, ...]:
    """Return the directories of Python, its packages and Headrace."""
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    paths = [sysconfig.get_path(name) for name in names]
    paths += [*site.getsitepackages(), site.getusersitepackages()]
    return (*(Path(path).resolve() for path in paths), Path(__file__).resolve().parents[1])

"""Files and code that scenarios, worksheets and saved results name.

They are looked for in every text of a document, whatever its key is: a new field of the scenario
that names a file is covered. A text is a path if it is absolute, leads upwards, or names a file in
the folder of the document.
"""

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from headrace.web.jobs.directory import LINKS
from headrace.web.jobs.job import RefusedRequest

LARGEST = 16 << 20
"""Bytes of a document, as of a system's file."""
PATH_MAX = 4096
"""Bytes of a path at the most, in Linux."""
MOST = 64
"""Documents that lead to each other."""
PROSE = frozenset({"name", "description"})
"""Fields at the top of a document whose text names nothing."""
PYTHON = re.compile(r"(?:^|[^A-Za-z])(?:python|class)(?:[^A-Za-z]|$)", re.IGNORECASE)
SEPARATORS = re.compile(r"[\s,\"'\[\]{}=]+")


class ScenarioFiles:
    """Checks documents and what they lead to.

    Parameters:
        may_read: Whether a resolved path may be read.
        link: Makes a file available that the user uploaded under this name, beside the others; None
            if there is none.
    """

    def __init__(
        self, may_read: Callable[[Path], bool], link: Callable[[str], Path | None]
    ) -> None:
        self._may_read, self._link = may_read, link
        self._checked: set[Path] = set()
        self.python = False
        """Whether a document names a scheduler in Python."""

    def check_file(self, path: Path) -> None:
        """Check a document. Raises RefusedRequest."""
        if path in self._checked:
            return
        self._checked.add(path)
        if len(self._checked) > MOST:
            raise RefusedRequest(f"{path.name}: more than {MOST} files lead to each other")
        try:
            with path.open("rb") as file:
                content = file.read(LARGEST + 1)
        except OSError as error:
            raise RefusedRequest(f"{path.name}: {error.strerror}") from None
        if len(content) > LARGEST:
            raise RefusedRequest(f"{path.name}: expected at most 16 MiB")
        self._check_content(content, path.parent, path.name)

    def check_stored(self, name: str, folder: Path) -> None:
        """Check the scenario of a result in the store. Raises RefusedRequest."""
        from headrace.simulate.stored_results import stored_scenario
        from headrace.store import StoreError, StoreFailure

        try:
            text, _ = stored_scenario(name)
        except (StoreError, StoreFailure, OSError) as error:
            raise RefusedRequest(str(error)) from None
        self._check_content(text.encode(), folder, name)

    def check_scenario(self, text: str, folder: Path) -> None:
        """Check the text of a scenario that is in no file. Raises RefusedRequest."""
        self._check_content(text.encode(), folder, "the scenario")

    def check_setting(self, text: str) -> None:
        """Note whether PATH=VALUE may make the scheduler one in Python."""
        if PYTHON.search(text) and "scheduler" in text.lower():
            self.python = True

    def check_text(self, text: str, folder: Path, name: str) -> None:
        """Check a text of a document in a folder. Raises RefusedRequest."""
        if len(text) > PATH_MAX:
            return
        parts = PurePosixPath(text).parts
        outside = text.startswith(("/", "~")) or ".." in parts
        try:
            path = (folder / text).resolve()
            exists = path.is_file() or (folder / text).is_symlink()
        except (OSError, ValueError, RuntimeError):
            if outside or "\0" in text:
                raise RefusedRequest(f"{name}: {text!r} is no path") from None
            return
        if (outside or exists) and not self._may_read(path):
            raise RefusedRequest(
                f"{name} names {text!r}, which is outside of the directories that the operator"
                " allows"
            )
        # An upload: a sibling of an uploaded document, or uploads/NAME of another one.
        beside = len(parts) == 1 and folder.name == LINKS
        below = len(parts) == 2 and parts[0] == LINKS and folder.name != LINKS
        if not exists and (beside or below):
            exists = self._link(parts[-1]) is not None
        if exists and path.suffix == ".toml":
            self.check_file(path)

    def _check_content(self, content: bytes, folder: Path, name: str) -> None:
        try:
            document = _parsed(content)
        except (ValueError, RecursionError) as error:
            raise RefusedRequest(f"{name}: expected TOML or a saved result: {error}") from None
        try:
            for text in _texts(document):
                self.check_text(text, folder, name)
            self.python = self.python or _names_python(document)
        except RecursionError:
            raise RefusedRequest(f"{name}: its tables are nested too deeply") from None


def texts_of_setting(text: str, name: str) -> Iterator[str]:
    """Yield the texts that PATH=VALUE or PATH=VALUES may put into a scenario.

    Raises RefusedRequest if they cannot be told.
    """
    _, _, value = text.partition("=")
    try:
        yield from _texts([tomllib.loads(f"value = {value}")["value"]])
    except (ValueError, RecursionError):
        if "\\" in value:
            raise RefusedRequest(f"{name}: {text[:200]!r}: expected no backslash", name) from None
    yield value.strip()
    yield from (it for it in SEPARATORS.split(value) if it)


def is_inside(path: Path, directories: Iterable[Path]) -> bool:
    """Return whether a resolved path is a directory or below one."""
    return any(path.is_relative_to(it.resolve()) for it in directories)


def _parsed(content: bytes) -> Any:
    if not content.lstrip().startswith(b"{"):
        return tomllib.loads(content.decode())
    document = json.loads(content)
    scenario = document.get("scenario")
    text = scenario.get("toml") if isinstance(scenario, dict) else None
    # Nothing else of a saved result is loaded.
    return tomllib.loads(text) if isinstance(text, str) else {}


def _texts(document: Any) -> Iterator[str]:
    """Yield all texts of a document."""
    waiting = [
        value
        for key, value in (document.items() if isinstance(document, dict) else enumerate(document))
        if not (key in PROSE and isinstance(value, str))
    ]
    while waiting:
        it = waiting.pop()
        if isinstance(it, str):
            yield it
        elif isinstance(it, dict):
            waiting += it.values()
        elif isinstance(it, list):
            waiting += it


def _names_python(document: Any) -> bool:
    """Return whether a scheduler of a document is one in Python."""
    waiting = [document]
    while waiting:
        it = waiting.pop()
        if isinstance(it, list):
            waiting += it
        elif isinstance(it, dict):
            if "python" in it or it.get("kind") == "python":
                return True
            scheduler = it.get("scheduler")
            if scheduler == "python" or (isinstance(scheduler, dict) and "class" in scheduler):
                return True
            waiting += it.values()
    return False

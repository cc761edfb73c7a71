"""Files and code that scenarios, worksheets and saved results name.

Every text of a document is checked, whatever its key is, so that new fields are covered. A text is
a path if it is absolute, leads upwards, or names a file in the folder of the document.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from headrace.web.access import document_texts
from headrace.web.access.document_texts import texts
from headrace.web.jobs.directory import LINKS
from headrace.web.jobs.job import RefusedRequest

LARGEST = 16 << 20
"""Bytes of a document, as of a system's file."""
PATH_MAX = 4096
"""Bytes of a path at the most, in Linux."""
MOST = 64
"""Documents that lead to each other."""
LONGEST_SETTING = 10_000
PYTHON = re.compile(r"(?:^|[^A-Za-z])(?:python|class)(?:[^A-Za-z]|$)", re.IGNORECASE)
CODE = re.compile(r"scheduler|memory|cache|servers", re.IGNORECASE)
"""Sections that can name a class in Python."""
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
        """Whether a document names a scheduler or a replacement policy in Python."""

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
        """Note whether PATH=VALUE may make a scheduler or replacement policy one in Python."""
        if PYTHON.search(text) and CODE.search(text):
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
        found = _read(content)
        if "error" in found:
            raise RefusedRequest(f"{name}: expected TOML or a saved result: {found['error']}")
        for text in found["texts"]:
            self.check_text(text, folder, name)
        self.python = self.python or found["python"]


def texts_of_setting(text: str, name: str) -> Iterator[str]:
    """Yield the texts that PATH=VALUE or PATH=VALUES may put into a scenario.

    Raises RefusedRequest if they are not clear.
    """
    if len(text) > LONGEST_SETTING:
        raise RefusedRequest(f"{name}: {text[:100]!r}: expected at most 10,000 characters", name)
    _, _, value = text.partition("=")
    try:
        yield from texts({"value": tomllib.loads(f"value = {value}")["value"]})
    except (ValueError, RecursionError):
        if "\\" in value:
            raise RefusedRequest(f"{name}: {text[:200]!r}: expected no backslash", name) from None
    yield value.strip()
    yield from (it for it in SEPARATORS.split(value) if it)


def is_inside(path: Path, directories: Iterable[Path]) -> bool:
    """Return whether a resolved path is a directory or below one."""
    return any(path.is_relative_to(it.resolve()) for it in directories)


def _read(content: bytes) -> dict[str, Any]:
    """Return the texts of a document, as another process reads them."""
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", document_texts.__file__],
            input=content,
            capture_output=True,
            timeout=60,
        )
        found: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return {"error": "it takes too long to read"}
    return found

"""Trust in the Python files that a run may execute: a user's scheduler is code with all of the
user's rights.

A file is trusted by its content, wherever it is; by its directory, if `HEADRACE_TRUST` names that;
or for one run, by the caller.
"""

import contextlib
import os
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias

VARIABLE = "HEADRACE_TRUST"
"""Directories whose files are trusted, as PATH has them."""

Ask: TypeAlias = Callable[[Path, str], bool]
"""Asks whether a file, whose SHA-256 is given, is trusted."""


class UntrustedCode(Exception):
    """A Python file is not trusted."""


class Trust:
    """Trust settings of a run.

    Parameters:
        everything: Whether all code is trusted.
        files: Files to trust permanently, with their present content.
        ask: Function that asks the user about other files; its answer is remembered.
        digests: SHA-256 of contents to trust for this run.

    Raises:
        OSError: if one of the files cannot be read.

    Examples:
        >>> from pathlib import Path
        >>> from headrace.simulate import Trust
        >>> trust, file = Trust(everything=True), Path("scenarios/shortest.py")
        >>> trust.require(file, file.read_bytes())
        >>> len(trust.accepted)
        1
    """

    def __init__(
        self,
        *,
        everything: bool = False,
        files: Iterable[Path] = (),
        ask: Ask | None = None,
        digests: Iterable[str] = (),
    ) -> None:
        self._everything = everything
        self._ask = ask
        self._accepted = set(digests)
        for file in files:
            self._accept(file, sha256(file.read_bytes()).hexdigest())

    @property
    def accepted(self) -> frozenset[str]:
        """The SHA-256 of all contents that were required and are trusted."""
        return frozenset(self._accepted)

    def require(self, file: Path, content: bytes) -> None:
        """Raise UntrustedCode if a file of this content is not trusted."""
        digest = sha256(content).hexdigest()
        if digest in self._accepted:
            return
        if self._everything or _in_trusted_directory(file) or digest in remembered():
            self._accepted.add(digest)
            return
        if self._ask is not None and self._ask(file, digest):
            self._accept(file, digest)
            return
        raise UntrustedCode(
            f"{file} (SHA-256 {digest[:16]}…) is Python code with all of your rights, and"
            f" it is not trusted yet: read it, then add --trust {file}, or trust=True in Python"
        )

    def _accept(self, file: Path, digest: str) -> None:
        self._accepted.add(digest)
        if digest not in remembered():
            # If the list cannot be saved, the file is trusted for this run.
            with contextlib.suppress(OSError):
                _remember(file, digest)


def trust_of(given: bool | Trust) -> Trust:
    """Return the trust settings for a run's `trust` argument."""
    return given if isinstance(given, Trust) else Trust(everything=given)


def list_of_trusted() -> Path:
    """The user's list: lines with the SHA-256 of a file and where it lay, as sha256sum has them."""
    # Only here: it takes some milliseconds to import.
    from platformdirs import user_config_path

    return user_config_path("headrace", appauthor=False) / "trusted-code"


def remembered() -> set[str]:
    """The SHA-256 of all files on the user's list."""
    try:
        text = list_of_trusted().read_text(encoding="utf-8", errors="replace")
    except OSError:
        return set()
    return {line.split()[0] for line in text.splitlines() if line.strip()}


def _remember(file: Path, digest: str) -> None:
    path = list_of_trusted()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    line = f"{digest}  {str(file.absolute()).encode('unicode_escape').decode()}\n"
    written = os.open(path, flags, 0o600)
    try:
        os.write(written, line.encode())
    finally:
        os.close(written)


def _in_trusted_directory(file: Path) -> bool:
    real = file.resolve()
    named = os.environ.get(VARIABLE, "").split(os.pathsep)
    return any(real.is_relative_to(Path(path).resolve()) for path in named if path)

"""Anonymise a trace: replace the names of files and processes."""

import functools
import hashlib
import re
from base64 import b32encode
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from headrace.progress_events import OnCount
from headrace.trace.batches import Reader, SkippedLine, skipped_kinds
from headrace.trace.edit import Edit
from headrace.trace.trace import Imported, open_trace, write_trace

KEPT = ("", ".", "..")
"""Components of a name that say where it leads, and nothing more."""
BYTES = 10
"""Bytes of a new name, 16 letters. Two of a billion names are equal with a probability of 4e-7."""
EXTENSION = re.compile(r".+(\.[A-Za-z0-9]{1,8})$", re.DOTALL)


class AnonymousReader(Edit):
    """A trace in which each component of a file's name is replaced, and each process's name.

    Equal components get equal new names, so that the tree of directories stays. The new name is the
    keyed hash BLAKE2b (RFC 7693): without the key it does not show the old one.
    """

    def __init__(self, source: Reader, key: str, *, keep_extensions: bool = False) -> None:
        super().__init__(source)
        self._component = component_names(key, keep_extensions=keep_extensions)
        self._process = component_names(key, person=b"process")

    def file_names(self, numbers: Sequence[int]) -> list[str]:
        names = self._source.file_names(numbers)
        return ["/".join(map(self._component, name.split("/"))) for name in names]

    def process_names(self, numbers: Sequence[int]) -> list[str]:
        return [self._process(name) for name in self._source.process_names(numbers)]

    def skipped(self) -> str:
        # The examples of skipped lines have names.
        return without_texts(self._source.skipped())


def component_names(
    key: str, *, keep_extensions: bool = False, person: bytes = b"file"
) -> Callable[[str], str]:
    """Return a function that gives each component its new name, for a key.

    With `keep_extensions` the new name has the old one's extension of up to eight letters and
    digits.
    """
    secret = hashlib.blake2b(key.encode("utf-8", "surrogateescape")).digest()

    @functools.lru_cache(maxsize=1 << 16)
    def renamed(component: str) -> str:
        if component in KEPT:
            return component
        content = component.encode("utf-8", "surrogateescape")
        hashed = hashlib.blake2b(content, key=secret, digest_size=BYTES, person=person).digest()
        match = EXTENSION.fullmatch(component) if keep_extensions else None
        return b32encode(hashed).decode("ascii").lower() + (match[1] if match else "")

    return renamed


def without_texts(skipped: str) -> str:
    """Return a reader's list of skipped lines without their texts."""
    kinds = [
        msgspec.structs.replace(kind, examples=[SkippedLine(one.line, "") for one in kind.examples])
        for kind in skipped_kinds(skipped)
    ]
    return msgspec.json.encode(kinds).decode()


def anonymise_trace(
    source: str | Path,
    target: str | Path,
    key: str,
    *,
    keep_extensions: bool = False,
    format: str | None = None,
    target_format: str | None = None,
    on_progress: OnCount | None = None,
) -> Imported:
    """Write a trace with new names. The same key and names give the same new names.

    `on_progress` is called with the records written so far. Raises as `import_trace`, and
    ValueError if the key is empty.

    Examples:
        >>> source = "tests/data/traces/copy.strace"
        >>> hr.trace.anonymise_trace(source, "new.csv", "a secret").records
        142
        >>> hr.trace.frame(hr.trace.open_trace("new.csv"))["file"][0]
        '/obmfyy6c5drjuiu7/qduekibzx2s6almr'
    """
    if not key:
        raise ValueError("the key is empty: expected a text that nobody guesses")
    reader = AnonymousReader(open_trace(source, format), key, keep_extensions=keep_extensions)
    return write_trace(reader, Path(target), target_format, on_progress)

"""The command line: the same calls as the Python API, with tables for people.

This module imports little: Ctrl-C must find it ready.
"""

import codecs
import contextlib
import gc
import io
import os
import sys
import unicodedata
from typing import TYPE_CHECKING, NoReturn

from headrace import interruption

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

YOUNG_OBJECTS = 100_000
"""Objects between two collections of garbage. Imports make that many and hardly any garbage: by
default a tenth of a short command is spent looking for it."""


def main() -> NoReturn:
    """Run the command line and ends the process with its exit status."""
    gc.set_threshold(YOUNG_OBJECTS)
    interruption.end_at_once()
    _open_streams()
    use_similar_characters()
    from headrace.cli.app import run

    status = interruption.run_interruptible(lambda: run(sys.argv[1:]))
    try:
        sys.stdout.flush()
    except OSError:
        # Whoever read the output has gone, or the disk is full: nothing more can be written.
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = status or 1
    if _Closed.lost_output and status == 0:
        print("cannot write: standard output is closed", file=sys.stderr)
        status = 1
    # Python would look for garbage once more in all modules, whose memory the system frees anyway.
    gc.freeze()
    sys.exit(status)


def _open_streams() -> None:
    """Open the standard streams that were closed: else the first file would take their place."""
    # Each takes the lowest number that is free; commands started from here have them as well.
    if sys.stdin is None:
        os.set_inheritable(os.open(os.devnull, os.O_RDONLY), True)
    if sys.stdout is None:
        sys.stdout = _text(_Closed(os.devnull, "w"))
    if sys.stderr is None:
        sys.stderr = _text(io.FileIO(os.devnull, "w"))


class _Closed(io.FileIO):
    """Standard output that was closed: what is written is lost, and known to be."""

    lost_output = False

    def write(self, content: "ReadableBuffer", /) -> int:
        """Write nothing, and remember that there was something."""
        _Closed.lost_output = True
        return super().write(content)


def _text(file: io.FileIO) -> io.TextIOWrapper:
    os.set_inheritable(file.fileno(), True)
    return io.TextIOWrapper(io.BufferedWriter(file), encoding="utf-8")


def use_similar_characters() -> None:
    """Let the standard streams write similar characters for those that their encoding lacks.

    In the locales C and POSIX the encoding is ASCII.
    """
    codecs.register_error(SIMILAR, _similar)
    encoding = "ascii" if _is_ascii_locale() else None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=encoding, errors=SIMILAR)


def _is_ascii_locale() -> bool:
    """Return whether the environment names the locale C or POSIX, or no locale.

    Python takes UTF-8 for these (PEP 538 and PEP 540), other programs take ASCII. An encoding that
    PYTHONIOENCODING or PYTHONUTF8 states has priority.
    """
    if os.environ.get("PYTHONIOENCODING", "").partition(":")[0]:
        return False
    if os.environ.get("PYTHONUTF8") == "1":
        return False
    names = (os.environ.get("LC_ALL"), _character_type(), os.environ.get("LANG"))
    return next(filter(None, names), "C") in ("C", "POSIX")


def _character_type() -> str:
    """Return LC_CTYPE as it was before Python started, which may change it (PEP 538)."""
    if "LC_CTYPE" not in os.environ:
        return ""
    try:
        with open("/proc/self/environ", "rb") as file:
            variables = file.read().split(b"\0")
    except OSError:
        return os.environ["LC_CTYPE"]
    for variable in variables:
        name, _, value = variable.partition(b"=")
        if name == b"LC_CTYPE":
            return value.decode("ascii", "replace")
    return ""


SIMILAR = "headrace-similar"
"""Name of the error handler that writes similar characters."""
SIMILAR_CHARACTERS = {
    character: similar
    for characters, similar in (
        ("\N{MICRO SIGN}\N{GREEK SMALL LETTER MU}", "u"),
        ("\N{EN DASH}\N{EM DASH}\N{MINUS SIGN}─━═╌", "-"),
        ("│┃║", "|"),
        ("┌┐└┘├┤┬┴┼╭╮╰╯╞╡╪", "+"),
        ("█▉▊▋▌▍▎▏▇▆▅▄▃▂▁●■", "#"),
        ("\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}", "'"),
        ("“”", '"'),
        ("\N{MULTIPLICATION SIGN}", "x"),
        ("·•", "*"),
        ("…", "..."),
        ("→", "->"),
        ("←", "<-"),
        ("±", "+-"),
        ("≥", ">="),
        ("≤", "<="),
        ("≈", "~"),
        ("∞", "inf"),
        ("°", " deg"),
    )
    for character in characters
}
"""Characters in ASCII for those that an encoding lacks."""


def _similar(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(map(_similar_character, lacking)), error.end


def _similar_character(character: str) -> str:
    if character in SIMILAR_CHARACTERS:
        return SIMILAR_CHARACTERS[character]
    # Letters without their accents.
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "?"

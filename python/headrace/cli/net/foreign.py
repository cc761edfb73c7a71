"""Nets in files of other tools, and `headrace net export`."""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

from headrace.commands.parameters import Help, Word
from headrace.files import atomic_file, check_apart, check_writable
from headrace.plain_text import plain_line

if TYPE_CHECKING:
    from headrace.net import NetModel

NetFile = A[Path, Word(metavar="FILE", is_argument=True), Help("Net: .toml, .json, .cpn or .pnml.")]


@contextmanager
def left_out_reported() -> Iterator[None]:
    """Print on standard error what a file of another tool leaves out."""
    from headrace.net import LeftOutWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LeftOutWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, LeftOutWarning):
            print(plain_line(str(warning.message)), file=sys.stderr)
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def load_net(file: Path) -> "NetModel":
    """Read a net, and print what was not read.

    Raises:
        ScenarioError: It is wrong.
        ValueError: It is a scenario.
    """
    from headrace import ScenarioError
    from headrace.net import load

    try:
        with left_out_reported():
            return load(file)
    except ScenarioError as error:
        # Every scenario names its system.
        if '"system" has no meaning here' in str(error):
            raise ValueError(
                f"{file}: expected a net of your own, but this is a scenario: headrace run {file}"
                f" runs it, and headrace net {file} -o net.toml writes its net"
            ) from None
        raise


def export(
    file: NetFile,
    output: A[
        Path, Word(short="-o"), Help("File to write: .toml, .json, .cpn (CPN Tools) or .pnml.")
    ],
) -> None:
    """Write a net of your own in another format."""
    from headrace.net.model import check_ending, encode

    check_apart({"--output": output}, {"the net": file})
    check_ending(output)
    check_writable(output)
    model = load_net(file)
    with left_out_reported():
        data = encode(model.document(), output)
    with atomic_file(output) as partial:
        partial.write_bytes(data)

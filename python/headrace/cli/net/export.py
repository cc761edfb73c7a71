"""`headrace net export`."""

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.net.foreign import left_out_reported, load_net
from headrace.cli.net.run import NetFile
from headrace.files import atomic_file, check_apart, check_writable


def export(
    file: NetFile,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write: .toml, .json, .cpn (CPN Tools) or .pnml.",
        ),
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

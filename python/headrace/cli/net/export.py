"""`headrace net export`."""

from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.net.run import NetFile
from headrace.files import atomic_file, check_apart, check_writable


def export(
    file: NetFile,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="File to write, in TOML or JSON."),
    ],
) -> None:
    """Write a net of your own in the other language of documents."""
    from headrace.net.model import FORMATS, as_text, load, read_document

    check_apart({"--output": output}, {"the net": file})
    format = FORMATS.get(output.suffix.lower())
    if format is None:
        raise ValueError(
            f"--output {output}: nets are exported as TOML or JSON: expected a name that ends in"
            " .toml or .json"
        )
    check_writable(output)
    load(file)
    text = as_text(read_document(file), format)
    with atomic_file(output) as partial:
        partial.write_text(text, encoding="utf-8")

"""`headrace design init`."""

import errno
from pathlib import Path
from typing import Annotated

import typer

from headrace.design.document_file import Kind
from headrace.files import atomic_file, check_writable
from headrace.plain_text import plain_line


def init(
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="File to write; by default worksheet.toml or catalogue.toml."
        ),
    ] = None,
    example: Annotated[
        str | None,
        typer.Option(
            "--example", metavar="NAME", help="Write an example instead: lab, video or hpc."
        ),
    ] = None,
    catalogue: Annotated[
        bool, typer.Option("--catalogue", help="Write the form of a catalogue.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite FILE if it exists.")] = False,
) -> None:
    """Write a worksheet to fill in: each question with its unit, default and example.

    The form is a valid worksheet. Leave unknown answers out; headrace design check lists them.
    """
    from headrace.design import forms

    if example is not None and catalogue:
        raise ValueError("--example: the examples are worksheets: expected no --catalogue")
    kind: Kind = "catalogue" if catalogue else "worksheet"
    text = forms.form(kind) if example is None else forms.example(example)
    path = Path(f"{kind}.toml") if file is None else file
    if path.is_file() and not force:
        raise FileExistsError(
            errno.EEXIST, "exists: choose another name, or overwrite it with --force", str(path)
        )
    check_writable(path)
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
    if path.is_file():
        action = "design catalogue" if catalogue else "design check"
        print(plain_line(f"{path}: written. Fill it in, then: headrace {action} {path}"))

"""`headrace design catalogue`."""

from typing import Annotated

import typer

from headrace.cli.options import AsJson, Sets
from headrace.cli.screen import print_document, print_json, show_view


def catalogue(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="FILE",
            help="Catalogue in TOML, or the name of a shipped one; by default example-2026.",
        ),
    ] = None,
    text: Annotated[
        bool,
        typer.Option("--toml", help="Print it as TOML, to be saved and changed."),
    ] = False,
    sets: Sets = None,
    as_json: AsJson = False,
) -> None:
    """Check a catalogue and list what can be bought: disks, nodes, shelves, networks."""
    from headrace.design.catalogue_file import catalogue_source, load_catalogue, shipped_catalogues

    if text and as_json:
        raise ValueError("--toml: expected no --json beside it")
    loaded = load_catalogue(file, sets or [])
    if as_json:
        print_json(loaded.catalogue)
    elif text:
        source = None if sets else catalogue_source(file)
        print_document((loaded.text if source is None else source).encode())
    else:
        from headrace.views.catalogue import view

        show_view(view(loaded.catalogue, shipped_catalogues()))

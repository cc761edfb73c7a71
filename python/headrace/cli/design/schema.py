"""`headrace design schema`."""

import json
from typing import Annotated

import typer

from headrace import _core


def schema(
    catalogue: Annotated[
        bool, typer.Option("--catalogue", help="Print the schema of catalogues.")
    ] = False,
) -> None:
    """Print the JSON Schema of worksheets or catalogues, for editors."""
    kind = "catalogue" if catalogue else "worksheet"
    print(json.dumps(json.loads(_core.document_schema(kind)), indent=2))

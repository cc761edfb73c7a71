"""`headrace bench clean`."""

import json
from typing import Annotated

import typer

from headrace.cli.bench.run import BelowDirectory
from headrace.report.plain import plain_line


def clean(
    directory: BelowDirectory,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what was done as one JSON document.")
    ] = False,
) -> int:
    """Remove what killed benchmarks have left below DIR.

    Only directories that carry a benchmark's mark and whose benchmark is not running.
    """
    from headrace import measure

    removed, left = measure.clean(directory)
    if as_json:
        document = {
            "removed": [str(path) for path in removed],
            "left": [{"path": str(path), "reason": reason} for path, reason in left],
        }
        print(json.dumps(document, indent=2))
    else:
        for path in removed:
            print(plain_line(f"removed {path}"))
        for path, reason in left:
            print(plain_line(f"left {path}: {reason}"))
        if not removed and not left:
            print("nothing was left behind")
    return 0

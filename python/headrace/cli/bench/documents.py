"""What commands do with a benchmark's document: keep, print, save."""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from headrace.cli.keeping import kept
from headrace.cli.screen import show
from headrace.ending import failed
from headrace.files import save_json
from headrace.host import this_host
from headrace.interruption import INTERRUPTED

Document = Mapping[str, Any]


def keep(document: Document, started: datetime, labels: Mapping[str, str] | None) -> str | None:
    """Keeps a document without tables in the store; gives its identifier."""
    from headrace import store

    return kept(
        lambda: store.open().add(
            document, kind=str(document["kind"]), started=started, labels=labels
        )
    )


def tell(
    document: Document,
    as_json: bool,
    table: Callable[[Document], RenderableType],
    identifier: str | None,
) -> None:
    """Prints a document as JSON, or as a table for people."""
    if as_json:
        print(json.dumps(document, allow_nan=False, indent=2))
        return
    if identifier is not None:
        print(f"in the store: {identifier}")
    show(table(document))


def save(document: Document, output: Path | None) -> None:
    """Saves a document, if a file is given: last of all, so that what is printed is not lost
    with a disk that is full."""
    if output is not None:
        save_json(output, {**document, "host": this_host()})


def status(stop: Mapping[str, Any]) -> int:
    """How a benchmark's command ends: what was measured until then has been shown."""
    match stop["reason"]:
        case "interrupted":
            return INTERRUPTED
        case "failed":
            return failed(str(stop["error"]), 1)
        case _:
            return 0

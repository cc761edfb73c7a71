"""Save, print and plot the document of a benchmark."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from headrace.cli.bench.csv_output import write_csv
from headrace.cli.bench.resume import Saver, print_resume_command
from headrace.cli.screen import show
from headrace.cli.store_options import save_to_store
from headrace.exit_codes import report_failure
from headrace.files import STANDARD_OUTPUT, save_json
from headrace.host import this_host
from headrace.interruption import INTERRUPTED

Document = Mapping[str, Any]


@dataclass(frozen=True)
class Destination:
    """Destinations of a document without tables: file, store, standard output, plot."""

    as_json: bool
    output: Path | None
    plot: Path | None
    stored: bool
    labels: Mapping[str, str] | None
    csv: Path | None = None

    def save_so_far(self, document: Document) -> None:
        """Save the partial result."""
        self._save(Saved(document))

    @cached_property
    def _save(self) -> Saver:
        return Saver(self.output, self.stored)

    def finish(
        self,
        document: Document,
        table: Callable[[Document], RenderableType],
        draw: Callable[[Path, Document], object],
    ) -> int:
        """Save, print and draw the document; name the command that resumes it. Return the exit
        status."""
        identifier = None
        if self.stored and (document.get("steps") or document.get("messages")):
            identifier = _save_to_store(document, self.labels)
            if identifier is not None:
                self._save.discard()
        print_result(document, self.as_json, table, identifier, self.csv)
        if self.plot is not None and document["stop"]["reason"] == "done":
            draw(self.plot, document)
        output = self._save.output
        if output is not None:
            # Last: what is printed is not lost with a disk that is full.
            Saved(document).save(output)
        print_resume_command(document["stop"], output, identifier)
        return status(document["stop"])


@dataclass(frozen=True)
class Saved:
    """A document that can be saved before it is complete."""

    document: Document

    def save(self, path: Path) -> None:
        """Save it as JSON."""
        save_json(path, {**self.document, "host": this_host()})


def _save_to_store(document: Document, labels: Mapping[str, str] | None) -> str | None:
    """Save a document in the store and return its identifier."""
    from headrace import store

    return save_to_store(
        lambda: store.open().add(document, kind=str(document["kind"]), labels=labels)
    )


def print_result(
    document: Document,
    as_json: bool,
    table: Callable[[Document], RenderableType],
    identifier: str | None,
    csv: Path | None = None,
) -> None:
    """Print a document as JSON, as CSV or as tables, or write CSV to a file."""
    if as_json:
        print(json.dumps(document, allow_nan=False, indent=2))
    elif csv != STANDARD_OUTPUT:
        if identifier is not None:
            print(f"in the store: {identifier}")
        show(table(document))
    if csv is not None:
        write_csv(csv, document)


def status(stop: Mapping[str, Any]) -> int:
    """Return the exit status of a benchmark. Its results have been shown already."""
    match stop["reason"]:
        case "interrupted":
            return INTERRUPTED
        case "failed":
            return report_failure(str(stop["error"]), 1)
        case _:
            return 0

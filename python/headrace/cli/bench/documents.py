"""Save, print and plot the document of a benchmark, and write it as comma-separated values."""

import json
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from typing import Annotated as A

from headrace.cli.bench.resume import Saver, print_resume_command
from headrace.cli.screen import print_document, show_view
from headrace.cli.store_options import save_to_store
from headrace.commands.parameters import Help, Word
from headrace.exit_codes import report_failure
from headrace.file_formats import FileFormat
from headrace.files import STANDARD_OUTPUT, atomic_file, check_writable, save_json
from headrace.host import this_host
from headrace.interruption import INTERRUPTED, EndedBySignal
from headrace.kinds import blocks
from headrace.plain_text import plain_line

if TYPE_CHECKING:
    import polars as pl

    from headrace.render.blocks import View

Document = Mapping[str, Any]
Csv: TypeAlias = A[
    Path | None, Word("--csv"), Help("Write the figures as CSV; - for standard output.")
]


@dataclass(frozen=True)
class Destination:
    """Destinations of a document without tables: file, store, standard output, plot."""

    as_json: bool
    output: Path | None
    plot: Path | None
    stored: bool
    labels: Mapping[str, str] | None
    csv: Path | None = None
    resumes: bool = True
    """True if the command can resume from the document."""

    def save_so_far(self, document: Document) -> None:
        """Save the partial result."""
        self._save(Saved(document))

    @cached_property
    def _save(self) -> Saver:
        return Saver(self.output, self.stored)

    def finish(self, document: Document) -> int:
        """Save, print and draw the document; name the command that resumes it. Return the exit
        status."""
        identifier = None
        if self.stored and any(document.get(part) for part in ("steps", "messages", "pairs")):
            identifier = _save_to_store(document, self.labels)
            if identifier is not None:
                self._save.discard()
        plot = self.plot if document["stop"]["reason"] == "done" else None
        print_result(document, self.as_json, identifier, self.csv, plot)
        output = self._save.output
        if output is not None:
            # Last: what is printed is not lost with a disk that is full.
            Saved(document).save(output)
        if self.resumes:
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
    identifier: str | None,
    csv: Path | None = None,
    plot: Path | None = None,
    tables: Mapping[str, "pl.DataFrame"] | None = None,
) -> None:
    """Print a document as JSON, as CSV or as tables; write CSV to a file and its pictures to a
    directory. `tables` has what the document lacks, by names in the store."""
    view: View = ()
    if not as_json or csv is not None or plot is not None:
        view = blocks(str(document["kind"]), document, **(tables or {}))
    if as_json:
        print(json.dumps(document, allow_nan=False, indent=2))
    elif csv != STANDARD_OUTPUT:
        if identifier is not None:
            print(f"in the store: {identifier}")
        show_view(view)
    if csv is not None:
        write_csv(csv, view)
    if plot is not None:
        from headrace.render import pictures

        pictures.save(plot, view)
        if not as_json and csv != STANDARD_OUTPUT:
            print(plain_line(f"plots: {plot}"))


def status(stop: Mapping[str, Any], stop_signal: int | None = None) -> int:
    """Return the exit status of a benchmark. Its results have been shown already. Raises
    EndedBySignal if a signal other than Ctrl-C ended it."""
    match stop["reason"]:
        case "interrupted":
            if stop_signal not in (None, signal.SIGINT):
                raise EndedBySignal(stop_signal)
            return INTERRUPTED
        case "failed":
            return report_failure(str(stop["error"]), 1)
        case _:
            return 0


def check_csv(path: Path | None, as_json: bool) -> None:
    """Check that CSV can be written. Raises ValueError or OSError if it cannot."""
    if path == STANDARD_OUTPUT and as_json:
        raise ValueError("--csv -: standard output has the JSON document: expected a file")
    if path is not None and path != STANDARD_OUTPUT:
        check_writable(path, FileFormat.CSV)


def write_csv(path: Path, view: "View") -> None:
    """Write a view's records, a header and a row for each. Raises OSError if it cannot."""
    from headrace.render.csv import text

    if path == STANDARD_OUTPUT:
        print_document(text(view).encode())
        return
    with atomic_file(path) as partial:
        partial.write_text(text(view), encoding="utf-8")

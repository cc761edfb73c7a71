"""`headrace profile report`."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from headrace.cli.screen import steps


def report(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The profile directory, as `profile` leaves it.")
    ],
) -> None:
    """Write report.html and report.pdf of a profile."""
    write_files(directory)


def write_files(directory: Path) -> None:
    """Write the report of a profile into its directory.

    Raises OSError if there is no profile, ValueError if it is damaged.
    """
    import msgspec

    from headrace.profile import document, recording
    from headrace.report.profile_report import write_report

    path = directory / document.FILE
    try:
        profile = document.from_json(path.read_bytes())
    except msgspec.DecodeError as error:
        raise ValueError(f"{path}: expected the document of a profile: {error}") from None
    with steps("write the report") as on_progress:
        rates, processes = recording.rates(directory), recording.processes(directory)
        try:
            written = write_report(
                directory, msgspec.to_builtins(profile), rates, processes, on_progress=on_progress
            )
        except (AttributeError, KeyError, TypeError) as error:
            # The environment and the parts of the trace have no types of their own.
            raise ValueError(f"{path}: expected the document of a profile: {error}") from None
    documents = [str(it) for it in written if it.suffix in (".html", ".pdf")]
    print(f"report: {', '.join(documents)}", file=sys.stderr)

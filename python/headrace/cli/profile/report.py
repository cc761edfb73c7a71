"""`headrace profile report`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

from headrace.cli.screen import steps
from headrace.commands.parameters import Help, Word

if TYPE_CHECKING:
    import polars as pl


def report(
    directory: A[
        Path,
        Word(metavar="DIR", is_argument=True),
        Help("The profile directory, as `profile` leaves it."),
    ],
) -> None:
    """Write report.html and report.pdf of a profile."""
    write_files(directory)


def write_files(directory: Path, rates: "pl.DataFrame | None" = None) -> None:
    """Write the report of a profile into its directory.

    `rates` are the figures of the host of its verdict; they are read if they are not given.

    Raises OSError if there is no profile, ValueError if it is damaged.
    """
    import msgspec

    from headrace.profile import document, recording
    from headrace.report.profile_report import listed, write_report

    path = directory / document.FILE
    try:
        profile = document.from_json(path.read_bytes())
    except ValueError as error:
        raise ValueError(f"{path}: expected the document of a profile: {error}") from None
    with steps("write the report") as on_progress:
        rates = recording.rates(directory, profile.host) if rates is None else rates
        processes = recording.processes(directory, profile.host)
        try:
            written = write_report(
                directory, msgspec.to_builtins(profile), rates, processes, on_progress=on_progress
            )
        except (AttributeError, KeyError, TypeError, msgspec.ValidationError) as error:
            # The environment and the parts of the trace have no types of their own.
            raise ValueError(f"{path}: expected the document of a profile: {error}") from None
    print(listed(written), file=sys.stderr)

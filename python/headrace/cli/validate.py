"""`headrace validate`."""

import json
from pathlib import Path
from typing import Annotated as A
from typing import Any

from headrace.cli.options import AsJson, PlotDirectory, ResultFile, TrustedFiles, trust
from headrace.cli.screen import progress, show_view
from headrace.commands.fields import ScenarioFile, Seed, Sets, with_runs
from headrace.commands.parameters import Help, Word
from headrace.file_formats import FileFormat
from headrace.files import check_directory, check_writable, save_json
from headrace.plain_text import plain_line


def validate(
    file: ScenarioFile,
    against: A[
        tuple[Path, ...],
        Word(metavar="RESULT"),
        Help("Measurement of the same workload, saved by headrace bench run -o; can be repeated."),
    ],
    sets: Sets = (),
    seed: Seed = None,
    trusted: TrustedFiles = (),
    as_json: AsJson = False,
    output: ResultFile = None,
    plot: PlotDirectory = None,
) -> None:
    """Simulate a scenario and compare it with measurements."""
    from headrace import validate

    check_writable(output, FileFormat.JSON)
    check_directory(plot)
    with progress("validate", True) as on_progress:
        found = validate.validate(
            file, against, sets=with_runs(sets, seed), progress=on_progress, trust=trust(trusted)
        )
    document = found.json()
    print_result(document, as_json, plot)
    if output is not None:
        save_json(output, document)


def print_result(document: dict[str, Any], as_json: bool, plot: Path | None) -> None:
    """Print predictions beside measurements, and draw them if a directory is given."""
    from headrace.views.validation import view

    shown = view(document)
    if as_json:
        print(json.dumps(document, allow_nan=False, indent=2))
    else:
        show_view(shown)
    if plot is not None:
        from headrace.render import pictures

        pictures.save(plot, shown)
        if not as_json:
            print(plain_line(f"plots: {plot}"))

"""`headrace sweep`."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.cli.binding import command
from headrace.cli.options import (
    AsJson,
    PlotDirectory,
    RunsDirectory,
    ShowProgress,
    TrustedFiles,
    trust,
)
from headrace.cli.screen import show_files, show_view, steps
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.studies import SweepRequest
from headrace.exit_codes import report_failure
from headrace.files import check_directory
from headrace.interruption import STOP_EXCEPTIONS

if TYPE_CHECKING:
    from headrace.sweeps import Sweep


def _sweep(
    request: SweepRequest,
    output: RunsDirectory = None,
    as_json: AsJson = False,
    plot: PlotDirectory = None,
    label: Labels = (),
    stored: Stored = True,
    trusted: TrustedFiles = (),
    show_progress: ShowProgress = True,
) -> int:
    from headrace import RunError

    labels = check_labels(label, stored)
    for directory in (plot, output):
        check_directory(directory)
    partial: list[Sweep] = []
    try:
        with steps("sweep") if show_progress else nullcontext() as on_progress:

            def tell(done: int, known: int) -> None:
                if on_progress is not None:
                    on_progress(done, known, "")

            swept = request.answer(
                directory=output, progress=tell, trust=trust(trusted), on_stop=partial.append
            )
    except (*STOP_EXCEPTIONS, RunError) as error:
        if partial:
            _print(partial[0], request.figure, as_json)
            error.add_note(_left(partial[0], output))
        raise
    if output is not None:
        swept.save(output)
    if plot is not None:
        from headrace.render import pictures
        from headrace.views.sweep import view

        pictures.save(plot, view(swept, request.figure))
    identifier = save_to_store(lambda: swept.keep(labels=labels)) if stored else None
    _print(swept, request.figure, as_json, {"tables": output, "plots": plot}, identifier)
    if swept.failed and as_json:
        return report_failure(swept.failure, 1)
    return 1 if swept.failed else 0


def _left(partial: "Sweep", output: Path | None) -> str:
    """Return how far a stopped sweep was, and where its runs are."""
    ended = f"{len(partial.runs):,} of {len(partial.runs) + partial.left:,} runs had ended"
    if output is None:
        return f"{ended}; --output DIR would keep them"
    return f"{ended} and are in {output}: the same command goes on"


def _print(
    swept: "Sweep",
    figure: str,
    as_json: bool,
    files: dict[str, Path | None] | None = None,
    identifier: str | None = None,
) -> None:
    if as_json:
        print(json.dumps(swept.json(), allow_nan=False, indent=2))
        return
    from headrace.views.sweep import view

    show_view(view(swept, figure))
    show_files(files or {})
    if identifier is not None:
        print(f"in the store: {identifier}")


sweep = command(SweepRequest, _sweep)

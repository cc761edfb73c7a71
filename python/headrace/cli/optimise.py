"""`headrace optimise`."""

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
from headrace.commands.studies import Optimise
from headrace.files import check_directory
from headrace.interruption import STOP_EXCEPTIONS

if TYPE_CHECKING:
    from headrace.optimisation import Optimum


def _optimise(
    request: Optimise,
    output: RunsDirectory = None,
    as_json: AsJson = False,
    plot: PlotDirectory = None,
    trusted: TrustedFiles = (),
    show_progress: ShowProgress = True,
) -> None:
    from headrace.optimisation import Infeasible

    for directory in (plot, output):
        check_directory(directory)
    partial: list[Optimum] = []
    try:
        bar = steps("optimise", "so far") if show_progress else nullcontext()
        with bar as on_progress:
            optimum = request.answer(
                directory=output,
                progress=on_progress or False,
                trust=trust(trusted),
                on_stop=partial.append,
            )
    except STOP_EXCEPTIONS as error:
        if partial:
            _print(partial[0], as_json)
            if output is not None:
                partial[0].save(output)
                error.add_note(f"finished runs are in {output}: the same command goes on")
        raise
    except Infeasible as error:
        if output is not None:
            error.optimum.save(output)
            error.add_note(f"all trials are in {output}")
        raise
    if output is not None:
        optimum.save(output)
    if plot is not None:
        from headrace.render import pictures
        from headrace.views.optimum import view

        pictures.save(plot, view(optimum))
    _print(optimum, as_json, {"trials and best.toml": output, "plots": plot})


def _print(optimum: "Optimum", as_json: bool, files: dict[str, Path | None] | None = None) -> None:
    if as_json:
        print(json.dumps(optimum.json(), allow_nan=False, indent=2))
        return
    from headrace.views.optimum import view

    show_view(view(optimum))
    show_files(files or {})


optimise = command(Optimise, _optimise)

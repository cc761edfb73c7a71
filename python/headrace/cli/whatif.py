"""`headrace whatif`."""

import json
from contextlib import nullcontext

from headrace.cli.binding import command
from headrace.cli.options import (
    AsJson,
    PlotDirectory,
    ResultFile,
    ShowProgress,
    TrustedFiles,
    trust,
)
from headrace.cli.screen import show_files, show_view, steps
from headrace.commands.studies import WhatIfRequest
from headrace.file_formats import FileFormat
from headrace.files import check_directory, check_writable, save_json
from headrace.kinds import blocks


def _whatif(
    request: WhatIfRequest,
    as_json: AsJson = False,
    output: ResultFile = None,
    plot: PlotDirectory = None,
    trusted: TrustedFiles = (),
    show_progress: ShowProgress = True,
) -> None:
    check_writable(output, FileFormat.JSON)
    check_directory(plot)
    with steps("whatif") if show_progress else nullcontext() as on_progress:
        document = request.answer(on_progress or False, trust(trusted)).json()
    view = blocks("whatif", document)
    if plot is not None:
        from headrace.render import pictures

        pictures.save(plot, view)
    if output is not None:
        save_json(output, document)
    if as_json:
        print(json.dumps(document, allow_nan=False, indent=2))
        return
    show_view(view)
    show_files({"plots": plot})


whatif = command(WhatIfRequest, _whatif)

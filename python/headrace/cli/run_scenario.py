"""`headrace run`."""

import contextlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

from headrace.cli.options import (
    AsJson,
    PlotDirectory,
    ResultFile,
    ShowProgress,
    TrustedFiles,
    trust,
)
from headrace.cli.screen import progress, show_files, show_view
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.fields import Replications, ScenarioFile, Seed, Sets, with_runs
from headrace.commands.parameters import Help
from headrace.file_formats import FileFormat
from headrace.files import check_apart, check_directory, check_writable

if TYPE_CHECKING:
    from headrace.simulate import Result

FRAMES = 200
"""Frames of `--playback`, or up to twice as many."""


def run(
    file: ScenarioFile,
    sets: Sets = (),
    seed: Seed = None,
    replications: Replications = None,
    as_json: AsJson = False,
    plot: PlotDirectory = None,
    requests: A[Path | None, Help("Write every request to a Parquet file.")] = None,
    playback: A[
        Path | None, Help("Write frames of the run to a Parquet file, for headrace net --playback.")
    ] = None,
    over_time: A[
        bool, Help("Record dirty data, cache hits and queues over time, for the result and --plot.")
    ] = False,
    output: ResultFile = None,
    label: Labels = (),
    stored: Stored = True,
    trusted: TrustedFiles = (),
    show_progress: ShowProgress = True,
) -> None:
    """Simulate a scenario, or that of a saved result.

    Prints throughput, latency, utilisation of each station, and the bottleneck. Saves the
    result in the store.
    """
    from headrace import simulate

    labels = check_labels(label, stored)
    check_writable(requests, FileFormat.PARQUET)
    check_writable(playback, FileFormat.PARQUET)
    check_writable(output, FileFormat.JSON)
    check_directory(plot)
    scenario = simulate.load_with_sets(file, with_runs(sets, seed, replications))
    trusting = trust(trusted)
    check_apart(
        {"--output": output, "--requests": requests, "--playback": playback},
        {"the scenario": file} | scenario.inputs,
    )
    started = datetime.now(UTC)
    with contextlib.ExitStack() as stack:
        taking = stack.enter_context(simulate.in_file(requests)) if requests is not None else None
        with progress(scenario.name, show_progress) as report:
            result = simulate.run(
                scenario,
                requests=taking or False,
                progress=report,
                trust=trusting,
                playback=FRAMES if playback is not None else None,
                over_time=over_time,
                server_series=stored or plot is not None or output is not None,
            )
        # Before anything else is written: what was asked for may not fit on its disk.
        identifier = (
            save_to_store(lambda: result.keep(started=started, labels=labels)) if stored else None
        )
        if taking is not None and requests is not None:
            taking.save(requests)
    _write(result, plot, playback, output)
    if as_json:
        print(json.dumps(result.document, allow_nan=False, indent=2))
        return
    from headrace.kinds import SIMULATED, blocks

    if identifier is not None:
        print(f"in the store: {identifier}")
    show_view(blocks(SIMULATED, result.document))
    show_files({"plots": plot, "requests": requests, "playback": playback, "result": output})


def _write(result: "Result", plot: Path | None, playback: Path | None, output: Path | None) -> None:
    if plot is not None:
        from headrace.kinds import SIMULATED, blocks
        from headrace.render import pictures

        pictures.save(plot, blocks(SIMULATED, result.document, **result.frames))
    if playback is not None and result.playback is not None:
        result.playback.save(playback)
    if output is not None:
        result.save(output)

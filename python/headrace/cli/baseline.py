"""`headrace baseline`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

from headrace.cli.bench.options import Space, Token
from headrace.cli.options import AsJson, PlotDirectory, ResultFile
from headrace.cli.screen import show_view, steps
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.fields import BelowDirectory
from headrace.commands.parameters import Help, Word
from headrace.commands.sizes import size
from headrace.exit_codes import report_failure
from headrace.file_formats import FileFormat
from headrace.files import atomic_file, check_apart, check_directory, check_writable, save_json
from headrace.kinds import blocks
from headrace.plain_text import plain_line

if TYPE_CHECKING:
    from headrace.profile.baseline import Baseline


def baseline(
    directory: BelowDirectory,
    file: A[
        str | None,
        Word("--file-size", metavar="SIZE"),
        Help("Size of the file of the device figures; by default one written in some seconds."),
    ] = None,
    quick: A[bool, Help("Take about 10 s instead of 60 s; less precise.")] = False,
    peer: A[
        str | None,
        Word(metavar="HOST:PORT"),
        Help("Also measure the network to a host where headrace bench net answer listens."),
    ] = None,
    token: Token = None,
    machine: A[
        Path | None,
        Help("Use a machine that headrace calibrate saved, in place of the coarse one."),
    ] = None,
    save_machine: A[
        Path | None,
        Help("Save the simulated machine as a file that scenarios name as their system."),
    ] = None,
    saved: A[
        tuple[str, ...],
        Word("--import", metavar="RESULT"),
        Help(
            "Measure nothing: import saved results of bench disk, sweep or net, by file or"
            " results:ID; can be repeated."
        ),
    ] = (),
    stored_one: A[
        bool,
        Word("--show"),
        Help("Measure nothing: show the newest baseline in the store, and what has changed since."),
    ] = False,
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    plot: PlotDirectory = None,
    label: Labels = (),
    stored: Stored = True,
) -> int:
    """Measure what this machine and a directory can do.

    It writes, reads and removes files below DIR, as benchmarks do. With --show the status is 1 if
    there is no baseline of this host and file system, or if it is out of date.
    """
    from headrace.profile.baseline import import_baseline, measure_baseline

    labels = check_labels(label, stored)
    given = {
        "--file-size": file is not None,
        "--quick": quick,
        "--peer": peer is not None,
        "--token": token is not None,
    }
    if saved:
        _refuse("--import", given | {"--machine": machine is not None})
    if stored_one:
        _refuse(
            "--show",
            given
            | {"--machine": machine is not None, "--import": bool(saved), "--label": bool(label)},
        )
    check_apart(
        {"--output": output, "--save-machine": save_machine, "--plot": plot}, {"--machine": machine}
    )
    check_writable(output, FileFormat.JSON)
    check_writable(save_machine, FileFormat.TOML)
    check_directory(plot)
    if stored_one:
        return _show_stored(directory, as_json, output, plot, save_machine)
    if saved:
        found = import_baseline(directory, saved)
    else:
        with steps("baseline") as on_progress:
            found = measure_baseline(
                directory,
                file=None if file is None else size(file),
                quick=quick,
                peer=peer,
                token=token,
                machine=machine,
                on_progress=on_progress,
            )
    identifier = save_to_store(lambda: found.keep(labels)) if stored else None
    _print(found, as_json, {}, identifier)
    _write(found, output, plot, save_machine)
    return 0


def _refuse(option: str, others: Mapping[str, bool]) -> None:
    """Raise ValueError if an option is given together with one that it makes useless."""
    for name, is_given in others.items():
        if is_given:
            raise ValueError(f"{option}: measures nothing: expected no {name}")


def _show_stored(
    directory: Path,
    as_json: bool,
    output: Path | None,
    plot: Path | None,
    save_machine: Path | None,
) -> int:
    from headrace.profile.baseline import Baseline

    found = Baseline.find(directory)
    if found is None:
        return report_failure(
            f"{directory}: no baseline of this host and file system is in the store: headrace"
            f" baseline {directory} measures one",
            1,
        )
    changes, note = found.outdated(directory), found.age_note()
    _print(found, as_json, {"outdated": changes, "note": note}, found.id)
    if not as_json:
        from headrace.views.baseline import state

        show_view(state(changes, note))
    _write(found, output, plot, save_machine)
    return 1 if changes else 0


def _print(
    found: "Baseline", as_json: bool, more: Mapping[str, Any], identifier: str | None
) -> None:
    document = found.document()
    if as_json:
        print(json.dumps({**document, **more, "id": identifier}, allow_nan=False, indent=2))
        return
    if identifier is not None:
        print(plain_line(f"in the store: {identifier}"))
    show_view(blocks("baseline", document))


def _write(
    found: "Baseline", output: Path | None, plot: Path | None, save_machine: Path | None
) -> None:
    """Write the files that were asked for. Raises ValueError if there is no machine."""
    if plot is not None:
        from headrace.render import pictures

        pictures.save(plot, blocks("baseline", found.document()))
    if output is not None:
        from headrace.host import this_host

        save_json(output, found.document() | {"host": this_host()})
    if save_machine is not None:
        with atomic_file(save_machine) as partial:
            partial.write_text(found.machine(), encoding="utf-8")

"""`headrace bench DIR`, which is `headrace bench quick DIR`, and fio's job files."""

import dataclasses
import difflib
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from headrace.cli.bench import documents
from headrace.cli.bench.documents import Csv, check_csv
from headrace.cli.bench.job_view import job_view
from headrace.cli.bench.options import Calls, Space
from headrace.cli.binding import command
from headrace.cli.options import AsJson, PlotDirectory, ResultFile, ShowProgress
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.measurements import Quick
from headrace.file_formats import FileFormat
from headrace.files import (
    STANDARD_OUTPUT,
    atomic_file,
    check_apart,
    check_directory,
    check_writable,
)
from headrace.plain_text import plain_line

if TYPE_CHECKING:
    from headrace.measure.jobs import Options, Plan
    from headrace.measure.jobs.target import Target
    from headrace.validate.jobs import Prediction


def _quick(
    request: Quick,
    space: Space = None,
    as_json: AsJson = False,
    csv: Csv = None,
    output: ResultFile = None,
    plot: PlotDirectory = None,
    label: Labels = (),
    stored: Stored = True,
    show_progress: ShowProgress = True,
) -> int:
    from headrace.measure import jobs

    first, where = _arguments(request.paths)
    common = (as_json, csv, output, plot, label, stored, show_progress)
    if first is not None:
        for name in request.given:
            if name != "--file-size":
                raise ValueError(f"{name}: {first} sets it: expected a directory and no job file")
        return run_job_file(
            first,
            where,
            request.seconds,
            *common,
            file_size=request.file_size(),
            predict=request.predict,
        )
    if request.predict is not None:
        raise ValueError("--predict: expected a fio job file with it")
    options = request.options()

    def planned(target: "Target") -> "Plan":
        fitting = _fitting(options, target, request.direct, request.calls)
        return jobs.quick_start(where, fitting, target.size)

    return _run(planned, where, None, *common)


def run_job_file(
    job_file: Path,
    where: Path,
    seconds: float | None,
    as_json: bool,
    csv: Path | None,
    output: Path | None,
    plot: Path | None,
    label: Sequence[str],
    stored: bool,
    show_progress: bool,
    file_size: int | None = None,
    predict: Path | None = None,
) -> int:
    """Run the jobs of a fio job file and return the exit status."""
    from headrace.measure import jobs

    def planned(device_size: int | None) -> "Plan":
        return jobs.read_fio_file(
            job_file, device_size=device_size, stops=seconds, file_size=file_size
        )

    common = (as_json, csv, output, plot, label, stored, show_progress)
    return run_planned(planned, where, job_file, *common, predict=predict)


def run_planned(
    planned: "Callable[[int | None], Plan]",
    where: Path,
    job_file: Path | None,
    as_json: bool,
    csv: Path | None,
    output: Path | None,
    plot: Path | None,
    label: Sequence[str],
    stored: bool,
    show_progress: bool,
    fio_json: Path | None = None,
    predict: Path | None = None,
) -> int:
    """Run the jobs that a function makes for a device of a size, or for a directory.

    `fio_json` is a file for the result in fio's form, - for standard output; `predict` describes
    the system on which the jobs are simulated as well.
    """
    # Check the jobs before any file is created.
    checked = planned(_device_size(where))
    if fio_json not in (None, STANDARD_OUTPUT):
        check_writable(fio_json, FileFormat.JSON)
    prediction = None
    if predict is not None:
        from headrace.validate.jobs import Prediction

        prediction = Prediction.prepared(checked, predict)

    def of_target(target: "Target") -> "Plan":
        return planned(target.size)

    common = (as_json, csv, output, plot, label, stored, show_progress)
    return _run(of_target, where, job_file, *common, fio_json=fio_json, prediction=prediction)


def _arguments(paths: Sequence[str]) -> tuple[Path | None, Path]:
    """Return the job file, if one is named, and the directory or device to use."""
    if any(not path for path in paths):
        raise typer.BadParameter("expected a directory; . is the current one")
    if len(paths) > 2:
        raise ValueError(
            f"bench {' '.join(paths)}: expected a directory, a block device, or a fio job file"
            f" and one of them{_meant(paths[0])}"
        )
    if not Path(paths[0]).exists():
        raise ValueError(
            f"{paths[0]}: no such directory, block device, job file or subcommand of bench"
            f"{_meant(paths[0])} (see headrace bench --help)"
        )
    if len(paths) == 2:
        if paths[0].endswith((".toml", ".json")):
            raise ValueError(f"a scenario is run by headrace bench run {' '.join(paths)}")
        return Path(paths[0]), Path(paths[1])
    if Path(paths[0]).is_file():
        raise ValueError(
            f"{paths[0]}: not a directory or block device; to run a fio job file: headrace bench"
            " FILE.fio DIR; to run a scenario: headrace bench run FILE DIR"
        )
    return None, Path(paths[0])


def _meant(name: str) -> str:
    from headrace.cli.bench import app

    names = [command.name or "" for command in app.registered_commands]
    close = difflib.get_close_matches(name, names, n=1)
    return f'; did you mean "{close[0]}"?' if close else ""


def _fitting(
    options: "Options", target: "Target", direct: bool | None, calls: str | None
) -> "Options":
    """Limit the options to what the target and this system support."""
    from headrace import _core
    from headrace.measure.jobs.target import in_memory

    if calls is not None:
        options = dataclasses.replace(options, calls=calls)
    takes = direct is not False and not in_memory(target) and target.engine.takes_direct()
    if direct and not takes:
        raise ValueError(
            f"--direct: the file system of {target.path} does not support O_DIRECT:"
            " expected --no-direct"
        )
    options = dataclasses.replace(options, direct=takes)
    if calls is None and not _core.has_io_uring():
        print(
            "warning: io_uring is missing or disabled on this system: measuring with system calls"
            " at a queue depth of 1",
            file=sys.stderr,
        )
        return dataclasses.replace(options, calls=str(Calls.POSIX), queue_depths=[1])
    return options


def _device_size(where: Path) -> int | None:
    from headrace.measure.jobs.target import is_device, opened

    if not is_device(where):
        return None
    with opened(where) as target:
        return target.size


def _run(
    planned: "Callable[[Target], Plan]",
    where: Path,
    job_file: Path | None,
    as_json: bool,
    csv: Path | None,
    output: Path | None,
    plot: Path | None,
    label: Sequence[str],
    stored: bool,
    show_progress: bool,
    fio_json: Path | None = None,
    prediction: "Prediction | None" = None,
) -> int:
    from headrace.measure import jobs
    from headrace.measure.jobs.fio_output import fio_json as fio_form
    from headrace.measure.jobs.request_logs import write_logs
    from headrace.measure.jobs.target import opened

    labels = check_labels(label, stored)
    check_csv(csv, as_json)
    check_writable(output, FileFormat.JSON)
    check_apart({"--output": output, "--csv": csv}, {"the job file": job_file})
    check_directory(plot)
    with job_view("bench", show_progress) as report, opened(where) as target:
        plan = planned(target)
        result = jobs.run_jobs(plan, target, progress=report)
    if target.left is not None:
        result.report.warnings.append(target.left)
    if prediction is not None and result.report.stop.reason == "done":
        result.report.predicted = prediction.figures()
    identifier = None
    if stored and result.document["jobs"]:
        identifier = save_to_store(lambda: result.keep(labels=labels))
    for path in write_logs(plan.logs, result.logs):
        print(plain_line(f"log: {path}"), file=sys.stderr)
    tables = {"histograms": result.histograms} if plot and result.histograms.height else {}
    if fio_json is not None:
        in_words = json.dumps(fio_form(result.report, result.histograms, plan), indent=2) + "\n"
        if fio_json == STANDARD_OUTPUT:
            print(in_words, end="")
        else:
            with atomic_file(fio_json) as partial:
                partial.write_text(in_words, encoding="utf-8")
    if fio_json != STANDARD_OUTPUT:
        documents.print_result(
            result.document, as_json, identifier, csv, plot if tables else None, tables
        )
    if output is not None:
        # Last: the printed figures are not lost with a disk that is full.
        result.save(output)
    return documents.status(result.document["stop"])


quick = command(Quick, _quick)

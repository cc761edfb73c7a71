"""`headrace bench mix`."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from headrace.cli.bench import documents
from headrace.cli.bench.documents import Csv, check_csv
from headrace.cli.bench.live_view import live_view
from headrace.cli.bench.options import Calls, CallsOption, Space
from headrace.cli.bench.resume import Resume, Saver, earlier_result, output_of, print_resume_command
from headrace.cli.binding import command
from headrace.cli.options import AsJson, KeepFiles, PlotDirectory, ResultFile, ShowProgress
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.measurements import Mix
from headrace.files import check_apart, check_directory
from headrace.ranks import current, first_rank_only

if TYPE_CHECKING:
    from headrace.measure.benchmark import Progress


def _mix(
    request: Mix,
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    plot: PlotDirectory = None,
    csv: Csv = None,
    keep: KeepFiles = False,
    calls: CallsOption = Calls.POSIX,
    label: Labels = (),
    stored: Stored = True,
    resume: Resume = None,
    show_progress: ShowProgress = True,
) -> int:
    labels = check_labels(label, stored)
    resumed = earlier_result(resume)
    output, plot = output_of(output, resume), first_rank_only(plot)
    stored = stored and current().first
    if output is not None:
        check_apart({"--output": output}, {"the scenario": Path(request.workload)})
    check_directory(plot)
    check_csv(csv, as_json)
    so_far = Saver(output, stored)
    output = so_far.output
    load_sweep = request.answer(
        calls=calls, keep=keep, watch=_watching(show_progress), resumed=resumed, so_far=so_far
    )
    identifier = None
    if stored and load_sweep.document["steps"]:
        identifier = save_to_store(lambda: load_sweep.keep(labels=labels))
        if identifier is not None:
            so_far.discard()
    documents.print_result(load_sweep.document, as_json, identifier, csv, plot)
    if output is not None:
        # Last: what is printed is not lost with a disk that is full.
        load_sweep.save(output)
    stop = load_sweep.document["stop"]
    print_resume_command(stop, output, identifier)
    return documents.status(stop)


def _watching(shown: bool) -> Callable[[str], AbstractContextManager["Progress | None"]]:
    """Return a function that shows the figures of one step after another."""

    @contextmanager
    def watch(title: str) -> Iterator["Progress | None"]:
        with live_view(title, shown) as report:
            yield report

    return watch


mix = command(Mix, _mix)

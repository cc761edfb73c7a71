"""`headrace bench tune`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated as A
from typing import Any

from headrace.cli.bench import documents
from headrace.cli.bench.documents import Csv, check_csv
from headrace.cli.bench.options import Space
from headrace.cli.bench.resume import Resume, earlier_result, output_of
from headrace.cli.binding import command
from headrace.cli.options import AsJson, PlotDirectory, ResultFile
from headrace.cli.screen import steps
from headrace.cli.store_options import Labels, Stored, check_labels
from headrace.commands.measurements import Tune
from headrace.commands.parameters import Help
from headrace.exit_codes import report_failure
from headrace.file_formats import FileFormat
from headrace.files import atomic_file, check_apart, check_directory, check_writable


def _tune(
    request: Tune,
    space: Space = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    csv: Csv = None,
    mix: A[Path | None, Help("Write the best mix as a scenario.")] = None,
    plot: PlotDirectory = None,
    label: Labels = (),
    stored: Stored = True,
    resume: Resume = None,
) -> int:
    labels = check_labels(label, stored)
    check_csv(csv, as_json)
    resumed = earlier_result(resume)
    output = output_of(output, resume)
    if mix is not None:
        check_writable(mix, FileFormat.TOML)
        check_apart({"--mix": mix}, {"--output": output})
    check_directory(plot)
    to = documents.Destination(as_json, output, plot, stored, labels, csv)
    document = request.answer(lambda: steps("bench tune"), resumed, to.save_so_far)
    ended = to.finish(document)
    if mix is None or not document["mixes"]:
        return ended
    return ended if _write_mix(mix, request, document) else 1


def _write_mix(path: Path, request: Tune, document: Mapping[str, Any]) -> bool:
    """Write the best mix as a scenario; return whether one was measured."""
    from headrace.measure.tuning import workload

    measured = [mix for mix in document["mixes"].values() if mix["measured"] is not None]
    if not measured:
        problem = "no operation of a mix was completed: expected a longer --time"
        report_failure(f"{path}: not written: {problem}", 1)
        return False
    best = min(measured, key=lambda mix: float(mix["measured_distance"]))
    text = workload(best["weights"], request.mixed, request.amounts)
    with atomic_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return True


tune = command(Tune, _tune)

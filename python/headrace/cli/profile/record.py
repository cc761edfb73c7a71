"""`headrace profile record`."""

import errno
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from headrace import exit_codes, progress_events, ranks
from headrace.cli.binding import command
from headrace.cli.options import AsJson
from headrace.cli.profile.report import write_files
from headrace.cli.screen import ProgressLines, print_document, show_view, steps
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.commands.measurements import Recording
from headrace.exit_codes import report_failure
from headrace.files import atomic_file

if TYPE_CHECKING:
    import polars as pl

    from headrace.profile.document import Profile


def _record(
    request: Recording, as_json: AsJson = False, stored: Stored = True, labels: Labels = ()
) -> int:
    known_labels = check_labels(labels, stored)
    machine, seconds, name = request.machine, request.seconds, request.pid_name
    if machine is not None and not machine.is_file():
        raise FileNotFoundError(errno.ENOENT, "No such machine file", str(machine))

    def evaluate(recorded: Path) -> int:
        with steps("evaluate the profile") as on_progress:
            profile, rates = request.evaluated(recorded, on_progress)
        _finish(profile, rates, recorded, as_json, stored, known_labels)
        if request.report:
            write_files(recorded, rates[profile.host or profile.hosts[0]])
        return 0

    if request.again is not None:
        others = (request.pid, name, request.cgroup, seconds, request.output)
        if request.command or any(other is not None for other in others):
            raise ValueError("--again runs and watches nothing: leave the other options out")
        return evaluate(request.again)
    from headrace.profile.program import CannotStart, NothingCame, RecordingFailed
    from headrace.profile.recorder import record as record_profile

    recording = request.request(sys.stderr.fileno() if as_json else None)
    try:
        with _watching(not request.command, seconds, name) as on_sample:
            done = record_profile(recording, on_sample)
    except (CannotStart, NothingCame, RecordingFailed) as error:
        return report_failure(str(error), error.status)
    if not ranks.current().first:
        return done.status
    print(f"recorded in {done.directory}", file=sys.stderr)
    # The status of a program that failed comes before that of the evaluation.
    failed = exit_codes.run(lambda: evaluate(done.directory))
    return done.status or failed


@contextmanager
def _watching(
    shown: bool, seconds: float | None, name: str | None
) -> Iterator[Callable[[float, bool], None] | None]:
    """Yield a callback that shows how far a watch is. A program has the terminal for itself."""
    if not shown and not progress_events.wanted():
        yield None
        return

    def tell(now_s: float, has_come: bool) -> None:
        what = f"{now_s:,.0f} s sampled" if has_come else f"waiting for {name}"
        progress_events.report("profile", now_s, seconds, what)

    if not shown:
        yield tell
        return
    lines = ProgressLines("profile")
    whole = "" if seconds is None else f" of {seconds:,.0f} s"
    first, waits = True, False

    def report(now_s: float, has_come: bool) -> None:
        nonlocal first, waits
        if first and ranks.current().first:
            end = "" if seconds is None else f" for {seconds:,g} s"
            print(f"watching{end}; Ctrl-C ends it", file=sys.stderr)
            if not has_come:
                print(f"waiting for a process with the name {name}", file=sys.stderr)
        if has_come and waits and not first and ranks.current().first:
            print(f"{name} has come", file=sys.stderr)
        waits = not has_come
        first = False
        waiting = "" if has_come else f", waiting for {name}"
        lines.write(lambda: f"{now_s:,.0f} s{whole} sampled{waiting}")
        tell(now_s, has_come)

    yield report


def _finish(
    profile: "Profile",
    rates: "dict[str, pl.DataFrame]",
    recorded: Path,
    as_json: bool,
    stored: bool,
    labels: dict[str, str],
) -> None:
    """Save and print a profile."""
    from headrace.profile import document
    from headrace.profile.analysis import samples_table, stored_document
    from headrace.views.profile import verdicts, view

    text = document.to_json(profile)
    with atomic_file(recorded / document.FILE) as partial:
        partial.write_bytes(text + b"\n")
    made = stored_document(profile)
    identifier = None
    if stored:
        from headrace import store

        tables = {"samples": samples_table(rates)}
        identifier = save_to_store(
            lambda: store.open().add(made, tables, kind="profile", labels=labels)
        )
    if as_json:
        print_document(text + b"\n")
        return
    if identifier is not None:
        print(f"in the store: {identifier}")
    show_view([*view(profile), *verdicts(profile)])


record = command(Recording, _record)

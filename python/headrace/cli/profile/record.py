"""`headrace profile record`."""

import errno
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrace import exit_codes, progress_events, ranks
from headrace.cli.options import AsJson, time_option
from headrace.cli.profile.report import write_files
from headrace.cli.screen import ProgressLines, print_document, show_view, steps
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.exit_codes import report_failure
from headrace.files import atomic_file

if TYPE_CHECKING:
    import polars as pl

    from headrace.profile.document import Profile


class Capture(StrEnum):
    """Methods that capture the file operations of a program."""

    NONE = "none"
    STRACE = "strace"
    TRACEFS = "tracefs"
    AUTO = "auto"


def record(
    command: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="COMMAND", help="Program to profile, and its arguments.", show_default=False
        ),
    ] = None,
    pid: Annotated[
        int | None,
        typer.Option(
            "--pid", metavar="PID", help="Watch a running process and its descendants to its end."
        ),
    ] = None,
    pid_name: Annotated[
        str | None,
        typer.Option(
            "--pid-name",
            metavar="NAME",
            help="Watch all processes with a name, and their descendants, to their end.",
        ),
    ] = None,
    cgroup: Annotated[
        Path | None,
        typer.Option(
            "--cgroup", metavar="PATH", help="Watch the processes of a control group (version 2)."
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        time_option(
            "--time", "Time to watch; without another option, the whole system.", least=0.0
        ),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option(
            "--again", metavar="PATH", help="Evaluate the recording in a directory once more."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            help="New directory for the profile; by default NAME.profile in the current one.",
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the application.")
    ] = None,
    interval: Annotated[
        float, time_option("--interval", "Time between two samples, 0.1 s or more.", least=0.0)
    ] = 1.0,
    capture: Annotated[
        Capture | None,
        typer.Option("--capture", help="Method that captures the program's file operations."),
    ] = None,
    directory: Annotated[
        Path,
        typer.Option(
            "--baseline-directory",
            metavar="DIR",
            help="Directory whose baseline the figures refer to.",
        ),
    ] = Path(),
    machine: Annotated[
        Path | None, typer.Option("--machine", help="Machine file for predictions.")
    ] = None,
    rules: Annotated[
        Path | None,
        typer.Option("--rules", help="File that changes thresholds of the verdicts' rules."),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html and report.pdf.")
    ] = True,
    advice: Annotated[
        bool, typer.Option("--advice/--no-advice", help="Predict the gain of changes.")
    ] = True,
    as_json: AsJson = False,
    stored: Stored = True,
    labels: Labels = None,
) -> int:
    """Sample a program or running processes, and evaluate them.

    Options after the program's name are the program's own. The exit status is that of the program.
    With --json, its output goes to standard error.
    """
    known_labels = check_labels(labels or [], stored)
    if machine is not None and not machine.is_file():
        raise FileNotFoundError(errno.ENOENT, "No such machine file", str(machine))

    def evaluate(recorded: Path) -> int:
        profile, rates = _evaluate(recorded, machine, directory, rules, advice)
        _finish(profile, rates, recorded, as_json, stored, known_labels)
        if report:
            write_files(recorded, rates[profile.host or profile.hosts[0]])
        return 0

    if again is not None:
        if command or any(it is not None for it in (pid, pid_name, cgroup, seconds, output)):
            raise ValueError("--again runs and watches nothing: leave the other options out")
        return evaluate(again)
    from headrace.profile.program import CannotStart, NothingCame, RecordingFailed
    from headrace.profile.recorder import Request
    from headrace.profile.recorder import record as record_profile

    request = Request(
        command=command or (),
        pid=pid,
        pid_name=pid_name,
        cgroup=cgroup,
        seconds=seconds,
        interval_s=interval,
        name=name,
        output=output,
        directory=directory,
        capture=_method(capture, bool(command)),
        capture_needed=capture is not Capture.AUTO,
        stdout=sys.stderr.fileno() if as_json else None,
    )
    try:
        with _watching(not command, seconds, pid_name) as on_sample:
            done = record_profile(request, on_sample)
    except (CannotStart, NothingCame, RecordingFailed) as error:
        return report_failure(str(error), error.status)
    if not ranks.current().first:
        return done.status
    print(f"recorded in {done.directory}", file=sys.stderr)
    # The status of a program that failed comes before that of the evaluation.
    failed = exit_codes.run(lambda: evaluate(done.directory))
    return done.status or failed


def _method(capture: Capture | None, starts: bool) -> str:
    """Return the method of a capture; by default `auto` where a program is started.

    Raises ValueError if it does not work here.
    """
    from headrace.profile.capture import choose

    if capture is None:
        capture = Capture.AUTO if starts else Capture.NONE
    return choose(capture.value).name


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


def _evaluate(
    recorded: Path, machine: Path | None, baseline_directory: Path, rules: Path | None, advice: bool
) -> "tuple[Profile, dict[str, pl.DataFrame]]":
    """Return the profile of a recording, and the figures of each host."""
    from headrace.profile.analysis import analyse, rates_by_host

    with steps("evaluate the profile") as on_progress:
        rates = rates_by_host(recorded)
        profile = analyse(
            recorded,
            rates=rates,
            machine=machine,
            baseline_directory=baseline_directory,
            rules=rules,
            advice=advice,
            on_progress=on_progress,
        )
        return profile, rates


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

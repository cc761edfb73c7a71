"""`headrace profile record`."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from headrace import ranks
from headrace.cli.screen import ProgressLines, show, steps
from headrace.cli.store_options import Labels, Stored, check_labels, save_to_store
from headrace.exit_codes import report_failure
from headrace.files import atomic_file

if TYPE_CHECKING:
    from headrace.profile.document import Profile

DOCUMENT = "profile.json"


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
        typer.Option(
            "--seconds",
            metavar="S",
            help="Watch for a span of time; without another option, the whole system.",
        ),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option(
            "--again", metavar="DIR", help="Evaluate the recording in a directory once more."
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
        float,
        typer.Option("--interval", metavar="S", help="Seconds between two samples; 0.1 or more."),
    ] = 1.0,
    capture: Annotated[
        Capture | None,
        typer.Option("--capture", help="Method that captures the program's file operations."),
    ] = None,
    directory: Annotated[
        Path,
        typer.Option(
            "--directory", metavar="DIR", help="Directory whose baseline the figures refer to."
        ),
    ] = Path(),
    machine: Annotated[
        Path | None,
        typer.Option("--machine", metavar="FILE", help="Machine file for predictions."),
    ] = None,
    advice: Annotated[
        bool, typer.Option("--advice/--no-advice", help="Predict the gain of changes.")
    ] = True,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print one JSON document; the program's own output then goes to standard error.",
        ),
    ] = False,
    stored: Stored = True,
    labels: Labels = None,
) -> int:
    """Run a program, or watch running ones, sample the system, and evaluate the samples.

    Options after the program's name are the program's own. The exit status is that of the program.
    """
    known_labels = check_labels(labels or [], stored)
    if again is not None:
        if command or any(it is not None for it in (pid, pid_name, cgroup, seconds, output)):
            raise ValueError("--again runs and watches nothing: leave the other options out")
        profile, status = _evaluate(again, machine, directory, advice), 0
        recorded = again
    else:
        from headrace.profile.program import CannotStart
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
            capture=_method(capture),
            stdout=sys.stderr.fileno() if as_json else None,
        )
        try:
            with _watching(not command, seconds) as on_sample:
                done = record_profile(request, on_sample)
        except CannotStart as error:
            return report_failure(str(error), error.status)
        if not ranks.current().first:
            return done.status
        recorded, status = done.directory, done.status
        print(f"recorded in {recorded}", file=sys.stderr)
        profile = _evaluate(recorded, machine, directory, advice)
    _finish(profile, recorded, as_json, stored, known_labels)
    return status


def _method(capture: Capture | None) -> str:
    """Return the method of a capture. Raises ValueError if this version does not have it."""
    if capture in (None, Capture.NONE):
        return Capture.NONE.value
    assert capture is not None
    methods = _methods()
    if capture.value not in methods:
        known = ", ".join([Capture.NONE.value, *methods])
        raise ValueError(f"--capture {capture.value}: expected one of {known}")
    return capture.value


def _methods() -> list[str]:
    """Return the names of the methods that this version has."""
    try:
        capture = import_module("headrace.profile.capture")
    except ModuleNotFoundError:
        return []
    return list(capture.METHODS)


@contextmanager
def _watching(shown: bool, seconds: float | None) -> Iterator[Callable[[float], None] | None]:
    """Yield a callback that shows how far a watch is. A program has the terminal for itself."""
    if not shown:
        yield None
        return
    lines = ProgressLines("profile")
    whole = "" if seconds is None else f" of {seconds:,.0f} s"
    first = True

    def report(now_s: float) -> None:
        nonlocal first
        if first and ranks.current().first:
            end = "" if seconds is None else f" for {seconds:,g} s"
            print(f"watching{end}; Ctrl-C ends it", file=sys.stderr)
        first = False
        lines.write(lambda: f"{now_s:,.0f} s{whole} sampled")

    yield report


def _evaluate(
    recorded: Path, machine: Path | None, baseline_directory: Path, advice: bool
) -> "Profile":
    from headrace.profile.analysis import analyse

    with steps("evaluate the profile") as on_progress:
        return analyse(
            recorded,
            machine=machine,
            baseline_directory=baseline_directory,
            advice=advice,
            on_progress=on_progress,
        )


def _finish(
    profile: "Profile", recorded: Path, as_json: bool, stored: bool, labels: dict[str, str]
) -> None:
    """Save and print a profile."""
    from headrace.profile import document
    from headrace.profile.analysis import samples_table, stored_document
    from headrace.report.profile_tables import profile as table

    text = document.to_json(profile)
    with atomic_file(recorded / DOCUMENT) as partial:
        partial.write_bytes(text + b"\n")
    identifier = None
    if stored:
        from headrace import store

        identifier = save_to_store(
            lambda: store.open().add(
                stored_document(profile),
                {"samples": samples_table(recorded, profile.hosts)},
                kind="profile",
                labels=labels,
            )
        )
    if as_json:
        print(text.decode())
        return
    if identifier is not None:
        print(f"in the store: {identifier}")
    show(table(stored_document(profile)))

"""`headrace results`: the store."""

import json
import sys
from collections.abc import Collection, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from typing import Annotated as A

import msgspec
import typer

from headrace.cli.options import AsJson
from headrace.cli.screen import show_view, steps
from headrace.cli.store_options import Labels, parse_labels
from headrace.commands.parameters import Help, Word
from headrace.fields import to_document
from headrace.file_formats import FileFormat, check_format
from headrace.files import STANDARD_OUTPUT, check_directory, check_writable
from headrace.kinds import STORED, with_kind
from headrace.plain_text import plain_line

if TYPE_CHECKING:
    from headrace.store.listing import ShownResult

app = typer.Typer(
    help="List, show, compare, export and import saved results.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

Identifier: TypeAlias = A[
    str,
    Word(metavar="ID", is_argument=True),
    Help("Identifier of the result, its unique beginning, or last."),
]
Identifiers: TypeAlias = A[
    tuple[str, ...],
    Word(metavar="ID...", is_argument=True),
    Help("Identifiers of results, their unique beginnings, or last."),
]


LOAD_SWEEP = "load-sweep"
PAGE = 100
"""Results on a page of a list."""


class By(StrEnum):
    """Keys by which results are grouped for a comparison."""

    VERSION = "version"
    DATE = "date"


class ExportFormat(StrEnum):
    """Formats of exported results."""

    ZIP = "zip"
    CSV = "csv"


def _current_kind(kind: str | None) -> str | None:
    """Return the present name of a kind; name it on standard error if it was renamed."""
    from headrace.kinds import current_kind

    if kind is None or (current := current_kind(kind)) == kind:
        return kind
    print(f"--kind {kind}: this kind is now called {current}", file=sys.stderr)
    return current


Step: TypeAlias = A[
    str | None,
    Word("--step", metavar="STEP"),
    Help('One step of a load sweep, such as "400/s", "processes 4" or "400/s on 2 hosts".'),
]


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """Conditions by which results are selected."""

    kind: A[
        str | None, Word(metavar="KIND"), Help(f"Only results of this kind: {', '.join(STORED)}.")
    ] = None
    name: A[str | None, Word(metavar="NAME"), Help("Only results of scenarios with this name.")] = (
        None
    )
    label: A[
        tuple[str, ...],
        Word(metavar="KEY=VALUE"),
        Help("Only results with this label; can be repeated."),
    ] = ()
    since: A[
        str | None,
        Word(metavar="WHEN"),
        Help('Only results since a date (2026-11-01) or an age ("7 d").'),
    ] = None
    calls: A[
        str | None,
        Word(metavar="posix|io-uring|null"),
        Help("Only results measured by these calls."),
    ] = None
    host: A[str | None, Word(metavar="HOST"), Help("Only results of this host.")] = None
    file_system: A[
        str | None,
        Word(metavar="NAME"),
        Help("Only results on this type of file system, such as ext4."),
    ] = None
    device: A[
        str | None,
        Word(metavar="TEXT"),
        Help("Only results on a device with this text in its name or model."),
    ] = None
    search: A[
        str | None,
        Word(metavar="TEXT"),
        Help(
            "Only results with this text in their name, labels, host, directory, file system,"
            " device or processor."
        ),
    ] = None

    def of_store(self) -> Mapping[str, Any]:
        """Return the conditions as the store takes them. Raises ValueError for a wrong label."""
        fields = msgspec.structs.asdict(self)
        labels = parse_labels(fields.pop("label"))
        return fields | {"kind": _current_kind(self.kind), "labels": labels}


@app.command("list")
def list_(
    conditions: Conditions,
    limit: A[int, Help("Show at most N results, newest first.", least=1)] = PAGE,
    page: A[int, Help("Number of the page to show.", least=1)] = 1,
    all_: A[bool, Word("--all"), Help("Show all results without pages.")] = False,
    as_json: AsJson = False,
) -> int:
    """List the results, the newest first, page by page.

    Status 1 if the rows of a result are damaged: it is left out, and named.
    """
    from headrace import store

    if all_ and page > 1:
        raise ValueError("--page has no effect with --all: leave one of them out")
    skip = 0 if all_ else (page - 1) * limit
    chosen = store.make_filter(**conditions.of_store(), limit=None if all_ else limit, skip=skip)
    listed = store.open().listed(chosen)
    shown = len(listed.entries) + len(set(listed.damaged))
    if as_json:
        damaged = {"damaged": listed.damaged} if listed.damaged else {}
        entries = to_document(listed.entries)
        _print({"results": entries, "total": listed.total, "page": page} | damaged)
    else:
        from headrace.views.stored_results import listing

        show_view(listing(listed.entries))
        if shown < listed.total:
            pages = -(-listed.total // limit)
            print(
                f"{len(listed.entries)} of {listed.total} results, page {page} of {pages}:"
                " --page, --limit and --all show others"
            )
    for line in listed.damaged:
        print(plain_line(f"damaged and omitted: {line}"), file=sys.stderr)
    return 1 if listed.damaged else 0


@app.command()
def show(identifier: Identifier, step: Step = None, as_json: AsJson = False) -> None:
    """Show a result: how it was made, and its figures."""
    from headrace import store
    from headrace.views.stored_results import one_result, one_step

    if step is not None:
        found = store.open().shown_step(identifier, step)
        if as_json:
            _print(to_document(found))
        else:
            show_view(one_step(found))
        return
    shown = store.open().shown(identifier)
    if as_json:
        _print(to_document(shown))
    else:
        show_view(one_result(shown))


@app.command()
def compare(
    identifiers: A[
        tuple[str, ...],
        Word(metavar="[ID...]", is_argument=True),
        Help("Identifiers, their unique beginnings, or last; the baseline first."),
    ] = (),
    by: A[
        By | None,
        typer.Option("--by", help="Group the results that --name or --label selects by this key."),
    ] = None,
    *,
    conditions: Conditions,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Compare results with the first of them.

    Reports whether they differ by more than chance.
    """
    from headrace import store

    compared = store.open().compare(identifiers, by=by, step=step, **conditions.of_store())
    if as_json:
        _print(compared.json())
        return
    from headrace.views.comparison import view

    show_view(view(compared.json()))


@app.command()
def plot(
    identifiers: Identifiers,
    output: A[Path, Word(short="-o", metavar="DIR"), Help("Directory of the figure.")],
) -> None:
    """Draw response time against achieved load of load sweeps."""
    from headrace import store
    from headrace.kinds import read
    from headrace.quantities import numbered

    check_directory(output)
    there = store.open()
    sweeps = {}
    for identifier in identifiers:
        entry = there.shown(identifier)
        document = entry.document
        of = document.get("of") if entry.kind == LOAD_SWEEP else None
        if of == "client-hosts":
            sweep = read(LOAD_SWEEP, document)
            for curve in sweep.curves:
                hosts = numbered(curve.client_hosts, "client host")
                name = f"{hosts}, {_curve(entry, store.SERVER_LABELS)}"
                sweeps[name] = sweep.curve(curve.client_hosts)
            continue
        if of != "loads":
            raise ValueError(
                f"{entry.id}: expected a mixed load at several loads, as headrace bench mix"
                f" saves it; this result is of kind {entry.kind}"
            )
        sweeps[_curve(entry, store.SERVER_LABELS)] = read(LOAD_SWEEP, document)
    from headrace.render import pictures
    from headrace.views.load_sweep import compared

    for file in pictures.save(output, compared(sweeps)):
        print(plain_line(f"plot: {file}"))


def _curve(entry: "ShownResult", hidden: Collection[str]) -> str:
    """Return the label of a curve: mix, place, labels and identifier."""
    place = entry.document.get("place", {})
    where = " ".join(str(place[key]) for key in ("host", "file_system") if key in place)
    labels = ", ".join(f"{key}={value}" for key, value in entry.labels.items() if key not in hidden)
    return ", ".join(part for part in (entry.name, where, labels, entry.id) if part)


@app.command()
def export(
    identifiers: Identifiers,
    output: A[
        Path,
        Word(short="-o"),
        Help("File to write: .zip with tables, or .csv; - for standard output."),
    ],
    format: A[
        ExportFormat | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="Format of the file, zip or csv; by default that of its name, or zip.",
        ),
    ] = None,
) -> None:
    """Export results to a zip archive, or figures as CSV.

    An archive holds each document with its tables.
    """
    from headrace import store

    if format is None and output.suffix not in ("", ".zip", ".csv"):
        raise ValueError(
            f'{output}: results are not written as "{output.suffix}": expected a name in .zip, for'
            " headrace results import, or in .csv, for a table of their figures"
        )
    if format is not None:
        check_format(output, FileFormat[format.name])
    format = format or (ExportFormat.CSV if output.suffix == ".csv" else ExportFormat.ZIP)
    if output == STANDARD_OUTPUT and format is ExportFormat.ZIP and sys.stdout.isatty():
        raise ValueError("-o -: an archive is no text for a terminal: expected --format csv")
    check_writable(output)
    there = store.open()
    if format is ExportFormat.CSV:
        exported = there.export_csv(identifiers, output)
    else:
        with steps("results export") as on_progress:
            exported = there.export(identifiers, output, on_progress)
    if output != STANDARD_OUTPUT:
        print(plain_line(f"{output}: {_counted(len(exported))}"))


@app.command("import")
def import_(
    files: A[
        tuple[Path, ...],
        Word(metavar="FILE...", is_argument=True),
        Help("Archives that export wrote, or results that -o saved."),
    ],
    labels: Labels = (),
) -> None:
    """Import results from files into the store.

    Results that the store already has are unchanged.
    """
    from headrace import store
    from headrace.result_import import import_results

    there = store.open()
    for file in files:
        with steps("results import") as on_progress:
            taken = import_results(there, file, on_progress, parse_labels(labels))
        new = sum(taken.values())
        line = f"{file}: {_counted(new)} taken in"
        if len(taken) > new:
            line += f", {len(taken) - new} there already"
        print(plain_line(line))
        for identifier in taken:
            print(f"  {identifier}")


@app.command()
def label(
    identifier: Identifier,
    labels: A[
        tuple[str, ...], Word(metavar="[KEY=VALUE...]", is_argument=True), Help("Labels to set.")
    ] = (),
    removed: A[
        tuple[str, ...], Word("--remove", metavar="KEY"), Help("Remove a label; can be repeated.")
    ] = (),
    note: A[str | None, Word(metavar="TEXT"), Help("Write the label note.")] = None,
) -> None:
    """Set or remove labels of a result, or write a note on it."""
    from headrace import store

    changes: dict[str, str | None] = dict(parse_labels(labels))
    changes |= dict.fromkeys(removed)
    if note is not None:
        changes["note"] = note or None
    if not changes:
        raise ValueError("nothing to change: expected KEY=VALUE, --remove KEY or --note TEXT")
    there = store.open()
    found = there.set_labels(identifier, changes)
    now = there.shown(found).labels
    shown = ", ".join(f"{key}={value}" for key, value in now.items()) or "no labels"
    print(plain_line(f"{found}: {shown}"))


@app.command()
def remove(identifiers: Identifiers, yes: A[bool, Help("Do not ask.")] = False) -> None:
    """Remove results with their tables."""
    from headrace import store

    there = store.open()
    found = [there.find(identifier) for identifier in dict.fromkeys(identifiers)]
    if not yes:
        _ask(f"Remove {_counted(len(found))}: {', '.join(found)}?")
    for identifier in dict.fromkeys(found):
        print(f"removed {there.remove(identifier)}")


@app.command()
def check(as_json: AsJson = False) -> int:
    """Check the store, and remove remains of killed runs.

    Checks the catalogue, all documents and all tables. The exit status is 1 if one is damaged.
    """
    from headrace import store

    with steps("results check") as on_progress:
        checked = store.open().check(on_progress)
    if as_json:
        removed = [str(directory) for directory in checked.removed]
        _print(with_kind("store-check", checked._asdict() | {"removed": removed}))
    else:
        for directory in checked.removed:
            print(plain_line(f"removed {directory}: no result has these tables"))
        for line in checked.damaged:
            print(plain_line(f"damaged: {line}"))
        print(f"{_counted(checked.results)}, {len(checked.damaged)} damaged or gone")
    return 1 if checked.damaged else 0


@app.command()
def path() -> None:
    """Print where the store is."""
    from headrace import store

    print(plain_line(str(store.open().location)))


def _ask(question: str) -> None:
    """Ask for confirmation. Raises ValueError where standard input is no terminal."""
    if not sys.stdin.isatty():
        raise ValueError("nobody can be asked here: expected --yes to remove results")
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def _counted(number: int) -> str:
    return "1 result" if number == 1 else f"{number} results"


def _print(document: Mapping[str, Any]) -> None:
    print(json.dumps(document, allow_nan=False, indent=2))

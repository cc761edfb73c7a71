"""`headrace results`: the store."""

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from headrace.cli.keeping import parsed_labels
from headrace.cli.screen import show as show_tables
from headrace.files import check_writable
from headrace.report.plain import plain_line

if TYPE_CHECKING:
    from headrace.store.queries import Wanted

app = typer.Typer(
    help="List, show, compare and hand on the results in the store.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

Identifier: TypeAlias = Annotated[
    str, typer.Argument(metavar="ID", help="An identifier, as much of it as is unique, or last.")
]
Identifiers: TypeAlias = Annotated[
    list[str],
    typer.Argument(metavar="ID...", help="Identifiers, as much as is unique, or last."),
]


class By(StrEnum):
    """What results are taken together by."""

    VERSION = "version"
    DATE = "date"


AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Kind: TypeAlias = Annotated[
    str | None,
    typer.Option("--kind", help="Only these: simulated, measured, ladder, study, tuning, network."),
]
Name: TypeAlias = Annotated[
    str | None, typer.Option("--name", help="Only those of scenarios with this name.")
]
Labelled: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="KEY=VALUE", help="Only those with it; can be repeated."),
]
Since: TypeAlias = Annotated[
    str | None,
    typer.Option("--since", metavar="WHEN", help='Only from then on: 2026-11-01, or "7 d" ago.'),
]


Calls: TypeAlias = Annotated[
    str | None,
    typer.Option("--calls", help="Only those measured by these calls: posix, io-uring, null."),
]


Step: TypeAlias = Annotated[
    str | None,
    typer.Option("--step", help='Of ladders, a step by operation, as "400/s" or "processes 4".'),
]


def _wanted(
    kind: str | None,
    name: str | None,
    labels: list[str] | None,
    since: str | None,
    limit: int | None,
    calls: str | None,
) -> "Wanted":
    from headrace.store import wanted

    return wanted(kind, name, parsed_labels(labels or []), since, limit, calls)


@app.command("list")
def list_(
    kind: Kind = None,
    name: Name = None,
    label: Labelled = None,
    since: Since = None,
    calls: Calls = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="No more than so many, the newest.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the results, the newest first."""
    from headrace import store

    listed = store.open().listed(_wanted(kind, name, label, since, limit, calls))
    if as_json:
        _print({"results": listed})
        return
    from headrace.report.store_tables import results

    show_tables(results(listed))


@app.command()
def show(identifier: Identifier, step: Step = None, as_json: AsJson = False) -> None:
    """Show a result: how it was made, and its figures."""
    from headrace import store

    shown = store.open().shown(identifier, step)
    if as_json:
        _print(shown)
        return
    from headrace.report.store_tables import one_result, one_step

    show_tables(one_result(shown) if step is None else one_step(shown))


@app.command()
def compare(
    identifiers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ID...]", help="Identifiers, as much as is unique, or last; the first first."
        ),
    ] = None,
    by: Annotated[
        By | None,
        typer.Option("--by", help="Take results with --name or --label together by this."),
    ] = None,
    kind: Kind = None,
    name: Name = None,
    label: Labelled = None,
    since: Since = None,
    calls: Calls = None,
    step: Step = None,
    as_json: AsJson = False,
) -> None:
    """Compare results with the first of them, and say whether they differ by more than chance."""
    from headrace import store

    compared = store.open().compare(
        identifiers or [],
        by=by,
        kind=kind,
        name=name,
        labels=parsed_labels(label or []),
        since=since,
        calls=calls,
        step=step,
    )
    if as_json:
        _print(compared.json())
        return
    from headrace.report.comparison_tables import comparison

    show_tables(comparison(compared.json()))


@app.command()
def export(
    identifiers: Identifiers,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The zip file to write.")
    ],
) -> None:
    """Write results with their tables to one file, to hand on."""
    from headrace import store

    check_writable(output)
    exported = store.open().export(identifiers, output)
    print(plain_line(f"{output}: {_counted(len(exported))}"))


@app.command("import")
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="What export wrote, or results that -o saved."),
    ],
) -> None:
    """Take results from files into the store; those it has already stay as they are."""
    from headrace import store
    from headrace.importing import import_results

    there = store.open()
    for file in files:
        taken = import_results(there, file)
        new = sum(taken.values())
        line = f"{file}: {_counted(new)} taken in"
        if len(taken) > new:
            line += f", {len(taken) - new} there already"
        print(plain_line(line))
        for identifier in taken:
            print(f"  {identifier}")


@app.command()
def remove(
    identifiers: Identifiers,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
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
    """Remove the tables that killed runs have left, and look whether all others are whole."""
    from headrace import store

    checked = store.open().check()
    if as_json:
        removed = [str(directory) for directory in checked.removed]
        _print(checked._asdict() | {"removed": removed})
    else:
        for directory in checked.removed:
            print(plain_line(f"removed {directory}: no result has these tables"))
        for line in checked.damaged:
            print(plain_line(f"damaged: {line}"))
        print(f"{_counted(checked.results)}, {len(checked.damaged)} tables damaged or gone")
    return 1 if checked.damaged else 0


@app.command()
def path() -> None:
    """Print where the store is."""
    from headrace import store

    print(plain_line(str(store.open().location)))


def _ask(question: str) -> None:
    """Goes on if a person agrees. Raises ValueError where there is nobody to ask."""
    if not sys.stdin.isatty():
        raise ValueError("nobody can be asked here: expected --yes to remove results")
    if not typer.confirm(question, err=True):
        raise typer.Exit(1)


def _counted(number: int) -> str:
    return "1 result" if number == 1 else f"{number} results"


def _print(document: dict[str, Any]) -> None:
    print(json.dumps(document, allow_nan=False, indent=2))

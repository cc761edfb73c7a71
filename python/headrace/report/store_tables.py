"""Results in the store as tables for a terminal."""

import pkgutil
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.environment import KEYS, shown
from headrace.fields import convert, partial
from headrace.kinds import KINDS, UNSHOWN, blocks
from headrace.plain_text import plain, plain_line
from headrace.quantities import duration, figure, megabytes, milliseconds, size
from headrace.render.blocks import Note
from headrace.render.fitted_table import FittedTable
from headrace.render.terminal import rendered
from headrace.views.parts import when

if TYPE_CHECKING:
    from headrace.store.listing import ResultEntry, ShownResult, ShownStep

LESS_TO_RESULTS = (
    "took",
    "seed",
    "calls",
    "version",
    "file system",
    "p95 ms",
    "overall ms",
    "kind",
    "host",
    "labels",
)
"""Columns that narrow terminals omit, in this order."""


def results(entries: Sequence["ResultEntry"]) -> RenderableType:
    """A line for each result."""
    if not entries:
        return Text("No results match.")
    columns: tuple[str, ...] = (
        "id",
        "name",
        "started",
        "kind",
        "version",
        "calls",
        "seed",
        "took",
        "host",
        "file system",
        "labels",
    )
    columns += ("read MB/s", "write MB/s", "p95 ms", "overall ms")
    made = FittedTable("Results", 2, columns, LESS_TO_RESULTS)
    for entry in entries:
        figures = entry.figures
        moved = (figures.get(name, {}).get("throughput_bytes_per_s") for name in ("read", "write"))
        p95 = figures.get("all", {}).get("latency_p95_s")
        # The overall response time of a load sweep.
        overall = figures.get("overall response", {}).get("latency_mean_s")
        made.add_row(
            entry.id,
            entry.name,
            when(entry.started),
            entry.kind,
            entry.version,
            entry.calls or "",
            "" if entry.seed is None else str(entry.seed),
            "" if entry.duration_s is None else duration(entry.duration_s),
            entry.environment.get("host", ""),
            entry.environment.get("file_system", ""),
            labels(entry),
            *("" if value is None else megabytes(value) for value in moved),
            "" if p95 is None else milliseconds(p95),
            "" if overall is None else milliseconds(overall),
        )
    return made


def one_result(entry: "ShownResult") -> RenderableType:
    """Return how a result was made, and its figures."""
    text = Text(f"{entry.id}: {entry.kind}", style="bold")
    lines = [
        f"started {when(entry.started)} with version {plain(entry.version)}"
        f" on {plain(entry.system)} ({plain(entry.machine)})",
        f"scenario {(entry.scenario_sha256 or 'none')[:12]}",
    ]
    lines += map(plain_line, environment(entry.environment))
    if entry.calls:
        lines.append(f"measured by {plain(entry.calls)} calls")
    if entry.labels:
        lines.append(f"labels {plain(labels(entry))}")
    for name, table in entry.tables.items():
        lines.append(f"table {plain(name)}, {size(table.bytes)}")
    text.append("\n" + "\n".join(lines) + "\n", style="not bold")
    return Group(text, _figures(entry))


def environment(of: Mapping[str, Any]) -> list[str]:
    """Return the environment of a result in lines, without unknown fields."""
    named = {key: shown(key, of[key]) for key in KEYS if key in of}
    host = [
        named.get("host", ""),
        named.get("kernel", ""),
        named.get("processor", ""),
        f"{named['processors']} processors" if "processors" in named else "",
        f"{named['memory_bytes']} of memory" if "memory_bytes" in named else "",
    ]
    if of.get("client_hosts", 1) > 1:
        host[0] += f" and {of['client_hosts'] - 1} more client hosts"
    mount = " ".join(filter(None, (named.get("mount_source"), named.get("mount_point"))))
    file_system = [
        named.get("directory", ""),
        " on ".join(filter(None, (named.get("file_system"), mount))),
        named.get("mount_options", ""),
    ]
    device = [named.get(f"device{it}", "") for it in ("", "_model", "_kind", "_bytes")]
    lines = {"host": host, "directory": file_system, "device": device}
    return [
        f"{name} {', '.join(filter(None, parts))}" for name, parts in lines.items() if any(parts)
    ]


def one_step(entry: "ShownStep") -> RenderableType:
    """Return the figures of one step of a load sweep."""
    name, step = plain(entry.name), plain(entry.step["name"])
    from headrace.measure.sweep_steps import SweepStep
    from headrace.views.measured import figures as step_figures
    from headrace.views.measured import of_repeats

    text = Text(f"{entry.id}: {name}, {step}", style="bold")
    try:
        step = convert(dict(entry.step), partial(SweepStep))
        repeats = Note(of_repeats(step, len(step.repetitions)) if step.repetitions else "")
        return Group(text, rendered([repeats, *step_figures(step)]))
    except UNSHOWN as error:
        raise ValueError(
            f"{entry.id}: its {step} lacks fields that this version shows, or is damaged"
            f" ({type(error).__name__}: {error}): expected --json beside --step"
        ) from None


def _figures(entry: "ShownResult") -> RenderableType:
    """Return the tables of the command that made the result. For results of other versions without
    some of its fields, return the catalogued figures."""
    try:
        return tables(entry.kind, entry.document)
    except UNSHOWN:
        made = FittedTable("Figures", 2, ("operation", "figure", "value"))
        for operation, figures in entry.figures.items():
            for name, value in figures.items():
                made.add_row(operation, name, figure(value))
        return made


def tables(kind: str, document: Mapping[str, Any]) -> RenderableType:
    """Return the tables of a document. Raises one of `UNSHOWN` if it lacks fields."""
    named = KINDS[kind].tables
    if not named:
        return rendered(blocks(kind, document))
    drawn: RenderableType = pkgutil.resolve_name(named)(document)
    return drawn


def labels(entry: "ResultEntry") -> str:
    """Labels in one line."""
    return ", ".join(f"{key}={value}" for key, value in entry.labels.items())

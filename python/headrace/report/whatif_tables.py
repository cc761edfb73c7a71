"""Gains from changes of a scenario, as tables for a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.report.fitted_table import FittedTable
from headrace.report.plain_text import plain
from headrace.report.units import duration, figure, milliseconds

Document = Mapping[str, Any]

COLUMNS = ("field", "now", "then", "throughput gain", "p95 gain", "MB/s", "operations/s", "p95 ms")
LESS = ("p95 ms", "operations/s", "MB/s")


def what_if(document: Document) -> RenderableType:
    """Return the table of changes that help, largest gain first; all others in a line each."""
    changes: Sequence[Document] = document["changes"]
    parts: list[RenderableType] = [_heading(document), _table(document, changes)]
    helped = {change["path"] for change in changes if change["effect"] == "helps"}
    harmed: dict[str, list[str]] = {}
    for change in changes:
        if change["effect"] == "harms" and change["path"] not in helped:
            harmed.setdefault(change["path"], []).append(
                f"{change['after']}: {_gain(change['throughput_gain'])}"
            )
    without = set(_paths(changes, "none")) - helped - harmed.keys()
    other = helped | harmed.keys() | set(_paths(changes, "failed")) - without
    lines = {
        "Only worse, throughput gain": [f"{path} ({', '.join(it)})" for path, it in harmed.items()],
        "No effect": _by_section(without, other),
        "0, so that no factor changes it": document["nothing"],
        "Cannot be changed": [
            f"{change['path']} ({change['error']})"
            for change in changes
            if change["effect"] == "failed"
            and change["path"] not in helped | harmed.keys() | without
        ],
    }
    for what, fields in lines.items():
        if fields:
            separator = "; " if what == "Cannot be changed" else ", "
            parts.append(Text(f"{what}: {plain(separator.join(fields))}."))
    parts.append(Text("\n" + plain(document["baseline"]["bottleneck"]["sentence"]), style="bold"))
    return Group(*parts)


def _paths(changes: Sequence[Document], effect: str) -> list[str]:
    return list(dict.fromkeys(it["path"] for it in changes if it["effect"] == effect))


def _by_section(paths: set[str], others: set[str]) -> list[str]:
    """Paths in order; of a section of which all have none of the others, the section."""
    lines: dict[str, list[str]] = {}
    for path in sorted(paths):
        parts = path.split(".")
        sections = (".".join(parts[:length]) + "." for length in range(1, len(parts)))
        own = (it for it in sections if not any(other.startswith(it) for other in others))
        lines.setdefault(next(own, path), []).append(path)
    return [
        f"{section}* ({len(within)})" if len(within) > 1 else within[0]
        for section, within in lines.items()
    ]


def _heading(document: Document) -> Text:
    text = Text(plain(document["scenario"]["name"]), style="bold")
    runs = document["replications"]
    each = f", {runs} replications each" if runs > 1 else ""
    text.append(
        f": what if there were {document['factor']:g} times as much of each thing, or each time "
        f"were divided by {document['factor']:g}?\n{document['runs']} runs{each}, "
        f"{duration(document['wall_seconds'])}",
        style="not bold",
    )
    return text


def _table(document: Document, changes: Sequence[Document]) -> RenderableType:
    helps = [change for change in changes if change["effect"] == "helps"]
    if not helps:
        return Text("\nNo change helps.\n", style="bold")
    made = FittedTable("What would help", 3, COLUMNS, LESS)
    for change in helps:
        made.add_row(
            change["path"],
            change["before"],
            change["after"],
            _gain(change["throughput_gain"], change["throughput_gain_half_width"]),
            _gain(change["latency_p95_gain"], change["latency_p95_gain_half_width"]),
            figure(_scaled(change["throughput_bytes_per_s"], 1e-6)),
            figure(change["operations_per_s"]),
            milliseconds(change["latency_p95_s"]),
        )
    made.caption = (
        "gain: how many times as high the throughput of the whole run, or as short p95, is"
    )
    if document["replications"] > 1:
        made.caption += "; means ± their 95 % intervals"
    else:
        made.caption += "; one run each, without intervals: run.replications gives them"
    return made


def _scaled(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _gain(gain: float | None, half_width: float | None = None) -> str:
    if gain is None:
        return "\N{EN DASH}"
    return f"{gain:.2f}" + (f" ± {half_width:.2f}" if half_width else "")

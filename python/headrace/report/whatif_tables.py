"""Gains from changes of a scenario, as tables for a terminal."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.alternatives import GROUPS
from headrace.fields import convert
from headrace.plain_text import plain
from headrace.quantities import duration, figure, milliseconds
from headrace.report.fitted_table import FittedTable
from headrace.sweeps.whatif_report import EFFECT, Change, LeftOutKind, WhatIfReport

NAMES = ("group", "field", "instead of", "then")
COLUMNS = (*NAMES, "throughput gain", "p95 gain", "MB/s", "operations/s", "p95 ms")
LESS = ("p95 ms", "operations/s", "MB/s")
MOST_ROWS = 3
"""Most rows of one field in the table."""
PAIRS = "pair"
"""Group of two changes together."""


def what_if(document: Mapping[str, Any]) -> RenderableType:
    """Return the table of changes that help, by group from cheap to expensive and the largest gain
    first; all others in a line each."""
    report = convert(document, WhatIfReport)
    changes = report.changes
    helps = [change for change in changes if change.effect == "helps"]
    shown, more = _shown([change for change in helps if not _trades(change)])
    parts: list[RenderableType] = [_heading(report), _table(report, shown)]
    helped = {change.path for change in helps}
    harmed: dict[str, list[str]] = {}
    for change in changes:
        if change.effect == "harms":
            harmed.setdefault(change.path, []).append(
                f"{change.after}: {_gain(change.throughput_gain)}"
            )
    without = set(_paths(changes, "none")) - helped - harmed.keys()
    other = helped | harmed.keys() | set(_paths(changes, "failed")) - without
    lines = {
        "They help less, throughput gain": _by_path(more),
        "Shorter p95 for less throughput": _by_path(
            [change for change in helps if _trades(change)], both=True
        ),
        "At a price": _cautions(shown),
        "Worse, throughput gain": [f"{path} ({', '.join(it)})" for path, it in harmed.items()],
        "No effect": _by_section(without, other),
        "0, so that no factor changes it": report.nothing,
        "Cannot be changed": [
            f"{change.path} ({change.error})"
            for change in changes
            if change.effect == "failed" and change.path not in helped | harmed.keys() | without
        ],
        **_left_out(report.left_out),
    }
    for what, fields in lines.items():
        if fields:
            separator = "; " if what in ("Cannot be changed", "At a price") else ", "
            parts.append(Text(f"{what}: {plain(separator.join(fields))}."))
    parts.append(Text("\n" + plain(report.baseline.bottleneck.sentence), style="bold"))
    return Group(*parts)


def _group(change: Change) -> str:
    return PAIRS if change.kind == "pair" else str(change.group)


def _shown(helps: Sequence[Change]) -> tuple[list[Change], list[Change]]:
    """Changes for the table by group, and those that follow better ones of the same field."""
    counts: Counter[tuple[str, str]] = Counter()
    shown: list[Change] = []
    more: list[Change] = []
    for change in helps:
        key = (_group(change), change.path)
        counts[key] += 1
        (shown if counts[key] <= MOST_ROWS else more).append(change)
    order = (*GROUPS, PAIRS)
    return sorted(shown, key=lambda change: order.index(_group(change))), more


def _trades(change: Change) -> bool:
    """Return whether latency gains at the cost of throughput."""
    gain = change.throughput_gain
    return gain is not None and gain < 1 - EFFECT


def _by_path(changes: Sequence[Change], both: bool = False) -> list[str]:
    """Values with their gains, by path: of throughput, or of throughput and p95."""
    paths: dict[str, list[str]] = {}
    for change in changes:
        gain = f"{change.after}: {_gain(change.throughput_gain)}"
        if both:
            gain += f" and {_gain(change.latency_p95_gain)}"
        paths.setdefault(change.path, []).append(gain)
    return [f"{path} ({', '.join(gains)})" for path, gains in paths.items()]


def _cautions(shown: Sequence[Change]) -> list[str]:
    """Costs of the changes in safety, each once with its changes."""
    texts: dict[str, list[str]] = {}
    for change in shown:
        if change.caution and change.kind != "pair":
            texts.setdefault(change.caution, []).append(f"{change.path} = {change.after}")
    return [f"{', '.join(named)}: {text}" for text, named in texts.items()]


def _left_out(left_out: Sequence[LeftOutKind]) -> dict[str, list[str]]:
    """Kinds that the scenario cannot have, under a heading that counts them."""
    paths: dict[str, list[str]] = {}
    for each in left_out:
        paths.setdefault(each.path, []).append(each.after)
    what = f"Left out, as they need other fields too ({len(left_out)}; --json has the reasons)"
    return {what: [f"{path} ({', '.join(after)})" for path, after in paths.items()]}


def _paths(changes: Sequence[Change], effect: str) -> list[str]:
    return list(dict.fromkeys(it.path for it in changes if it.effect == effect))


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


def _heading(report: WhatIfReport) -> Text:
    text = Text(plain(report.scenario.name), style="bold")
    runs = report.replications
    has_kinds = any(change.kind == "level" for change in report.changes)
    kinds = ", or it were of another kind" if has_kinds else ""
    each = f", {runs} replications each" if runs > 1 else ""
    text.append(
        f": what if there were {report.factor:g} times as much of each thing, or each time "
        f"were divided by {report.factor:g}{kinds}?\n{report.runs} runs{each}, "
        f"{duration(report.wall_seconds)}",
        style="not bold",
    )
    return text


def _table(report: WhatIfReport, shown: Sequence[Change]) -> RenderableType:
    if not shown:
        return Text("\nNo change helps.\n", style="bold")
    made = FittedTable("What would help", len(NAMES), COLUMNS, LESS)
    group = ""
    for change in shown:
        if group and group != _group(change):
            made.add_section()
        begins = group != _group(change)
        group = _group(change)
        made.add_row(
            group if begins else "",
            change.path,
            change.before or "\N{EN DASH}",
            change.after,
            _gain(change.throughput_gain, change.throughput_gain_half_width),
            _gain(change.latency_p95_gain, change.latency_p95_gain_half_width),
            figure(_scaled(change.throughput_bytes_per_s, 1e-6)),
            figure(change.operations_per_s),
            milliseconds(change.latency_p95_s),
        )
    made.caption = (
        "gain: how many times as high the throughput of the whole run, or as short p95, is"
    )
    if any(change.throughput_gain is None for change in shown):
        made.caption += "; \N{EN DASH}: with it the run takes no time, as nothing else costs any"
    if report.replications > 1:
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

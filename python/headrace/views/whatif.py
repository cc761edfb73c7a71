"""Gains from changes of a scenario."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from headrace.alternatives import GROUPS
from headrace.quantities import NOT_KNOWN, duration
from headrace.render import units
from headrace.render.blocks import Axis, Block, Chart, Column, Headline, Line, Note, Table, View
from headrace.render.units import Unit
from headrace.sweeps.whatif_report import EFFECT, Change, LeftOutKind, WhatIfReport

GAINS = {"throughput_gain": "throughput", "latency_p95_gain": "p95 latency"}
MOST = 20
"""Changes on the chart."""
LARGE = 20
"""Gain above which the scale is logarithmic."""
MOST_ROWS = 3
"""Most rows of one field in the table."""
PAIRS = "pair"
"""Group of two changes together."""


def view(report: WhatIfReport) -> View:
    """Return the changes that help, by group from cheap to expensive and the largest gain first;
    all others in a line each."""
    changes = report.changes
    helps = [change for change in changes if change.effect == "helps"]
    shown, more = _shown([change for change in helps if not _trades(change)])
    blocks: list[Block] = [
        _heading(report),
        *_headline([change for change in helps if not _trades(change)]),
        _chart(report, helps),
        _table(report, shown),
    ]
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
        "Worse, throughput gain": [f"{path} ({', '.join(keys)})" for path, keys in harmed.items()],
        "No effect": _by_section(without, other),
        "0, so that no factor changes it": report.nothing,
        "Cannot be changed": [
            f"{change.path} ({change.error})"
            for change in changes
            if change.effect == "failed" and change.path not in helped | harmed.keys() | without
        ],
        **_left_out(report.left_out),
    }
    for title, fields in lines.items():
        if fields:
            separator = "; " if title in ("Cannot be changed", "At a price") else ", "
            blocks.append(Note(f"{title}: {separator.join(fields)}."))
    blocks.append(Note("", "\n" + report.baseline.bottleneck.sentence))
    return blocks


def _headline(helps: Sequence[Change]) -> list[Headline]:
    """Return the best change and its gains."""
    if not helps:
        return []
    best = helps[0]
    shown = {"best change": f"{best.path} {best.before or NOT_KNOWN} → {best.after}"}
    for key, label in GAINS.items():
        if (gain := getattr(best, key)) is not None:
            shown[f"{label} gain"] = f"\N{MULTIPLICATION SIGN} {_gain(gain)}"
    return [Headline(shown)]


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
    title = f"Left out, as they need other fields too ({len(left_out)}; --json has the reasons)"
    return {title: [f"{path} ({', '.join(after)})" for path, after in paths.items()]}


def _paths(changes: Sequence[Change], effect: str) -> list[str]:
    return list(dict.fromkeys(change.path for change in changes if change.effect == effect))


def _by_section(paths: set[str], others: set[str]) -> list[str]:
    """Paths in order; of a section of which all have none of the others, the section."""
    lines: dict[str, list[str]] = {}
    for path in sorted(paths):
        parts = path.split(".")
        sections = (".".join(parts[:length]) + "." for length in range(1, len(parts)))
        own = (name for name in sections if not any(other.startswith(name) for other in others))
        lines.setdefault(next(own, path), []).append(path)
    return [
        f"{section}* ({len(within)})" if len(within) > 1 else within[0]
        for section, within in lines.items()
    ]


def _heading(report: WhatIfReport) -> Note:
    runs = report.replications
    has_kinds = any(change.kind == "level" for change in report.changes)
    kinds = ", or it were of another kind" if has_kinds else ""
    each = f", {runs} replications each" if runs > 1 else ""
    return Note(
        f": what if there were {report.factor:g} times as much of each thing, or each time "
        f"were divided by {report.factor:g}{kinds}?\n{report.runs} runs{each}, "
        f"{duration(report.wall_seconds)}",
        report.scenario.name,
    )


def _chart(report: WhatIfReport, helps: Sequence[Change]) -> Chart:
    best = helps[:MOST]
    names = [f"{change.path}\n{change.before or NOT_KNOWN} → {change.after}" for change in best]
    gains = [
        Line.of_means(
            label,
            names,
            [getattr(change, key) for change in best],
            [getattr(change, f"{key}_half_width") for change in best],
            "bar",
        )
        for key, label in GAINS.items()
    ]
    values = [y for line in gains for y in line.y if y is not None]
    scale: Literal["linear", "log"] = "log" if values and max(values) > LARGE else "linear"
    axis = Axis("times as high a throughput, or as short a latency", GAIN, scale, base=1.0)
    other = "another kind" if any(one.kind == "level" for one in report.changes) else "as fast"
    title = f"What if: {report.factor:g} times as much, or {other}"
    return Chart("whatif", title, Axis("change", scale="names"), axis, gains)


def _table(report: WhatIfReport, shown: Sequence[Change]) -> Block:
    if not shown:
        return Note("", "\nNo change helps.\n")
    groups = [_group(change) for change in shown]
    begins = [row for row, group in enumerate(groups) if row == 0 or group != groups[row - 1]]
    caption = "gain: how many times as high the throughput of the whole run, or as short p95, is"
    if any(change.throughput_gain is None for change in shown):
        caption += f"; {NOT_KNOWN}: with it the run takes no time, as nothing else costs any"
    if report.replications > 1:
        caption += "; means ± their 95 % intervals"
    else:
        caption += "; one run each, without intervals: run.replications gives them"

    def column(name: str, key: str, unit: Unit, spare: int = 0) -> Column:
        halves = [getattr(change, f"{key}_half_width", None) or None for change in shown]
        values = [getattr(change, key) for change in shown]
        return Column(name, values, unit, spare, halves, absent=NOT_KNOWN)

    columns = [
        Column("group", [group if row in begins else "" for row, group in enumerate(groups)]),
        Column("field", [change.path for change in shown]),
        Column("instead of", [change.before or NOT_KNOWN for change in shown]),
        Column("then", [change.after for change in shown]),
        column("throughput gain", "throughput_gain", GAIN),
        column("p95 gain", "latency_p95_gain", GAIN),
        column("MB/s", "throughput_bytes_per_s", units.THROUGHPUT, 1),
        column("operations/s", "operations_per_s", units.FIGURE, 2),
        column("p95 ms", "latency_p95_s", units.MILLISECONDS, 3),
    ]
    return Table("What would help", columns, 4, [row for row in begins if row], caption)


def _gain(gain: float | None) -> str:
    return NOT_KNOWN if gain is None else f"{gain:.2f}"


GAIN = Unit("", 1.0, _gain)

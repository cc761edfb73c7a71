"""Results in the store: a list of them, and how one was made."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from headrace.environment import described, local_time
from headrace.fields import convert, partial
from headrace.kinds import UNSHOWN, blocks
from headrace.plain_text import plain_line
from headrace.quantities import figure, size
from headrace.render import units
from headrace.render.blocks import Column, Note, Table, View
from headrace.views.comparison import change_text, ratio_text

if TYPE_CHECKING:
    from headrace.store.listing import ResultEntry, ShownResult, ShownStep


def listing(entries: Sequence["ResultEntry"]) -> View:
    """Return the table of results."""
    if not entries:
        return [Note("No results match.")]

    def places(name: str) -> list[str]:
        return [entry.environment.get(name, "") for entry in entries]

    def figures(operation: str, name: str) -> list[float | None]:
        return [entry.figures.get(operation, {}).get(name) for entry in entries]

    columns = [
        Column("id", [entry.id for entry in entries]),
        Column("name", [entry.name for entry in entries]),
        Column("started", [local_time(entry.started) for entry in entries]),
        Column("kind", [entry.kind for entry in entries], spare=3),
        Column("version", [entry.version for entry in entries], spare=7),
        Column("calls", [entry.calls for entry in entries], spare=8),
        Column("seed", [entry.seed for entry in entries], spare=9),
        Column("took", [entry.duration_s for entry in entries], units.TIME, spare=10),
        Column("host", places("host"), spare=2),
        Column("file system", places("file_system"), spare=6),
        Column("changed", [changed(entry) for entry in entries], spare=11),
        Column("labels", [_labels(entry) for entry in entries], spare=1),
        Column("read MB/s", figures("read", "throughput_bytes_per_s"), units.THROUGHPUT),
        Column("write MB/s", figures("write", "throughput_bytes_per_s"), units.THROUGHPUT),
        Column("p95 ms", figures("all", "latency_p95_s"), units.MILLISECONDS, spare=5),
        # The overall response time of a load sweep.
        Column("overall ms", figures("overall response", "latency_mean_s"), units.MILLISECONDS, 4),
    ]
    return [Table("Results", columns, names=2)]


def changed(entry: "ResultEntry") -> str:
    """Return what changed in a scenario since the result before, with a figure's ratio, if any."""
    change = entry.change
    if change is None or not change.fields:
        return ""
    ratio = change.ratio
    effect = "" if ratio is None else ratio_text(change.operation, change.figure, ratio)
    return change_text(change.fields, effect)


def changed_since(entry: "ResultEntry") -> list[str]:
    """Return the line that says what changed since the result before it, if anything did."""
    text = changed(entry)
    return [f"since {entry.change.previous}: {text}"] if entry.change and text else []


def _labels(entry: "ResultEntry") -> str:
    return ", ".join(f"{key}={value}" for key, value in entry.labels.items())


def one_result(entry: "ShownResult") -> View:
    """Return how a result was made, and its figures.

    Results of other versions that lack fields have the catalogued figures instead of tables.
    """
    try:
        figures = blocks(entry.kind, entry.document)
        _check(figures)
    except UNSHOWN:
        figures = [catalogued_figures(entry)]
    return [origin(entry), *figures]


def _check(view: View) -> None:
    """Raise one of `UNSHOWN` if a value cannot be shown."""
    for block in view:
        if isinstance(block, Table):
            block.rows()


def origin(entry: "ShownResult") -> Note:
    """Return how a result was made."""
    lines = [
        f"started {local_time(entry.started)} with version {entry.version}"
        f" on {entry.system} ({entry.machine})",
        *changed_since(entry),
        *map(plain_line, described(entry.environment)),
    ]
    if entry.calls:
        lines.append(f"measured by {entry.calls} calls")
    if entry.labels:
        lines.append(f"labels {_labels(entry)}")
    lines += [f"table {name}, {size(table.bytes)}" for name, table in entry.tables.items()]
    return Note("\n" + "\n".join(lines) + "\n", f"{entry.id}: {entry.kind}")


def catalogued_figures(entry: "ShownResult") -> Table:
    """Return the figures by which results are listed."""
    rows = [
        (operation, name, figure(value))
        for operation, figures in entry.figures.items()
        for name, value in figures.items()
    ]
    return Table.of_rows("Figures", ("operation", "figure", "value"), rows, 2)


def one_step(entry: "ShownStep") -> View:
    """Return the figures of one step of a load sweep. Raises ValueError if it lacks fields."""
    from headrace.measure.sweep_steps import SweepStep
    from headrace.views.measured import figures, of_repeats

    name = entry.step["name"]
    try:
        step = convert(dict(entry.step), partial(SweepStep))
        repeats = of_repeats(step, len(step.repetitions)) if step.repetitions else ""
        shown = figures(step)
        _check(shown)
    except UNSHOWN as error:
        raise ValueError(
            f"{entry.id}: its {name} lacks fields that this version shows, or is damaged"
            f" ({type(error).__name__}: {error}): expected --json beside --step"
        ) from None
    return [Note("", f"{entry.id}: {entry.name}, {name}"), Note(repeats), *shown]

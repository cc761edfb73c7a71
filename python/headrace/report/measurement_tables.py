"""Results and progress of a measurement as tables for a terminal."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain
from headrace.quantities import (
    duration,
    figure,
    megabytes,
    milliseconds,
    percent,
    size,
    whole,
)
from headrace.report.fitted_table import FittedTable
from headrace.report.tables import left_out_line, left_out_table, unfinished

Document = Mapping[str, Any]

LATENCIES = ("mean", "p50", "p95", "p99", "max")
LESS = ("p50 ms", "p95 ms", "data", "max ms", "operations")
"""Columns that narrow terminals omit, in this order."""
ENDS = {
    "workload": "It ended with its workload.",
    "time": "It ended at run.stop.time.",
    "requests": "It ended after run.stop.requests.",
    "interrupted": "Interrupted: partial figures.",
    "failed": "An operation failed: partial figures.",
}


def measurement(document: Document) -> RenderableType:
    """Return the tables of a measurement."""
    parts = [_heading(document), *_figures(document)]
    parts.append(Text("\n" + ENDS[document["stop"]["reason"]]))
    return Group(*parts, *left_out_line(document))


def step(document: Document) -> RenderableType:
    """Return all figures of a step of a load sweep."""
    repeats = document.get("repetitions")
    text = Text(_of_repeats(len(repeats), document)) if repeats else Text("")
    return Group(text, *_figures(document))


def _figures(document: Document) -> list[RenderableType]:
    """Return the figures of a measurement without its heading and its end."""
    parts: list[RenderableType] = [_performance(document)]
    # Results of earlier versions have none.
    if len(document.get("operation_groups", {})) > 1:
        parts.append(_operation_groups(document))
    if document.get("latency_from_intended"):
        parts.append(_from_intended(document))
    if text := unfinished(document):
        parts.append(Text("\n" + text))
    if "sharing" in document:
        parts.append(Text("\n" + _sharing(document["sharing"])))
    if "file_sets" in document:
        parts.append(Text("\n" + _file_sets(document["file_sets"])))
    parts += left_out_table(document)
    parts.append(Text("\n" + machine(document["counters"])))
    if text := _cache(document["cache"]):
        parts.append(Text(text))
    for warning in document["warnings"]:
        parts.append(Text(f"Note: {plain(warning['message'])}.", style="yellow"))
    return parts


def _heading(document: Document) -> Text:
    scenario = document["scenario"]
    text = Text(plain(scenario["name"]), style="bold")
    if scenario["description"]:
        text.append(f": {plain(scenario['description'])}", style="not bold")
    many = document["processes"] != 1
    text.append(
        f"\nmeasured for {duration(document['measured_seconds'])}"
        f" with {whole(document['processes'])} process{'es' if many else ''},"
        f" after {duration(document['prepare_seconds'])} of preparation; seed {document['seed']}",
        style="not bold",
    )
    # Results of earlier versions do not say it.
    if (calls := document.get("calls", "posix")) != "posix":
        text.append(f"; by {calls} calls", style="not bold")
    if repetitions := document.get("repetitions"):
        text.append(f"\n{_of_repeats(len(repetitions), document)}", style="not bold")
    return text


def _of_repeats(done: int, document: Document) -> str:
    wanted = document.get("wanted_repeats", done)
    text = f"{done} repeats" if done == wanted else f"{done} of {wanted} repeats"
    if document.get("intervals"):
        text += ", ± half the width of the 95 % interval of their mean (t)"
    return f"{text}; percentiles are over all operations"


def _performance(document: Document) -> FittedTable:
    columns = ["operation", "operations", "data", "MB/s", "operations/s"]
    columns += [f"{name} ms" for name in LATENCIES]
    made = FittedTable("Throughput and service time", 1, columns, LESS)
    for name, counted in document["operations"].items():
        throughput = document["throughput"].get(name)
        rate = counted["per_second"]
        made.add_row(
            name,
            whole(counted["count"]),
            size(counted["bytes"]) if counted["bytes"] else "",
            ""
            if throughput is None
            else with_spread(document, ("throughput", name), throughput, megabytes),
            ""
            if rate is None
            else with_spread(document, ("operations", name, "per_second"), rate, figure),
            *_latencies(document, "latency", name),
        )
    return made


def _operation_groups(document: Document) -> FittedTable:
    """Return the table of operation groups, with response time beside service time where there is
    one."""
    groups = document["operation_groups"]
    intended = any("latency_from_intended" in it for it in groups.values())
    columns = ["group", "operations", "data", "MB/s", "operations/s"]
    columns += [f"{name} ms" for name in LATENCIES]
    columns += ["response mean ms", "response p99 ms"] * intended
    less = ("p50 ms", "p95 ms", "data", "response mean ms", "max ms", "operations")
    made = FittedTable("Groups of operations", 1, columns, less)
    for name, it in groups.items():
        path = ("operation_groups", name)
        rate, throughput = it["per_second"], it["throughput"]
        mean = with_spread(
            document, (*path, "latency", "mean"), it["latency"]["mean"], milliseconds
        )
        response = it.get("latency_from_intended", {})
        made.add_row(
            name,
            whole(it["count"]),
            size(it["bytes"]) if it["bytes"] else "",
            ""
            if throughput is None
            else with_spread(document, (*path, "throughput"), throughput, megabytes),
            "" if rate is None else with_spread(document, (*path, "per_second"), rate, figure),
            mean,
            *(milliseconds(it["latency"][key]) for key in LATENCIES[1:]),
            *[milliseconds(response[key]) for key in ("mean", "p99") if key in response],
        )
    return made


def with_spread(
    document: Document,
    path: Sequence[str],
    value: float | None,
    format: Callable[[float | None], str],
) -> str:
    """A figure, and half the width of its interval if there were repeats enough."""
    found: Any = document.get("intervals", {})
    for key in path:
        found = found.get(key) if found else None
    return format(value) if found is None else f"{format(value)} ± {format(found)}"


def _latencies(document: Document, which: str, operation: str) -> list[str]:
    """Return the latencies of an operation; the mean with its confidence interval."""
    latency = document[which][operation]
    mean = with_spread(document, (which, operation, "mean"), latency["mean"], milliseconds)
    return [mean, *(milliseconds(latency[key]) for key in LATENCIES[1:])]


def machine(counters: Document) -> str:
    """Return the machine's counters in one line."""
    # Ticks of 10 ms make more than all of a short time.
    used = min(counters["cpu_user"] + counters["cpu_system"], 1.0)
    text = f"Processors {percent(used)} % busy, {percent(counters['cpu_iowait'])} % waiting for I/O"
    if counters["device"] is None:
        return f"{text}; no block device below the directory."
    read, written = (counters[f"device_{way}_bytes_per_s"] for way in ("read", "write"))
    if read is None or written is None:
        return f"{text}; {counters['device']} reports no counters."
    return (
        f"{text}; {counters['device']} {percent(counters['device_busy'])} % busy, reading"
        f" {megabytes(read)} and writing {megabytes(written)} MB/s."
    )


def _cache(cache: Document) -> str:
    """Return the cache hit rate in words, if it is known."""
    if cache["hit_rate"] is None:
        return ""
    text = f"Of the bytes read {percent(cache['hit_rate'])} % were in the page cache"
    if (ahead := cache.get("read_ahead_bytes")) is not None:
        text += f", {percent(ahead / cache['asked_bytes'])} % had been read ahead"
    return f"{text}."


def _sharing(rounds: Document) -> str:
    """Return the number of rounds in which processes issued an operation together, in words."""
    text = f"Processes shared an operation {whole(rounds['rounds'])} times"
    if rounds["broken_off"]:
        text += f"; {whole(rounds['broken_off'])} more were aborted"
    if (coordination := rounds.get("coordination")) is not None:
        announced, go_ahead = (coordination[key]["mean"] for key in ("announced", "go_ahead"))
        if announced is not None and go_ahead is not None:
            text, went = (f"{seconds * 1e3:.2f} ms" for seconds in (announced, go_ahead))
            text += f"; the hosts agreed on each in {text}, and {went} for the go-ahead"
    return f"{text}."


def _file_sets(sets: Sequence[Document]) -> str:
    """Return the file sets that groups of operations have to themselves."""
    text = (f"{it['group']} {whole(it['files'])} ({size(it['bytes'])})" for it in sets)
    return f"Files of each group: {', '.join(text)}."


def _from_intended(document: Document) -> FittedTable:
    columns = ["operation", "operations", *(f"{name} ms" for name in LATENCIES)]
    made = FittedTable("Response time, from the intended start", 1, columns, LESS)
    for name, latency in document["latency_from_intended"].items():
        figures = _latencies(document, "latency_from_intended", name)
        made.add_row(name, whole(latency["count"]), *figures)
    return made


class Now:
    """Progress of a running measurement."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.preparing = True
        self.prepared = (0, 0)
        self.removed: int | None = None
        self.seconds = 0.0
        self.operations: dict[str, tuple[int, int]] = {}
        self.rates: dict[str, tuple[float, float]] = {}
        self._before: tuple[float, dict[str, tuple[int, int]]] = (0.0, {})

    def add(self, preparing: bool, seconds: float, operations: dict[str, tuple[int, int]]) -> None:
        """Add the current progress. Rates are over one second at least."""
        self.preparing, self.seconds, self.operations = preparing, seconds, operations
        since, before = self._before
        if seconds - since < 1.0:
            return
        passed = seconds - since
        self.rates = {
            name: (
                (count - before.get(name, (0, 0))[0]) / passed,
                (moved - before.get(name, (0, 0))[1]) / passed,
            )
            for name, (count, moved) in operations.items()
        }
        self._before = (seconds, operations)


def live(now: Now) -> RenderableType:
    """Return the progress of a running measurement for a terminal."""
    state = duration(now.seconds)
    if now.preparing:
        state = "making files"
        if now.prepared[1]:
            state += f", {whole(now.prepared[0])} of {whole(now.prepared[1])}"
    if now.removed is not None:
        state = f"removing files, {whole(now.removed)} gone"
    heading = Text(plain(now.title), style="bold").append(f"  {state}", style="not bold")
    columns = ["operation", "operations", "data", "operations/s", "MB/s"]
    made = FittedTable("", 1, columns)
    for name, (count, moved) in now.operations.items():
        rate, throughput = now.rates.get(name, (None, None))
        made.add_row(
            name,
            whole(count),
            size(moved) if moved else "",
            "" if rate is None else figure(rate),
            megabytes(throughput) if throughput else "",
        )
    return Group(heading, made)

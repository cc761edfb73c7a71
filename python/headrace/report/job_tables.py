"""Results and progress of jobs as tables for a terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.text import Text

from headrace.plain_text import plain
from headrace.quantities import duration, figure, megabytes, milliseconds, short_size, whole
from headrace.report.fitted_table import FittedTable
from headrace.report.measurement_tables import machine

if TYPE_CHECKING:
    from headrace.measure.jobs import JobsLive

Document = Mapping[str, Any]

LATENCIES = ("mean", "p50", "p99", "p999", "max")
NAMES = {"p999": "p99.9"}
LESS = ("requests", "mean ms", "max ms", "in flight")
"""Columns that narrow terminals leave out, the first first."""
ENDS = {
    "interrupted": "Interrupted: partial figures.",
    "failed": "A request failed: partial figures.",
}


def jobs(document: Document) -> RenderableType:
    """A row for the reads, the writes and the syncs of each job."""
    parts: list[RenderableType] = [_heading(document), _table(document)]
    if "latency_from_intended" in document:
        parts.append(_from_intended(document))
    if counters := document.get("counters"):
        parts.append(Text(machine(counters)))
    parts += [Text(f"Note: {plain(note)}.") for note in document.get("notes", ())]
    for warning in document.get("warnings", ()):
        parts.append(Text(f"Note: {plain(warning['message'])}.", style="yellow"))
    if ends := ENDS.get(document["stop"]["reason"]):
        parts.append(Text(ends))
    return Group(*parts)


def _heading(document: Document) -> Text:
    text = Text(plain(document["scenario"]["name"]), style="bold")
    text.append(f": {plain(document['scenario']['description'])}", style="not bold")
    text.append(f"\n{plain(measured(document))}", style="not bold")
    return text


def measured(document: Document) -> str:
    """Return the target of the measurement in one line."""
    found = document["jobs"]
    files, place = document["files"], document["place"]
    if "device" in place:
        what = f"{place['device']}, {short_size(place['bytes'])}, only read"
    else:
        many = files["count"] != 1
        each = short_size(max((it["bytes"] for it in found), default=files["bytes"]))
        kind = place.get("file_system", "unknown")
        what = f"{files['count']} file{'s' * many} of {'up to ' * many}{each} on {kind}"
    ways = {_way(it) for it in found}
    return "; ".join([what, *sorted(ways)])


def _way(job: Document) -> str:
    """Return the access pattern of a job in words."""
    cache = "page cache bypassed (O_DIRECT)" if job["direct"] else "through the page cache"
    return f"{job['calls']} calls, {cache}{', O_DSYNC' * job['stable']}"


def _table(document: Document) -> FittedTable:
    columns = ["job", "operation", "block", "depth", "processes", "requests", "IOPS", "MB/s"]
    columns += [f"{NAMES.get(name, name)} ms" for name in LATENCIES] + ["in flight"]
    several = any(it["processes"] > 1 for it in document["jobs"])
    left_out = () if several else ("processes",)
    shown = [name for name in columns if name not in left_out]
    made = FittedTable("Throughput and latency", 2, shown, LESS)
    stage = None
    for it in document["jobs"]:
        if stage not in (None, it["stage"]) and _stages_are_large(document):
            made.add_section()
        stage = it["stage"]
        for operation, of_it in it["operations"].items():
            cells = {
                "job": it["name"],
                "operation": operation,
                "block": "" if operation == "sync" else short_size(it["block"]),
                "depth": whole(it["queue_depth"]),
                "processes": whole(it["processes"]),
                "requests": whole(of_it["count"]),
                "IOPS": figure(of_it["per_second"]),
                "MB/s": megabytes(of_it["throughput"]) if of_it["bytes"] else "",
                "in flight": figure(it["in_flight"]["mean"]),
            }
            cells |= {
                f"{NAMES.get(name, name)} ms": milliseconds(of_it["latency"][name])
                for name in LATENCIES
            }
            made.add_row(*(cells[name] for name in shown))
    return made


def _stages_are_large(document: Document) -> bool:
    stages = [it["stage"] for it in document["jobs"]]
    return len(stages) > len(set(stages))


def _from_intended(document: Document) -> FittedTable:
    columns = ["job", *(f"{NAMES.get(name, name)} ms" for name in LATENCIES)]
    made = FittedTable("Response time, from when requests were due", 1, columns, LESS)
    for name, latency in document["latency_from_intended"].items():
        made.add_row(name, *(milliseconds(latency[key]) for key in LATENCIES))
    return made


class Now:
    """Progress of running jobs."""

    WINDOW_S = 0.5
    """Rates are over this time at least."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.at: JobsLive | None = None
        self.rate: float | None = None
        self.throughput: float | None = None
        self.latency: float | None = None
        self._before: tuple[int, float, tuple[int, int, float]] = (0, 0.0, (0, 0, 0.0))

    def add(self, progress: "JobsLive") -> None:
        """Add the jobs' current progress."""
        self.at = progress
        step, since, before = self._before
        if progress.step != step:
            self._before = (progress.step, 0.0, (0, 0, 0.0))
            self.rate = self.throughput = self.latency = None
            return
        passed = progress.seconds - since
        if passed < self.WINDOW_S:
            return
        count, moved, latency = (
            now - then for now, then in zip(progress.counts, before, strict=True)
        )
        self.rate, self.throughput = count / passed, moved / passed
        self.latency = latency / count if count else None
        self._before = (step, progress.seconds, progress.counts)


def _parts(now: Now) -> dict[str, str]:
    """Return the displayed parts with their names."""
    at = now.at
    if at is None or at.step == 0:
        return {"step": "0", "now": "" if at is None else at.name}
    requested = "unlimited" if at.requested is None else f"{figure(at.requested)} IOPS"
    return {
        "step": f"{at.step} of {at.steps}",
        "now": at.name,
        "requested": requested,
        "achieved": f"{figure(now.rate)} IOPS, {megabytes(now.throughput)} MB/s",
        "latency": "\N{EN DASH}" if now.latency is None else duration(now.latency),
        "time left": "unknown" if at.left is None else f"{at.left:.0f} s",
    }


def live(now: Now) -> RenderableType:
    """Return the progress of running jobs for a terminal."""
    parts = _parts(now)
    made = FittedTable("", 2, list(parts))
    made.add_row(*parts.values())
    return Group(Text(plain(now.title), style="bold"), made)


def live_line(now: Now) -> str:
    """The same in one line."""
    parts = _parts(now)
    if "latency" not in parts:
        return f"{now.title}: {parts['now'] or 'beginning'}"
    return (
        f"{now.title}: step {parts['step']}, {parts['now']}: {parts['achieved']} achieved,"
        f" {parts['requested']} requested, latency {parts['latency']},"
        f" time left {parts['time left']}"
    )

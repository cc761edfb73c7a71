"""A calibration: measured and read values, checks, and what a kernel trace saw."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headrace.calibrate.other_load import describe
from headrace.quantities import milliseconds, whole
from headrace.render import units
from headrace.render.blocks import Axis, Block, Chart, Headline, Line, Note, Span, Table, View
from headrace.views.parts import effect_of_tracing, unexpected_warnings

if TYPE_CHECKING:
    import polars as pl

Document = Mapping[str, Any]
Times = Sequence[tuple[float, float]]

MOST = 20
"""Kinds of requests that a table has: the most frequent ones."""
LEAST = 10
"""Requests of a size that make a point."""
DIRECTIONS = ("read", "write", "flush", "discard")
IN_DEVICE = Axis("in the device", units.MILLISECONDS, "log")


def view(document: Document) -> View:
    """Return a row for each parameter, those that were measured with their spread, and for each
    check."""
    others = document.get("others")
    return [
        *_parameters(document["parameters"]),
        _checks(document["checks"]),
        *(_in_kernel(document["kernel"]) if "kernel" in document else []),
        *([Note(""), Note(describe(others))] if others else []),
        *unexpected_warnings(document),
    ]


def _parameters(parameters: Sequence[Document]) -> Iterator[Block]:
    measured = [parameter for parameter in parameters if parameter["values"]]
    read = [parameter for parameter in parameters if not parameter["values"]]
    yield Headline({"measured values": whole(len(measured)), "read values": whole(len(read))})
    yield Table.of_rows(
        "Read",
        ["field", "value", "from"],
        [(row["field"], row["value"], row["method"]) for row in read],
        spare=["from"],
    )
    yield Note("")
    # A value is of the middles of the rounds' times: all that the rounds gave may be to one side.
    yield Table.of_rows(
        "Measured values, with the range over single rounds",
        ["field", "value", "least", "most"],
        [(row["field"], row["value"], row["least"], row["most"]) for row in measured],
    )
    yield Note("")


def _checks(checks: Sequence[Document]) -> Table:
    rows = [
        (
            check["name"],
            check["bound"],
            milliseconds(check["measured_s"]),
            milliseconds(check["predicted_s"]),
            f"{100 * check['error']:+.1f}",
        )
        for check in checks
    ]
    columns = ["", "bound by", "measured ms", "simulated ms", "error %"]
    return Table.of_rows("Checks, which no parameter depends on", columns, rows)


def _in_kernel(kernel: Document) -> list[Block]:
    """Return the parameters as the kernel trace gives them, and the device's service times."""
    times = []
    for time in kernel["times"]:
        value, least, most, outside = time["texts"]
        difference = "" if time["difference"] is None else f"{100 * time['difference']:+.1f}"
        cells = (value, least, most, whole(time["count"]), outside or "", difference)
        times.append((time["what"], time["field"] or "", *cells))
    service = []
    for it in kernel["service"][:MOST]:
        order = "yes" if it["in_order"] else "no"
        kind = (it["direction"], whole(it["bytes"]), order, whole(it["depth"]), whole(it["count"]))
        seconds = (it[name] for name in ("median_s", "p5_s", "p95_s", "queued_median_s"))
        service.append((*kind, *map(milliseconds, seconds)))
    return [
        Note(""),
        Table.of_rows(
            "In the kernel",
            ["", "field", "in the kernel", "5 %", "95 %", "n", "from outside", "difference %"],
            times,
            spare=["5 %", "95 %", "n", "field"],
        ),
        Note(""),
        Table.of_rows(
            "Requests of the device",
            ["direction", "bytes", "in order", "in device", "n", "ms", "5 %", "95 %", "queued"],
            service,
            spare=["5 %", "95 %", "queued"],
        ),
        Note(""),
        Note(effect_of_tracing(kernel)),
    ]


def kernel_trace(name: str, requests: "pl.DataFrame", commits: Times, write_back: Times) -> View:
    """Return charts of a kernel trace: service times by size, and requests over time.

    Parameters:
        name: Name of what was traced.
        requests: A row for each request.
        commits: Begin and end of each commit of the journal, in seconds.
        write_back: Begin and end of each write-back.
    """
    activity = [
        Line(direction, part["at_s"].to_list(), part["service_s"].to_list(), shape="mark")
        for direction, part in _by_direction(requests)
    ]
    return [
        Note(name, "Kernel trace: "),
        Chart(
            "service",
            "Service time of the device by size of the request: median, 5 % to 95 %",
            Axis("request", units.BINARY_SIZE, "log2"),
            IN_DEVICE,
            [_service(direction, part) for direction, part in _by_direction(_frequent(requests))],
            empty=f"no size of which there were {LEAST} requests",
        ),
        Chart(
            "activity",
            "Requests, commits and write-back",
            Axis("time", units.TIME),
            IN_DEVICE,
            activity,
            spans=[
                Span(label, *ends)
                for label, times in (("commit", commits), ("write-back", write_back))
                for ends in times
            ],
            empty="no requests",
        ),
    ]


def _by_direction(requests: "pl.DataFrame") -> Iterator[tuple[str, "pl.DataFrame"]]:
    """Yield the requests of each direction that has some."""
    for direction in DIRECTIONS:
        part = requests.filter(requests["direction"] == direction)
        if part.height:
            yield direction, part


def _frequent(requests: "pl.DataFrame") -> "pl.DataFrame":
    """Return the requests of sizes that are frequent in a direction."""
    import polars as pl

    is_frequent = pl.len().over("direction", "bytes") >= LEAST
    return requests.filter(pl.col("bytes") > 0).filter(is_frequent)


def _service(direction: str, requests: "pl.DataFrame") -> Line:
    """Return the median service time of each size, with its 90 % range."""
    import polars as pl

    time = pl.col("service_s")
    sizes = (
        requests.group_by("bytes")
        .agg(time.median(), time.quantile(0.05).alias("low"), time.quantile(0.95).alias("high"))
        .sort("bytes")
    )
    x, median, low, high = (sizes[key].to_list() for key in sizes.columns)
    return Line(direction, x, median, low, high)

"""View of a load sweep: by loads, by processes or by client hosts."""

from collections.abc import Mapping, Sequence
from typing import Any

from headrace.report import load_sweep_tables
from headrace.report.client_host_curves import curves
from headrace.web.charts import Chart, Series
from headrace.web.rendered import show_rendered
from headrace.web.result_views.origin import show_origin

Document = Mapping[str, Any]


def show(document: Document) -> None:
    """Show achieved load and response time over the requested load, with knee and cut-off."""
    OF[document["of"]](document)
    show_rendered(load_sweep_tables.load_sweep(document))
    show_origin(document)


def _loads(document: Document) -> None:
    steps = _complete(document)
    requested = [it["requested_per_second"] for it in steps]
    marks = {
        label: document[key]["requested_per_second"]
        for key, label in (("knee", "knee"), ("kept_up", "sustained"), ("cut_off", "cut-off"))
        if document[key]
    }
    load = "requested load (operations/s)"
    _vertical_lines(
        Chart(
            "Achieved against requested load",
            load,
            "operations/s",
            [
                Series("requested", requested, requested),
                Series("achieved", requested, [it["achieved_per_second"] for it in steps]),
            ],
        ),
        marks,
    )
    _vertical_lines(
        Chart(
            "Response time against load",
            load,
            "ms",
            [
                *(
                    Series(label, requested, [_milliseconds(it["response"], key) for it in steps])
                    for key, label in (("mean", "mean"), ("p95", "p95"), ("p99", "p99"))
                ),
                Series(
                    "limit of the mean",
                    requested,
                    [1e3 * document["criteria"]["response_s"]] * len(steps),
                ),
            ],
            y_kind="log",
        ),
        marks,
    )


def _clients(document: Document) -> None:
    steps = _complete(document)
    processes = [it["processes"] for it in steps]
    Chart(
        "Throughput by number of processes",
        "processes",
        "operations/s",
        [Series("operations/s", processes, [it["operations_per_second"] for it in steps])],
    )
    Chart(
        "Service time by number of processes",
        "processes",
        "ms",
        [
            Series(label, processes, [_milliseconds(it["service"], key) for it in steps])
            for key, label in (("mean", "mean"), ("p99", "p99"))
        ],
        y_kind="log",
    )


def _client_hosts(document: Document) -> None:
    found = curves(document)
    by_hosts: dict[int, list[Document]] = {}
    for it in _complete(document):
        by_hosts.setdefault(it["client_hosts"], []).append(it)
    Chart(
        "Response time against load, by client hosts",
        "achieved load (operations/s)",
        "ms",
        [
            Series(
                f"{hosts} hosts",
                [it["achieved_per_second"] for it in steps],
                [_milliseconds(it["response"], "mean") for it in steps],
            )
            for hosts, steps in by_hosts.items()
        ],
        y_kind="log",
    )
    Chart(
        "Highest achieved load by client hosts",
        "client hosts",
        "operations/s",
        [
            Series(
                "achieved at most",
                list(found),
                [it["achieved_at_most_per_second"] for it in found.values()],
            )
        ],
    )


def _complete(document: Document) -> Sequence[Document]:
    return [it for it in document["steps"] if not it.get("partial")]


def _milliseconds(times: Document | None, key: str) -> float | None:
    value = (times or {}).get(key)
    return 1e3 * value if value else None


OF = {"loads": _loads, "clients": _clients, "client-hosts": _client_hosts}


def _vertical_lines(chart: Chart, values: Mapping[str, float]) -> None:
    """Mark values of the x axis, each with its name. Names of one value share a line."""
    series = chart.echart.options["series"]
    if not series or not values:
        return
    names: dict[float, list[str]] = {}
    for name, value in values.items():
        names.setdefault(value, []).append(name)
    data: list[dict[str, Any]] = [
        {"xAxis": value, "label": {"formatter": ", ".join(of_value)}}
        for value, of_value in names.items()
    ]
    series[0]["markLine"] = {
        "symbol": "none",
        "silent": True,
        "lineStyle": {"type": "dashed", "color": "#777777"},
        "label": {"show": True, "position": "insideEndTop"},
        "data": data,
    }
    chart.echart.update()

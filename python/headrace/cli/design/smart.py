"""`headrace design smart`."""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Annotated as A

from headrace.cli.design.output_options import PlotPath, check_plot, save_plot
from headrace.cli.options import AsJson
from headrace.cli.screen import print_json, show_view
from headrace.commands.parameters import Help, Word
from headrace.commands.values import probability, time

if TYPE_CHECKING:
    from headrace.design.smart.reports import DamagedReport, Report


def smart(
    files: A[
        tuple[str, ...],
        Word(metavar="FILE...", is_argument=True),
        Help("Output of smartctl --json -a, one file or several; - reads standard input."),
    ],
    within: A[str, Word(metavar="TIME"), Help("Time to give the probability for.")] = "60 d",
    rate: A[
        str | None,
        Word("--annual-rate", metavar="RATE"),
        Help('Failures a drive-year of a disk without errors, such as "1.36 %"; default "1.23 %".'),
    ] = None,
    solid_state_rate: A[
        str | None,
        Word("--ssd-annual-rate", metavar="RATE"),
        Help("Failures a drive-year of a solid-state drive; without it they have no probability."),
    ] = None,
    as_json: AsJson = False,
    plot: PlotPath = None,
) -> None:
    """Rate the failure risk of disks from their SMART data.

    Damaged reports are counted and named. Several reports of one disk show which counters rise.
    """
    import msgspec

    from headrace.design.smart.reports import DamagedReport, Report
    from headrace.design.smart.risk import RATE_WITHOUT_SIGNS, fleet_risk
    from headrace.views.smart import view

    check_plot(plot)
    horizon = time("--within", within)
    base = RATE_WITHOUT_SIGNS if rate is None else probability("--annual-rate", rate)
    ssd = None if solid_state_rate is None else probability("--ssd-annual-rate", solid_state_rate)
    reports: list[Report] = []
    damaged: list[str] = []
    for found in _read(files):
        if isinstance(found, DamagedReport):
            damaged.append(str(found))
        else:
            reports.append(found)
    if not reports:
        more = f" ({len(damaged)} damaged reports)" if len(damaged) > 1 else ""
        raise ValueError(damaged[0] + more)
    risk = fleet_risk(reports, horizon=horizon, rate_without_signs=base, solid_state_rate=ssd)
    shown = view(risk, len(reports), damaged)
    if plot is not None:
        save_plot(plot, shown)
    if as_json:
        document = msgspec.to_builtins(risk) | {"reports": len(reports), "damaged": damaged}
        print_json(document, "smart")
        return
    show_view(shown)


def _read(files: Sequence[str]) -> "Iterator[Report | DamagedReport]":
    from headrace.design.smart.reports import read_reports

    for name in files:
        if name == "-":
            text, where = sys.stdin.buffer.read(), "standard input"
        else:
            text, where = Path(name).read_bytes(), name
        yield from read_reports(text.decode("utf-8", "replace"), where)

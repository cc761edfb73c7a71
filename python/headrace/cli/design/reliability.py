"""`headrace design reliability`."""

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import typer

from headrace.cli.binding import command
from headrace.cli.design.output_options import PlotPath, check_plot, part_done, save_plot
from headrace.cli.options import AsJson
from headrace.cli.screen import print_json, show_view
from headrace.commands.design.reliability import Reliability, ReliabilityAnswer
from headrace.quantities import YEAR


def _reliability(
    request: Reliability,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Also show each value with its source, and the formulas."),
    ] = False,
    as_json: AsJson = False,
    plot: PlotPath = None,
) -> None:
    from headrace.views.reliability import explanation, view

    check_plot(plot)
    with part_done("reliability") as on_progress:
        answer = request.answer(on_progress, has_curve=plot is not None)
    shown = view(answer.name, answer.answer, answer.horizons, answer.corrupted)
    if plot is not None:
        save_plot(plot, shown)
    if as_json:
        print_json(_document(answer), "reliability")
        return
    show_view(shown)
    if explain:
        show_view(explanation(answer.question, answer.inputs))


def _document(reliability: ReliabilityAnswer) -> Mapping[str, Any]:
    answer, corrupted = reliability.answer, reliability.corrupted
    last = max(reliability.horizons, key=lambda horizon: horizon.horizon_seconds)
    return {
        "loss_probability": last.loss_probability,
        "mttdl_seconds": answer.mttdl_seconds,
        "nomdl": last.nomdl,
        "standard_error": last.standard_error,
        "method": answer.method,
        "assumptions": [*answer.assumptions, *(corrupted.assumptions if corrupted else ())],
        "interval": [last.low, last.high],
        "nomdl_interval": [last.nomdl_low, last.nomdl_high],
        "mttdl_interval_seconds": [answer.mttdl_low_seconds, answer.mttdl_high_seconds],
        "years": last.horizon_seconds / YEAR,
        "horizons": msgspec.to_builtins(reliability.horizons),
        "read_error_probability": answer.read_error_probability,
        "usable_bytes": answer.usable_bytes,
        "missions": answer.missions,
        "unavailability": msgspec.to_builtins(answer.unavailability),
        "silent_corruption": msgspec.to_builtins(corrupted),
        "inputs": msgspec.to_builtins(reliability.inputs),
        "question": msgspec.to_builtins(reliability.question),
    }


reliability = command(Reliability, _reliability)

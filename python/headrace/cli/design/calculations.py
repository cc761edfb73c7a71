"""Calculations of `headrace design` that print more than their figures."""

from collections.abc import Mapping
from typing import Annotated as A
from typing import Any

import msgspec

from headrace.cli.binding import command
from headrace.cli.design.output_options import (
    FiguresAsJson,
    PlotPath,
    check_plot,
    part_done,
    print_figures,
    save_plot,
)
from headrace.cli.options import AsJson, PlotDirectory
from headrace.cli.screen import print_json, show_view
from headrace.commands.design.growth import Growth
from headrace.commands.design.reliability import Reliability, ReliabilityAnswer
from headrace.commands.design.spares import Spares
from headrace.commands.parameters import Help
from headrace.quantities import YEAR


def _growth(request: Growth, plot: PlotDirectory = None, as_json: FiguresAsJson = False) -> None:
    from headrace.files import check_directory

    if plot is not None:
        check_directory(plot)
    figures = request.figures()
    if plot is not None:
        from headrace.design.growth import plans
        from headrace.quantities import percent_text, size
        from headrace.render import pictures
        from headrace.views.growth import view

        need, bought = request.need, request.bought
        name = f"{size(need.usable)}, {percent_text(request.growth_rate)} a year"
        pictures.save(plot, view(name, need, bought, plans(need, bought)))
    print_figures(request.form.title, figures, as_json, request.currency)
    if plot is not None and not as_json:
        from headrace.plain_text import plain_line

        print(plain_line(f"plots: {plot}"))


growth = command(Growth, _growth)


def _reliability(
    request: Reliability,
    explain: A[bool, Help("Also show each value with its source, and the formulas.")] = False,
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


def _spares(request: Spares, as_json: AsJson = False, plot: PlotPath = None) -> None:
    from headrace.views.spares import view

    check_plot(plot)
    with part_done("spares") as on_progress:
        advice = request.answer(on_progress)
    chosen, other = advice.chosen, advice.other
    shown = view(chosen, other if request.shelves > 1 else None)
    if plot is not None:
        save_plot(plot, shown)
    if as_json:
        document = msgspec.to_builtins(chosen)
        if request.shelves > 1:
            document["other"] = {
                "pooling": other.pooling,
                "spares": other.spares,
                "probability": other.probability,
            }
        print_json(document, "spares")
        return
    show_view(shown)


spares = command(Spares, _spares)

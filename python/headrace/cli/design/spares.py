"""`headrace design spares`."""

import msgspec

from headrace.cli.binding import command
from headrace.cli.design.output_options import PlotPath, check_plot, part_done, save_plot
from headrace.cli.options import AsJson
from headrace.cli.screen import print_json, show_view
from headrace.commands.design.spares import Spares


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

"""`headrace design growth`."""

from headrace.cli.binding import command
from headrace.cli.design.output_options import FiguresAsJson, print_figures
from headrace.cli.options import PlotDirectory
from headrace.commands.design.growth import Growth


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
    print_figures(request.form.title, figures, as_json)
    if plot is not None and not as_json:
        from headrace.plain_text import plain_line

        print(plain_line(f"plots: {plot}"))


growth = command(Growth, _growth)

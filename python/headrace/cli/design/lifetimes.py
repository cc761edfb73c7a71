"""`headrace design lifetimes`."""

from pathlib import Path
from typing import Annotated as A

from headrace.cli.design.output_options import PlotPath, check_plot, save_plot
from headrace.cli.options import AsJson
from headrace.cli.screen import print_json, show_view, steps
from headrace.commands.parameters import Help, Word


def lifetimes(
    files: A[
        tuple[Path, ...],
        Word(metavar="FILE.csv...", is_argument=True),
        Help(
            "Table with the columns age (hours; or age_days, age_years) and failed (0 or 1),"
            " perhaps entry and model; or daily files of Backblaze."
        ),
    ],
    as_json: AsJson = False,
    plot: PlotPath = None,
) -> None:
    """Fit disk lifetimes to failure records, for headrace design reliability --lifetime.

    Gives annual failure rates and Weibull lifetimes by model, with 95 % intervals.
    """
    from headrace.design.lifetimes.fits import curves, fit_lifetimes
    from headrace.design.lifetimes.records import read_records
    from headrace.views.lifetimes import MOST, view

    check_plot(plot)
    with steps("lifetimes") as on_progress:
        on_progress(0, 1, "reading")
        records = read_records(files)
        found = fit_lifetimes(records, on_progress)
    shown = view(found, list(curves(records, MOST)) if plot else ())
    if plot is not None:
        save_plot(plot, shown)
    if as_json:
        print_json(found, "lifetimes")
        return
    show_view(shown)

"""`headrace design growth`."""

from typing import Annotated

import typer

from headrace.cli.design.output_options import FiguresAsJson, print_figures
from headrace.cli.design.quantity_options import check_number, share, size
from headrace.cli.options import PlotDirectory


def growth(
    usable: Annotated[
        str, typer.Option("--usable", metavar="SIZE", help='Initial need, such as "20 TB".')
    ],
    unit: Annotated[
        str,
        typer.Option("--unit", metavar="SIZE", help="Usable capacity of a node with its disks."),
    ],
    node_price: Annotated[
        float, typer.Option("--node-price", help="Price of a node without disks.")
    ],
    disks_price: Annotated[
        float, typer.Option("--disks-price", help="Price of a node's disks today.")
    ],
    growth_rate: Annotated[
        str, typer.Option("--growth", metavar="SHARE", help='Growth in a year, such as "30 %".')
    ] = "0 %",
    years: Annotated[float, typer.Option("--years", help="Years to plan for.")] = 3.0,
    reserve: Annotated[
        str,
        typer.Option(
            "--reserve", metavar="SHARE", help="Part of the initial need bought in addition."
        ),
    ] = "20 %",
    price_decline: Annotated[
        str,
        typer.Option(
            "--price-decline",
            metavar="SHARE",
            help="Part by which the price of disks falls in a year.",
        ),
    ] = "15 %",
    nodes_per_rack: Annotated[
        int | None, typer.Option("--nodes-per-rack", help="Nodes that a rack holds.")
    ] = None,
    racks: Annotated[
        int | None, typer.Option("--racks", help="Racks, with --nodes-per-rack; by default 1.")
    ] = None,
    plot: PlotDirectory = None,
    as_json: FiguresAsJson = False,
) -> None:
    """Compare purchase plans for a growing system: at once, every year, or when 80 % full.

    The plans are sorted by the price of all purchases, the cheapest first.
    """
    from headrace.design.growth import MOST_YEARS, PurchaseUnit, growth_figures, plans
    from headrace.design.worksheet import CapacityNeed
    from headrace.files import check_directory

    for option, value in (("--node-price", node_price), ("--disks-price", disks_price)):
        check_number(option, value, 0.0, "4000")
    check_number("--years", years, 1 / 12, "3", MOST_YEARS)
    need = CapacityNeed(
        usable=size("--usable", usable),
        growth=share("--growth", growth_rate),
        years=years,
        reserve=share("--reserve", reserve),
    )
    bought = PurchaseUnit(
        usable=size("--unit", unit),
        node_price=node_price,
        disks_price=disks_price,
        price_decline=share("--price-decline", price_decline),
        units_per_rack=nodes_per_rack,
        racks=racks,
    )
    if racks is not None and nodes_per_rack is None:
        raise ValueError(f"--racks {racks}: expected --nodes-per-rack as well, the nodes of a rack")
    if plot is not None:
        check_directory(plot)
    figures = growth_figures(need, bought)
    if plot is not None:
        from headrace.render import pictures
        from headrace.views.growth import view

        name = f"{usable}, {growth_rate} a year"
        pictures.save(plot, view(name, need, bought, plans(need, bought)))
    print_figures("Growth", figures, as_json)
    if plot is not None and not as_json:
        from headrace.plain_text import plain_line

        print(plain_line(f"plots: {plot}"))

"""`headrace design power`."""

import re
from typing import TYPE_CHECKING, Annotated

import typer

from headrace.cli.design.output_options import FiguresAsJson, print_figures
from headrace.cli.design.quantity_options import CoolingOverhead, check_number

if TYPE_CHECKING:
    from headrace.design.power import Load


def power(
    nodes: Annotated[
        int | None, typer.Option("--nodes", help="Nodes that are alike; with --amperes or --watts.")
    ] = None,
    amperes: Annotated[
        float | None,
        typer.Option("--amperes", metavar="A", help="Current of a node, measured at its peak."),
    ] = None,
    watts: Annotated[
        float | None,
        typer.Option("--watts", metavar="W", help="The same as power, in place of --amperes."),
    ] = None,
    max_amperes: Annotated[
        float | None,
        typer.Option("--max-amperes", metavar="A", help="Current on the label of a node."),
    ] = None,
    max_watts: Annotated[
        float | None,
        typer.Option("--max-watts", metavar="W", help="Power on the label of a node."),
    ] = None,
    component: Annotated[
        list[str] | None,
        typer.Option(
            "--component",
            metavar="NAME=COUNTxWATTS",
            help="More loads, such as switch=2x150, or switch=2x150/300 with the label's watts;"
            " can be repeated.",
        ),
    ] = None,
    voltage: Annotated[float, typer.Option("--voltage", metavar="V", help="Supply voltage.")] = (
        230.0
    ),
    power_factor: Annotated[
        float, typer.Option("--power-factor", help="Power factor of the loads.")
    ] = 1.0,
    ups_va: Annotated[
        float | None,
        typer.Option("--ups-va", metavar="VA", help="Rating of a UPS: show what it carries."),
    ] = None,
    ups_power_factor: Annotated[
        float, typer.Option("--ups-power-factor", help="Power factor of the UPS.")
    ] = 0.9,
    cooling_overhead: CoolingOverhead = 0.5,
    as_json: FiguresAsJson = False,
) -> None:
    """Compute power, current, UPS rating and cooling, and show the arithmetic.

    Example: --nodes 10 --amperes 5 --voltage 120 --power-factor 0.9 --component switch=2x150.
    """
    from headrace.design.power import Supply, power_figures, ups_power

    supply = Supply(
        voltage=voltage,
        power_factor=power_factor,
        ups_power_factor=ups_power_factor,
        cooling_overhead=cooling_overhead,
        source="command line",
    )
    loads = _nodes(nodes, amperes, watts, max_amperes, max_watts, voltage * power_factor)
    loads += [_component(it) for it in component or []]
    if len({it.name for it in loads}) < len(loads):
        raise ValueError("--component: two loads have one name: expected different names")
    carried = [] if ups_va is None else [ups_power(ups_va, ups_power_factor)]
    if not loads:
        if not carried:
            raise ValueError(
                "no load: expected --nodes with --amperes or --watts, --component, or --ups-va"
            )
        print_figures("Power", carried, as_json)
        return
    print_figures("Power and cooling", [*power_figures(loads, supply), *carried], as_json)


def _nodes(
    nodes: int | None,
    amperes: float | None,
    watts: float | None,
    max_amperes: float | None,
    max_watts: float | None,
    watts_per_ampere: float,
) -> "list[Load]":
    """Return the load of the nodes, if there are any."""
    from headrace.design.power import Load

    given = {
        "--amperes": amperes,
        "--watts": watts,
        "--max-amperes": max_amperes,
        "--max-watts": max_watts,
    }
    for option, value in given.items():
        if value is None:
            continue
        check_number(option, value, 0.0, "5" if "amperes" in option else "400")
        if nodes is None:
            raise ValueError(f"{option}: expected --nodes as well, the number of nodes")
    if nodes is None:
        return []
    for one, other in (("--amperes", "--watts"), ("--max-amperes", "--max-watts")):
        if given[one] is not None and given[other] is not None:
            raise ValueError(f"{one} and {other}: expected one of the two")
    if amperes is not None:
        watts = amperes * watts_per_ampere
    if max_amperes is not None:
        max_watts = max_amperes * watts_per_ampere
    if watts is None:
        watts = max_watts
    if watts is None:
        raise ValueError("--nodes: expected --amperes or --watts as well, those of a node")
    if max_watts is not None and max_watts < watts:
        raise ValueError(
            f"a node draws {watts:g} W at peak and {max_watts:g} W by its label: expected no more"
            " at peak than by the label"
        )
    return [
        Load(
            name="nodes",
            count=nodes,
            power=watts,
            max_power=watts if max_watts is None else max_watts,
            source="command line"
            if amperes is None
            else f"voltage x amperes x power factor: {watts_per_ampere:g} W/A x {amperes:g} A",
        )
    ]


def _component(text: str) -> "Load":
    from headrace.design.power import Load

    number = r"(\d+(?:\.\d+)?)"
    found = re.fullmatch(
        rf"\s*([^=]+?)\s*=\s*(\d{{1,7}})\s*x\s*{number}(?:\s*/\s*{number})?\s*W?\s*", text
    )
    if found is None:
        raise ValueError(
            f'--component "{text}": expected name, number and watts such as switch=2x150'
        )
    peak = float(found[3])
    return Load(
        name=found[1],
        count=int(found[2]),
        power=peak,
        max_power=float(found[4]) if found[4] else peak,
        source="--component",
    )

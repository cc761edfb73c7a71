"""Power, current and cooling of nodes and other loads."""

import re
from typing import Annotated as A

import msgspec

from headrace.commands.parameters import Form, Help, Value, Word
from headrace.design.figure import Figure
from headrace.design.power import Load, Supply, power_figures, ups_power


def _component(option: str, text: str) -> Load:
    number = r"(\d+(?:\.\d+)?)"
    parts = re.fullmatch(
        rf"\s*([^=]+?)\s*=\s*(\d{{1,7}})\s*x\s*{number}(?:\s*/\s*{number})?\s*W?\s*", text
    )
    if parts is None:
        raise ValueError(f'{option} "{text}": expected name, number and watts such as switch=2x150')
    peak = float(parts[3])
    return Load(
        name=parts[1],
        count=int(parts[2]),
        power=peak,
        max_power=float(parts[4]) if parts[4] else peak,
        source=option,
    )


COMPONENT = Value("NAME=COUNTxWATTS", _component)
COOLING_OVERHEAD = "Watts of cooling and distribution for each watt of load: PUE - 1."


class Power(msgspec.Struct, frozen=True, kw_only=True):
    """Compute power, current, UPS rating and cooling, and show the arithmetic.

    Example: --nodes 10 --amperes 5 --voltage 120 --power-factor 0.9 --component switch=2x150.
    """

    nodes: A[int | None, Help("Nodes that are alike; with --amperes or --watts.")] = None
    amperes: A[
        float | None,
        Word(metavar="A"),
        Help("Current of a node, measured at its peak.", least=0, example=5),
    ] = None
    watts: A[
        float | None,
        Word(metavar="W"),
        Help("The same as power, in place of --amperes.", least=0, example=400),
    ] = None
    max_amperes: A[
        float | None, Word(metavar="A"), Help("Current on the label of a node.", least=0, example=5)
    ] = None
    max_watts: A[
        float | None, Word(metavar="W"), Help("Power on the label of a node.", least=0, example=400)
    ] = None
    component: A[
        tuple[Load, ...],
        COMPONENT,
        Help(
            "More loads, such as switch=2x150, or switch=2x150/300 with the label's"
            " watts; can be repeated."
        ),
    ] = ()
    voltage: A[float, Word(metavar="V"), Help("Supply voltage.")] = 230.0
    power_factor: A[float, Help("Power factor of the loads.")] = 1.0
    ups_va: A[float | None, Word(metavar="VA"), Help("Rating of a UPS: also give its power.")] = (
        None
    )
    ups_power_factor: A[float, Help("Power factor of the UPS.")] = 0.9
    cooling_overhead: A[float, Help(COOLING_OVERHEAD)] = 0.5

    form = Form(
        "Power and cooling",
        ("nodes", "watts", "max_watts", "voltage", "power_factor", "component"),
        {"nodes": "10", "watts": "400"},
    )

    def figures(self) -> list[Figure]:
        """Return power, current and heat. Raises ValueError, which names the options."""
        supply = Supply(
            voltage=self.voltage,
            power_factor=self.power_factor,
            ups_power_factor=self.ups_power_factor,
            cooling_overhead=self.cooling_overhead,
            source="command line",
        )
        loads = [*self._loads(), *self.component]
        if len({load.name for load in loads}) < len(loads):
            raise ValueError("--component: two loads have one name: expected different names")
        carried = [] if self.ups_va is None else [ups_power(self.ups_va, self.ups_power_factor)]
        if loads:
            return [*power_figures(loads, supply), *carried]
        if not carried:
            raise ValueError(
                "no load: expected --nodes with --amperes or --watts, --component, or --ups-va"
            )
        return carried

    def _loads(self) -> list[Load]:
        """Return the load of the nodes, if there are any."""
        given = {
            "--amperes": self.amperes,
            "--watts": self.watts,
            "--max-amperes": self.max_amperes,
            "--max-watts": self.max_watts,
        }
        for option, value in given.items():
            if value is not None and self.nodes is None:
                raise ValueError(f"{option}: expected --nodes as well, the number of nodes")
        if self.nodes is None:
            return []
        for one, other in (("--amperes", "--watts"), ("--max-amperes", "--max-watts")):
            if given[one] is not None and given[other] is not None:
                raise ValueError(f"{one} and {other}: expected one of the two")
        per_ampere = self.voltage * self.power_factor
        watts, label = self.watts, self.max_watts
        if self.amperes is not None:
            watts = self.amperes * per_ampere
        if self.max_amperes is not None:
            label = self.max_amperes * per_ampere
        if watts is None:
            watts = label
        if watts is None:
            raise ValueError("--nodes: expected --amperes or --watts as well, those of a node")
        if label is not None and label < watts:
            raise ValueError(
                f"a node draws {watts:g} W at peak and {label:g} W by its label: expected no more"
                " at peak than by the label"
            )
        return [
            Load(
                name="nodes",
                count=self.nodes,
                power=watts,
                max_power=watts if label is None else label,
                source="command line"
                if self.amperes is None
                else f"voltage x amperes x power factor: {per_ampere:g} W/A x {self.amperes:g} A",
            )
        ]

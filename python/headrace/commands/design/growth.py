"""Purchase plans for a growing system."""

from typing import Annotated as A

import msgspec

from headrace.commands.parameters import Form, Help, Word
from headrace.commands.values import SHARE, SIZE
from headrace.design.figure import Figure
from headrace.design.growth import MOST_YEARS, PurchaseUnit, growth_figures
from headrace.design.worksheet import CapacityNeed


class Growth(msgspec.Struct, frozen=True, kw_only=True):
    """Compare purchase plans for a growing system: at once, every year, or when 80 % full.

    The plans are sorted by the price of all purchases, the cheapest first.
    """

    usable: A[float, SIZE, Help('Initial need, such as "20 TB".')]
    unit: A[float, SIZE, Help("Usable capacity of a node with its disks.")]
    node_price: A[
        float, Word(metavar="PRICE"), Help("Price of a node without disks.", least=0, example=4000)
    ]
    disks_price: A[
        float, Word(metavar="PRICE"), Help("Price of a node's disks today.", least=0, example=4000)
    ]
    growth_rate: A[float, SHARE, Word("--growth"), Help('Growth in a year, such as "30 %".')] = 0.0
    years: A[
        float,
        Word(metavar="YEARS"),
        Help("Years to plan for.", least=1 / 12, most=MOST_YEARS, example=3),
    ] = 3.0
    reserve: A[float, SHARE, Help("Part of the initial need bought in addition.")] = 0.2
    price_decline: A[float, SHARE, Help("Part by which the price of disks falls in a year.")] = 0.15
    nodes_per_rack: A[int | None, Help("Nodes that a rack holds.")] = None
    currency: A[str, Word(metavar="NAME"), Help("Name of the currency in the table.")] = ""
    racks: A[int | None, Help("Racks, with --nodes-per-rack; by default 1.")] = None

    form = Form(
        "Growth",
        ("usable", "growth_rate", "years", "unit", "node_price", "disks_price"),
        {
            "usable": "20 TB",
            "growth_rate": "30 %",
            "unit": "10 TB",
            "node_price": "4000",
            "disks_price": "2000",
        },
    )

    @property
    def need(self) -> CapacityNeed:
        """The need over the years."""
        return CapacityNeed(
            usable=self.usable, growth=self.growth_rate, years=self.years, reserve=self.reserve
        )

    @property
    def bought(self) -> PurchaseUnit:
        """The parts of a purchase. Raises ValueError, which names the options."""
        if self.racks is not None and self.nodes_per_rack is None:
            raise ValueError(
                f"--racks {self.racks}: expected --nodes-per-rack as well, the nodes of a rack"
            )
        return PurchaseUnit(
            usable=self.unit,
            node_price=self.node_price,
            disks_price=self.disks_price,
            price_decline=self.price_decline,
            units_per_rack=self.nodes_per_rack,
            racks=self.racks,
        )

    def figures(self) -> tuple[Figure, ...]:
        """Return the price of each plan. Raises ValueError, which names the options."""
        return growth_figures(self.need, self.bought)

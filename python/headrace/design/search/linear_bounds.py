"""Lower bounds of cost, power and space: sums over the parts of a design that it needs at least.

Every figure of a design is at least its bound: switches count by their ports in use, and engineers
by their monitoring only.
"""

import math
from typing import NamedTuple

from headrace.design.catalogue import Catalogue, DiskModel, NetworkModel, NodeModel, ShelfModel
from headrace.design.cost import MONITORING_HOURS, MONTHS_YEAR, cost_limits
from headrace.design.enumeration import NO_NETWORK, Family
from headrace.design.facility import facility_limits
from headrace.design.inventory import METADATA_DISKS
from headrace.design.options import Options
from headrace.design.worksheet import Worksheet
from headrace.quantities import HOURS_A_MONTH

TOLERANCE = 1e-9


class Amounts(NamedTuple):
    """Least needs of parts."""

    price: float = 0.0
    power: float = 0.0
    label: float = 0.0
    """Watts by the labels."""
    units: float = 0.0
    upkeep: float = 0.0
    """Maintenance in a year."""


class LinearBounds:
    """Bounds of the designs for a worksheet."""

    def __init__(self, worksheet: Worksheet, catalogue: Catalogue, options: Options) -> None:
        budget, facility = worksheet.budget, worksheet.facility
        self._share = catalogue.maintenance_share
        self._options = options
        years = worksheet.capacity.years
        month = (1 + facility.cooling_overhead) / 1e3 * HOURS_A_MONTH * (budget.electricity or 0.0)
        has_agreement = budget.vendor_agreement is not False
        # Price, watts and yearly maintenance in money over the years.
        self._weights = (
            1.0,
            month * MONTHS_YEAR * years,
            years if has_agreement else 0.0,
        )
        self._fixed = MONITORING_HOURS * (budget.engineer_hour or 0.0) * MONTHS_YEAR * years
        known: dict[str, tuple[int, float]] = {
            "purchase": (0, 1.0),
            "power": (1, 1.0),
            "total-power": (1, 1 + facility.cooling_overhead),
            "ups-va": (1, 1 / facility.ups_power_factor),
            "power-month": (1, month),
            "max-amperes": (2, 1 / facility.voltage),
            "racks": (3, 1 / facility.rack_units),
            "maintenance-year": (4, 1.0 if has_agreement else 0.0),
        }
        self._limits = [
            (field, limit * (1 + TOLERANCE), *known[key])
            for field, limit, key in (*facility_limits(facility), *cost_limits(budget))
            if limit is not None and key in known
        ]
        self._parts: dict[int, tuple[object, Amounts]] = {}

    def amounts(
        self,
        nodes: int,
        arrays: float,
        family: Family,
        network: NetworkModel,
        servers: tuple[int, DiskModel | None],
        gateways: int = 0,
    ) -> Amounts:
        """Return what a design needs at least.

        Args:
            nodes: Data servers.
            arrays: Arrays of each.
            family: Model of servers and disks.
            network: The network.
            servers: Number of metadata servers, and the model of their disks.
            gateways: Gateways.
        """
        housing, filling = family.housing, family.filling
        spares = filling.spares if filling.own_spares else 0
        disks = filling.array.disks * arrays + spares
        hosts = nodes + servers[0] + gateways
        terms = [
            (hosts, self._of(housing.node)),
            (hosts * self._options.paths, self._of(network)),
            (self._options.client_ports, self._of_client(network)),
            (nodes * disks, self._of(family.disk)),
            (servers[0] * METADATA_DISKS, self._of(servers[1] or family.disk)),
        ]
        if housing.shelf is not None:
            beside = max(disks - housing.node.slots, 0.0)
            terms.append((nodes * beside / housing.shelf.slots, self._of(housing.shelf)))
        price = power = label = units = upkeep = 0.0
        for count, part in terms:
            price += count * part.price
            power += count * part.power
            label += count * part.label
            units += count * part.units
            upkeep += count * part.upkeep
        return Amounts(price, power, label, units, upkeep)

    def least(self, family: Family, first: float, horizon: float) -> Amounts:
        """Return what any design of a family needs at least, without what a file system takes.

        Args:
            family: Model of servers and disks.
            first: Usable bytes to buy.
            horizon: Usable bytes that the slots have to hold.
        """
        array, code = family.filling.array, family.code
        copies = family.copies if code is None else (code.data + code.parity) / code.data
        each = array.disks * array.efficiency * family.disk.capacity / copies
        nodes = max(
            family.least, math.ceil(horizon / (each * family.filling.most) * (1 - TOLERANCE))
        )
        arrays = max(first / (nodes * each), 1.0)
        return self.amounts(nodes, arrays, family, NO_NETWORK, (0, None))

    def missed(self, amounts: Amounts) -> list[tuple[str, float]]:
        """Return the fields of the worksheet whose limits a design exceeds for certain, each with
        the ratio between bound and limit."""
        return [
            (field, amounts[at] * factor / limit if limit > 0 else 1e9)
            for field, limit, at, factor in self._limits
            if amounts[at] * factor > limit
        ]

    def shared(self, network: NetworkModel) -> tuple[float, float]:
        """Return what a second design on a network does not pay again: monitoring, and at most the
        ports of a switch."""
        price, watts = network.port_price or 0.0, network.port_power
        port = Amounts(price, watts, watts, 0.0, self._share * price)
        ports = Amounts(*(network.switch_ports * amount for amount in port))
        return self._fixed, self.cost(ports) - self._fixed

    def cost(self, amounts: Amounts) -> float:
        """Return the total cost over the years that a design has at least."""
        price, power, upkeep = self._weights
        return price * amounts.price + power * amounts.power + upkeep * amounts.upkeep + self._fixed

    def _of_client(self, network: NetworkModel) -> Amounts:
        """Return what a client needs: its adapter gets its power from the client."""
        own = self._of(network)
        return own._replace(power=network.port_power, label=network.port_power)

    def _of(self, part: DiskModel | NodeModel | ShelfModel | NetworkModel) -> Amounts:
        known = self._parts.get(id(part))
        if known is None:
            known = self._parts[id(part)] = part, self._amounts(part)
        return known[1]

    def _amounts(self, part: DiskModel | NodeModel | ShelfModel | NetworkModel) -> Amounts:
        price = part.price or 0.0
        upkeep = self._share * price
        if isinstance(part, NetworkModel):
            price = (part.adapter_price or 0.0) + (part.port_price or 0.0)
            watts = part.adapter_power + part.port_power
            return Amounts(price, watts, watts, 0.0, self._share * price)
        if isinstance(part, DiskModel):
            return Amounts(price, part.power, part.power, 0.0, upkeep)
        if isinstance(part, NodeModel):
            quoted = upkeep if part.yearly_maintenance is None else part.yearly_maintenance
            return Amounts(price, part.power, part.max_power, part.rack_units, quoted)
        return Amounts(price, part.power, part.power, part.rack_units, upkeep)

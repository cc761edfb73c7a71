"""Designs whose groups of zones have servers and disks of their own, on one network.

Zones whose recommendations or answers differ are separated. Zones that one application accesses
stay together. Each group is searched by itself, with its part of the capacity and its applications,
for each network of the catalogue. The limits of the worksheet hold for the sum.

Not considered: two kinds of disks in one server, metadata servers that groups share, and clients'
cards under the traffic of several groups.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import msgspec

from headrace.design.catalogue import NetworkModel
from headrace.design.cost import cost_limits
from headrace.design.evaluation import ApplicationPerformance, Choice, Evaluation
from headrace.design.facility import facility_limits
from headrace.design.figure import by_key
from headrace.design.search.candidates import cost_of
from headrace.design.system import Design, join_pools
from headrace.design.worksheet import Worksheet, Zone, pool_worksheet, zone_shares

Zones = tuple[str, ...]


class PoolSearch(Protocol):
    """A search for the servers of a group of zones."""

    least: float
    """Lower bound of their cost."""
    shared: tuple[float, float]
    """What several groups pay once: monitoring, and at most a switch."""

    def cheapest(self, limit: float) -> Evaluation | None:
        """Return the cheapest design that meets everything, if it may cost less than a limit."""


class Pools(NamedTuple):
    """Enumerated designs with servers of their own for groups of zones."""

    groups: tuple[Zones, ...]
    sheets: tuple[Worksheet, ...]
    """Requirements of each group."""
    networks: tuple[tuple[float, NetworkModel, tuple[PoolSearch, ...]], ...]
    """Searches of the groups for each network, with the lower bound of their cost; the least
    first."""

    @property
    def least(self) -> float:
        """Lower bound of the cost on any network."""
        return self.networks[0][0]

    @property
    def names(self) -> str:
        """The zones of each group."""
        return " | ".join(", ".join(zones) for zones in self.groups)


Start: TypeAlias = Callable[[Worksheet], Callable[[NetworkModel], PoolSearch]]
"""Enumerates designs for the requirements of a group, and returns those on a network."""


def zone_groups(worksheet: Worksheet, choices: Sequence[Choice]) -> list[tuple[Zones, ...]]:
    """Return the ways to give zones servers of their own; none if zones are alike.

    Zones are separated by the recommended class of disks and the copies, and then also by the
    throughput. The share of each zone must be known, and the zones of each application.
    """
    if not zone_shares(worksheet) or any(not one.zones for one in worksheet.applications):
        return []
    classes = {one.zone: one.values[:1] for one in choices if one.aspect == "disk-class"}

    def disks(zone: Zone) -> tuple[Hashable, ...]:
        return classes.get(zone.name), zone.copies or 1

    def policies(zone: Zone) -> tuple[Hashable, ...]:
        return *disks(zone), zone.throughput

    ways = dict.fromkeys(_grouped(worksheet, key) for key in (disks, policies))
    return [groups for groups in ways if len(groups) > 1]


def _grouped(worksheet: Worksheet, key: Callable[[Zone], Hashable]) -> tuple[Zones, ...]:
    """Return the zones with equal keys, in their order; those of an application have one key."""
    keys = {zone.name: frozenset([key(zone)]) for zone in worksheet.zones}
    for _ in worksheet.zones:
        for application in worksheet.applications:
            joined = frozenset().union(*(keys[name] for name in application.zones))
            keys |= dict.fromkeys(application.zones, joined)
    return tuple(
        tuple(name for name, own in keys.items() if own == each)
        for each in dict.fromkeys(keys.values())
    )


def open_pools(
    worksheet: Worksheet,
    groups: tuple[Zones, ...],
    networks: Sequence[NetworkModel],
    start: Start,
) -> Pools:
    """Enumerate the servers of each group of zones, for each network."""
    sheets = tuple(_sheet(worksheet, zones, place) for place, zones in enumerate(groups))
    started = [start(sheet) for sheet in sheets]
    opened = []
    for network in networks:
        searches = tuple(on(network) for on in started)
        saved = (len(groups) - 1) * searches[0].shared[0]
        opened.append((sum(one.least for one in searches) - saved, network, searches))
    return Pools(groups, sheets, tuple(sorted(opened, key=lambda one: one[0])))


def cheapest_pools(
    pools: Pools,
    limit: float,
    start: Start,
    evaluate: Callable[[Design, tuple[ApplicationPerformance, ...]], Evaluation],
) -> Evaluation | None:
    """Return the cheapest design with servers of their own for each group of zones, if any.

    The cheapest servers of all groups may exceed a limit of the whole system together. Then each
    group is searched once more, with a part of the limit in proportion to what it used.

    Args:
        pools: The enumerated designs.
        limit: Cost from which on a design is not wanted.
        start: Enumerates designs for stricter requirements.
        evaluate: Returns the figures of a design.
    """
    best = None
    for least, network, searches in pools.networks:
        if least >= limit:
            break
        parts = _cheapest(searches, limit)
        whole = parts and _whole(pools.groups, parts, evaluate)
        if whole and parts and whole.violations:
            stricter = [
                _with_part_of_limits(sheet, part, parts)
                for sheet, part in zip(pools.sheets, parts, strict=True)
            ]
            parts = _cheapest([start(sheet)(network) for sheet in stricter], limit)
            whole = parts and _whole(pools.groups, parts, evaluate)
        if whole and whole.is_feasible and cost_of(whole) < limit:
            best, limit = whole, cost_of(whole)
    return best


def _sheet(worksheet: Worksheet, zones: Zones, place: int) -> Worksheet:
    """Return the requirements of a group; the first one has the ports of all clients."""
    sheet = pool_worksheet(worksheet, zones)
    if not place:
        return sheet
    clients = tuple(msgspec.structs.replace(one, has_network=True) for one in sheet.clients)
    return msgspec.structs.replace(sheet, clients=clients)


def _cheapest(searches: Sequence[PoolSearch], limit: float) -> list[Evaluation] | None:
    """Return the cheapest servers of each group; None if one has none, or all cost too much."""
    spent, parts = 0.0, []
    room = limit + (len(searches) - 1) * sum(searches[0].shared)
    for place, search in enumerate(searches):
        others = spent + sum(one.least for one in searches[place + 1 :])
        part = search.cheapest(room - others)
        if part is None:
            return None
        parts.append(part)
        spent += cost_of(part)
    return parts


def _whole(
    groups: Sequence[Zones],
    parts: Sequence[Evaluation],
    evaluate: Callable[[Design, tuple[ApplicationPerformance, ...]], Evaluation],
) -> Evaluation:
    design = join_pools([(zones, one.design) for zones, one in zip(groups, parts, strict=True)])
    return evaluate(design, tuple(each for part in parts for each in part.performance))


def _with_part_of_limits(
    sheet: Worksheet, part: Evaluation, parts: Sequence[Evaluation]
) -> Worksheet:
    """Return a group's requirements with the part of each limit that it used of all groups' use."""
    changed: dict[str, dict[str, float]] = {}
    for field, limit, key in _limits(sheet):
        uses = [_value(one, key) for one in parts]
        if limit and sum(uses) > limit:
            section, _, name = field.partition(".")
            changed.setdefault(section, {})[name] = limit * _value(part, key) / sum(uses)
    sections = {
        section: msgspec.structs.replace(getattr(sheet, section), **values)
        for section, values in changed.items()
    }
    return msgspec.structs.replace(sheet, **sections)


def _limits(sheet: Worksheet) -> Iterator[tuple[str, float | None, str]]:
    """Yield the limits that the sum over the groups may exceed, with the key of their figure."""
    for field, limit, key in (*facility_limits(sheet.facility), *cost_limits(sheet.budget)):
        if field not in ("facility.racks", "facility.floor_load", "facility.circuits"):
            yield field, limit, key
    yield "recovery.loss_probability", sheet.recovery.loss_probability, "loss-probability"
    yield "recovery.downtime", sheet.recovery.downtime, "downtime"


def _value(evaluation: Evaluation, key: str) -> float:
    groups = (evaluation.reliability, evaluation.facility, evaluation.cost)
    figures = by_key(figure for group in groups for figure in group)
    return figures[key].value if key in figures else 0.0

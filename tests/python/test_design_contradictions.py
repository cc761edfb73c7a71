"""Requirements that clash, with exact amounts."""

import math
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from design_worksheets import CATALOGUE, HOUR, HPC_CENTRE, LAB, TB, VIDEO_SHOP
from headrace.design.contradictions import contradictions, least_system
from headrace.design.evaluation import Violation
from headrace.design.worksheet import (
    Application,
    Budget,
    CapacityNeed,
    ClientGroup,
    Data,
    Facility,
    Flow,
    Recovery,
    Worksheet,
    Zone,
)
from test_design_recommend import WORKSHEETS

BASE = Worksheet(name="base", capacity=CapacityNeed(usable=100 * TB))


def clashes(**parts: Any) -> list[Violation]:
    """The contradictions of a worksheet of 100 TB with some sections."""
    return list(contradictions(msgspec.structs.replace(BASE, **parts), CATALOGUE))


def clash(**parts: Any) -> Violation:
    """The only contradiction."""
    found = clashes(**parts)
    assert len(found) == 1, found
    return found[0]


def test_sensible_worksheets_have_none() -> None:
    for worksheet in (VIDEO_SHOP, LAB, HPC_CENTRE, BASE):
        assert contradictions(worksheet, CATALOGUE) == ()


def test_shares_over_one() -> None:
    found = clash(zones=(Zone("A", share=0.7), Zone("B", share=0.5)))
    assert found.field == "zones"
    assert found.got == "120.0 %"
    assert found.message == (
        "the shares of the zones (A 70.0 %, B 50.0 %) exceed the usable capacity by 20.0 %"
    )
    assert clashes(zones=tuple(Zone(name, share=0.1) for name in "abcdefghij")) == []


def test_data_larger_than_its_zone() -> None:
    found = clash(
        zones=(Zone("A", share=0.5), Zone("B", share=0.5)),
        data=(Data("d", "large-text", "B", 60 * TB), Data("e", "large-text", "A", 10 * TB)),
    )
    assert found == Violation(
        "zones.1.share",
        "60 TB of data",
        "50 TB: 50.0 % of capacity.usable",
        "the data of zone B exceeds its share of the capacity by 10 TB",
    )


def test_data_larger_than_the_capacity() -> None:
    found = clash(data=(Data("d", "large-text", "A", 130 * TB),))
    assert found.field == "capacity.usable"
    assert found.message == "the data exceeds the usable capacity by 30 TB"


def test_copies_against_the_budget() -> None:
    zones = (Zone("A", copies=3),)
    # N8, D2: 30 EUR a TB; three copies of 100 TB are 9000 EUR.
    found = clash(zones=zones, budget=Budget(initial=8000.0))
    assert found == Violation(
        "budget.initial",
        "at most 8,000 EUR",
        "9,000 EUR",
        "the cheapest disks for capacity.usable = 100 TB with the copies that zones demand cost"
        " 1,000 EUR more than budget.initial",
    )
    assert clashes(zones=zones, budget=Budget(initial=9000.0)) == []


def test_copies_count_by_the_shares_of_zones() -> None:
    zones = (Zone("A", copies=2, share=0.25), Zone("B", share=0.75))
    found = least_system(msgspec.structs.replace(BASE, zones=zones), CATALOGUE)
    assert found.bytes == pytest.approx(125 * TB)


def test_power_and_cooling_against_the_least_of_any_design() -> None:
    # 12.5 disks N8 of 8 W, and 12.5 W for each slot of a 4U36.
    least = 12.5 * (8.0 + 450.0 / 36)
    worksheet = msgspec.structs.replace(
        BASE, capacity=CapacityNeed(usable=2000 * TB), facility=Facility(power=4e3, cooling=3e3)
    )
    found = contradictions(worksheet, CATALOGUE)
    assert [it.field for it in found] == ["facility.power", "facility.cooling"]
    assert 20 * least == pytest.approx(5125.0)
    assert found[0].got == "5.12 kW"
    assert found[0].message.endswith("is 1.12 kW above facility.power")
    assert found[1].message.endswith("is 2.12 kW above facility.cooling")


def test_circuits_and_ups_against_the_least_power() -> None:
    found = clashes(
        facility=Facility(circuits=1, circuit_amperes=1.0, ups_va=200.0, ups_power_factor=0.66)
    )
    assert [it.field for it in found] == ["facility.circuits", "facility.ups_va"]
    assert found[0].wanted == "at most 230.0 W"
    assert found[1].wanted == "at most 132.0 W"


def test_price_of_power() -> None:
    found = clash(budget=Budget(monthly_power=10.0, electricity=0.2))
    cost = 12.5 * (8.0 + 12.5) / 1000 * 730.5 * 0.2
    assert found.field == "budget.monthly_power"
    assert found.got == f"{cost:,.0f} EUR"


def test_racks() -> None:
    worksheet = msgspec.structs.replace(
        BASE, capacity=CapacityNeed(usable=10_000 * TB), facility=Facility(racks=2)
    )
    (found,) = contradictions(worksheet, CATALOGUE)
    # 1250 disks of 8 TB in 34.7 nodes of 4 units.
    assert found.field == "facility.racks"
    assert found.got == "139 rack units"
    assert found.wanted == "at most 84 rack units in 2 racks"
    assert "need 55 rack units more" in found.message


def test_weight() -> None:
    worksheet = msgspec.structs.replace(
        BASE,
        capacity=CapacityNeed(usable=3000 * TB),
        facility=Facility(racks=1, floor_load=200.0),
    )
    (found,) = contradictions(worksheet, CATALOGUE)
    assert found.field == "facility.floor_load"
    assert found.got == "262 kg"


def test_throughput_above_the_source_of_the_clients() -> None:
    clients = (ClientGroup("cameras", 2, source_rate=50e6),)
    found = clash(
        clients=clients, applications=(Application("copy", ("cameras",), (), throughput=250e6),)
    )
    assert found == Violation(
        "applications.0.throughput",
        "250 MB/s",
        "100 MB/s",
        "clients.source_rate of cameras lets its 2 clients move 150 MB/s less than the"
        " application wants",
    )


def test_throughput_above_the_network_of_the_clients() -> None:
    found = clash(
        clients=(ClientGroup("c", 1),),
        applications=(Application("a", ("c",), (), throughput=20e9),),
    )
    assert found.message.startswith("the fastest network of the catalogue at each client lets its")
    assert "7.5 GB/s less" in found.message


def test_high_throughput_from_a_slow_source() -> None:
    found = clash(clients=(ClientGroup("c", 1, high_throughput=True, source_rate=40e6),))
    assert found.field == "clients.0.source_rate"
    assert "85 MB/s less" in found.message


def test_loss_without_any_redundancy() -> None:
    node = msgspec.structs.replace(CATALOGUE.nodes[0], slots=1)
    bare = msgspec.structs.replace(CATALOGUE, nodes=(node,))
    worksheet = msgspec.structs.replace(
        BASE,
        zones=(Zone("A", copies=1),),
        recovery=Recovery(loss_probability=1e-3, loss_years=5.0),
    )
    (found,) = contradictions(worksheet, bare)
    # 13 disks of 8 TB at 1.36 % a year; 27 of 3.84 TB at 0.98 %; 167 of 0.6 TB.
    loss = -math.expm1(-13 * 5 * 4317 / 115_638_676 * 365)
    assert found.field == "recovery.loss_probability"
    assert found.got == f"{loss:.3g}"
    assert f"its loss is {loss / 1e-3:.3g} times the accepted one" in found.message
    assert contradictions(worksheet, CATALOGUE) == ()


def test_no_design_has_a_loss_of_zero() -> None:
    assert clash(recovery=Recovery(loss_probability=0.0)).field == "recovery.loss_probability"


def test_one_copy_against_the_loss_of_a_node() -> None:
    found = clash(
        zones=(Zone("A", copies=1), Zone("B", copies=2)), recovery=Recovery(survives_node=True)
    )
    assert found.field == "recovery.survives_node"
    assert found.got == "zones.copies = 1 of A"


def test_downtime_shorter_than_a_restart() -> None:
    found = clash(recovery=Recovery(downtime=60.0, survives_node=False))
    assert found.field == "recovery.downtime"
    assert "4 min longer" in found.message
    assert clashes(recovery=Recovery(downtime=60.0)) == []
    assert clashes(recovery=Recovery(downtime=HOUR, survives_node=False)) == []


def test_throughput_above_the_network_of_all_nodes() -> None:
    found = clashes(
        applications=(Application("a", (), (), throughput=400e9),),
        facility=Facility(racks=1),
        budget=Budget(initial=30_000.0),
    )
    # 21 nodes of two units, or 10 of 3000 EUR, with 12.5 GB/s each.
    assert [it.got for it in found] == ["262.5 GB/s", "125 GB/s"]
    assert "facility.racks has room for 21 nodes at most" in found[0].message
    assert "budget.initial has room for 10 nodes at most" in found[1].message
    assert "275 GB/s less" in found[1].message


def test_flow_faster_than_its_clients() -> None:
    found = clash(
        clients=(ClientGroup("cameras", 2, source_rate=40e6),),
        flows=(Flow("cameras", "A", "pictures", 100e6),),
    )
    assert found.field == "flows.0.rate"
    assert "20 MB/s less" in found.message


def test_lifetime_shorter_than_the_flow_needs() -> None:
    found = clash(
        zones=(Zone("A", lifetime=86400.0),),
        data=(Data("d", "large-text", "A", 10 * TB),),
        flows=(Flow("A", "tape", rate=50e6),),
    )
    # 1e13 B at 50 MB/s take 200,000 s.
    assert found.field == "zones.0.lifetime"
    assert found.wanted == "2.31 d for 10 TB at 50 MB/s"
    assert "31.56 h before the flow to tape" in found.message


def test_full_backup_longer_than_a_day() -> None:
    catalogue = msgspec.structs.replace(CATALOGUE, networks=CATALOGUE.networks[:1])
    zones = (Zone("A", share=0.5, backup="Nightly Full"), Zone("B", backup="weekly full"))
    worksheet = msgspec.structs.replace(BASE, zones=zones)
    (found,) = contradictions(worksheet, catalogue)
    # 50 TB at 125 MB/s take 4.63 days.
    assert found.field == "zones.0.backup"
    assert found.got == "4.63 d"
    assert contradictions(worksheet, CATALOGUE) == ()


def test_answers_that_contradict() -> None:
    found = clashes(
        zones=(Zone("A", distribution="simple"),),
        data=(Data("d", "large-text", "A", striping=True, regenerable=False),),
        recovery=Recovery(regenerable=True),
    )
    assert [it.field for it in found] == ["recovery.regenerable", "zones.0.distribution"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(WORKSHEETS)
def test_any_worksheet_is_checked(worksheet: Worksheet) -> None:
    for it in contradictions(worksheet, CATALOGUE):
        assert it.field and it.wanted and it.got and it.message
        assert "\n" not in it.message


@settings(max_examples=100, deadline=None)
@given(
    st.floats(1e12, 1e17),
    st.integers(1, 3),
    st.sampled_from(CATALOGUE.disks),
    st.sampled_from(CATALOGUE.nodes),
)
def test_no_system_is_below_the_bounds(usable: float, copies: int, disk: Any, node: Any) -> None:
    worksheet = msgspec.structs.replace(
        BASE, capacity=CapacityNeed(usable=usable), zones=(Zone("A", copies=copies),)
    )
    least = least_system(worksheet, CATALOGUE)
    disks = math.ceil(usable * copies / disk.capacity)
    nodes = math.ceil(disks / node.slots)
    rounding = 1 + 1e-9
    assert least.price is not None and least.price <= disks * disk.price * rounding
    assert least.power <= (disks * disk.power + nodes * node.power) * rounding
    assert least.units <= nodes * node.rack_units * rounding
    assert least.weight is not None and least.weight <= disks * disk.weight * rounding

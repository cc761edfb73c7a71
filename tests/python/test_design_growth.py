"""Growth over the years: purchase plans, falling prices, and racks that fill up."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Command
from headrace.design.array_level import array_of
from headrace.design.catalogue import ShelfModel
from headrace.design.cost import cost
from headrace.design.figure import by_key
from headrace.design.growth import (
    PurchasePlan,
    PurchaseUnit,
    RackLayout,
    growth_figures,
    later_figures,
    later_purchases,
    need_at,
    plans,
    rack_growth,
    unit_of,
    years_until_full,
)
from headrace.design.worksheet import CapacityNeed, Facility, Worksheet
from test_design_capacity import DISK, NODE, design
from test_design_cost import CATALOGUE, DESIGN

NEED = CapacityNeed(usable=20e12, growth=0.4, years=5)
UNIT = PurchaseUnit(usable=16e12, node_price=3500, disks_price=3000, units_per_rack=5)


@pytest.mark.parametrize(
    ("nodes", "slots", "disks", "capacity", "factor"),
    [(10, 8, 8, 1e12, 1), (5, 16, 16, 1e12, 2), (5, 16, 8, 2e12, 4)],
)
def test_racks_of_80_tb_grow_once_twice_and_four_times(
    nodes: int, slots: int, disks: int, capacity: float, factor: float
) -> None:
    """Hindman 2011, section 2.3: a rack of 48 U holds ten nodes of 4 U."""
    layout = RackLayout(
        nodes=nodes, slots=slots, disks=disks, disk_capacity=capacity, nodes_per_rack=10
    )
    found = by_key(rack_growth(layout))
    assert found["rack-capacity"].value == 80e12
    assert found["growth-factor"].value == factor


def test_an_impossible_rack_is_refused() -> None:
    for fields in ({"disks": 9}, {"nodes": 11}, {"disk_capacity": 0.0}):
        layout = RackLayout(nodes=10, slots=8, disks=8, disk_capacity=1e12, nodes_per_rack=10)
        with pytest.raises(ValueError, match="expected"):
            rack_growth(msgspec.structs.replace(layout, **fields))


def test_the_initial_need_and_20_percent_are_bought_first() -> None:
    assert by_key(growth_figures(NEED, UNIT))["first-capacity"].value == pytest.approx(24e12)
    still = CapacityNeed(usable=80e12, growth=None, years=3)
    for plan in plans(still, msgspec.structs.replace(UNIT, usable=8e12)):
        if plan.key != "when-full":
            assert [it.units for it in plan.purchases] == [12], "96 TB of 8 TB each"


def test_falling_prices_make_waiting_cheaper() -> None:
    found = {plan.key: plan for plan in plans(NEED, UNIT)}
    assert found["yearly"].units == found["at-once"].units == 7
    assert found["yearly"].price < found["at-once"].price
    assert found["at-once"].price == 7 * 6500
    first, second = found["yearly"].purchases[:2]
    assert first.price / first.units == 6500
    assert second.price / second.units == pytest.approx(3500 + 3000 * 0.85)


def test_a_full_rack_is_noticed() -> None:
    found = {plan.key: plan.racks_full for plan in plans(NEED, UNIT)}
    assert found == {"at-once": 0.0, "yearly": 4.0, "when-full": pytest.approx(3.5)}
    two = msgspec.structs.replace(UNIT, racks=2)
    assert all(plan.racks_full is None for plan in plans(NEED, two))


@given(
    usable=st.floats(1e12, 1e15),
    growth=st.floats(-0.5, 2),
    years=st.floats(0.2, 10),
    reserve=st.floats(0, 1),
    unit=st.floats(1e12, 1e14),
    decline=st.floats(0, 0.5),
)
def test_every_plan_covers_the_need(
    usable: float, growth: float, years: float, reserve: float, unit: float, decline: float
) -> None:
    need = CapacityNeed(usable=usable, growth=growth, years=years, reserve=reserve)
    bought = PurchaseUnit(usable=unit, node_price=1000, disks_price=500, price_decline=decline)
    try:
        found = plans(need, bought)
    except ValueError as error:
        assert "units" in str(error)
        return
    assert [it.price for it in found] == sorted(it.price for it in found)
    for plan in found:
        assert units_at(plan, 0) * unit >= usable * (1 + reserve) * (1 - 1e-9)
        for year in (years * part / 20 for part in range(21)):
            assert units_at(plan, year) * unit >= need_at(need, year) * (1 - 1e-9)


def units_at(plan: PurchasePlan, year: float) -> int:
    return sum(it.units for it in plan.purchases if it.year <= year + 1e-9)


def test_a_design_grows_by_its_server() -> None:
    servers = design(array_of("raid6", 12))
    form = Worksheet(name="w", capacity=NEED, facility=Facility(racks=1))
    unit = unit_of(servers, CATALOGUE, form)
    assert unit.disks_price == 12 * 120
    assert unit.node_price == 3500 + 200
    assert unit.units_per_rack == 21
    unpriced = msgspec.structs.replace(servers, disk=msgspec.structs.replace(DISK, price=None))
    with pytest.raises(ValueError, match="disk nearline-4tb: has no price"):
        unit_of(unpriced, CATALOGUE, form)


def test_the_command_compares_plans_and_draws_them(headrace: Command, tmp_path: Path) -> None:
    options = (
        "--usable", "20 TB", "--unit", "16 TB", "--node-price", "3500", "--disks-price", "3000",
        "--growth", "40 %", "--years", "5", "--nodes-per-rack", "5",
    )  # fmt: skip
    ended = headrace("design", "growth", *options, "--plot", tmp_path / "plots", "--json")
    document = json.loads(ended.stdout)
    assert document["first_capacity"] == pytest.approx(24e12)
    assert document["price_yearly"] < document["price_at_once"]
    assert {it.name for it in (tmp_path / "plots").iterdir()} == {"growth.png", "growth.svg"}
    one = headrace("design", "growth", *options, "--years", "1", "--currency", "EUR").stdout
    assert "need after 1 year " in one
    # 28 TB are two units of 16 TB, each 3,500 + 3,000.
    assert "13,000 EUR" in one


@pytest.mark.parametrize(
    "wrong",
    [
        ("--growth", "abc"),
        ("--growth", "1000000 %"),
        ("--years", "nan"),
        ("--years", "1000"),
        ("--unit", "1 kB"),
        ("--node-price", "-1"),
        ("--reserve", "-10 %"),
        ("--price-decline", "100 %"),
        ("--nodes-per-rack", "0"),
        # Meant as 30 %.
        ("--growth", "30"),
        # Without --nodes-per-rack.
        ("--racks", "2"),
    ],
)
def test_wrong_options_are_refused_in_one_line(headrace: Command, wrong: tuple[str, str]) -> None:
    options = {
        "--usable": "20 TB", "--unit": "16 TB", "--node-price": "1", "--disks-price": "1",
    } | dict([wrong])  # fmt: skip
    ended = headrace("design", "growth", *(one for pair in options.items() for one in pair))
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert "expected" in ended.stderr


def test_later_arrays_fill_free_slots_and_then_servers_come() -> None:
    """4 servers of 12 slots with one array of 6 disks; the need of 80 TB grows by half a year.

    120 TB after a year need the second array of each server: 24 disks. 180 TB after two years need
    one server more, with two arrays of 20 TB: 12 disks at 85 % of the price.
    """
    small = design(array_of("raid6", 6))
    need = CapacityNeed(usable=80e12, growth=0.5, years=2)
    first, second = later_purchases(small, 80e12, need, 0.15)
    assert (first.year, first.units, first.price) == (0, 4, 24 * 120)
    assert (second.year, second.units) == (1, 2)
    assert second.price == pytest.approx(3500 + 300 + 12 * 120 * 0.85)
    assert years_until_full(need, 120e12) == pytest.approx(1)
    figures = by_key(later_figures(small, 80e12, CATALOGUE, need, 0.1))
    total = first.price * 1.2 + second.price * 1.1
    assert figures["later-purchases"].value == pytest.approx(total)
    assert later_figures(small, 80e12, CATALOGUE, CapacityNeed(usable=80e12), 0.1) == []


def test_a_shelf_is_bought_later_when_its_slots_are_needed() -> None:
    shelf = ShelfModel("shelf", 12, 2.0, 900.0, 60.0)
    full = msgspec.structs.replace(
        design(array_of("raid6", 12)), shelf=shelf, node=msgspec.structs.replace(NODE, shelves=1)
    )
    need = CapacityNeed(usable=100e12, growth=1.0, years=1)
    (bought,) = later_purchases(full, 100e12, need, 0.15)
    assert bought.price == 4 * (900 + 12 * 120)


def test_the_total_counts_what_growth_needs() -> None:
    form = Worksheet(name="w", capacity=CapacityNeed(usable=130e12, growth=0.5, years=3))
    still = msgspec.structs.replace(form, capacity=CapacityNeed(usable=130e12, years=3))
    grown, fixed = (by_key(cost(DESIGN, CATALOGUE, one)) for one in (form, still))
    later = grown["later-purchases"].value
    assert later > 0
    assert grown["total-cost"].value == pytest.approx(fixed["total-cost"].value + later)
    assert "later-purchases" not in fixed

"""Power, cooling, racks and weight: known answers, sums, and what a facility lacks."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Command
from headrace.design.array_level import array_of
from headrace.design.catalogue import ShelfModel
from headrace.design.facility import facility, facility_violations, racks_for
from headrace.design.figure import by_key
from headrace.design.inventory import parts
from headrace.design.power import Load, Supply, power_figures, ups_power
from headrace.design.worksheet import Facility
from test_design_capacity import DISK, NODE, design

DESIGN = design(array_of("raid6", 12))
WEIGHED = msgspec.structs.replace(
    DESIGN,
    disk=msgspec.structs.replace(DISK, weight=0.7),
    node=msgspec.structs.replace(NODE, weight=25.0),
)


def test_a_ups_of_1000_va_carries_660_w() -> None:
    """Hindman 2011, section 2.8.1: power factors of UPSs are 0.66 to 0.90."""
    assert ups_power(1000, 0.66).value == pytest.approx(660)


def test_volt_amperes_watts_and_heat() -> None:
    """Hindman 2011, sections 2.8.1 and 2.8.2: VA = V A; W = V A pf; 3.41 BTU/h and 0.000283 tons
    a watt."""
    load = Load(name="nodes", count=10, power=5 * 120 * 0.9, max_power=8 * 120 * 0.9)
    found = by_key(power_figures([load], Supply(voltage=120, power_factor=0.9)))
    assert found["power"].value == pytest.approx(5400)
    assert found["va"].value == pytest.approx(6000)
    assert found["amperes"].value == pytest.approx(50)
    assert found["max-amperes"].value == pytest.approx(80)
    assert found["heat"].value == pytest.approx(3.41 * 5400)
    assert found["cooling-tons"].value == pytest.approx(0.000283 * 5400)
    assert found["total-power"].value == pytest.approx(1.5 * 5400)


def test_a_ups_is_sized_by_watts_or_by_volt_amperes() -> None:
    load = Load(name="nodes", count=1, power=900, max_power=900)
    poor_ups = Supply(voltage=230, power_factor=1.0, ups_power_factor=0.66)
    assert by_key(power_figures([load], poor_ups))["ups-va"].value == pytest.approx(900 / 0.66)
    poor_load = Supply(voltage=230, power_factor=0.6, ups_power_factor=0.9)
    assert by_key(power_figures([load], poor_load))["ups-va"].value == pytest.approx(1500)


def test_all_parts_of_a_design_draw_power() -> None:
    found = by_key(facility(DESIGN, Facility()))
    disks = 8 * (4 * 12 + 2)
    assert found["power"].value == pytest.approx(disks + 250 * 5 + 5 * 32)
    assert found["max-power"].value == pytest.approx(disks + 800 * 5 + 5 * 32)
    assert found["rack-units"].value == 2 * 5 + 1
    assert found["racks"].value == 1
    assert found["density"].value == pytest.approx(192 / 11)
    assert found["power-per-tb"].value == pytest.approx(found["power"].value / 192)


def test_metadata_servers_gateways_and_switches_count() -> None:
    more = msgspec.structs.replace(DESIGN, metadata_nodes=2, gateways=30)
    counts = {it.kind: it.count for it in parts(more)}
    assert counts["metadata-node"] == 2
    assert counts["metadata-disk"] == 4
    assert counts["gateway"] == 30
    assert counts["adapter"] == 36
    assert counts["switch"] == 5, "3 leaves with 16 ports down and 16 up, and 2 spines"
    assert counts["cable"] == 36 + 3 * 16


def test_a_bill_has_clients_fail_over_server_and_second_switch() -> None:
    """4 + 1 + 1 servers on two switches and 24 clients: 12 + 24 ports, 2 links of switches."""
    more = msgspec.structs.replace(
        DESIGN, metadata_nodes=1, fail_over_nodes=1, paths=2, client_ports=24
    )
    counts = {one.kind: one.count for one in parts(more)}
    assert counts["fail-over-node"] == 1
    assert (counts["adapter"], counts["client-adapter"], counts["switch"]) == (12, 24, 2)
    assert counts["cable"] == 12 + 24 + 2


@pytest.mark.parametrize(("nodes", "copies", "gateways", "arbiters"),
                         [(2, 2, 0, 1), (2, 2, 1, 0), (4, 2, 0, 0), (2, 1, 0, 0)])  # fmt: skip
def test_two_servers_with_two_copies_need_an_arbiter(
    nodes: int, copies: int, gateways: int, arbiters: int
) -> None:
    pair = msgspec.structs.replace(
        DESIGN, file_system="glusterfs", nodes=nodes, copies=copies, gateways=gateways
    )
    assert sum(one.count for one in parts(pair) if one.kind == "arbiter") == arbiters


def test_a_weight_needs_all_weights() -> None:
    assert "weight" not in by_key(facility(DESIGN, Facility()))
    missing = {it.entry for it in parts(DESIGN) if it.weight is None}
    assert missing == {"disk nearline-4tb", "node 2u12"}
    found = by_key(facility(WEIGHED, Facility()))
    assert found["weight"].value == pytest.approx(0.7 * 50 + 25 * 5 + 10)
    assert found["weight-per-rack"].value == pytest.approx(125 + found["weight"].value)


def test_a_server_stays_with_its_shelves() -> None:
    shelf = ShelfModel(name="60", slots=60, rack_units=4, price=None, power=100.0)
    large = msgspec.structs.replace(DESIGN, nodes=6, shelf=shelf, shelves_per_node=4)
    # Blocks of 2 + 16 U: two in a rack of 42 U, beside them the metadata server and the switch.
    assert by_key(facility(large, Facility()))["racks"].value == 3


def test_racks_are_filled_first_fit() -> None:
    assert racks_for([4.0] * 10, 48) == 1
    assert racks_for([4.0] * 12, 48) == 1
    assert racks_for([4.0] * 13, 48) == 2
    assert racks_for([22.0] * 4, 42) == 4, "no two fit"
    assert racks_for([100.0], 42) == 3
    with pytest.raises(ValueError, match="expected a height"):
        racks_for([1.0], 0)


@given(
    blocks=st.lists(st.floats(0.5, 42), max_size=60),
    more=st.floats(0.5, 42),
)
def test_racks_are_enough_and_not_twice_too_many(blocks: list[float], more: float) -> None:
    racks = racks_for(blocks, 42)
    assert sum(blocks) <= 42 * racks * (1 + 1e-9)
    assert racks <= 2 * sum(blocks) / 42 + 1
    assert racks_for([*blocks, more], 42) >= racks


@given(
    loads=st.lists(
        st.tuples(st.integers(1, 1000), st.floats(0, 2000), st.floats(0, 2000)),
        min_size=1,
        max_size=5,
    )
)
def test_power_is_the_sum_of_the_loads(loads: list[tuple[int, float, float]]) -> None:
    made = [
        Load(name=f"load {index}", count=count, power=watts, max_power=watts + more)
        for index, (count, watts, more) in enumerate(loads)
    ]
    found = by_key(power_figures(made, Supply(voltage=230)))
    assert found["power"].value == pytest.approx(sum(it.count * it.power for it in made))
    assert found["power"].value <= found["max-power"].value * (1 + 1e-12)


def test_a_facility_may_lack_everything() -> None:
    small = Facility(
        racks=0,
        power=1000,
        circuits=1,
        circuit_amperes=10,
        cooling=1000,
        ups_va=1000,
        floor_load=200,
    )
    violations = facility_violations(facility(WEIGHED, small), small)
    assert {it.field for it in violations} == {
        "facility.racks",
        "facility.power",
        "facility.circuits",
        "facility.cooling",
        "facility.ups_va",
        "facility.floor_load",
    }
    assert all(it.wanted and it.got and it.message.endswith(".") for it in violations)


def test_what_is_unknown_is_no_violation() -> None:
    unknown = Facility(ups_va=0)
    assert facility_violations(facility(DESIGN, unknown), unknown) == ()


def test_cooling_is_the_provider_s_at_a_co_location() -> None:
    power = by_key(facility(DESIGN, Facility()))["power"].value
    own = Facility(place="on-site", power=1.2 * power, cooling=power / 2)
    away = Facility(place="co-location", power=1.2 * power, cooling=power / 2)
    on_site = {it.field for it in facility_violations(facility(DESIGN, own), own)}
    assert on_site == {"facility.power", "facility.cooling"}
    assert facility_violations(facility(DESIGN, away), away) == ()


@pytest.mark.parametrize(
    "supply",
    [
        Supply(voltage=0),
        Supply(voltage=float("nan")),
        Supply(voltage=230, power_factor=0),
        Supply(voltage=230, power_factor=1.1),
        Supply(voltage=230, ups_power_factor=0),
        Supply(voltage=230, cooling_overhead=-1),
    ],
)
def test_an_impossible_supply_is_refused(supply: Supply) -> None:
    with pytest.raises(ValueError, match="expected"):
        power_figures([Load(name="node", count=1, power=1, max_power=1)], supply)


def test_the_command_answers_in_one_line(headrace: Command) -> None:
    ended = headrace(
        "design", "power", "--nodes", "10", "--amperes", "5", "--voltage", "120",
        "--power-factor", "0.9", "--component", "switch=2x150/300", "--json",
    )  # fmt: skip
    document = json.loads(ended.stdout)
    assert document["power"] == pytest.approx(5700)
    assert document["max_power"] == pytest.approx(6000)
    assert document["heat"] == pytest.approx(3.41 * 5700)
    ended = headrace("design", "power", "--ups-va", "1000", "--ups-power-factor", "0.66")
    assert "660 W" in ended.stdout
    assert "= 1,000 VA x 0.66" in ended.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--nodes", "10"),
        ("--amperes", "5"),
        ("--nodes", "10", "--amperes", "nan"),
        ("--nodes", "10", "--amperes", "-1"),
        ("--nodes", "10", "--amperes", "5", "--watts", "5"),
        ("--nodes", "10", "--amperes", "5", "--max-amperes", "4"),
        ("--nodes", "0", "--watts", "5"),
        ("--nodes", "1", "--watts", "5", "--power-factor", "0"),
        ("--component", "switch"),
        ("--component", "a=1x2", "--component", "a=1x2"),
        ("--ups-va", "-1"),
    ],
)
def test_wrong_options_are_refused_in_one_line(
    headrace: Command, arguments: tuple[str, ...]
) -> None:
    ended = headrace("design", "power", *arguments)
    assert ended.returncode == 2
    assert len(ended.stderr.splitlines()) == 1
    assert "expected" in ended.stderr

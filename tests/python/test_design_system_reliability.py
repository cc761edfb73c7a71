"""Reliability of designed systems: layers, spares, availability, requirements."""

import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import test_design_capacity as sample
from headrace.design.catalogue import ShelfModel
from headrace.design.figure import by_key
from headrace.design.reliability import reliability_violations, system_reliability
from headrace.design.reliability.rebuild_load import rebuild_share
from headrace.design.system import Array, ArrayKind, Code, Design
from headrace.design.worksheet import Budget, CapacityNeed, Recovery, Worksheet
from headrace.quantities import HOUR, YEAR
from headrace.report.figure_tables import arithmetic, figure_rows

DISK = msgspec.structs.replace(sample.DISK, write_rate=1.8e8, failure_factor=2.0)
NODE = msgspec.structs.replace(sample.NODE, mttf=40_000 * HOUR)
ARRAYS: dict[ArrayKind, Array] = {
    "single": Array(kind="single", disks=1, data=1, parity=0),
    "raid0": Array(kind="raid0", disks=8, data=8, parity=0),
    "raid1": Array(kind="raid1", disks=2, data=1, parity=1),
    "raid5": Array(kind="raid5", disks=8, data=7, parity=1),
    "raid6": Array(kind="raid6", disks=8, data=6, parity=2),
    "raid10": Array(kind="raid10", disks=8, data=4, parity=4),
    "draid": Array(kind="draid", disks=11, data=8, parity=2),
    "erasure": Array(kind="erasure", disks=8, data=5, parity=3),
}
DESIGN = Design(
    file_system="lustre",
    nodes=4,
    node=NODE,
    disk=DISK,
    disks_per_node=9,
    array=ARRAYS["raid6"],
    arrays_per_node=1,
    spares_per_node=1,
    network=sample.NETWORK,
    metadata_nodes=2,
)
SHEET = Worksheet(name="test", capacity=CapacityNeed(1e13))


def value(design: Design, key: str, sheet: Worksheet = SHEET) -> float:
    return by_key(system_reliability(design, sheet))[key].value


def changed(**changes: object) -> Design:
    return msgspec.structs.replace(DESIGN, **changes)


@pytest.mark.parametrize("kind", ARRAYS)
def test_every_array_has_all_figures(kind: ArrayKind) -> None:
    for more in (
        {},
        {"file_system": "glusterfs", "copies": 2},
        {"file_system": "hdfs", "copies": 3},
    ):
        figures = by_key(system_reliability(changed(array=ARRAYS[kind], **more), SHEET))
        assert list(figures) == [
            "loss-probability",
            "mttdl",
            "nomdl",
            "read-error-in-rebuild",
            "rebuild-time",
            "disk-failures",
            "node-failures-survived",
            "availability",
            "downtime",
        ]
        assert 0 <= figures["loss-probability"].value <= 1
        assert all(math.isfinite(it.value) and it.formula and it.source for it in figures.values())
        assert len(figure_rows(figures.values())) == len(figures)


def test_raid6_of_four_nodes_by_hand() -> None:
    mttf, n, groups = 0.6e6, 8, 4
    share = rebuild_share("raid6", 8, 1.8e8, 0.012, 7200.0, 16)
    assert 0.1 < share < 0.9
    rebuild = 4e12 / (share * 1.8e8) / 3600
    missing = 8 * 24 / mttf
    repair = rebuild + 24 * (1 - math.exp(-missing))
    read_error = -math.expm1(8 * 6 * 4e12 * math.log1p(-1e-15))
    rate = n * (n - 1) * mttf**-2 * repair * ((n - 2) / mttf * repair / 2 + read_error)
    assert value(DESIGN, "rebuild-time") == pytest.approx(rebuild * 3600)
    assert value(DESIGN, "loss-probability") == pytest.approx(
        -math.expm1(-groups * rate * 5 * 8760), rel=0.02
    )
    assert value(DESIGN, "disk-failures") == pytest.approx(32 * 8760 / mttf)
    assert value(DESIGN, "read-error-in-rebuild") == pytest.approx(read_error)


def test_copies_over_arrays_multiply_safety() -> None:
    one = value(changed(array=ARRAYS["raid5"]), "loss-probability")
    two = value(
        changed(array=ARRAYS["raid5"], copies=2, file_system="glusterfs"), "loss-probability"
    )
    assert two < 1e-2 * one
    coded = changed(array=ARRAYS["single"], nodes=12, code=Code(8, 3))
    assert value(coded, "loss-probability") < value(
        changed(array=ARRAYS["single"], nodes=12), "loss-probability"
    )
    assert value(coded, "node-failures-survived") == 3


def test_two_copies_of_arrays_by_hand() -> None:
    pair = changed(array=ARRAYS["raid5"], copies=2, nodes=2, file_system="glusterfs")
    figures = by_key(system_reliability(pair, SHEET))
    n, mttf, data = 8, 0.6e6, 7 * 4e12
    share = rebuild_share("raid5", 8, 1.8e8, 0.012, 7200.0, 16)
    repair = 4e12 / (share * 1.8e8) / 3600 + 24 * (1 - math.exp(-8 * 24 / mttf))
    whole = n * (n - 1) / mttf**2 * repair
    stripes = n / mttf * -math.expm1(8 * data * math.log1p(-1e-15))
    refill = 24 + data / (0.3 * min(1.25e9, 7 * 1.8e8)) / 3600
    # The first array is lost whole; then the other one, or a stripe of it.
    expected = 1 / (2 * whole * refill * (whole + stripes))
    assert figures["mttdl"].value / 3600 == pytest.approx(expected, rel=0.03)


def test_mirrored_disks_over_nodes_are_an_array_of_two() -> None:
    # Components are the disks themselves: two copies of single disks are RAID-1 pairs.
    design = changed(array=ARRAYS["single"], copies=2, nodes=2, file_system="glusterfs")
    disk = msgspec.structs.replace(DISK, bit_error_rate=0.0)
    design = msgspec.structs.replace(design, disk=disk)
    mttf, repair = 0.6e6, 24 + 4e12 / (0.3 * 1.8e8) / 3600
    expected = mttf**2 / (2 * repair)
    assert value(design, "mttdl") / 3600 == pytest.approx(expected, rel=0.001)


def test_spares_shorten_the_repair() -> None:
    losses = [value(changed(spares_per_node=it), "loss-probability") for it in (0, 1, 2)]
    assert losses[0] > losses[1] >= losses[2]
    slow = msgspec.structs.replace(SHEET, budget=Budget(vendor_agreement=False))
    without = changed(spares_per_node=0)
    assert value(without, "loss-probability", slow) > value(without, "loss-probability")


def test_a_disk_fails_as_its_fleet_does() -> None:
    """Backblaze, 2025: 4,317 failures in 115,638,676 drive days are 1.36 % a year."""
    fleet = changed(disk=msgspec.structs.replace(DISK, failure_factor=None))
    figure = by_key(system_reliability(fleet, SHEET))["disk-failures"]
    assert figure.value == pytest.approx(32 * 0.013626, rel=1e-4)
    assert "1.36 % a year, Backblaze" in figure.inputs[1].source
    assert figure.note.startswith("0.234"), "32 x 8760 / 1,200,000"
    flash = msgspec.structs.replace(DISK, failure_factor=None, disk_class="nvme")
    assert YEAR / flash.observed_mttf == pytest.approx(25 / 934_441 * 365)
    believed = msgspec.structs.replace(DISK, failure_factor=1.0)
    assert believed.observed_mttf == DISK.mttf


def test_availability_by_hand() -> None:
    up = 40_000 / 40_024
    metadata = 1 - (1 - up) ** 2
    switch = 300_000 / 300_024
    expected = up**4 * metadata * switch
    assert value(DESIGN, "availability") == pytest.approx(expected, abs=1e-12)
    pairs = changed(copies=2, file_system="glusterfs")
    # Each pair has an arbiter on another server: two of three must vote.
    quorum = up**3 + 3 * up**2 * (1 - up)
    assert value(pairs, "availability") == pytest.approx(quorum**2 * metadata * switch, abs=1e-12)
    inside = by_key(system_reliability(changed(fail_over_nodes=1), SHEET))["availability"]
    assert inside.value == pytest.approx(expected, abs=1e-12)
    assert inside.note.endswith("cannot reach disks inside the data servers.")
    shelf = ShelfModel("shelf", 24, 2.0, 900.0, 60.0)
    node = msgspec.structs.replace(NODE, shelves=1)
    safe = changed(fail_over_nodes=1, paths=2, node=node, shelf=shelf, shelves_per_node=1)
    four_of_five = up**5 + 5 * up**4 * (1 - up)
    network = 1 - (1 - switch) ** 2
    assert value(safe, "availability") == pytest.approx(
        four_of_five * metadata * network, abs=1e-12
    )
    assert value(DESIGN, "downtime") == pytest.approx((1 - expected) * YEAR / 12)
    unknown = changed(node=msgspec.structs.replace(NODE, mttf=None))
    inputs = by_key(system_reliability(unknown, SHEET))["availability"].inputs
    assert "declared" in inputs[0].source


def test_requirements_that_are_missed_are_named() -> None:
    strict = Recovery(loss_probability=1e-12, downtime=1.0, survives_node=True, loss_years=5.0)
    sheet = msgspec.structs.replace(SHEET, recovery=strict)
    found = reliability_violations(system_reliability(DESIGN, sheet), sheet)
    assert [it.field for it in found] == [
        "recovery.loss_probability",
        "recovery.downtime",
        "recovery.survives_node",
    ]
    assert all(it.wanted and it.got and it.message.endswith(".") for it in found)
    assert reliability_violations(system_reliability(DESIGN, SHEET), SHEET) == ()


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(sorted(ARRAYS)),
    nodes=st.integers(1, 40),
    copies=st.integers(1, 3),
    factor=st.floats(1.0, 10.0),
)
def test_more_failures_are_never_safer(
    kind: ArrayKind, nodes: int, copies: int, factor: float
) -> None:
    design = changed(
        array=ARRAYS[kind], nodes=nodes, copies=min(copies, nodes), file_system="glusterfs"
    )
    worse = msgspec.structs.replace(
        design, disk=msgspec.structs.replace(DISK, failure_factor=2 * factor)
    )
    assert value(worse, "loss-probability") >= value(design, "loss-probability") * (1 - 1e-9)
    assert value(worse, "mttdl") <= value(design, "mttdl") * (1 + 1e-9)


def test_more_load_leaves_less_to_a_rebuild() -> None:
    shares = [rebuild_share("raid6", 8, 1.8e8, 0.012, 7200.0, it) for it in (1, 4, 16)]
    assert 1 >= shares[0] > shares[1] > shares[2] > 0
    with pytest.raises(ValueError, match="draid"):
        rebuild_share("draid", 8, 1.8e8, 0.012, 7200.0, 1)


def test_the_mean_time_belongs_to_the_loss_probability() -> None:
    # Far beyond 1e9 years: a limit there would contradict the probability.
    design = changed(array=ARRAYS["raid6"], copies=2, nodes=2, file_system="glusterfs")
    figures = by_key(system_reliability(design, SHEET))
    mean = figures["mttdl"].value
    assert mean > 1e9 * YEAR
    years = SHEET.recovery.loss_years
    assert figures["loss-probability"].value == pytest.approx(years * YEAR / mean, rel=0.02)


def test_the_arithmetic_of_downtime_gives_its_value() -> None:
    design = changed(array=ARRAYS["raid6"], copies=2, nodes=2, file_system="glusterfs")
    downtime = by_key(system_reliability(design, SHEET))["downtime"]
    available = float(arithmetic(downtime).removeprefix("(1 - ").partition(")")[0])
    assert (1 - available) * 730 * 3600 == pytest.approx(downtime.value, rel=0.1)

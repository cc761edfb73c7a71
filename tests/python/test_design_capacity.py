"""Capacity of arrays, pools and systems: known answers, and what holds for all of them."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import Command
from headrace.design.array_level import array_of, draid, parse_draid
from headrace.design.capacity import (
    capacity,
    capacity_of,
    capacity_violations,
    capacity_wanted,
)
from headrace.design.catalogue import DiskModel, NetworkModel, NodeModel
from headrace.design.figure import by_key
from headrace.design.local_space import LocalFileSystem, space
from headrace.design.raw_need import disks_needed, raw_needed
from headrace.design.storage_plan import StoragePlan
from headrace.design.system import Array, Code, Design, FileSystem
from headrace.design.worksheet import CapacityNeed, Data, Worksheet
from headrace.design.zfs_space import pool
from headrace.report.figure_tables import arithmetic

TIB, GIB = 1 << 40, 1 << 30
DISK = DiskModel(
    name="nearline-4tb",
    disk_class="nearline",
    capacity=4e12,
    price=120.0,
    mttf=1.2e6 * 3600,
    bit_error_rate=1e-15,
    read_rate=2e8,
    write_rate=2e8,
    access_time=0.012,
    power=8.0,
    failure_factor=1.0,
)
NODE = NodeModel(
    name="2u12",
    slots=12,
    rack_units=2,
    price=3500.0,
    memory=64e9,
    cores=16,
    max_power=800.0,
    power=250.0,
)
NETWORK = NetworkModel(
    name="10gbe",
    bandwidth=1.25e9,
    latency=1e-5,
    adapter_price=200.0,
    port_price=100.0,
    port_power=5.0,
)


def design(
    array: Array,
    file_system: FileSystem = "lustre",
    nodes: int = 4,
    disks_per_node: int | None = None,
    spares_per_node: int = 0,
) -> Design:
    return Design(
        file_system=file_system,
        nodes=nodes,
        node=NODE,
        disk=DISK,
        disks_per_node=disks_per_node or array.disks,
        array=array,
        arrays_per_node=1,
        spares_per_node=spares_per_node,
        network=NETWORK,
    )


def values(plan: StoragePlan) -> dict[str, float]:
    return {key: it.value for key, it in by_key(capacity_of(plan)).items()}


def test_20_tb_with_two_copies_on_raid_10_need_80_tb() -> None:
    """Hindman 2011, section 2.2."""
    array = array_of("raid10", 4)
    raw = raw_needed(20e12, copies=2, array=array)
    assert raw.value == 80e12
    assert disks_needed(raw, 1e12, array).value == 80
    assert disks_needed(raw, 3e12, array).value == 28, "whole arrays of four disks"


@pytest.mark.parametrize(
    ("level", "disks", "data"),
    [
        ("single", 1, 1),
        ("raid0", 8, 8),
        ("raid1", 3, 1),
        ("raid5", 8, 7),
        ("raid6", 8, 6),
        ("raid10", 8, 4),
    ],
)
def test_levels_hold_so_many_disks_of_data(level: str, disks: int, data: int) -> None:
    array = array_of(level, disks)
    plan = StoragePlan(array=array, disk_capacity=1e12, disks_per_node=disks)
    assert values(plan)["usable-capacity"] == pytest.approx(data * 1e12)


def test_spares_and_disks_in_no_array_are_shown() -> None:
    plan = StoragePlan(
        array=array_of("raid6", 5),
        disk_capacity=4e12,
        nodes=2,
        disks_per_node=12,
        arrays_per_node=2,
        spares_per_node=1,
    )
    found = values(plan)
    assert found["raw-capacity"] == 96e12
    assert found["spare-capacity"] == 8e12
    assert found["unused-capacity"] == 8e12
    assert found["array-capacity"] == pytest.approx(48e12)


def test_a_code_over_nodes_takes_the_place_of_copies() -> None:
    array = array_of("single", 1)
    plan = StoragePlan(
        array=array, disk_capacity=1e12, nodes=11, disks_per_node=1, code=Code(data=8, parity=3)
    )
    assert values(plan)["usable-capacity"] == pytest.approx(8e12)


@pytest.mark.parametrize(
    ("text", "disk", "listed", "exact"),
    [
        # zfs list -p, used and available: openzfs/zfs issue 15467.
        ("draid2:6d:24c:0s", 1e12, 15835678638080, 0.0),
        # zfs get available -p: openzfs/zfs issue 13727, disks of 18,000,207,937,536 B.
        ("draid1:16d:36c:2s", 18000207937536.0, 574804246033080, 1e-5),
    ],
)
def test_draid_is_as_large_as_zfs_lists_it(
    text: str, disk: float, listed: int, exact: float
) -> None:
    array, spares = parse_draid(text)
    assert pool(array, 1, disk, spares).usable == pytest.approx(listed, rel=exact, abs=0)


@pytest.mark.parametrize(
    ("level", "width", "vdevs", "disk", "published"),
    [
        ("raid10", 24, 1, 4e12, 43.375),
        ("raid10", 24, 1, 18e12, 196.188),
        ("raid5", 3, 8, 4e12, 57.985),
        ("raid5", 4, 6, 18e12, 285.278),
        ("raid6", 6, 4, 4e12, 57.985),
        ("raid6", 11, 2, 18e12, 274.213),
        ("raid6", 10, 2, 4e12, 55.29),
    ],
)
def test_pools_are_as_large_as_published(
    level: str, width: int, vdevs: int, disk: float, published: float
) -> None:
    """Table of the OpenZFS capacity calculator of jro.io, in TiB, with 2 GiB swap on each disk."""
    found = pool(array_of(level, width), vdevs, disk - 2 * GIB).usable / TIB
    assert found == pytest.approx(published, rel=1.5e-3)


def test_draid_records_fill_whole_stripes() -> None:
    """A record of 32 sectors takes 4 rows of 8 + 2, but 2 rows of 20 + 2 of which 8 are padding."""
    assert pool(draid(64, 8, 2, 0), 1, 4e12).efficiency == 131072 // (4 * 10 * 8)
    assert pool(draid(64, 20, 2, 0), 1, 4e12).efficiency == 131072 // (2 * 22 * 8)


def test_a_draid_of_a_design_has_its_spares_on_all_disks() -> None:
    array = draid(64, 8, 2, 2)
    node = design(array, spares_per_node=2)
    found = by_key(capacity(node))
    assert found["array-capacity"].value == pytest.approx(4 * 62 * 4e12 * 0.8)
    assert found["spare-capacity"].title == "distributed spares"
    assert found["usable-capacity"].value == 4 * pool(array, 1, 4e12, 2).usable
    apart = by_key(capacity(design(array, spares_per_node=2, disks_per_node=66)))
    assert apart["array-capacity"].value == pytest.approx(4 * 64 * 4e12 * 0.8)
    assert apart["spare-capacity"].title == "hot spares"


@pytest.mark.parametrize(
    ("size", "blocks", "free"),
    [
        (500 * GIB, 131072000, 128734254),
        (TIB, 268435456, 263940710),
        (6 * TIB, 1610612736, 1597629923),
        (12 * TIB, 3221225472, 3195551713),
    ],
)
def test_ext4_takes_what_mke2fs_takes(size: int, blocks: int, free: int) -> None:
    """Free blocks of empty file systems that mke2fs 1.47.0 made, as dumpe2fs shows them."""
    taken = space("ext4", size).overhead - 0.05 * size
    assert taken == pytest.approx(4096 * (blocks - free), rel=0.01)


def test_xfs_takes_what_df_shows() -> None:
    """12 TB with reflink=1: 78 GiB used (serverfault.com 983907); df leaves the log out."""
    taken = space("xfs", 12e12).overhead - 2038 * (1 << 20)
    assert taken / GIB == pytest.approx(78, abs=0.5)


def test_hdfs_has_checksums_beside_the_data() -> None:
    array = array_of("single", 1)
    plain = by_key(capacity(design(array, "pvfs2")))["usable-capacity"].value
    hdfs = by_key(capacity(design(array, "hdfs")))["usable-capacity"].value
    assert hdfs == pytest.approx(plain / (1 + 4 / 512))


def test_a_design_must_hold_the_need_and_its_reserve() -> None:
    array = array_of("raid6", 12)
    usable = by_key(capacity(design(array)))["usable-capacity"].value
    fits = Worksheet(name="w", capacity=CapacityNeed(usable=usable / 1.2))
    assert capacity_violations(capacity(design(array)), fits) == ()
    tight = Worksheet(name="w", capacity=CapacityNeed(usable=usable / 1.1))
    (violation,) = capacity_violations(capacity(design(array)), tight)
    assert violation.field == "capacity.usable"
    assert capacity_wanted(CapacityNeed(usable=20e12)).value == pytest.approx(24e12)


def test_inode_tables_limit_the_number_of_files() -> None:
    array = array_of("raid6", 12)
    lustre = by_key(capacity(design(array)))["files"].value
    assert lustre == pytest.approx(min(4 * 40e12 / 2**20, 4e12 / 2048))
    ext4 = by_key(capacity(design(array, "pvfs2")))["files"].value
    assert ext4 == pytest.approx(4 * 40e12 / 65536)
    assert "files" not in by_key(capacity(design(array, "glusterfs"))), "XFS makes inodes anew"
    many = Worksheet(
        name="w",
        capacity=CapacityNeed(usable=1e12),
        data=(Data(name="d", data_class="many-files", zone="a", files=10**9),),
    )
    (violation,) = capacity_violations(capacity(design(array)), many)
    assert violation.field == "data.files"


levels = st.sampled_from(["raid0", "raid5", "raid6", "raid10"])
file_systems = st.sampled_from(["none", "ext4", "xfs", "ldiskfs", "zfs"])


@given(
    level=levels,
    half=st.integers(2, 40),
    nodes=st.integers(3, 50),
    spares=st.integers(0, 4),
    copies=st.integers(1, 3),
    disk=st.floats(1e10, 1e14),
    local=file_systems,
)
def test_each_step_leaves_less(
    level: str,
    half: int,
    nodes: int,
    spares: int,
    copies: int,
    disk: float,
    local: LocalFileSystem,
) -> None:
    plan = StoragePlan(
        array=array_of(level, 2 * half),
        disk_capacity=disk,
        nodes=nodes,
        disks_per_node=2 * half + spares,
        spares_per_node=spares,
        copies=copies,
        local=local,
    )
    found = values(plan)
    assert 0 <= found["usable-capacity"] <= found["file-system-capacity"]
    assert found["file-system-capacity"] <= found["array-capacity"] * (1 + 1e-12)
    spare = found.get("spare-capacity", 0.0)
    assert found["array-capacity"] <= (found["raw-capacity"] - spare) * (1 + 1e-12)
    overhead = found.get("file-system-overhead", 0.0)
    assert found["file-system-capacity"] + overhead == pytest.approx(found["array-capacity"])


@given(
    disks=st.integers(8, 255),
    data=st.integers(1, 16),
    parity=st.integers(1, 2),
    spares=st.integers(0, 3),
    disk=st.floats(1e11, 3e13),
)
def test_more_parity_or_spares_is_never_more_usable(
    disks: int, data: int, parity: int, spares: int, disk: float
) -> None:
    if data + parity + 1 + spares + 1 > disks:
        return
    base = pool(draid(disks, data, parity, spares), 1, disk, spares).usable
    assert pool(draid(disks, data, parity + 1, spares), 1, disk, spares).usable <= base
    # A metaslab more or less: its size follows that of the pool in powers of two.
    more = pool(draid(disks, data, parity, spares + 1), 1, disk, spares + 1)
    assert more.usable <= base + more.metaslab


@given(usable=st.floats(1.0, 1e18), copies=st.integers(1, 5), disks=st.integers(4, 50))
def test_raw_and_usable_are_inverse(usable: float, copies: int, disks: int) -> None:
    array = array_of("raid6", disks)
    raw = raw_needed(usable, copies=copies, array=array).value
    assert raw / copies * array.efficiency == pytest.approx(usable)


@pytest.mark.parametrize(
    ("level", "disks", "expected"),
    [
        ("raid6", 3, "at least 4 disks"),
        ("raid5", 2, "at least 3 disks"),
        ("raid10", 5, "an even number"),
        ("single", 2, "1 disk"),
        ("raid0", 10**7, "at most"),
        ("raid7", 4, "expected one of"),
        ("draid", 4, "2:8d:64c:2s"),
        ("erasure", 4, "data and parity"),
    ],
)
def test_impossible_levels_are_refused(level: str, disks: int, expected: str) -> None:
    with pytest.raises(ValueError, match=expected):
        array_of(level, disks)


@pytest.mark.parametrize(
    "text",
    ["", "x", "4:8d:64c", "0:8d:64c", "2:8d", "2:8d:10c:1s", "2:8d:256c", "2:0d:64c", "2:8d:-4c"],
)
def test_impossible_draids_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        parse_draid(text)


def test_draid_defaults_are_those_of_zpool() -> None:
    array, spares = parse_draid("draid:11c")
    assert (array.data, array.parity, array.disks, spares) == (8, 1, 11, 0)
    assert parse_draid("draid2:6c:1s")[0].data == 3, "fewer disks than the default group"


@pytest.mark.parametrize(
    "changed",
    [
        {"disk_capacity": math.nan},
        {"disk_capacity": 0.0},
        {"disk_capacity": 1e18},
        {"disks_per_node": 7},
        {"spares_per_node": 1},
        {"copies": 3},
        {"code": Code(data=8, parity=3)},
        {"nodes": 0},
    ],
)
def test_impossible_plans_are_refused(changed: dict[str, object]) -> None:
    fields = {
        "array": array_of("raid6", 8),
        "disk_capacity": 4e12,
        "nodes": 2,
        "disks_per_node": 8,
    } | changed
    with pytest.raises(ValueError, match="expected|node has"):
        capacity_of(StoragePlan(**fields))  # type: ignore[arg-type]


def test_the_command_shows_the_arithmetic(headrace: Command) -> None:
    ended = headrace(
        "design", "capacity", "--usable", "20 TB", "--copies", "2", "--level", "raid10"
    )
    assert ended.returncode == 0, ended.stderr
    assert "80 TB (72.76 TiB)" in ended.stdout
    assert "= 20 TB x 2 x 2" in ended.stdout


def test_the_command_prints_one_document(headrace: Command) -> None:
    ended = headrace(
        "design", "capacity", "--disks", "12", "--capacity", "4 TB", "--level", "raid6",
        "--nodes", "4", "--spares", "1", "--file-system", "xfs", "--json",
    )  # fmt: skip
    document = json.loads(ended.stdout)
    assert document["raw_capacity"] == 192e12
    raw = document["figures"]["raw-capacity"]
    assert raw["formula"] == "nodes x disks of a node x capacity of a disk"
    assert raw["arithmetic"] == "4 x 12 x 4 TB"
    assert [it["source"] for it in raw["inputs"]] == ["--nodes", "--disks", "--capacity"]
    assert all(it["source"] for it in document["figures"].values())


def test_the_command_finds_the_number_of_nodes(headrace: Command) -> None:
    ended = headrace(
        "design", "capacity", "--usable", "100 TB", "--disks", "12", "--capacity", "4 TB",
        "--level", "raid6", "--copies", "2", "--json",
    )  # fmt: skip
    document = json.loads(ended.stdout)
    assert document["nodes"] == 5
    assert document["usable_capacity"] == 100e12


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--disks", "12"),
        ("--disks", "12", "--capacity", "4"),
        ("--disks", "12", "--capacity", "nan", "--level", "raid6"),
        ("--disks", "12", "--capacity", "0 TB", "--level", "raid6"),
        ("--disks", "3", "--capacity", "4 TB", "--level", "raid6"),
        ("--disks", "13", "--capacity", "4 TB", "--level", "raid6", "--arrays", "2"),
        ("--disks", "4", "--capacity", "1 MB", "--level", "raid6", "--file-system", "zfs"),
        ("--disks", "4", "--capacity", "1 MB", "--level", "raid6", "--file-system", "ext4"),
        ("--disks", "4", "--capacity", "1 B", "--level", "raid6", "--file-system", "xfs"),
        ("--draid", "2:8d:64c:2s", "--capacity", "4 TB", "--file-system", "xfs"),
        ("--code", "8+0", "--disks", "4", "--level", "raid10", "--capacity", "4 TB"),
        ("--draid", "2:8d:9c:2s", "--capacity", "4 TB"),
        ("--draid", "2:8d:64c:2s", "--capacity", "4 TB", "--level", "raid6"),
        ("--usable", "20 TB", "--level", "raid6"),
        ("--code", "8-3", "--disks", "4", "--level", "raid10", "--capacity", "4 TB"),
    ],
)
def test_wrong_options_are_refused_in_one_line(
    headrace: Command, arguments: tuple[str, ...]
) -> None:
    ended = headrace("design", "capacity", *arguments)
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert len(ended.stderr.splitlines()) == 1
    assert "expected" in ended.stderr


def test_the_arithmetic_of_a_difference_has_its_digits() -> None:
    plan = StoragePlan(
        array=parse_draid("2:8d:72c:1s")[0],
        disk_capacity=20e12,
        nodes=2,
        disks_per_node=72,
        arrays_per_node=1,
        spares_per_node=1,
        local="zfs",
    )
    overhead = by_key(capacity_of(plan))["file-system-overhead"]
    whole, left = (float(it.removesuffix(" PB")) for it in arithmetic(overhead).split(" - "))
    assert (whole - left) * 1e15 == pytest.approx(overhead.value, rel=0.01)

"""Designs as scenarios, and what their simulation tells."""

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
from design_search_sample import DISK, FLASH, NODE, WORKSHEET, small_catalogue, small_design
from headrace.design.catalogue import NetworkModel
from headrace.design.contradictions import contradictions
from headrace.design.evaluate import performance_violations
from headrace.design.evaluation import least_satisfaction
from headrace.design.headroom import demands, headroom
from headrace.design.options import options
from headrace.design.performance import performance, scenario, simulation
from headrace.design.performance.access import access
from headrace.design.performance.pacing import CAPABILITY, DEMAND, WAITING, Pace
from headrace.design.performance.recorded import recorded
from headrace.design.performance.simulation import Effort
from headrace.design.performance.system import device_arrays, simulated_nodes
from headrace.design.system import Array, Code, Design, FileSystem
from headrace.design.worksheet import Application, Data, Flow, Worksheet, Zone, with_flows
from headrace.design.worksheet_file import load_worksheet

EXAMPLES = Path(hr.__file__).parent / "design" / "worksheets"
EFFORTS = dict(simulation.EFFORTS)


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a fraction of a second."""
    short = Effort(24, 8, 0.2, 0.3, 20_000, 1)
    monkeypatch.setattr(
        simulation,
        "EFFORTS",
        {"coarse": short, "full": msgspec.structs.replace(short, replications=3), "whole": short},
    )


def with_application(**changes: object) -> Worksheet:
    first = msgspec.structs.replace(WORKSHEET.applications[0], **changes)
    return msgspec.structs.replace(WORKSHEET, applications=(first,))


@pytest.mark.parametrize("file_system", get_args(FileSystem))
def test_every_file_system_runs(file_system: FileSystem) -> None:
    copies = 2 if file_system in ("glusterfs", "hdfs") else 1
    found = performance(small_design(file_system, copies=copies), WORKSHEET, detail="coarse")
    assert [it.application for it in found] == ["analysis"]
    assert found[0].throughput > 10e6
    assert found[0].limiting_resource
    assert found[0].wanted_throughput == 100e6
    # The scenario is one that headrace run takes.
    assert hr.load(found[0].scenario).name == "small lab"


@pytest.mark.parametrize(
    "array",
    [
        Array(kind="single", disks=1, data=1, parity=0),
        Array(kind="raid0", disks=4, data=4, parity=0),
        Array(kind="raid1", disks=2, data=1, parity=1),
        Array(kind="raid5", disks=5, data=4, parity=1),
        Array(kind="raid10", disks=4, data=2, parity=2),
        Array(kind="draid", disks=12, data=4, parity=2),
        Array(kind="erasure", disks=11, data=8, parity=3),
    ],
    ids=lambda it: it.kind,
)
def test_every_array_runs(array: Array) -> None:
    found = performance(small_design(array=array), WORKSHEET, detail="coarse")
    assert found[0].throughput > 1e6


def test_a_declustered_array_is_several_arrays_and_says_so() -> None:
    design = small_design(array=Array(kind="draid", disks=24, data=8, parity=2))
    arrays = device_arrays(design)
    assert (arrays.level, arrays.disks, arrays.in_server) == (6, 10, 2)
    assert "2 arrays of RAID 6" in scenario(design, WORKSHEET).notes[0]


def test_single_disks_are_targets() -> None:
    single = Array(kind="single", disks=1, data=1, parity=0)
    assert device_arrays(small_design(array=single, arrays=7)).in_server == 7


def test_flash_and_bus_and_code_are_in_the_scenario() -> None:
    design = msgspec.structs.replace(
        small_design("glusterfs", disk=FLASH, nodes=6), code=Code(4, 2)
    )
    toml = scenario(design, WORKSHEET).toml
    assert 'kind = "throttled"' in toml
    assert 'rate = "6 GB/s"' in toml
    assert 'bandwidth = "833.333333 MB/s"' in toml


def test_full_simulations_have_intervals() -> None:
    found = performance(small_design(), WORKSHEET, detail="full")
    assert found[0].throughput_error is not None
    assert found[0].detail == "full"


def test_equal_seeds_give_equal_results() -> None:
    one, other = (performance(small_design(), WORKSHEET, detail="coarse") for _ in range(2))
    assert one == other


def test_a_source_limits_what_clients_ask() -> None:
    slow = msgspec.structs.replace(WORKSHEET.clients[0], source_rate=5e6)
    worksheet = msgspec.structs.replace(with_application(throughput=None), clients=(slow,))
    found = performance(small_design(disk=FLASH), worksheet, detail="coarse")
    assert found[0].throughput < 1.6 * 4 * 5e6


def test_applications_run_beside_each_other() -> None:
    second = Application(
        name="homes", clients=("workstations",), zones=("data",), preset="small-files"
    )
    both = msgspec.structs.replace(WORKSHEET, applications=(*WORKSHEET.applications, second))
    found = performance(small_design(disk=FLASH), both, detail="coarse")
    assert [it.application for it in found] == ["analysis", "homes"]
    assert all(it.throughput > 0 for it in found)


def test_flows_are_checked_and_simulated_with_the_rest() -> None:
    camera, tape = Flow("cameras", "data", rate=60e6), Flow("data", "tape", rate=40e6)
    copied = msgspec.structs.replace(
        WORKSHEET, outside=("cameras", "tape"), flows=(camera, tape, Flow("data", "bin"))
    )
    loaded = with_flows(copied)
    *_, ingest, backup = loaded.applications
    assert (ingest.clients, ingest.read_share, ingest.throughput) == (("cameras",), 0.0, 60e6)
    assert (backup.zones, backup.read_share, backup.throughput) == (("data",), 1.0, 40e6)
    assert [group.count for group in loaded.clients] == [4, 1, 1]
    found = performance(small_design(), loaded, detail="coarse")
    rates = {one.application: one.throughput for one in found}
    assert rates["flow 0: cameras to data"] >= 60e6
    assert rates["flow 1: data to tape"] >= 40e6
    slow = [msgspec.structs.replace(one, throughput=30e6) for one in found]
    missed = performance_violations(tuple(slow), loaded)
    assert [one.field for one in missed[-2:]] == ["flow.0.rate", "flow.1.rate"]
    wide = msgspec.structs.replace(copied, flows=(msgspec.structs.replace(camera, rate=2e9),))
    clashes = contradictions(wide, small_catalogue().catalogue)
    assert [one.field for one in clashes] == ["flows.0.rate"]


def test_hdfs_refuses_random_writes() -> None:
    with pytest.raises(ValueError, match="written once"):
        scenario(small_design("hdfs", copies=2), with_application(pattern="random"))


def test_a_worksheet_without_applications_is_refused() -> None:
    empty = msgspec.structs.replace(WORKSHEET, applications=())
    with pytest.raises(ValueError, match="no application"):
        scenario(small_design(), empty)


def test_a_zone_decides_its_distribution() -> None:
    zones = (Zone("data", distribution="striped"),)
    striped = msgspec.structs.replace(WORKSHEET, zones=zones)
    workload = scenario(small_design(), striped).toml.split("[[workload]]")[1]
    assert '"servers" = 2' in workload


def test_classes_give_what_the_worksheet_leaves_out() -> None:
    worksheet = msgspec.structs.replace(
        WORKSHEET, data=(Data("tables", "large-database", "data", size=4e9, files=2),)
    )
    does = access(Application("a", ("workstations",), ("data",)), worksheet)
    assert does.pattern == "random"
    assert does.transfer == 16 << 10
    assert 0 <= does.file_size - 2e9 < does.transfer
    assert len(does.assumed) == 5


def test_a_workload_of_a_file_is_used(tmp_path: Path) -> None:
    file = tmp_path / "app.toml"
    file.write_text(
        '[clients]\ncount = 1\nprocesses = 3\n[[workload]]\nblock = "64 MiB"\n'
        'transfer = "2 MiB"\nphases = ["read"]\n'
    )
    assert recorded(file).processes == 3
    toml = scenario(small_design(), with_application(profile="app.toml"), directory=tmp_path).toml
    assert 'transfer = "2 MiB"' in toml


@pytest.mark.parametrize(
    ("name", "text"), [("a.toml", "x ="), ("a.toml", "x = 1"), ("a.json", "{}"), ("b.json", "[")]
)
def test_a_file_that_is_no_workload_is_refused(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=r"expected a"):
        recorded(tmp_path / name)


@given(
    nodes=st.integers(1, 600),
    disks=st.integers(1, 100),
    copies=st.integers(1, 3),
    most=st.integers(1, 1000),
)
def test_a_part_of_the_servers_stands_for_all(
    nodes: int, disks: int, copies: int, most: int
) -> None:
    design = msgspec.structs.replace(
        small_design("glusterfs"), nodes=nodes, disks_per_node=disks, copies=copies
    )
    part = simulated_nodes(design, most)
    assert 1 <= part <= nodes
    assert part == nodes or part % copies == 0
    assert part == nodes or part * disks >= most


def test_a_part_of_the_servers_gives_about_the_same() -> None:
    design = small_design(nodes=8, disk=FLASH)
    worksheet = with_application(throughput=2e9)
    part = performance(design, worksheet, detail="coarse")[0]
    whole = scenario(msgspec.structs.replace(design, nodes=4), worksheet, detail="coarse")
    assert whole.scale == 1
    assert scenario(design, worksheet, detail="coarse").scale == 2
    assert any("stand for 8" in it for it in part.notes)


@given(calls=st.floats(1, 1e6), processes=st.integers(1, 1000), latency=st.floats(0, 10))
def test_paced_processes_can_have_what_they_want(
    calls: float, processes: int, latency: float
) -> None:
    application = Application("a", ("c",), ("z",), operations=calls)
    alone = Pace().think(application, None, processes)
    assert processes / alone == pytest.approx(CAPABILITY * calls)
    think = Pace({"a": latency}).think(application, None, processes)
    interval = processes / calls / DEMAND
    assert think >= interval * (1 - WAITING) * 0.999
    # A process whose calls take no longer than before, up to half of the time, asks for enough.
    assert think + min(latency, WAITING * interval) == pytest.approx(interval)


def test_a_cached_write_does_not_answer_for_the_reads() -> None:
    (part,) = performance(small_design(), with_application(latency=1e-3, latency_p99=2e-3))
    # Writes end in memory after less than a millisecond; half a turn of a disk takes more.
    assert part.latency > 1e-3
    assert part.latency_p99 is not None and part.latency_p99 > part.latency
    fields = {one.field for one in performance_violations((part,), WORKSHEET)}
    assert {"application.0.latency", "application.0.latency_p99"} <= fields


def test_synchronous_writes_wait_for_stable_storage() -> None:
    writes = {"read_share": 0.0, "throughput": None, "transfer": 16 << 10, "pattern": "random"}
    cached, synchronous = (
        performance(small_design(), with_application(**writes, synchronous=answer))[0]
        for answer in (None, True)
    )
    assert "sync_per_write = true" in synchronous.scenario
    assert "sync_per_write" not in cached.scenario
    assert synchronous.latency > 2 * cached.latency


def test_a_short_run_shows_what_mirrors_sustain(monkeypatch: pytest.MonkeyPatch) -> None:
    mirrors = small_design(array=Array(kind="raid1", disks=2, data=1, parity=1), arrays=6)
    writes = with_application(read_share=0.0, throughput=None, processes=8)
    rates = []
    for warm_up in (0.4, 4.0):
        effort = Effort(24, 8, warm_up, 1.0, 400_000, 1)
        monkeypatch.setattr(simulation, "EFFORTS", {"coarse": effort})
        rates.append(performance(mirrors, writes, detail="coarse")[0].throughput)
    assert rates[0] == pytest.approx(rates[1], rel=0.1)


def test_random_access_to_small_files_is_more_than_opening_them() -> None:
    worksheet = with_application(pattern="random", transfer=16 << 10, file_size=1 << 20)
    (part,) = performance(small_design(disk=FLASH), worksheet, detail="coarse")
    assert part.throughput > 0


def test_a_preset_of_many_files_runs_on_many_clients() -> None:
    clients = (msgspec.structs.replace(WORKSHEET.clients[0], count=10_000),)
    many = with_application(preset="small-files", processes=1, throughput=None)
    case = scenario(small_design(), msgspec.structs.replace(many, clients=clients))
    assert hr.load(case.toml)


def test_the_limit_of_idle_disks_is_the_calls_in_flight() -> None:
    # 4 clients with 2 processes, each with one call at a time, on 144 disks.
    worksheet = with_application(transfer=4 << 20, read_share=1.0, throughput=None)
    (part,) = performance(small_design(nodes=12, arrays=2), worksheet)
    assert part.limiting_resource.startswith("8 calls in flight, ")
    # A disk that is busy all the time is the limit itself.
    few = small_design(nodes=1, array=Array(kind="single", disks=1, data=1, parity=0))
    busy = with_application(processes=32, pattern="random", read_share=1.0, throughput=None)
    (part,) = performance(few, busy)
    assert part.limiting_resource.endswith("disk/device") or "device" in part.limiting_resource


@pytest.mark.parametrize("example", ["hpc", "lab", "video"])
def test_coarse_and_whole_simulations_agree(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "EFFORTS", EFFORTS)
    worksheet = load_worksheet(EXAMPLES / f"{example}.toml").worksheet
    for file_system in ("lustre", "pvfs2", "glusterfs"):
        for nodes in (2, 12):
            design = small_design(file_system, nodes=nodes, arrays=2)
            coarse, whole = (
                scenario(design, worksheet, detail=detail) for detail in ("coarse", "whole")
            )
            assert coarse.toml == whole.toml
    large = small_design("pvfs2", nodes=60, arrays=2)
    totals = [
        sum(part.throughput for part in performance(large, worksheet, detail=detail))
        for detail in ("coarse", "whole")
    ]
    assert scenario(large, worksheet, detail="coarse").scale > 1
    assert totals[0] == pytest.approx(totals[1], rel=0.05)


def test_headroom_by_hand() -> None:
    # Reads alone through two cards of 1.25 GB/s; the twelve disks give 12 x 180 MB/s.
    worksheet = with_application(read_share=1.0, throughput=1e9)
    assert headroom(small_design(), demands(worksheet)) == pytest.approx(12 * 180e6 / 1e9)
    more = small_design(arrays=2)
    assert headroom(more, demands(worksheet)) == pytest.approx(2.5)
    # Writes: a third of the disks has parity.
    writes = with_application(read_share=0.0, throughput=1e9)
    assert headroom(small_design(), demands(writes)) == pytest.approx(8 * 180e6 / 1e9)


def test_more_hardware_never_has_less_headroom() -> None:
    wanted = demands(WORKSHEET)
    designs: list[Design] = [small_design(nodes=it) for it in (1, 2, 4)]
    bounds = [headroom(it, wanted) for it in designs]
    assert bounds == sorted(bounds)
    assert NODE.bus_rate is not None
    assert DISK.read_rate > 0


TRAINING = """\
[[workload]]
kind = "training"
files = 60
sample = "1 MB"
batch = 1
computation = "25 ms"
loaders = 2
"""
GIGABIT = NetworkModel("1 GbE", 125e6, 30e-6, 20.0, 20.0, 2.0)


def test_a_preset_of_a_training_takes_samples_as_its_accelerators_compute() -> None:
    # N x batch x sample / computation, and 90 % of that.
    worksheet = with_application(preset="unet3d", accelerators=8, au=0.9, throughput=None)
    (demand,) = demands(worksheet)
    assert demand.bytes == pytest.approx(0.9 * 8 * 7 * 146_600_628 / 0.323)
    assert (demand.client, demand.read_share) == (demand.bytes / 4, 1.0)
    case = scenario(small_design(), worksheet, detail="coarse")
    assert "processes = 2" in case.toml
    # 24 steps of 0.323 s.
    assert 'time = "7.752 s"' in case.toml


@pytest.mark.parametrize(("accelerators", "utilisation"), [(2, 1.0), (7, 125e6 / 7 / 40e6)])
def test_accelerators_compute_as_the_storage_feeds_them(
    accelerators: int, utilisation: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An accelerator takes 40 MB/s, and the card of the server gives 125 MB/s."""
    monkeypatch.setattr(simulation, "EFFORTS", EFFORTS)
    (tmp_path / "training.toml").write_text(TRAINING)
    worksheet = with_application(
        profile="training.toml", accelerators=accelerators, au=0.9, throughput=None, processes=None
    )
    design = msgspec.structs.replace(small_design(disk=FLASH, nodes=1), network=GIGABIT)
    (part,) = performance(design, worksheet, detail="coarse", directory=tmp_path)
    assert part.training is not None
    assert part.training.accelerators == accelerators
    assert part.au == pytest.approx(utilisation, rel=0.08)
    missed = performance_violations((part,), worksheet)
    assert [one.field for one in missed] == ["application.0.au"] * (utilisation < 0.9)
    assert (least_satisfaction((part,)) or 0) >= 1 or missed


def test_accelerators_are_of_a_training() -> None:
    with pytest.raises(ValueError, match='expected preset = "unet3d"'):
        scenario(small_design(), with_application(preset="checkpoint", au=0.9))


def test_the_example_of_a_training_asks_for_accelerators() -> None:
    loaded = load_worksheet(EXAMPLES / "training.toml").worksheet
    (application,) = loaded.applications
    assert (application.accelerators, application.au) == (8, 0.9)
    assert options(loaded, ()).client_ports == 4

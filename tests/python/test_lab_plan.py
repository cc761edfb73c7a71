"""What testbeds are made of, by scenarios: nothing is made here, and no root is needed."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import shipped
from headrace import RunError, ScenarioError
from headrace.lab import cgroups, links, name_of, plan
from headrace.lab.plan import Limits, Link, Plan
from headrace.simulate.scenario import load

EXT3 = load(Path(__file__).parents[2] / "scenarios" / "lab-ext3.toml")
GLUSTER = load(Path(__file__).parents[2] / "scenarios" / "lab-gluster.toml")


def leaves(table: dict[str, Any], above: str = "") -> set[str]:
    """The paths of all values that are in tables."""
    found: set[str] = set()
    for key, value in table.items():
        if isinstance(value, dict):
            found |= leaves(value, f"{above}{key}.")
        else:
            found.add(f"{above}{key}")
    return found


@pytest.mark.parametrize("file", shipped(), ids=lambda it: it.stem)
def test_every_value_is_carried_over_or_told(file: Path) -> None:
    scenario = load(file)
    system = ("clients", "servers", "network", "machine", "metadata", "layout", "replication")
    document = tomllib.loads(scenario.toml)
    values = leaves({key: document[key] for key in system if key in document})
    try:
        made = plan(scenario)
    except ScenarioError as error:
        # What cannot be stood up is told by the path of the field.
        assert re.split(" = |: ", str(error))[0] in values | {"lab.server"}, error
        return
    told = {
        f"{note.field}.{value.split(' = ')[0]}"
        for note in made.not_carried
        for value in note.value.split(", ")
        if " = " in value
    }
    carried = {note.field for note in made.carried}
    assert values <= carried | told
    assert not carried & told
    assert all(note.why for note in (*made.carried, *made.not_carried))


def test_a_plan_is_what_its_document_says() -> None:
    for scenario in (EXT3, GLUSTER):
        made = plan(scenario, ["clients.count=3"])
        assert Plan.from_json(made.json()) == made


@pytest.mark.parametrize(
    ("sets", "kind", "make", "options"),
    [
        ({"system": "ext2"}, "ext2", set(), set()),
        ({}, "ext3", {"size=128"}, {"data=ordered", "commit=5", "barrier=1", "noatime"}),
        ({"system": "ext4"}, "ext4", {"size=128"}, {"data=ordered"}),
        (
            {"system": "ext4", "machine.file_system.journal.mode": "none"},
            "ext4",
            {"^has_journal"},
            set(),
        ),
        (
            {"system": "ext4", "machine.file_system.allocation.delayed": False},
            "ext4",
            {"size=128"},
            {"nodelalloc"},
        ),
        ({"system": "xfs"}, "xfs", {"size=128m"}, set()),
    ],
)
def test_a_file_system_is_the_one_that_the_scenario_describes(
    sets: dict[str, object], kind: str, make: set[str], options: set[str]
) -> None:
    (host,) = plan(EXT3.with_(sets)).hosts
    (disk,) = host.disks
    assert disk.file_system == kind
    assert make <= set(disk.make)
    assert options <= {*disk.mount_options, *disk.given_options}


def test_that_no_simulation_disperses_files_is_told() -> None:
    path = Path(__file__).parents[2] / "scenarios" / "lab-gluster.toml"
    sets = {"lab.volume": "disperse", "replication.copies": 1}
    (note,) = [
        it for it in plan(load(path, sets)).not_carried if "simulations do not model" in it.why
    ]
    assert (note.field, note.value) == ("layout", "servers = 1")


def test_disks_are_numbered_by_turns_and_hosts_have_addresses_of_their_own() -> None:
    made = plan(GLUSTER.with_({"servers.targets": 2}))
    assert [len(it.disks) for it in made.of("server")] == [2, 2, 2]
    addresses = [it.address for it in made.hosts]
    assert addresses[0] == "198.18.0.1"
    assert len(set(addresses)) == len(made.hosts)


def test_a_link_counts_what_is_around_packets() -> None:
    words = " ".join(links.bucket(Link(12.5e6, 1500, 38, None, 12.5e6, 1 << 20)))
    # A frame's 14 bytes are counted by the kernel.
    assert "overhead 24 " in words
    assert "rate 100000000bit burst 12500 limit 1048576" in words
    words = " ".join(links.bucket(Link(1e6, 1500, 38, 1 << 16, 12.5e6, 1 << 20)))
    assert "rate 8000000bit burst 65536 peakrate 100000000bit mtu 12500" in words


def test_limits_are_written_in_both_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = Limits(read_rate=2e7, write_operations=0.4)
    group, top = Path("/top/somewhere/host"), Path("/top")
    monkeypatch.setattr(cgroups, "hierarchy", lambda _: cgroups.Hierarchy(top, 2))
    assert cgroups.limit_lines(limits, "7:100", group) == [
        (group / "io.max", "7:100 rbps=20000000 wiops=1", "7:100 rbps=max wiops=max")
    ]
    with pytest.raises(RunError, match="control groups for memory are not in /top"):
        cgroups.limit_lines(limits, "7:100", Path("/other/host"))
    monkeypatch.setattr(cgroups, "hierarchy", lambda _: cgroups.Hierarchy(top, 1))
    monkeypatch.setattr(cgroups, "_own", lambda _: top)
    assert cgroups.limit_lines(limits, "7:100", group) == [
        (top / "blkio.throttle.read_bps_device", "7:100 20000000", "7:100 0"),
        (top / "blkio.throttle.write_iops_device", "7:100 1", "7:100 0"),
    ]


def test_without_control_groups_memory_is_told_and_limits_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cgroups, "hierarchy", lambda _: None)
    (note,) = [it for it in plan(EXT3).not_carried if "no control groups" in it.why]
    assert note.field == "machine.memory"
    with pytest.raises(RunError, match="cannot be limited"):
        cgroups.limit_lines(Limits(read_rate=2e7), "7:100", None)


def test_names_are_those_of_folders() -> None:
    assert name_of("/some/where/My Lab_2.toml") == "my-lab-2"
    assert name_of("x.toml", "other") == "other"
    for name in ("", "../x", "a/b", "A", "-a", "a" * 41):
        with pytest.raises(ValueError, match="--name"):
            name_of("x.toml", name)


def test_what_rounding_changes_is_told() -> None:
    made = plan(EXT3.with_({"machine.file_system.journal.commit_interval": "1500 ms"}))
    told = {it.field: it.why for it in made.carried}
    field = "machine.file_system.journal.commit_interval"
    assert told[field] == "commit=2, for 1.5 s"
    # What is whole is not.
    assert told["machine.read_ahead.window"] == "read_ahead_kb = 128"

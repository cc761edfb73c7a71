"""What if it were of another kind: questions with known answers, and what is no alternative."""

import json
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import polars as pl
import pytest

import headrace as hr
from conftest import ROOT, SMALL, Command, shipped
from headrace import _core, simulate, sweeps
from headrace.alternatives import GROUPS, alternatives, group_of
from headrace.alternatives.alternative import every_choice
from headrace.alternatives.devices import link_values, model_values
from headrace.alternatives.table import table

CASES = Path(__file__).parent / "whatif_cases"
DATA_JOURNAL = ROOT / "scenarios" / "nguyen-data-journal.toml"
LOCKS = ROOT / "scenarios" / "shared-file-locks.toml"


def gain(found: pl.DataFrame, path: str, after: str) -> float:
    rows = found.filter((pl.col("path") == path) & (pl.col("after") == after)).to_dicts()
    assert len(rows) == 1, (path, after, found["path"].to_list())
    value = rows[0]["throughput_gain"]
    assert isinstance(value, float), rows[0]
    return value


def test_a_database_writes_twice_as_fast_on_raid_10_as_on_5() -> None:
    file = CASES / "database-on-raid-5.toml"
    only = ["servers.device.level", "servers.device.cache.size"]
    found = hr.whatif(hr.load(file), only=only).frame
    # Two operations for a write instead of four, of which queues on six drives leave a little.
    assert gain(found, "servers.device.level", "10") == pytest.approx(2.0, rel=0.05)
    assert gain(found, "servers.device.cache.size", "512 MiB") > 10
    level = found.filter(pl.col("path") == "servers.device.level").to_dicts()
    assert {row["group"] for row in level} == {"configuration"}
    assert {row["after"]: row["caution"] for row in level}["0"] == "no device may fail"
    reads = hr.load(file, {"workload.0.phases": ["read"]})
    read = hr.whatif(reads, only=["servers.device.level"]).frame
    assert gain(read, "servers.device.level", "10") == pytest.approx(1.0, rel=0.1)


@pytest.mark.parametrize(
    ("case", "only", "path", "after", "least"),
    [
        ("shared-file-on-one-target", "layout*", "layout.servers", "all", 3.0),
        ("commits-on-a-disk", "machine.device.kind", "machine.device", "P3700-1.6TB", 100),
        ("nfs-synchronous", "workload.0.io.sync*", "workload.0.io.synchronous", "false", 10),
        ("cfq-on-an-ssd", "machine.io_scheduler", "machine.io_scheduler", "noop", 1.05),
        ("nfs-mdtest-small-files", "servers.device*", "servers.device", "P3700-1.6TB", 5),
        ("one-request", "network.link", "network.link", "InfiniBand-HDR", 50),
        ("spare-flash", "*.over_provisioning", "servers.device.over_provisioning", "0.56", 1.3),
        ("replayed-fsync", "machine.device*", "machine.device", "P3700-1.6TB", 100),
    ],
)
def test_known_answers_come_first(
    case: str, only: str, path: str, after: str, least: float
) -> None:
    found = hr.whatif(hr.load(CASES / f"{case}.toml"), only=[only]).frame
    assert gain(found, path, after) > least
    best = found.row(0, named=True)
    # Others may be as good.
    assert best["throughput_gain"] == pytest.approx(gain(found, path, after), rel=0.15)


def test_a_drive_without_capacitors_gains_less_from_its_flash() -> None:
    found = hr.whatif(hr.load(CASES / "commits-on-a-disk.toml"), only=["machine.device.kind"]).frame
    cautions = dict(found.select("after", "caution").rows())
    assert "acknowledged data" in (cautions["850-PRO-512GB"] or "")
    assert cautions["P3700-1.6TB"] is None
    safe = gain(found, "machine.device", "P3700-1.6TB")
    assert safe > 5 * gain(found, "machine.device", "850-PRO-512GB") > 5


def test_data_in_the_journal_is_written_twice() -> None:
    scenario = hr.load(
        DATA_JOURNAL, {"workload.0.block": "256 MiB", "workload.0.phases": ["write", "sync"]}
    )
    found = hr.whatif(scenario, only=["*.journal.mode"]).frame
    assert gain(found, "machine.file_system.journal.mode", "ordered") > 1.3
    # XFS alone has a log.
    assert "log" not in found["after"].to_list()


def test_a_file_for_each_process_needs_no_locks() -> None:
    found = hr.whatif(hr.load(LOCKS), only=["locks*", "workload.0.access"], quantities=False).frame
    own = gain(found, "workload.0.access", "file-per-process")
    assert own > 2
    # It gives what locks take, without the danger.
    assert own == pytest.approx(gain(found, "locks", "none"), rel=0.1)
    cautions = dict(found.select("path", "caution").rows())
    assert cautions["locks"] is not None and cautions["workload.0.access"] is None


def test_values_to_set_make_the_change() -> None:
    file = CASES / "commits-on-a-disk.toml"
    found = hr.whatif(hr.load(file), only=["machine.device.kind"]).frame
    best = found.row(0, named=True)
    changed = hr.run(simulate.load_with_sets(file, best["sets"]))
    moved = sum(each["bytes"] for each in changed.document["operations"].values())
    rate = moved / changed.document["simulated_seconds"]
    assert rate == pytest.approx(best["throughput_bytes_per_s"])


def test_pairs_combine_the_best_changes_of_different_fields() -> None:
    scenario = hr.load(SMALL)
    only = ["servers.device*", "servers.count", "network.bandwidth", "workload.0.transfer"]
    found = hr.whatif(scenario, only=only, pairs=3).frame
    pairs = found.filter(pl.col("kind") == "pair").to_dicts()
    singles = {row["path"]: row for row in found.filter(pl.col("kind") != "pair").to_dicts()}
    assert pairs
    for pair in pairs:
        one, other = pair["path"].split(" + ")
        assert one != other and not other.startswith(f"{one}.") and not one.startswith(f"{other}.")
        groups = [GROUPS.index(singles[path]["group"]) for path in (one, other)]
        assert pair["group"] == GROUPS[max(groups)]
        assert len(pair["sets"]) >= 2
    best = max(row["throughput_gain"] or 0 for row in singles.values())
    assert pairs[0]["throughput_gain"] >= 0.99 * best


def test_engines_and_orders_give_equal_tables() -> None:
    scenario = hr.load(SMALL, {"run.replications": 2})
    tables = [
        hr.whatif(scenario, only=["layout*"], on=on).frame for on in ("threads:1", "threads:3")
    ]
    assert tables[0].equals(tables[1])
    assert tables[0]["throughput_gain_half_width"].null_count() == 0


def test_groups_limit_the_cost() -> None:
    scenario = hr.load(SMALL)
    found = sweeps.whatif(scenario, cost="configuration", only=["servers.*", "layout*"])
    assert set(found.frame["group"]) <= {"setting", "configuration"}
    assert "servers.device" not in found.frame["path"].to_list()
    kinds = sweeps.whatif(scenario, quantities=False, only=["layout*"])
    assert set(kinds.frame["kind"]) == {"level"}


@pytest.mark.parametrize(
    ("path", "value", "group"),
    [
        ("servers.device", "P3700-1.6TB", "hardware"),
        ("servers.device.level", "10", "configuration"),
        ("servers.device.write_cache", "true", "setting"),
        ("servers.device.read_rate", "", "hardware"),
        ("servers.count", "", "hardware"),
        ("servers.group.0.count", "", "hardware"),
        ("servers.group.0.memory.cache", "", "hardware"),
        ("servers.group.0.memory.dirty_limit", "", "setting"),
        ("servers.group.0.daemon.threads", "", "setting"),
        ("servers.group.0.device.read_rate", "", "hardware"),
        ("servers.group.0.card.bandwidth", "", "hardware"),
        ("metadata.network.bandwidth", "", "hardware"),
        ("metadata.network.mtu", "", "setting"),
        ("metadata.cache", "", "hardware"),
        ("metadata.times.create", "", "hardware"),
        ("locks.time_per_lock", "", "hardware"),
        ("servers.daemon.threads", "", "setting"),
        ("machine.io_scheduler", "noop", "setting"),
        ("machine.file_system.journal.mode", "writeback", "setting"),
        ("machine.file_system.journal.mode", "none", "configuration"),
        ("layout.unit", "", "configuration"),
        ("network.link", "10GbE", "hardware"),
        ("network.mtu", "", "setting"),
        ("system", "xfs", "configuration"),
        ("system", "lustre", "system"),
        ("workload.0.transfer", "", "setting"),
    ],
)
def test_changes_cost_what_they_cost(path: str, value: str, group: str) -> None:
    assert group_of(path, value) == group


def test_another_file_system_keeps_the_machine() -> None:
    scenario = hr.load(DATA_JOURNAL)
    found, _ = alternatives(scenario)
    change = next(each for each in found if (each.path, each.after) == ("system", "ext4"))
    before, after = (tomllib.loads(it.toml) for it in (scenario, scenario.with_(change.sets)))
    for section in ("device", "cpu", "memory", "copying"):
        assert after["machine"][section] == before["machine"][section], section
    file_system = after["machine"]["file_system"]
    assert file_system["write_page"] == before["machine"]["file_system"]["write_page"]
    assert file_system["allocation"] == before["machine"]["file_system"]["allocation"] | {
        "mapping": "extents",
        "delayed": True,
    }


def test_a_kind_that_needs_more_is_left_out_with_its_reason() -> None:
    found, left_out = alternatives(hr.load(SMALL))
    reasons = {(each.path, each.after): each.error for each in left_out}
    assert "metadata.device" in reasons["metadata", "database"]
    assert not {(each.path, each.after) for each in found} & reasons.keys()
    # A simulation of another grain is no other system.
    assert not {"network.grain", "clients", "servers"} & {each.path for each in found}


def test_every_system_is_an_alternative_or_none_for_a_reason() -> None:
    offered = {name for names in table().systems.values() for name in names}
    # Without costs, not modelled, and two machines of museums.
    none = {"ideal", "measured", "poweredge-1850", "atlantis"}
    # Its components have other fields than a striped layout; and the machines of its targets.
    none |= {"lustre-2.15", "ldiskfs", "zfs"}
    # Objects on other servers than stripes, files written once, and few published values.
    none |= {"cephfs", "s3-gateway", "wekafs", "vast", "pnfs"}
    assert offered | none == {name for name, _ in _core.presets()}


def test_catalogues_give_whole_devices_and_links() -> None:
    drive = model_values("solid-state", "P3700-1.6TB")
    assert drive["capacity"] == "1600 GB" and drive["fill"] == 1.0
    assert link_values("InfiniBand-EDR")["mtu"] == "4 KiB"


def test_every_pattern_of_the_table_fits_a_field_or_a_choice() -> None:
    known: set[str] = set()
    scenarios = [hr.load(file) for file in [*shipped(), *sorted(CASES.glob("*.toml"))]]
    # No other scenario has a group with memory of its own.
    straggler = ROOT / "scenarios" / "straggler.toml"
    scenarios.append(hr.load(straggler, {"servers.group.0.memory.cache": "1 GiB"}))
    for scenario in scenarios:
        known |= {each.path for each in scenario.quantities}
        for each in every_choice(tomllib.loads(scenario.toml)):
            known |= {each.path, f"{each.path}={each.after}"}
    patterns = [
        *(it for entry in table().group for it in (*entry.fields, *entry.unless)),
        *(it for entry in table().caution for it in entry.fields),
        *(it for entry in table().left_out for it in entry.fields),
        *(it for entry in table().keep for it in entry.fields),
        *table().load.unless,
        *(it for entry in table().kind for it in entry.fields),
    ]
    unknown = [it for it in patterns if not any(fnmatchcase(path, it) for path in known)]
    assert unknown == []


def test_the_command_groups_what_helps(headrace: Command, tmp_path: Path) -> None:
    file = CASES / "database-on-raid-5.toml"
    only = ("--only", "servers.device.level", "--only", "servers.device.disks")
    arguments = ("whatif", file, *only, "--pairs", "2", "--cost", "hardware")
    done = headrace(*arguments, "--json", "--plot", tmp_path / "plots")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert {each["kind"] for each in document["changes"]} == {"quantity", "level", "pair"}
    assert all(each["group"] in GROUPS for each in document["changes"])
    assert {"path", "after", "group", "error"} >= {key for it in document["left_out"] for key in it}
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {"whatif.png", "whatif.svg"}
    shown = headrace(*arguments).stdout
    assert "instead of" in shown
    assert shown.index("configuration") < shown.index("hardware")
    assert "At a price: servers.device.level = 0: no device may fail." in shown

"""Where and when results were made: in documents, in the store, and where they are compared."""

import json
import platform
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

import headrace as hr
import headrace.measure as measure
from conftest import MACHINE, MIX, SMALL, Command
from headrace import _core, environment
from headrace.fields import WrongField
from headrace.measure.removal import remove_directory
from headrace.mountinfo import mounted
from headrace.store import Store
from test_cli_errors import refused
from test_cli_run import strict, timeless
from test_store import document
from test_store_faults import _first

NVME: dict[str, Any] = {
    "host": "node1",
    "kernel": "Linux 6.18",
    "file_system": "xfs",
    "mount_point": "/mnt",
    "device": "nvme0n1",
    "device_model": "Samsung 980",
    "device_kind": "NVMe SSD",
    "memory_bytes": 8_000_000_000,
}


def test_it_is_that_of_the_kernel(tmp_path: Path) -> None:
    before = datetime.now(UTC)
    found = environment.of_directory(tmp_path)
    mount = next(it for it in mounted() if str(it.at) == found["mount_point"])
    assert (found["file_system"], found["mount_source"]) == (mount.kind, mount.source)
    assert set(found["mount_options"].split(",")) == set(",".join(mount.options).split(","))
    assert found["directory"] == str(tmp_path.resolve())
    assert found["host"] == platform.node() and found["client_hosts"] == 1
    assert found["kernel"] == f"Linux {platform.release()}"
    assert found["memory_bytes"] == psutil.virtual_memory().total
    started = datetime.fromisoformat(found["started"])
    assert before <= started <= before + timedelta(seconds=60) and started.tzinfo is not None
    if "device" in found:
        size = Path(f"/sys/class/block/{found['device']}/size").read_text()
        assert found["device_bytes"] <= 512 * int(size) or "device_model" in found
    assert environment.of_directory("/proc")["file_system"] == "proc"
    assert "device" not in environment.of_directory("/proc")
    with pytest.raises(FileNotFoundError, match=r"none'"):
        environment.of_directory(tmp_path / "none")


def test_every_measuring_command_says_it(
    headrace: Command, below: Path, tmp_path: Path, place: Path
) -> None:
    scenario, work = tmp_path / "mix.toml", tmp_path / "work.toml"
    work.write_text(MIX)
    scenario.write_text(f"{MIX}\n[run.stop]\ntime = '50 ms'\n")
    commands = (
        ("bench", "run", scenario, below, "--repetitions", "2"),
        ("bench", "mix", below, "--workload", work, "--rates", "100", "--time", "0.1"),
        ("bench", "meta", below, "--files", "5", "--repetitions", "1"),
    )
    for command in commands:
        ended = headrace(*command, "--json")
        assert ended.returncode == 0, ended.stderr
        found = strict(ended.stdout)["environment"]
        assert found["directory"] == str(below.resolve()), command
        assert {"started", "host", "file_system", "kernel", "processor"} <= set(found)
        assert "environment" not in json.dumps(strict(ended.stdout).get("repetitions", []))
    listed = strict(headrace("results", "list", "--json").stdout)["results"]
    assert len(listed) == len(commands)
    for entry in listed:
        assert entry["environment"]["directory"] == str(below.resolve())
        shown = headrace("results", "show", entry["id"])
        assert f"host {platform.node()}" in shown.stdout
        assert f"directory {below.resolve()}" in shown.stdout
        told = strict(headrace("results", "show", entry["id"], "--json").stdout)
        assert entry["started"] == told["document"]["environment"]["started"]


def test_simulations_say_it_beside_their_document(
    headrace: Command, small: Path, tmp_path: Path, place: Path
) -> None:
    saved = tmp_path / "r.json"
    documents = [strict(headrace("run", small, "--json", "-o", saved).stdout) for _ in range(2)]
    assert timeless(documents[0]) == timeless(documents[1])
    assert "environment" not in documents[0]
    told = json.loads(saved.read_text())["environment"]
    assert (told["host"], told["kernel"]) == (platform.node(), f"Linux {platform.release()}")
    (newest, _) = strict(headrace("results", "list", "--json").stdout)["results"]
    assert newest["environment"]["host"] == platform.node()
    assert hr.load_result(saved).environment == told
    kept = hr.load_result("results:last").environment
    assert kept is not None and kept["processor"] == told["processor"]
    # A saved result knows when it was made.
    headrace("results", "remove", newest["id"], "--yes")
    assert headrace("results", "import", saved).returncode == 0
    record = hr.store.open().record("last")
    assert record.started == told["started"]
    assert record.environment["host"] == platform.node()


def test_an_archive_has_it(result: hr.Result, tmp_path: Path) -> None:
    one, other = hr.store.open(tmp_path / "one"), hr.store.open(tmp_path / "other")
    identifier = hr.simulate.keep(result, one)
    one.export([identifier], tmp_path / "x.zip")
    other.import_archive(tmp_path / "x.zip")
    assert other.record(identifier) == one.record(identifier)
    assert other.record(identifier).environment["host"] == platform.node()


def test_results_are_found_by_it(store: Store) -> None:
    ssd = store.add(document(name="a b", environment=NVME), kind="measured")
    virtual = store.add(
        document(environment={"host": "node2", "file_system": "ext4", "device": "vda"}),
        kind="measured",
        labels={"rack": "Row_7"},
    )
    unknown = store.add(document())

    def found(**which: str) -> list[str]:
        return store.list(**which)["id"].to_list()  # type: ignore[arg-type]

    assert found(host="node1") == [ssd] and found(host="node") == []
    assert found(file_system="ext4") == [virtual]
    assert found(device="nvme") == found(device="SAMSUNG") == found(device="ssd") == [ssd]
    assert found(search="node") == [virtual, ssd]
    assert found(search="row_7") == [virtual] and found(search="row%7") == []
    assert found(search="A B") == [ssd] and found(search="least") == [unknown, virtual]
    assert found(host="node1", search="xfs") == [ssd]
    row = store.list(host="node1").row(0, named=True)
    assert (row["file_system"], row["device"], row["kernel"]) == ("xfs", "nvme0n1", "Linux 6.18")


def test_differences_are_told(store: Store) -> None:
    def add(**more: Any) -> str:
        figures = {"throughput": {"read": 1e6}}
        return store.add(
            document(environment=NVME | more, **figures), kind="measured", started=more.get("at")
        )

    first, same, other = add(), add(), add(kernel="Linux 6.19", memory_bytes=16_000_000_000)
    served = store.add(
        document(
            environment={"host": "node1", "mount_point": "/mnt", "file_system": "nfs4"},
            throughput={"read": 1e6},
            version="0.0.9",
        ),
        kind="measured",
    )
    old = store.add(document(throughput={"read": 2e6}), kind="measured")

    def told(*ids: str) -> dict[str, Any]:
        compared = store.compare(ids)
        assert all(
            any(value in note and note.startswith("Different ") for note in compared.notes)
            for it in compared.differences
            for value in it.values.values()
        )
        assert compared.json()["differences"] == [
            {"key": it.key, "values": it.values} for it in compared.differences
        ]
        return {it.key: it.values for it in compared.differences}

    assert told(first, same) == {}
    assert told(first, other) == {
        "kernel": {first: "Linux 6.18", other: "Linux 6.19"},
        "memory_bytes": {first: "8 GB", other: "16 GB"},
    }
    found = told(first, served)
    assert found["version"] == {first: "0.1.0", served: "0.0.9"}
    assert found["file_system"] == {first: "xfs", served: "nfs4"}
    assert found["device"] == {first: "nvme0n1", served: "none"}
    # What is not known differs from nothing.
    assert told(first, old) == {}


def test_what_a_simulation_ran_on_is_no_difference(store: Store) -> None:
    figures = {"throughput": {"read": 1e6}}
    one = store.add(document(**figures), environment={"host": "x"})
    two = store.add(document(**figures), environment={"host": "y"})
    assert list(store.compare([one, two]).differences) == []


def test_earlier_documents_say_their_place(store: Store) -> None:
    at = {"host": "node3", "file_system": "ext3", "file_system_id": "1f"}
    identifier = store.add(document(place=at), kind="load-sweep")
    assert store.record(identifier).environment == {"host": "node3", "file_system": "ext3"}


def test_an_earlier_catalogue_is_asked_for_it(place: Path) -> None:
    store = hr.store.open()
    _first(store)
    assert store.list(search="node").height == 0
    (entry, *_) = store.listed(hr.store.make_filter()).entries
    assert entry.environment == {}


@given(
    st.dictionaries(
        st.sampled_from([*environment.KEYS, "started", "more"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just([]),
    )
)
def test_a_damaged_one_is_refused_or_read(damaged: dict[str, Any]) -> None:
    try:
        environment.check("environment", damaged)
    except WrongField as error:
        assert str(error).startswith("environment.")
        return
    told = {"environment": damaged}
    environment.started_of(told)
    environment.differences({"A": [environment.of_document(told)], "B": [NVME]})


def test_a_damaged_one_is_named(headrace: Command, tmp_path: Path, place: Path) -> None:
    saved = tmp_path / "r.json"
    result = hr.run(hr.load(SMALL))
    result.save(saved)
    damaged = json.loads(saved.read_text())
    damaged["environment"]["started"] = "yesterday"
    saved.write_text(json.dumps(damaged))
    refused(headrace("results", "import", saved), "environment.started = 'yesterday'")


def test_repeats_have_the_start_of_the_first(tmp_path: Path, below: Path) -> None:
    (tmp_path / "mix.toml").write_text(f"{MIX}\n[run.stop]\ntime = '20 ms'\n")
    loaded = measure.load(str(tmp_path / "mix.toml"))
    before = datetime.now(UTC)
    measurement = measure.repeat(loaded, below, 3)
    started = environment.started_of(measurement.document)
    assert started is not None and started - before < timedelta(seconds=60)
    times = [it["measured_seconds"] for it in measurement.document["repetitions"]]
    assert len(times) == 3


def test_what_is_gone_already_is_not_left(below: Path) -> None:
    for gone in (True, False):
        directory = _core.BenchmarkDirectory(below)
        path = Path(directory.path)
        if gone:
            shutil.rmtree(path)
        assert remove_directory(directory) is None
        assert not path.exists()


def test_validation_says_where_it_was_measured(
    headrace: Command, below: Path, tmp_path: Path, place: Path
) -> None:
    scenario, one, other = (tmp_path / it for it in ("s.toml", "one.json", "other.json"))
    scenario.write_text(
        f'system = "{tmp_path}/machine.toml"\n[clients]\ncount = 1\n[[workload]]\n'
        'block = "256 KiB"\ntransfer = "64 KiB"\nphases = ["write", "read"]\n'
    )
    (tmp_path / "machine.toml").write_text(MACHINE)
    assert headrace("bench", "run", scenario, below, "-o", one).returncode == 0
    saved = json.loads(one.read_text())
    validated = ("validate", scenario, "--against", one, "--against", other, "--json")
    for changes, conditions in (({}, []), ({"kernel": "Linux 9"}, ["other-environments"])):
        document = saved | {"environment": saved["environment"] | changes}
        other.write_text(json.dumps(document))
        found = strict(headrace(*validated).stdout)
        assert found["environment"] == saved["environment"]
        told = [it for it in found["warnings"] if it["condition"] == "other-environments"]
        assert [it["condition"] for it in told] == conditions
        assert all("kernel" in it["message"] and "Linux 9" in it["message"] for it in told)
    other.write_text(json.dumps(saved | {"environment": {"started": 5}}))
    refused(headrace(*validated), "other.json", "environment.started = 5")
    # Of earlier versions.
    del saved["environment"]
    one.write_text(json.dumps(saved))
    assert headrace("validate", scenario, "--against", one).returncode == 0


def test_reading_the_store_does_not_import_what_describes_a_host() -> None:
    """Imports are most of the time of `headrace results list`."""
    code = "import sys, headrace.store.catalogue, headrace.store.listing\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"psutil", "polars", "numpy", "alembic"} & set(done.stdout.split())

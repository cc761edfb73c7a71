"""The presets of workloads: each runs, and moves what its source says."""

import json
from pathlib import Path

import jsonschema
import pytest

import headrace as hr
from conftest import Command
from headrace import _core

PARALLEL = """\
system = "pvfs2"
[clients]
count = 2
[servers]
count = 2
device = { read_rate = "600 MB/s", write_rate = "500 MB/s" }
[network]
bandwidth = "10 Gbit/s"
latency = "20 us"
"""
LOCAL = """\
system = "ext4"
[clients]
processes = 2
[machine]
memory = { size = "4 GiB" }
device = { read_rate = "600 MB/s", write_rate = "500 MB/s" }
"""
# What is made smaller, and the bytes that two processes then write and read.
SMALL: dict[str, tuple[dict[str, object], int, int]] = {
    "ior-easy": ({"block": "16 MiB"}, 32 << 20, 32 << 20),
    "ior-hard": ({"segments": 10}, 20 * 47008, 20 * 47008),
    "ior-random": ({"block": "1 MiB"}, 2 << 20, 2 << 20),
    "mdtest-easy": ({"files": 50}, 0, 0),
    "mdtest-hard": ({"files": 50}, 100 * 3901, 100 * 3901),
    "checkpoint": ({"block": "16 MB"}, 32_000_000, 0),
    "copy": ({"input": "16 MB"}, 32_000_000, 32_000_000),
    "copy-in": ({"block": "16 MiB"}, 32 << 20, 0),
    "copy-out": ({"block": "16 MiB"}, 0, 32 << 20),
    "dd": ({"block": "1 MiB"}, 2 << 20, 2 << 20),
    "small-files": ({"files": 20}, 40 * 112_500, 40 * 112_500),
    **dict.fromkeys(
        ("llama3-8b", "llama3-70b", "llama3-405b", "llama3-1t"),
        ({"block": "16 MB"}, 32_000_000, 32_000_000),
    ),
}
# Files for two accelerators, and bytes of a step of each.
TRAININGS = {
    "unet3d": (14, 7 * 146_600_628),
    "resnet50": (16, 400 * 114_660),
    "cosmoflow": (16, 2_828_486),
    "retinanet": (48, 24 * 322_957),
    "flux": (2, 48 * 2_164_832),
    "dlrm": (2, 8 * 327_680),
}
# Mixes of operations, and which part of each are reads.
MIXES = {
    "sfs-nfsv2": 0.14,
    "sfs-nfsv3": 18 / 99,
    "sfs2008-nfs": 0.18,
    "mpfs": 18 / 99,
    "mpfs-read-write": 2 / 3,
    "mpfs-metadata": 0.0,
    "mpfs-benchmark": 18 / 103.5,
    "dbench": 124_199 / 458_341,
}


def test_every_preset_is_tested() -> None:
    assert {name for name, _ in _core.workloads()} == {*SMALL, *TRAININGS, *MIXES}


@pytest.mark.parametrize("name", MIXES)
@pytest.mark.parametrize("system", [PARALLEL, LOCAL], ids=["parallel", "local"])
def test_a_mix_asks_its_operations(name: str, system: str) -> None:
    sets = {"workload.0.amount": 5000, "workload.0.files": 500}
    scenario = hr.load(f'{system}[[workload]]\npreset = "{name}"\n', sets)
    counts = {kind: it["count"] for kind, it in hr.run(scenario).document["operations"].items()}
    total = sum(counts.values())
    assert total % 5000 == 0
    assert counts.get("read", 0) / total == pytest.approx(MIXES[name], abs=0.025)


@pytest.mark.parametrize("name", TRAININGS)
@pytest.mark.parametrize("system", [PARALLEL, LOCAL], ids=["parallel", "local"])
def test_a_training_reads_what_its_steps_need(name: str, system: str) -> None:
    files, of_a_step = TRAININGS[name]
    sets = {"workload.0.files": files, "workload.0.steps": 1, "workload.0.skipped_steps": 0}
    scenario = hr.load(f'{system}[[workload]]\npreset = "{name}"\n', sets)
    document = hr.run(scenario).document
    (training,) = document["trainings"]
    assert (training["accelerators"], training["steps"]) == (2, 1)
    assert 0 < training["utilisation"] < 1
    # Sizes vary by 47 % in unet3d, and loaders of whole files read ahead.
    assert document["operations"]["read"]["bytes"] > 0.6 * 2 * of_a_step
    assert training["bytes_per_second"] * training["step"]["mean"] == pytest.approx(2 * of_a_step)


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("system", [PARALLEL, LOCAL], ids=["parallel", "local"])
def test_a_preset_runs_and_moves_its_bytes(name: str, system: str) -> None:
    sets, written, read = SMALL[name]
    paths = {f"workload.0.{field}": value for field, value in sets.items()}
    scenario = hr.load(f'{system}[[workload]]\npreset = "{name}"\n', paths)
    operations = hr.run(scenario).document["operations"]
    moved = {kind: operations.get(kind, {}).get("bytes", 0) for kind in ("write", "read")}
    assert moved == {"write": written, "read": read}


def test_names_are_made_looked_up_and_removed() -> None:
    scenario = hr.load(
        f'{PARALLEL}[[workload]]\npreset = "mdtest-hard"\n', {"workload.0.files": 50}
    )
    latency = hr.run(scenario).document["latency"]
    counts = {kind: figures["count"] for kind, figures in latency.items() if kind != "all"}
    # `find` lists the directory in a call that lists all and one that finds nothing more; no name
    # below file.mdtest.1.50 has "01" in it. Each of the two ranks syncs once, as IO500 asks.
    names = dict.fromkeys(("create", "write", "close", "stat", "read", "unlink"), 100)
    assert counts == names | {"readdir": 2, "sync": 2}


def test_a_default_of_zero_that_decides_the_rate_is_named_first(
    headrace: Command, tmp_path: Path
) -> None:
    scenario = tmp_path / "names.toml"
    free = '[[workload]]\nkind = "mdtest"\nfiles = 10\n'
    text = PARALLEL.replace("pvfs2", "ideal") + '[layout]\nunit = "1 MiB"\n'
    scenario.write_text(text + free)
    document = json.loads(headrace("run", scenario, "--no-store", "--json").stdout)
    assert [it["condition"] for it in document["warnings"]] == ["zero-default"]
    lines = headrace("run", scenario, "--no-store").stdout.splitlines()
    note = next(number for number, line in enumerate(lines) if line.startswith("Note: by default"))
    assert note < next(number for number, line in enumerate(lines) if "Throughput" in line)
    assert 'metadata.time_per_operation = "0 s"' in " ".join(lines[note : note + 4])
    given = headrace("run", scenario, "--no-store", "--set", "metadata.time_per_operation=1 ms")
    assert "Note: by default" not in given.stdout


def test_replications_have_each_warning_once() -> None:
    text = f'{PARALLEL}[[workload]]\nkind = "mdtest"\nfiles = 3\nstonewall = "1 h"\n'
    document = hr.run(hr.load(text, {"run.replications": 2})).document
    conditions = [it["condition"] for it in document["warnings"]]
    assert conditions.count("stonewall-not-reached") == 1
    assert len(document["replications"]) == 2


def test_a_drive_with_free_blocks_is_no_steady_state() -> None:
    """A fresh drive has free blocks, and one that was written at random for long has none."""
    text = """\
clients = { count = 1, processes = 8 }
[servers]
count = 1
[servers.device]
kind = "solid-state"
capacity = "256 MiB"
channels = 2
dies = 1
page = "16 KiB"
pages_per_block = 64
read_time = "60 us"
program_time = "800 us"
channel_rate = "400 MB/s"
interface_rate = "2 GB/s"
over_provisioning = 0.28
[network]
bandwidth = "100 Gbit/s"
latency = "0 s"
[layout]
unit = "1 GiB"
[[workload]]
access = "shared"
block = "32 MiB"
transfer = "16 KiB"
order = "uniform"
requests = 20000
"""

    def conditions(sets: dict[str, object]) -> list[str]:
        document = hr.run(hr.load(text, sets)).document
        return [it["condition"] for it in document.get("warnings", ())]

    assert conditions({"servers.device.fill": 0}) == ["free-blocks-fall"]
    assert conditions({}) == ["free-blocks-fall"]
    assert conditions({"run.warm_up": "30 s"}) == []


def test_cp_is_slow_where_stat_returns_a_small_block() -> None:
    """Hindman 2011, section 4.4: without a client cache each request is waited for."""

    def rate(sets: dict[str, str]) -> float:
        text = f'{PARALLEL}[[workload]]\npreset = "copy-in"\n'
        document = hr.run(hr.load(text, {"workload.0.block": "16 MiB"} | sets)).document
        return float(document["throughput"]["write"])

    # 2 latencies and little else for each 4 KiB, against 128 KiB under the ideal system.
    assert rate({}) < rate({"workload.0.transfer": "2 MiB"}) / 5


def test_the_schema_and_the_errors_know_presets(headrace: Command, tmp_path: Path) -> None:
    validator = jsonschema.Draft202012Validator(json.loads(headrace("schema").stdout))
    empty = {
        "clients": {"count": 1},
        "servers": {"count": 1, "device": {"read_rate": "1 MB/s", "write_rate": "1 MB/s"}},
        "network": {"bandwidth": "1 Gbit/s", "latency": "1 ms"},
        "layout": {"unit": "1 MiB"},
    }

    def fits(workload: dict[str, object]) -> bool:
        return bool(validator.is_valid(empty | {"workload": [workload]}))

    for name, (sets, _, _) in SMALL.items():
        assert fits({"preset": name}), name
        assert fits({"preset": name, **sets}), name
    assert not fits({"preset": "ior-esay"})
    assert not fits({"preset": "mdtest-easy", "segments": 3})
    assert not fits({"kind": "ior"})
    assert fits({"block": "1 MiB"})
    wrong = tmp_path / "wrong.toml"
    wrong.write_text(f'{PARALLEL}[[workload]]\npreset = "ior-esay"\n')
    done = headrace("run", wrong)
    assert done.returncode == 2
    assert 'did you mean "ior-easy"?' in done.stderr
    wrong.write_text(f'{PARALLEL}[[workload]]\nkind = "mdtest"\nfiles = 3\nphases = ["read"]\n')
    done = headrace("run", wrong)
    assert done.returncode == 2
    assert "the files are empty" in done.stderr

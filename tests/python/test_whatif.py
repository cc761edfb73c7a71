"""What if there were more of this: known answers, and what cannot be answered."""

import json
from fnmatch import fnmatchcase
from pathlib import Path

import polars as pl
import pytest

import headrace as hr
from conftest import ROOT, SMALL, Command, shipped
from headrace import sweeps
from headrace.sweeps.whatifs import HOW_IT_ASKS, LOAD

STRIPED_READ = ROOT / "scenarios" / "striped-read.toml"
SHORT = {"workload.0.files": 20}


def changed(table: pl.DataFrame, path: str) -> dict[str, object]:
    rows = table.filter(pl.col("path") == path).to_dicts()
    assert len(rows) == 1, rows
    return rows[0]


def gain(table: pl.DataFrame, path: str, what: str = "throughput") -> float:
    value = changed(table, path)[f"{what}_gain"]
    assert isinstance(value, float)
    return value


def test_disks_that_are_the_limit_are_named_and_gain_up_to_the_next_limit() -> None:
    study = sweeps.whatif(hr.load(STRIPED_READ, SHORT), kinds=False)
    most = study.baseline.document["bottleneck"]["most_gain"]
    best = study.frame.row(0, named=True)
    assert (best["path"], best["before"], best["after"]) == (
        "servers.device.read_rate",
        "60 MB/s",
        "120 MB/s",
    )
    # Twice as fast, all but the way of the first and the last request.
    assert 1.9 < best["throughput_gain"] <= min(2.0, most)
    # Twice as many disks, with cards of their own or without: no more than twice as fast ones.
    more_disks = ["servers.count", "servers.targets"]
    for path in more_disks:
        assert 1.5 < gain(study.frame, path) <= 2.0
    # Nothing else can be worth anything.
    others = study.frame.filter(~pl.col("path").is_in(["servers.device.read_rate", *more_disks]))
    assert (others["throughput_gain"].fill_null(1.0) < 1.01).all()
    assert changed(study.frame, "network.bandwidth")["effect"] == "none"


def test_no_factor_takes_disks_beyond_their_bound() -> None:
    study = sweeps.whatif(
        hr.load(STRIPED_READ, SHORT), by=1000, only=["servers.device.*"], kinds=False
    )
    most = study.baseline.document["bottleneck"]["most_gain"]
    assert 0.95 * most < gain(study.frame, "servers.device.read_rate") <= most


def test_cards_that_are_the_limit_are_named() -> None:
    fast = {"servers.device.read_rate": "10 GB/s", "clients.count": 16}
    study = sweeps.whatif(hr.load(STRIPED_READ, SHORT | fast), kinds=False)
    best = study.frame.row(0, named=True)
    assert best["path"] == "network.bandwidth"
    assert 1.8 < best["throughput_gain"] <= 2.0
    assert gain(study.frame, "servers.device.read_rate") < 1.02


def test_a_way_that_is_waited_for_is_worth_its_share() -> None:
    """One process and nothing but the way: a request takes the latency twice, and its bytes
    pass two cards (they do so at the same time, and stand behind 0.1 % here)."""
    sets = {
        "clients.count": 1,
        "clients.groups": ["all"],
        "servers.count": 1,
        "servers.device.read_rate": "1000 TB/s",
        "network.bandwidth": "1000 Tbit/s",
        "network.latency": "1 ms",
        "workload.0.think": "0 s",
        "workload.0.phases": ["read"],
        "workload.0.files": 1,
        "workload.0.block": "100 MiB",
        "workload.0.transfer": "1 MiB",
    }
    table = hr.whatif(hr.load(SMALL, sets), only=["network.latency"]).frame
    assert gain(table, "network.latency") == pytest.approx(2.0, rel=1e-3)
    assert gain(table, "network.latency", "latency_p95") == pytest.approx(2.0, rel=2e-3)
    assert changed(table, "network.latency")["after"] == "0.5 ms"


def test_the_other_way_is_tried_where_one_is_worse() -> None:
    table = hr.whatif(
        hr.load(STRIPED_READ, SHORT), only=["layout.unit", "workload.0.transfer"]
    ).frame
    rows = {(row["path"], row["after"]): row["effect"] for row in table.to_dicts()}
    assert rows["layout.unit", "512 KiB"] == "harms"
    assert ("layout.unit", "128 KiB") in rows
    # Of a block of 1 MiB, 2 MiB are no part.
    assert rows["workload.0.transfer", "2097152 B"] == "failed"
    assert rows["workload.0.transfer", "512 KiB"] == "helps"


def test_replications_are_compared_seed_by_seed() -> None:
    scenario = hr.load(SMALL, {"run.replications": 4})
    study = sweeps.whatif(scenario, only=["servers.*", "network.latency"])
    assert study.replications == 4
    page = changed(study.frame, "servers.memory.page")
    # Nothing is cached: equal to the bit, whatever the seed.
    assert (page["throughput_gain"], page["throughput_gain_half_width"]) == (1.0, 0.0)
    assert page["effect"] == "none"
    rate = changed(study.frame, "servers.device.read_rate")
    width = rate["throughput_gain_half_width"]
    assert isinstance(width, float) and 0 < width < 0.1
    one = sweeps.whatif(hr.load(SMALL), only=["servers.device.read_rate"])
    assert one.frame["throughput_gain_half_width"].to_list() == [None]


def test_what_is_not_there_is_named_and_what_is_asked_stays() -> None:
    study = sweeps.whatif(hr.load(SMALL), kinds=False)
    assert "servers.memory.cache" in study.nothing
    paths = set(study.frame["path"])
    assert not paths & {"clients.count", "workload.0.files", "workload.0.block", "run.window"}
    assert "workload.0.transfer" in paths
    more = hr.whatif(hr.load(SMALL), only=["clients.count"], by=3).frame
    assert "12" in more["after"].to_list()


def test_metadata_alone_is_compared_by_operations() -> None:
    text = SMALL.split("[[workload]]")[0] + '[[workload]]\nkind = "mdtest"\nfiles = 50\n'
    scenario = hr.load(text, {"metadata.time_per_operation": "1 ms"})
    table = hr.whatif(scenario, only=["metadata.*"]).frame
    assert gain(table, "metadata.time_per_operation") > 1.5
    assert table["throughput_bytes_per_s"].to_list() == [None] * table.height


def test_the_warm_up_is_no_time_in_which_anything_is_done() -> None:
    sets = {"run.warm_up": "200 ms", "workload.0.repeat": "forever", "run.stop.time": "1 s"}
    scenario = hr.load(SMALL, sets)
    result = hr.run(scenario)
    moved = sum(each["bytes"] for each in result.document["operations"].values())
    table = hr.whatif(scenario, only=["servers.memory.page"]).frame
    assert table["throughput_bytes_per_s"].item() == pytest.approx(moved / 0.8)


def test_every_pattern_of_the_load_fits_a_field() -> None:
    paths = {each.path for file in shipped() for each in hr.load(file).quantities}
    for pattern in (*LOAD, *HOW_IT_ASKS):
        assert any(fnmatchcase(path, pattern) for path in paths), pattern


def test_the_command_prints_json_and_writes_plots(
    headrace: Command, small: Path, tmp_path: Path
) -> None:
    done = headrace("whatif", small, "--only", "servers.*", "--json", "--plot", tmp_path / "plots")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document["factor"] == 2
    table = hr.whatif(hr.load(small), only=["servers.*"]).frame
    assert [it["path"] for it in document["changes"]] == table["path"].to_list()
    assert {path.name for path in (tmp_path / "plots").iterdir()} == {"whatif.png", "whatif.svg"}
    shown = headrace("whatif", small, "--only", "servers.*").stdout
    assert "servers.device.read_rate" in shown
    assert "No effect: " in shown
    assert "0, so that no factor changes it: " in shown


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--factor", "1"], "a factor of 1: expected a number above 1"),
        (["--factor", "nan"], "a factor of nan: expected a number above 1"),
        (["--factor", "1e300"], "a factor of 1e+300: expected a number above 1, up to 1,000,000"),
        (["--factor", "fast"], "Invalid value for '--factor'"),
        (["--only", "server.*"], "no quantity of the scenario fits 'server.*'"),
        (["--set", "servers.count=0"], "expected a whole number of at least 1"),
        (["--cost", "cheap"], "cost 'cheap': expected setting, configuration, hardware, system"),
        (["--pairs", "1"], "pairs of 1 changes: expected 2 to 40, or 0 for none"),
        (["--no-kinds", "--no-quantities"], "neither kinds nor quantities"),
        (["--on", "moon"], "engine 'moon': expected"),
        (["--only", "locks.kinds"], "no quantity of the scenario fits 'locks.kinds'"),
    ],
)
def test_what_cannot_be_asked_is_told_in_a_line(
    headrace: Command, small: Path, arguments: list[str], told: str
) -> None:
    done = headrace("whatif", small, *arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1

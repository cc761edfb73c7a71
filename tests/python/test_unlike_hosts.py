"""Groups of unlike hosts, and the figures of single servers, from Python and the command line."""

import json
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import headrace as hr
from conftest import Command
from headrace.lab.planner import plan
from headrace.simulate.frames import merged_windows

ROOT = Path(__file__).parents[2]
STRAGGLER = ROOT / "scenarios" / "straggler.toml"
SHORT = {"workload.0.files": 2}


@pytest.fixture(scope="module")
def result() -> hr.Result:
    return hr.run(hr.load(STRAGGLER, SHORT), requests=True)


def test_throughput_is_that_of_the_slowest_server_times_their_number(result: hr.Result) -> None:
    rate = result.document["throughput"]["read"]
    assert 0.99 * 8 * 50e6 < rate < 8 * 50e6


def test_each_server_has_a_row(result: hr.Result) -> None:
    servers = result.servers
    assert servers["server"].to_list() == list(range(8))
    assert servers["group"].to_list() == [None] * 7 + ["slow"]
    assert servers["busiest"][7] == "system/server slow/device"
    assert servers["utilisation"].arg_max() == 7
    read = result.document["operations"]["read"]["bytes"]
    assert servers["read_bytes"].sum() == read
    assert servers["written_bytes"].sum() == 0
    copies = result.copies.filter(pl.col("station").str.ends_with("/device"))
    assert copies["server"].to_list() == list(range(8))
    assert copies["visits"].to_list() == servers["requests"].to_list()


def test_servers_over_time_add_up(result: hr.Result) -> None:
    series = result.server_series
    mean = series.group_by("server", maintain_order=True).agg(
        (pl.col("utilisation") * pl.col("window_s")).sum() / pl.col("window_s").sum()
    )
    expected = result.servers["utilisation"]
    assert mean["utilisation"].to_list() == pytest.approx(expected.to_list(), rel=1e-6)


def test_requests_name_the_server_that_answered_last(result: hr.Result) -> None:
    assert result.requests is not None
    last = result.requests.group_by("server").len().sort("len", descending=True)
    assert last["server"][0] == 7
    assert last["len"][0] > 0.9 * result.requests.height


def test_the_heat_map_has_a_row_for_each_server(result: hr.Result) -> None:
    (axes, _) = result.plot("servers").axes
    labels = [it.get_text() for it in axes.get_yticklabels()]
    assert labels == [*map(str, range(7)), "7 (slow)"]


def test_one_server_has_no_heat_map() -> None:
    alone = hr.run(hr.load(ROOT / "scenarios" / "striped-read.toml", {"servers.count": 1} | SHORT))
    assert len(alone.frames["series"])
    with pytest.raises(ValueError, match="servers"):
        alone.plot("servers")


def test_replications_have_means_of_servers() -> None:
    found = hr.run(hr.load(STRAGGLER, SHORT | {"run.replications": 2}))
    assert found.servers["server"].to_list() == list(range(8))
    assert found.servers["group"][7] == "slow"
    assert found.server_series["seed"].n_unique() == 2


def test_a_saved_result_has_servers_over_time(result: hr.Result, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    result.save(file)
    saved = hr.load_result(file).server_series
    assert saved.equals(result.server_series)
    alone = hr.run(hr.load(ROOT / "scenarios" / "striped-read.toml", {"servers.count": 1} | SHORT))
    alone.save(file)
    assert "server_series" not in json.loads(file.read_text())


def test_few_windows_have_the_means_of_many(result: hr.Result) -> None:
    merged = merged_windows(result.server_series, 7)
    assert merged["time_s"].n_unique() <= 7
    both = [
        table.group_by("server", "group", maintain_order=True).agg(
            pl.col("time_s").min(),
            pl.col("window_s").sum(),
            (pl.col("utilisation") * pl.col("window_s")).sum(),
            (pl.col("in_progress") * pl.col("window_s")).sum(),
        )
        for table in (result.server_series, merged)
    ]
    assert_frame_equal(*both)


def test_servers_need_not_be_sampled(result: hr.Result) -> None:
    plain = hr.run(hr.load(STRAGGLER, SHORT), server_series=False)
    assert plain.server_series.is_empty()
    documents = [it.document | {"wall_seconds": 0} for it in (plain, result)]
    assert documents[0] == documents[1]


def test_the_command_prints_the_servers_and_plots_them(headrace: Command, tmp_path: Path) -> None:
    sets = ["--set", "workload.0.files=2", "--set", "servers.group.slow.device.read_rate=40 MB/s"]
    ended = headrace("run", STRAGGLER, *sets, "--plot", tmp_path / "plots")
    assert "Data servers" in ended.stdout
    assert "(server 7 of group slow) is the bottleneck" in " ".join(ended.stdout.split())
    assert (tmp_path / "plots" / "servers.png").stat().st_size > 0


def test_the_document_has_servers_and_copies(headrace: Command) -> None:
    document = json.loads(
        headrace("run", "--json", STRAGGLER, "--set", "workload.0.files=1").stdout
    )
    assert [it["server"] for it in document["servers"]] == list(range(8))
    assert {it["station"] for it in document["copies"]} >= {"system/server slow/device"}


def test_a_testbed_refuses_unlike_hosts() -> None:
    with pytest.raises(hr.ScenarioError, match="the hosts of a testbed are alike"):
        plan(hr.load(STRAGGLER, {"lab.server": "glusterfs"}))


def test_servers_are_counted_from_the_end_of_the_warm_up() -> None:
    measured = hr.run(hr.load(STRAGGLER, {"run.warm_up": "5 s"}))
    rates = [it["throughput"] for it in measured.document["servers"]]
    # The slow disk reads 50 MB/s, and each server has a part of every request.
    assert rates == pytest.approx([50e6] * 8, rel=0.01)

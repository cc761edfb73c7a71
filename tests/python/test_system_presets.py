"""Presets of parallel storage systems: what of each system shows in a small run."""

from collections.abc import Mapping

import polars as pl
import pytest

import headrace as hr

HARDWARE = """\
system = "{system}"
[clients]
count = {clients}
[servers]
count = 4
device = {{ read_rate = "1 TB/s", write_rate = "1 TB/s" }}
[network]
bandwidth = "1 GB/s"
latency = "10 us"
header = "0 B"
framing = "0 B"
{layout}
[[workload]]
"""
DATA = 64 << 20
WRITE = f"""\
block = "{DATA} B"
transfer = "1 MiB"
phases = ["write"]
"""
CREATE = """\
kind = "mdtest"
files = 50
phases = ["create"]
"""
# Pieces of 1 MiB of two clients in turn.
INTERLEAVED = """\
access = "shared"
block = "1 MiB"
segments = 16
phases = ["write", "sync"]
"""


def run(
    system: str,
    workload: str,
    sets: Mapping[str, object] | None = None,
    clients: int = 1,
    layout: str = "",
) -> hr.Result:
    text = HARDWARE.format(system=system, clients=clients, layout=layout) + workload
    return hr.run(hr.load(text, sets))


def carried(result: hr.Result, station: str) -> float:
    """Bytes that the links of a station took, without the small messages."""
    rows = result.stations.filter(pl.col("station") == f"system/{station}")
    busy = rows["utilisation"] * rows["copies"] * result.document["simulated_seconds"]
    return float(busy.sum() * 1e9)


def messages(result: hr.Result, station: str = "client/card sending") -> float:
    rows = result.stations.filter(pl.col("station") == f"system/{station}")
    return float(rows["visits"].sum())


def seconds(result: hr.Result) -> float:
    return float(result.document["simulated_seconds"])


def test_cephfs_has_the_primary_send_both_other_copies() -> None:
    result = run("cephfs", WRITE)
    assert carried(result, "client/card sending") == pytest.approx(DATA, rel=0.01)
    assert carried(result, "server/card sending") == pytest.approx(2 * DATA, rel=0.01)
    assert carried(result, "server/card receiving") == pytest.approx(3 * DATA, rel=0.01)
    assert result.servers["written_bytes"].sum() == 3 * DATA


def test_beegfs_has_a_directory_on_one_metadata_server() -> None:
    cost: dict[str, object] = {"metadata.time_per_operation": "10 ms", "metadata.threads": 1}
    one, four = (run("beegfs", CREATE, cost | {"metadata.servers": n}, 4) for n in (1, 4))
    assert seconds(four) == pytest.approx(seconds(one), rel=0.01)
    own = CREATE + 'directory = "own"\n'
    spread = run("beegfs", own, cost | {"metadata.servers": 4}, 4)
    assert seconds(spread) < seconds(one) / 3


def test_beegfs_spreads_a_file_over_four_targets_in_chunks() -> None:
    result = run("beegfs", WRITE.replace('["write"]', '["write", "sync"]'))
    assert result.servers["written_bytes"].to_list() == [DATA / 4] * 4


def test_daos_writes_a_shared_file_without_messages_for_locks() -> None:
    shared = run("daos", INTERLEAVED, clients=2)
    own = run("daos", INTERLEAVED.replace("shared", "file-per-process"), clients=2)
    assert messages(shared) == messages(own)


def test_daos_caches_nothing() -> None:
    once = run("daos", WRITE)
    again = run("daos", WRITE + "repeat = 2\n")
    written = [float(result.servers["written_bytes"].sum()) for result in (once, again)]
    assert written == [DATA, 2 * DATA]


def test_spectrum_scale_exchanges_tokens_for_blocks_that_clients_share() -> None:
    shared = run("spectrum-scale", INTERLEAVED, clients=2)
    blocks = INTERLEAVED.replace("1 MiB", "4 MiB").replace("16", "4")
    aligned = run("spectrum-scale", blocks, clients=2)
    assert messages(shared) > 2 * messages(aligned)
    assert seconds(shared) > 1.5 * seconds(aligned)


def test_s3_gateways_get_a_request_for_each_part() -> None:
    result = run("s3-gateway", WRITE.replace("1 MiB", f"{DATA} B"))
    # And one that asks for the place of the object.
    assert messages(result) == DATA / (8 << 20) + 1


def test_s3_objects_are_not_written_again() -> None:
    with pytest.raises(hr.ScenarioError, match="write_once"):
        run("s3-gateway", WRITE + "repeat = 2\n")


def test_wekafs_spreads_names_over_its_servers() -> None:
    layout = '[layout]\nunit = "1 MiB"\n'
    cost = {"metadata.time_per_operation": "10 ms"}
    four = run("wekafs", CREATE, cost, 4, layout)
    one = run("wekafs", CREATE, cost | {"servers.count": 1}, 4, layout)
    assert seconds(four) < seconds(one) / 2


def test_wekafs_caches_no_file_that_two_clients_write() -> None:
    layout = '[layout]\nunit = "1 MiB"\n'
    opened = INTERLEAVED.replace(', "sync"', "") + "opens = true\n"
    shared = run("wekafs", opened, clients=2, layout=layout)
    own = run("wekafs", opened.replace("shared", "file-per-process"), clients=2, layout=layout)
    # A close stores what the caches have.
    assert shared.servers["written_bytes"].sum() == own.servers["written_bytes"].sum() == 32 << 20
    latency = [result.document["latency"]["write"]["mean"] for result in (shared, own)]
    assert latency[0] > 2 * latency[1]


def test_wekafs_needs_the_piece_of_a_file_that_is_not_published() -> None:
    with pytest.raises(hr.ScenarioError, match=r"\[layout\]"):
        run("wekafs", WRITE)


def test_vast_serves_a_file_by_one_server() -> None:
    result = run("vast", WRITE)
    assert sorted(result.servers["written_bytes"].to_list()) == [0, 0, 0, DATA]


def test_pnfs_asks_its_metadata_server_and_spreads_a_file() -> None:
    """Three messages to the metadata server of 10 ms, and 64 MiB through one port of 1 GB/s."""
    layout = '[layout]\nunit = "1 MiB"\n'
    cost = {"metadata.time_per_operation": "10 ms"}
    write = WRITE.replace('["write"]', '["write", "sync"]')
    result = run("pnfs", write, cost, layout=layout)
    assert result.servers["written_bytes"].to_list() == [DATA / 4] * 4
    assert messages(result, "metadata/card receiving") == 3
    assert seconds(result) == pytest.approx(3 * 0.01 + DATA / 1e9, rel=0.01)

"""What a network of packets counts, in results and on the terminal."""

import json
from pathlib import Path

import headrace as hr
from conftest import Command

SCENARIOS = Path(__file__).parents[2] / "scenarios"
INCAST = SCENARIOS / "incast.toml"
TORUS = SCENARIOS / "infiniband-torus.toml"


def test_packets_are_counted_where_they_are_lost() -> None:
    document = hr.run(hr.load(INCAST, {"workload.0.block": "16 MiB"})).json()
    packets = document["packets"]
    # 1,460 bytes of data in each, and a request for each of 32 servers, twice.
    least = (16 << 20) / 1460 + 2 * 32
    assert packets["sent"] >= least
    assert packets["lost"] > 0
    assert packets["sent_again"] >= packets["lost"]
    lost = {it["station"]: it["lost"] for it in document["stations"] if "lost" in it}
    port = "system/network/client card receiving"
    assert lost[port] == packets["lost"] == sum(lost.values())


def test_enough_room_loses_nothing() -> None:
    sets = {"workload.0.block": "16 MiB", "network.queue": "16 MiB"}
    packets = hr.run(hr.load(INCAST, sets)).json()["packets"]
    assert (packets["lost"], packets["sent_again"], packets["timeouts"]) == (0, 0, 0)


def test_other_grains_have_no_packets(headrace: Command) -> None:
    for grain in ("message", "flow"):
        ended = headrace("run", str(INCAST), "--set", f"network.grain={grain}", "--json")
        document = json.loads(ended.stdout)
        assert "packets" not in document
        assert not any("lost" in it for it in document["stations"])


def test_links_with_credits_lose_nothing(headrace: Command) -> None:
    ended = headrace("run", str(TORUS), "--set", "network.credits.buffer=8 KiB")
    assert "links waited" in ended.stdout
    assert "for credits" in ended.stdout
    document = hr.run(hr.load(TORUS)).json()
    packets = document["packets"]
    assert packets["lost"] == packets["timeouts"] == packets["corrupted"] == 0
    assert packets["without_credits"] > 0
    assert document["operations"]["write"]["bytes"] == 24 * (8 << 20)


def test_corrupted_packets_are_shown(headrace: Command) -> None:
    sets = ["--set", "network.error_rate=1 %", "--set", "workload.0.block=8 MiB"]
    ended = headrace("run", str(INCAST), *sets)
    assert "corrupted by links" in ended.stdout


def test_a_network_that_loses_every_packet_is_refused(headrace: Command) -> None:
    ended = headrace("run", str(INCAST), "--set", "network.error_rate=1")
    assert ended.returncode == 2
    assert "network.error_rate" in ended.stderr
    assert "expected less than 1" in ended.stderr

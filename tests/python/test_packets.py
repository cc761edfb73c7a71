"""What becomes of packets is told by a run at the grain of packets, and by no other."""

from pathlib import Path
from typing import Any

import headrace as hr

INCAST = Path(__file__).resolve().parents[2] / "scenarios" / "incast.toml"


def document(**sets: str) -> dict[str, Any]:
    paths = {name.replace("__", "."): value for name, value in sets.items()}
    small = {"workload.0.block": "40 MiB"}
    return hr.run(hr.load(INCAST, {**small, **paths})).json()


def test_packets_lost_are_counted_where_they_are_lost() -> None:
    result = document()
    packets = result["packets"]
    lost = {it["station"]: it["lost"] for it in result["stations"] if it.get("lost")}
    assert lost == {"system/network/client card receiving": packets["lost"]}
    # Each is sent again, some besides that were only late.
    assert 0 < packets["lost"] <= packets["sent_again"] < packets["sent"]
    assert packets["timeouts"] > 0


def test_queues_with_room_lose_nothing() -> None:
    result = document(network__queue="64 MiB")
    assert result["packets"]["lost"] == 0
    assert result["packets"]["sent_again"] == 0
    assert all(it["lost"] == 0 for it in result["stations"] if "lost" in it)


def test_other_grains_have_no_packets() -> None:
    for grain in ("message", "flow"):
        result = document(network__grain=grain)
        assert "packets" not in result
        assert all("lost" not in it for it in result["stations"])

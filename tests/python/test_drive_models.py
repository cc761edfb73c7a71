"""Drives of the catalogue: simulated figures equal those of their data sheets."""

import tomllib
from collections.abc import Mapping

import pytest

import headrace as hr
from conftest import ROOT

FILES = sorted((ROOT / "crates" / "spec" / "src" / "models").glob("*.toml"))
DRIVES = {file.stem: tomllib.loads(file.read_text(encoding="utf-8")) for file in FILES}
SHEETS = {name: drive["data_sheet"] for name, drive in DRIVES.items() if "data_sheet" in drive}
SCENARIO = """
kind = "local"
clients = {{ count = 1 }}

[machine]
memory.size = "4 GiB"
io_scheduler.kind = "none"
device = {{ kind = "solid-state", model = "{model}" }}

[[workload]]
block = "1 GiB"
transfer = "4 KiB"
order = "uniform"
requests = 1000
phases = ["read"]
io = {{ direct = true, existing = true }}
"""
SEQUENTIAL = {"workload.0.order": "sequential", "workload.0.transfer": "1 MiB"}
READS = SEQUENTIAL | {"clients.processes": 4}
# More than the write cache, which takes the first writes at the rate of the interface.
WRITES = SEQUENTIAL | {
    "workload.0.phases": ["write"],
    "workload.0.block": "16 GiB",
    "workload.0.requests": 4000,
    "run.warm_up": "50 ms",
}


def per_second(model: str, sets: Mapping[str, object], operation: str = "read") -> float:
    """Return the requests of a drive a second, after it has reached its rate."""
    scenario = hr.load(SCENARIO.format(model=model), {"run.warm_up": "1 ms", **sets})
    return float(hr.run(scenario).document["operations"][operation]["per_second"])


@pytest.mark.parametrize(
    ("model", "read", "write", "latency", "operations"),
    [
        ("7450-PRO-7.68TB", 6.8e9, 5.6e9, 80e-6, 1.0e6),
        ("9550-MAX-12.8TB", 14e9, 10e9, 60e-6, 3.3e6),
        ("P5800X-1.6TB", 7.2e9, 6.5e9, 6e-6, 1.5e6),
    ],
)
def test_a_drive_does_what_its_data_sheet_states(
    model: str, read: float, write: float, latency: float, operations: float
) -> None:
    assert per_second(model, {}) == pytest.approx(1 / latency, rel=0.02)
    assert per_second(model, {"clients.processes": 256}) == pytest.approx(operations, rel=0.02)
    assert per_second(model, READS) * 2**20 == pytest.approx(read, rel=0.02)
    assert per_second(model, WRITES, "write") * 2**20 == pytest.approx(write, rel=0.02)


@pytest.mark.parametrize("model", SHEETS)
def test_every_data_sheet_gives_a_drive_of_its_figures(model: str) -> None:
    scenario = hr.load(SCENARIO.format(model=model))
    drive = tomllib.loads(scenario.toml)["machine"]["device"]
    assert drive["data_sheet"].keys() == SHEETS[model].keys()
    latency = SHEETS[model].get("read_latency", "75 us")
    expected = 1e6 / float(latency.removesuffix(" us"))
    assert per_second(model, {}) == pytest.approx(expected, rel=0.01)

"""Drives of the catalogue: simulated figures equal those of their data sheets."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

import pytest

import headrace as hr
from conftest import ROOT

MODELS = ROOT / "crates" / "spec" / "src" / "models"
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
SEQUENTIAL = {
    "clients.processes": 4,
    "workload.0.order": "sequential",
    "workload.0.transfer": "1 MiB",
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
    assert per_second(model, SEQUENTIAL) * 2**20 == pytest.approx(read, rel=0.02)
    # The cache takes the first writes at the rate of the interface.
    writes = SEQUENTIAL | {"workload.0.phases": ["write"], "run.warm_up": "200 ms"}
    assert per_second(model, writes, "write") * 2**20 == pytest.approx(write, rel=0.02)


@pytest.mark.parametrize("file", sorted(MODELS.glob("*TB.toml")), ids=lambda file: file.stem)
def test_every_data_sheet_gives_a_drive_of_its_figures(file: Path) -> None:
    sheet = tomllib.loads(file.read_text(encoding="utf-8")).get("data_sheet")
    if sheet is None:
        pytest.skip("its flash is described, not its data sheet")
    scenario = hr.load(SCENARIO.format(model=file.stem))
    drive = tomllib.loads(scenario.toml)["machine"]["device"]
    assert drive["interface_rate"] == sheet["read_rate"]
    if "read_latency" in sheet:
        expected = float(sheet["read_latency"].removesuffix(" us")) * 1e-6
        assert per_second(file.stem, {}) == pytest.approx(1 / expected, rel=0.01)

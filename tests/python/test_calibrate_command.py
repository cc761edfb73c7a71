"""`headrace calibrate` on a real machine: one run, traced if it may be, for all tests of it."""

import json
import statistics
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest

from command import command, without_need
from headrace import simulate
from headrace.calibrate.estimators.device import BLOCKS
from headrace.calibrate.mount import MODELLED
from traceable import modelled, not_traceable

WORK = '[[workload]]\nblock = "1 MiB"\ntransfer = "64 KiB"\n'


class Ran(NamedTuple):
    """What the command left."""

    folder: Path
    document: dict[str, Any]
    not_traced: str
    """Why not, if it was not."""

    @property
    def file(self) -> Path:
        """The machine's."""
        return self.folder / "machine.toml"


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Two rounds."""
    folder = modelled(tmp_path_factory.mktemp("calibrate"))
    why = not_traceable(folder)
    below = folder / "below"
    below.mkdir()
    traced = ("--trace-to", str(folder / "events.parquet"), "--plot", str(folder))
    done = command(
        *(
            "calibrate",
            str(below),
            "--busy",
            "--repetitions",
            "2",
            "--passes",
            "1",
            "--json",
            "-o",
            str(folder / "machine.toml"),
        ),
        *(() if why else traced),
        timeout=600,
    )
    assert (done.returncode, without_need(done.stderr)) == (0, "")
    assert list(below.iterdir()) == []
    return Ran(folder, json.loads(done.stdout), why)


def test_a_real_machine_becomes_a_systems_file(calibrated: Ran) -> None:
    found, file = calibrated.document, calibrated.file
    assert found["kind"] == "calibration"
    assert found["machine"] == file.read_text()
    # Of what a calibration does on purpose nobody is warned.
    conditions = {it["condition"] for it in found["warnings"]}
    assert not conditions & {"fits-in-memory", "oversubscribed", "generator-was-the-limit"}
    whole = {"parameters-not-found", "busy-machine"}
    others = [it for it in found["warnings"] if it["condition"] not in whole]
    assert all(warning["message"].endswith("measurements)") for warning in others)
    measured = {it["field"]: it["values"] for it in found["parameters"] if it["values"]}
    for field in ("machine.cpu.system_call", "machine.device.rate"):
        assert statistics.median(measured[field]) > 0
    scenario = simulate.load(f'system = "{file}"\n{WORK}')
    result = simulate.run(scenario).json()
    assert result["operations"]["write"]["count"] == 16
    # It lacks nothing of what this version measures.
    assert "warnings" not in result
    document = tomllib.loads(scenario.toml)
    assert document["system"] in MODELLED
    assert [it["field"] for it in document["calibration"]] == list(measured)
    assert all(len(it["values"]) == 2 for it in document["calibration"])
    # It is no scenario by itself, and says what is missing.
    alone = command("run", str(file))
    assert alone.returncode == 2 and "workload" in alone.stderr


def test_a_real_machine_is_seen_in_the_kernel(calibrated: Ran) -> None:
    if calibrated.not_traced:
        pytest.skip(calibrated.not_traced)
    document = calibrated.document
    kernel = document["kernel"]
    counts = {it["what"]: it["count"] for it in kernel["times"]}
    for block in (4, 1024):
        assert counts[f"read of {block} KiB in the device"] == BLOCKS[block << 10]
    assert counts["a call of one byte, within the kernel"] == pytest.approx(100_000, abs=2)
    small = [it for it in kernel["service"] if (it["direction"], it["bytes"]) == ("read", 4096)]
    assert sum(it["count"] for it in small) >= 200
    assert kernel["lost"] == 0 and kernel["cost"] > -1
    # The parameters are those from outside; what the kernel says stands in remarks.
    assert "# kernel trace: machine.device.latency = " in document["machine"]
    events = pl.read_parquet(calibrated.folder / "events.parquet", columns=["event"])
    assert "block_rq_issue" in set(events["event"])
    for name in ("service", "activity"):
        assert (calibrated.folder / f"{name}.png").stat().st_size > 10_000

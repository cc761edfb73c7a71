"""Where time goes in the kernel, beside where it goes in a simulation."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import SYSTEM
from headrace import validate
from headrace.calibrate.run_report import RunReport
from headrace.validate.cases import CASES
from headrace.validate.traced_twin import simulated_parts
from traceable import traceable


def test_a_simulations_time_is_divided_as_its_transfers_is() -> None:
    simulated: dict[str, Any] = {
        "latency": {"all": {"count": 10}},
        "stations": [
            {
                "station": "system/client/device",
                "visits": 4,
                "residence": 0.3,
                "queue": 0.45,
                "most_utilisation": 0.5,
            },
            {"station": "system/client/I/O queue", "visits": 4, "residence": 0.1},
        ],
        "breakdown": [
            {"place": "system/client/processor", "seconds": 0.2, "waiting": 0.05},
            {"place": "system/client/I/O queue", "seconds": 0.4, "waiting": 0.4},
            {"place": "system/client/journal", "seconds": 0.1, "waiting": 0.1},
        ],
    }
    assert simulated_parts(RunReport.of_document(simulated), 2) == pytest.approx(
        {
            "journal": 0.5,
            "device": 1.5,
            "I/O queue": 0.5,
            "processor": 0.75,
            "processor queue": 0.25,
        }
    )
    # Waiting for a limit of the device, here for 0.9 s of 1.2, is `other waiting` in the kernel.
    device = 'kind = "throttled"\nrate = "1 GB/s"\nread_rate = "1 MB/s"'
    limited = {"scenario": {"toml": f"[machine.device]\n{device}\n"}, "simulated_seconds": 2.0}
    found = simulated_parts(RunReport.of_document(simulated | limited), 2)
    assert found["device"] == pytest.approx(1.5 / 4)
    assert found["other waiting"] == pytest.approx(1.5 * 3 / 4)


def test_the_time_in_calls_is_found_in_the_kernel(tmp_path: Path) -> None:
    (traceable(tmp_path) / "machine.toml").write_text(SYSTEM)
    names = ("cached reads of 12 KiB", "direct random reads of 16 KiB", "names of 600 files")
    cases = [case for case in CASES if case.name in names]
    found = validate.twin(tmp_path, tmp_path / "machine.toml", cases=cases, rounds=1, passes=1)
    traced = validate.trace_twin(found, tmp_path)
    assert [it.name for it in traced.breakdowns] == [case.name for case in cases]
    by_name = {it.name: it for it in traced.breakdowns}
    cached, direct, on_names = (by_name[name] for name in names)
    # Nothing is waited for that is in memory: what others take of the processors aside.
    assert sum(cached.measured[it] for it in ("device", "I/O queue", "journal")) == 0
    assert cached.measured["processor"] > 0
    for it in traced.breakdowns:
        # What the engine times has the call in it, and little else.
        assert it.measured["the benchmark itself"] > -0.1 * sum(it.measured.values())
        assert it.error == pytest.approx(sum(it.simulated.values()) - sum(it.measured.values()))
    assert direct.transfers is not None and direct.transfers[0] >= direct.transfers[1] > 0
    assert direct.measured["device"] > 0
    assert on_names.measured["processor"] > 0
    document = traced.json()
    assert document["trace"].keys() == {"cost", "lost"}
    assert " Split into " in document["discrepancy"]["paragraph"]
    assert traced.recordings.keys() == set(names)


def headrace(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "headrace", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_cannot_be_traced_is_refused_before_anything_is_measured() -> None:
    for command in ("twin", "calibrate"):
        refused = headrace(command, "/proc", "--trace")
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
        assert "no block device below it" in refused.stderr


def test_a_result_keeps_what_the_kernel_tells_for_a_validation(tmp_path: Path) -> None:
    directory = traceable(tmp_path)
    scenario, result = directory / "scenario.toml", directory / "result.json"
    work = '[[workload]]\nblock = "2 MiB"\ntransfer = "16 KiB"\nphases = ["read"]\n'
    scenario.write_text(f"{SYSTEM}{work}io = {{ direct = true }}\n")
    run = ("bench", "run", str(scenario), str(directory), "--trace")
    done = headrace(*run, "--no-store", "-o", str(result))
    assert done.returncode == 0, done.stderr
    kernel = json.loads(result.read_text())["kernel"]
    # Each read is a request, but for those that the device has merged or split.
    assert kernel["requests"] > 0 and kernel["seconds"]["processor"] > 0
    validated = headrace("validate", str(scenario), "--against", str(result), "--json")
    (found,) = json.loads(validated.stdout)["breakdowns"]
    assert found["source"] == "kernel trace"
    for name, seconds in kernel["seconds"].items():
        assert found["measured_s"][name] == pytest.approx(seconds)
    assert found["measured_transfers"] == kernel["requests"]
    refused = headrace(*run, "--repetitions", "2")
    assert refused.returncode == 2 and "expected no --repetitions" in refused.stderr

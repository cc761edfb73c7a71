"""Validation against results that were damaged, or made with other values than the scenario's."""

import copy
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from command import command
from conftest import SYSTEM
from damage import damaged
from headrace import ScenarioError, measure, validate
from headrace.render.terminal import rendered
from headrace.views.validation import view

SCENARIO = f"""{SYSTEM}[[workload]]
block = "256 KiB"
transfer = "64 KiB"
phases = ["write", "read"]
"""
KERNEL = {
    "seconds": {"processor": 1e-3, "device": 2e-4, "other waiting": 0.0},
    "requests": 3,
    "lost": 0,
}
"""As `headrace bench run --trace` saves it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a scenario."""
    made = tmp_path_factory.mktemp("damaged")
    (made / "work.toml").write_text(SCENARIO)
    return made


@pytest.fixture(scope="module")
def result(folder: Path) -> dict[str, Any]:
    """A real one of it, whose device's counters are known on any file system."""
    document = measure.measure(measure.load(folder / "work.toml"), folder).json()
    series = {"window_s": [0.5, 0.1], "device_busy": [0.5, None], "device_reads_per_s": [1, 2]}
    return document | {"counter_series": series}


@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_damage_is_more_than_one_clear_error(
    folder: Path, result: dict[str, Any], data: st.DataObject
) -> None:
    document = copy.deepcopy(result)
    if data.draw(st.booleans()):
        document["kernel"] = copy.deepcopy(KERNEL)
    damaged(data, document, ["\n[[workload]]\n"])
    file = folder / "damaged.json"
    file.write_text(json.dumps(document))
    try:
        found = validate.validate(folder / "work.toml", [file]).json()
    except ScenarioError as error:
        assert str(file) in str(error)
        return
    json.dumps(found, allow_nan=False)
    Console(file=io.StringIO()).print(rendered(view(found)))


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("kernel", {"seconds": []}, "kernel.seconds = []: expected an object"),
        ("kernel", {"seconds": {"x": "y"}, "requests": 1}, "kernel.seconds.x = 'y': expected a nu"),
        ("kernel", {"seconds": {}}, "expected an object with requests"),
        ("operations", {"read": {}}, "operations.read = {}: expected an object with count"),
        ("operations", {"read": {"count": -1}}, "operations.read.count = -1: expected 0 or more"),
        ("latency", {"read": {"mean": None}}, "latency.read.mean = None: expected a number"),
        ("calls", "null", "calls = 'null': expected a measurement with system calls"),
        ("calls", 3, "calls = 3: expected one of posix, io-uring, null"),
        ("processes", "many", "processes = 'many': expected a whole number"),
    ],
)
def test_what_is_damaged_is_named(
    folder: Path, result: dict[str, Any], field: str, value: Any, told: str
) -> None:
    file = folder / "named.json"
    file.write_text(json.dumps(result | {field: value}))
    refused = headrace("validate", folder / "work.toml", "--against", file)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert refused.stderr.startswith(f"{file}: ") and told in refused.stderr


def test_what_was_measured_by_other_calls_is_no_repeat(
    folder: Path, result: dict[str, Any]
) -> None:
    files = [folder / f"{calls}.json" for calls in ("posix", "io-uring", "unsaid")]
    for file, calls in zip(files, ("posix", "io-uring", None), strict=True):
        document = {key: it for key, it in result.items() if key != "calls"}
        file.write_text(json.dumps(document | ({"calls": calls} if calls else {})))
    with pytest.raises(ScenarioError, match="--calls io-uring, but .* with --calls posix"):
        validate.validate(folder / "work.toml", [files[2], *files[:2]])
    assert validate.validate(folder / "work.toml", [files[0], files[2]]).points


def headrace(*arguments: object) -> subprocess.CompletedProcess[str]:
    return command(*arguments)


def test_what_was_set_for_a_measurement_is_set_for_its_simulation(folder: Path) -> None:
    work, one, other = folder / "work.toml", folder / "one.json", folder / "other.json"
    sets = ("workload.0.transfer=32 KiB", "machine.cpu.system_call=20 us")
    words = [word for it in sets for word in ("--set", it)]
    done = headrace("bench", "run", work, folder, *words, "-o", one, "--no-store")
    assert done.returncode == 0, done.stderr
    done = headrace("bench", "run", work, folder, *words[:2], "-o", other, "--no-store")
    assert done.returncode == 0, done.stderr
    found = json.loads(headrace("validate", work, "--against", one, "--json").stdout)
    assert found["scenario"]["sets"] == list(sets)
    predicted = {it["name"]: it["predicted_s"] for it in found["points"]}
    assert predicted["read"] >= 20e-6
    # What is given now stands above.
    again = headrace(
        "validate", work, "--against", one, "--set", "machine.cpu.system_call=1 ms", "--json"
    )
    assert json.loads(again.stdout)["points"][0]["predicted_s"] >= 1e-3
    assert "With workload.0.transfer=32 KiB" in headrace("validate", work, "--against", one).stdout
    refused = headrace("validate", work, "--against", one, "--against", other)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert "expected measurements with the same --set values" in refused.stderr
    names = '[[workload]]\nkind = "mdtest"\nfiles = 10\n'
    (folder / "names.toml").write_text(SCENARIO.split("[[workload]]")[0] + names)
    refused = headrace("validate", folder / "names.toml", "--against", one)
    assert refused.returncode == 2 and "does not accept" in refused.stderr

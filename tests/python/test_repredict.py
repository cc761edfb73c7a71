"""A saved twin, of which this version makes what follows from the same measurements."""

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from command import command
from damage import damaged
from headrace import ScenarioError, validate
from headrace.calibrate import Measurements, scenario_for_machine
from headrace.calibrate.checks import CHECKS
from headrace.calibrate.measurements import all_probes
from headrace.calibrate.run_report import simulated
from headrace.measure.report import ResultWarning
from headrace.validate.breakdown import DEVICE, REST, compare_device_time
from headrace.validate.cases import CASES
from headrace.validate.twin import Twin, twin_from_calibration
from known_machine import KNOWN, READ, probed

CHOSEN = [case for case in CASES if case.name in ("rewrites of 16 KiB", "cold reads of 64 KiB")]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A twin of a simulated machine, of two rounds, of which the second took a tenth longer."""
    folder = tmp_path_factory.mktemp("again")
    machine = folder / "known.toml"
    machine.write_text(KNOWN)

    def seconds(work: str, case: Any) -> float:
        return float(case.seconds(simulated(scenario_for_machine(machine, work))))

    once = {probe.name: probed(probe, machine) for probe in all_probes(READ)}
    measured = Measurements(
        "/somewhere",
        "ext4",
        datetime(2026, 11, 25, tzinfo=UTC),
        tuple(READ),
        (once, {name: 1.1 * time for name, time in once.items()}),
        {case.name: (t, 1.1 * t) for case in CHECKS for t in (seconds(case.work, case),)},
        True,
        (ResultWarning("shared", "others were there"),),
    )
    times = [(t, 1.1 * t) for case in CHOSEN for t in (seconds(case.work, case),)]
    found = twin_from_calibration(
        measured.calibration(),
        CHOSEN,
        times,
        lambda number, point: compare_device_time(
            point, 1, {DEVICE: 1.0, REST: float(number)}, 7.0
        ),
        measured.warnings,
    )
    file = folder / "twin.json"
    file.write_text(json.dumps(found.json()))
    return file


def as_saved(found: Twin) -> Any:
    return json.loads(json.dumps(found.json()))


def test_the_same_follows_from_the_same_measurements(saved: Path) -> None:
    document = json.loads(saved.read_text())
    assert as_saved(validate.repredict(saved)) == document
    # It is what is measured that counts: of other times others follow.
    for probe in document["calibration"]["probes"]:
        probe["rounds_s"] = [2 * time for time in probe["rounds_s"]]
    point = document["points"][0]
    point["measured_s"] = [3.0, 5.0]
    other = saved.with_name("other.json")
    other.write_text(json.dumps(document))
    found = validate.repredict(other).json()
    assert found["points"][0]["measured_middle_s"] == 4.0
    assert found["points"][0]["predicted_s"] == pytest.approx(2 * point["predicted_s"], rel=0.03)


def test_the_command_says_what_follows(saved: Path, tmp_path: Path) -> None:
    output = tmp_path / "again.json"
    done = command("twin", "--again", str(saved), "-o", str(output), "--plot", str(tmp_path / "p"))
    assert (done.returncode, done.stderr) == (0, "") and CHOSEN[0].name in done.stdout
    assert json.loads(output.read_text()) == json.loads(saved.read_text())
    assert (tmp_path / "p" / "validation.svg").stat().st_size > 1000
    for arguments, told in (
        ((str(tmp_path), "--again", str(saved)), "does not measure"),
        (("--again", str(saved), "--set", "machine.cpu.cores=2"), "does not measure"),
        (("--again", str(saved), "--repetitions", "5"), "does not measure"),
        (("--again", str(saved), "--passes", "1"), "does not measure"),
        (("--again", str(saved), "-o", str(saved)), "--output is also --again"),
        (("--again", str(tmp_path / "none")), "none"),
        (("--again", __file__), "expected"),
        ((), "DIR"),
    ):
        refused = command("twin", *arguments)
        assert refused.returncode == 2 and told in refused.stderr, refused.stderr
        assert len(refused.stderr.splitlines()) == 1 or "Usage" in refused.stderr


def test_a_twin_of_a_machine_s_file_has_not_what_that_follows_from(saved: Path) -> None:
    document = json.loads(saved.read_text())
    del document["calibration"]
    file = saved.with_name("by-file.json")
    file.write_text(json.dumps(document))
    with pytest.raises(ScenarioError, match="without --machine"):
        validate.repredict(file)


def test_what_this_version_measures_besides_is_named(saved: Path) -> None:
    document = json.loads(saved.read_text())
    probes = document["calibration"]["probes"]
    gone = probes.pop(3)["name"]
    older = saved.with_name("older.json")
    older.write_text(json.dumps(document))
    with pytest.raises(ScenarioError, match=gone) as refused:
        validate.repredict(older)
    assert str(older) in str(refused.value) and "measure again" in str(refused.value)


@pytest.mark.parametrize("kind", ["probes", "checks", "points"])
def test_what_is_there_twice_is_refused(saved: Path, kind: str) -> None:
    document = json.loads(saved.read_text())
    every = (document if kind == "points" else document["calibration"])[kind]
    every.append(every[0])
    twice = saved.with_name("twice.json")
    twice.write_text(json.dumps(document))
    with pytest.raises(ScenarioError, match=f"{kind}: .* occurs 2 times") as refused:
        validate.repredict(twice)
    assert every[0]["name"] in str(refused.value)


@pytest.mark.parametrize(
    "seconds", [{"": 0.0}, {"cached reads": 1e9}, {"": 1e18}, {"rewrites": 1e9}, {"": 1e-18}]
)
def test_times_that_say_nothing_are_one_clear_error(saved: Path, seconds: dict[str, float]) -> None:
    ((begin, time),) = seconds.items()
    document = json.loads(saved.read_text())
    for probe in document["calibration"]["probes"]:
        if probe["name"].startswith(begin):
            probe["rounds_s"] = [time for _ in probe["rounds_s"]]
    file = saved.with_name("nothing.json")
    file.write_text(json.dumps(document))
    done = command("twin", "--again", str(file), "--json")
    assert done.returncode in (0, 2), done.stderr
    if done.returncode == 2:
        assert str(file) in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr


@given(data=st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_damage_is_more_than_one_clear_error(saved: Path, data: st.DataObject) -> None:
    document = copy.deepcopy(json.loads(saved.read_text()))
    damaged(data, document, ["1e300 s", "-1 B"])
    file = saved.with_name("damaged.json")
    file.write_text(json.dumps(document))
    try:
        found = validate.repredict(file).json()
    except ScenarioError as error:
        assert str(file) in str(error)
        return
    json.dumps(found, allow_nan=False)

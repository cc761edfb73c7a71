"""Predictions beside measurements."""

import json
import math
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from command import command
from conftest import MACHINE, SYSTEM
from headrace import ScenarioError, calibrate, calibration_fields, simulate, validate
from headrace.calibrate.case import NEW, Case, scenario_for_machine, transfers
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.run_report import RunReport, SimulatedText
from headrace.validate.breakdown import Breakdown, Run, breakdown_from_counters
from headrace.validate.cases import CASES
from headrace.validate.discrepancy import discrepancy
from headrace.validate.interval_width import interval_width_warnings
from headrace.validate.oversized_cases import oversized_cases
from headrace.validate.point import Point, summary
from headrace.validate.prediction import (
    CheckErrors,
    Predicted,
    _prior_degrees,
    check_errors,
    interval,
)
from headrace.validate.settings_overrides import settings_overrides

WORK = """[clients]
count = 1
[[workload]]
block = "1 MiB"
transfer = "64 KiB"
phases = ["write", "read"]
"""

FEW_CALLS = Case(
    "few calls", "cache", 'block = "1 MiB"\ntransfer = "64 KiB"\nphases = ["write", "read"]'
)
DIRECT_WRITES = 'block = "64 KiB"\ntransfer = "4 KiB"\nphases = ["write"]\nio = { direct = true }'


def test_an_interval_is_that_of_the_rounds(tmp_path: Path) -> None:
    (tmp_path / "machine.toml").write_text(MACHINE)
    text = f'system = "{tmp_path / "machine.toml"}"\n{WORK}'
    predicted = validate.predict(text, lambda report: report.latency["write"].mean or 0.0)
    assert predicted.seconds == pytest.approx(10e-6, rel=1e-3)
    # Steps of a quarter: the mean logarithm is that of 10 us, their deviation ln(1.25), and
    # Student's quantile for 90 % and two degrees of freedom 2.92 (any table).
    reach = 1.25 ** (2.92 * (4 / 3) ** 0.5)
    assert predicted.interval == pytest.approx((10e-6 / reach, 10e-6 * reach), rel=1e-3)


def test_nothing_is_said_of_one_round() -> None:
    assert interval(1.0, [1.0], []) is None
    assert interval(1.0, [], []) is None
    assert interval(1.0, [0.0, 1.0], []) is None
    assert interval(0.0, [1.0, 2.0], [CheckErrors((0.1,), 0.0)]) is None


def test_the_models_error_is_in_the_interval() -> None:
    # Errors of 10 % up and down, two of them: their root mean square is ln(1.1), and Student's
    # quantile for 90 % and two degrees of freedom 2.92.
    off = [CheckErrors((error,), 0.0) for error in (math.log(1.1), -math.log(1.1))]
    reach = 1.1**2.92
    assert interval(5.0, [5.0, 5.0, 5.0], off) == pytest.approx((5 / reach, 5 * reach), rel=1e-3)
    # Both spreads: wider than each alone, and narrower than both.
    rounds = [4.5, 5.0, 5.5]
    alone, model, both = (
        math.log((interval(5.0, *given) or (0, 1))[1] / 5.0)
        for given in ((rounds, []), ([], off), (rounds, off))
    )
    assert max(alone, model) * 0.8 < both < alone + model


def test_the_spread_of_few_rounds_is_moderated_by_that_of_the_checks() -> None:
    def checks(*variances: float) -> list[CheckErrors]:
        return [CheckErrors((0.1, -0.1), it) for it in variances]

    def reach(each: list[float], given: list[CheckErrors]) -> float:
        return math.log((interval(1.0, each, given) or (0, 1))[1])

    # Variances of two rounds, of which every twentieth is less than a 250th of the mean.
    agree = checks(0.01, 0.002, 0.02, 0.0005, 0.013)
    assert reach([0.9, 1.1], agree) == reach([0.7, 1.4], agree) == reach([], agree)
    # Chance does not make them that different: then the case's own counts.
    differ = checks(1e-2, 1e-9, 1e-16, 1e-3, 1e-12)
    assert reach([0.9, 1.1], differ) < reach([0.7, 1.4], differ)


@pytest.mark.parametrize(("degrees", "prior"), [(1, 1.0), (2, 6.0), (4, 20.0)])
def test_how_much_variances_have_in_common(degrees: int, prior: float) -> None:
    """Variances that are themselves drawn, with `prior` degrees of freedom (Smyth 2004)."""
    random = np.random.default_rng(3)
    own = prior / random.chisquare(prior, 20_000)
    variances = 0.04 * own * random.chisquare(degrees, 20_000) / degrees
    assert _prior_degrees([float(it) for it in variances], degrees) == pytest.approx(prior, rel=0.1)
    assert _prior_degrees([0.04] * 10, degrees) == math.inf
    assert _prior_degrees([0.04], degrees) == _prior_degrees([0.0, 0.0], degrees) == 0.0


def test_a_round_that_was_disturbed_does_not_decide_the_interval() -> None:
    errors = [(0.01, -0.01, 0.012), (-0.008, 0.01, -0.01), (0.01, 0.011, -0.009)]
    stalled = [*errors[1:], (0.01, -2.3, 0.012)]
    once, never = (
        math.log((interval(1.0, [], [CheckErrors(it, 0.0) for it in every]) or (0, 1))[1])
        for every in (stalled, errors)
    )
    assert never < once < 2.5 * never
    # An error that all of them show is the model's.
    off = [CheckErrors((0.3, 0.31, 0.29), 0.0) for _ in range(3)]
    assert math.log((interval(1.0, [], off) or (0, 1))[1]) > 0.3


def test_intervals_hold_what_they_promise() -> None:
    random = np.random.default_rng(1)
    held, trials = 0, 2000
    for _ in range(trials):
        rounds = np.exp(random.normal(0, 0.1, 5))
        errors = random.normal(0, 0.2, 6)
        new = np.exp(random.normal(0, 0.1) + random.normal(0, 0.2))
        checks = [CheckErrors((float(it),), 0.0) for it in errors]
        found = interval(float(np.median(rounds)), [float(it) for it in rounds], checks)
        assert found is not None
        held += found[0] <= new <= found[1]
    # The median's own spread is nearly what the factor for one more round holds.
    assert 0.87 < held / trials < 0.93


def test_intervals_hold_measurements_of_a_machine_that_drifts() -> None:
    """A machine is another in each round, of which its parameters tell with errors of their own;
    the model errs, and so does each measurement."""
    random = np.random.default_rng(2)
    for drift, told, model, once in (
        (0.1, 0.02, 0.05, 0.02),
        (0.02, 0.1, 0.05, 0.02),
        (0.05, 0.05, 0.02, 0.1),
        (0.02, 0.02, 0.2, 0.02),
    ):
        held, trials = 0, 1000
        for _ in range(trials):
            rounds = random.normal(0, drift, 5)
            known = rounds + random.normal(0, told, 5)
            checks = [
                {
                    "name": str(number),
                    "bound": "device",
                    "measured": f"{math.exp(was + random.normal(0, once))} s",
                    "predicted": f"{math.exp(error + then)} s",
                }
                for number, error in enumerate(random.normal(0, model, 8))
                for was, then in zip(rounds, known, strict=True)
            ]
            each = [math.exp(it) for it in known]
            errors = list(check_errors({"check": checks}).values())
            found = interval(float(np.median(each)), each, errors)
            assert found is not None
            new = math.exp(sum(random.normal(0, by) for by in (drift, model, once)))
            held += found[0] <= new <= found[1]
        assert 0.86 < held / trials < 0.95, (drift, told, model, once, held / trials)


def test_checks_of_rounds_are_told_apart_by_name() -> None:
    def check(name: str, measured: float, predicted: float, bound: str = "cache") -> dict[str, str]:
        return {
            "name": name,
            "bound": bound,
            "measured": f"{measured} s",
            "predicted": f"{predicted} s",
        }

    system = {
        "check": [check("a", 1, 2), check("b", 4, 4, "device"), check("a", 4, 8), check("a", 4, 4)]
    }
    found = check_errors(system)
    assert set(found) == {"a", "b"} and set(check_errors(system, "device")) == {"b"}
    # The middle of 2, 8 and 4 is 4; they lie a factor of two apart.
    assert found["a"].of_rounds == pytest.approx([math.log(4), 0, 0])
    assert found["a"].of_values == pytest.approx(math.log(2) ** 2)
    # A file of an earlier version has one, of the medians.
    assert found["b"].square == 0.0 and found["b"].of_values == 0.0
    (old,) = check_errors({"check": [check("a", 1, 2)]}).values()
    assert old.square == pytest.approx(math.log(2) ** 2) and old.of_values == 0.0


def test_intervals_that_tell_little_are_told(tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text(MACHINE)
    narrow = Point("narrow", "cache", (1.0,), Predicted(1.0, (0.4, 3.9)))
    far = Point("far", "cache", (1.0,), Predicted(1.0, (1e-5, 1e4)))
    none = Point("none", "cache", (1.0,), Predicted(1.0, None))
    assert interval_width_warnings([narrow, none], machine, [FEW_CALLS] * 2) == []

    def told() -> str:
        (warning,) = interval_width_warnings([narrow, far, none], machine, [FEW_CALLS] * 3)
        assert warning.condition == "wide-intervals"
        assert "1 of 3 predictions" in warning.message and "'far'" in warning.message
        return warning.message

    # Rounds of 8 to 12.5 us are not that far apart.
    assert "3 rounds are too few" in told()
    check = '[[check]]\nname = "c"\nbound = "cache"\nmeasured = "9 ms"\npredicted = "1 ms"\n'
    machine.write_text(MACHINE + check)
    assert "the check 'c' was simulated 0.11 times as long" in told()
    machine.write_text(MACHINE.replace("12.5 us", "12.5 ms") + check)
    assert "3 rounds gave machine.cpu.system_call = 8 us, 10 us, 12.5 ms, which" in told()


def test_a_wide_interval_is_blamed_on_the_parameter_that_makes_it_so(tmp_path: Path) -> None:
    """One parameter varies tenfold and changes nothing of the case; the other is 0 in a round."""
    machine = tmp_path / "machine.toml"
    rounds = """[[calibration]]
field = "machine.cpu.page_fault"
values = ["1 us", "10 us", "100 us"]
[[calibration]]
field = "machine.device.latency"
values = ["0 s", "5 ms", "4 ms"]
"""
    device = '[machine.device]\nkind = "throttled"\nrate = "1 GB/s"\nlatency = "4 ms"'
    machine.write_text(SYSTEM.replace("[machine.device]", device) + rounds)
    case = Case("direct", "device", DIRECT_WRITES)
    predicted = validate.predict(scenario_for_machine(machine, case.work), case.seconds)
    assert predicted.interval is not None
    (warning,) = interval_width_warnings(
        [Point("direct", "device", (1.0,), predicted)], machine, [case]
    )
    assert "3 rounds gave machine.device.latency = 0 s, 5 ms, 4 ms" in warning.message
    assert "page_fault" not in warning.message
    # What --set puts over the file has no rounds any more.
    sets = {"machine.device.latency": "5 ms"}
    (warning,) = interval_width_warnings(
        [Point("direct", "device", (1.0,), predicted)], machine, [case], sets
    )
    assert "latency" not in warning.message


def test_what_a_machines_file_says_nothing_of_is_told(tmp_path: Path) -> None:
    file, work = tmp_path / "machine.toml", tmp_path / "work.toml"
    work.write_text(f'system = "machine.toml"\n{WORK}')

    def told(machine: str, *sets: str) -> str:
        file.write_text(machine)
        result = simulate.run(simulate.load_with_sets(work, sets)).json()
        # Times of names that are 0 by default are named beside it.
        others = [it for it in result.get("warnings", []) if it["condition"] != "zero-default"]
        (warning,) = others or [{"condition": "not-calibrated", "message": ""}]
        assert warning["condition"] == "not-calibrated"
        return str(warning["message"])

    message = told(MACHINE, "machine.file_system.create=1 us", "machine.cpu.cores=4")
    assert "machine.copying.write_share (1.0), " in message and "calibrate again" in message
    # What was measured, or given, stands at no default; what no calibration has is no file of one.
    assert "machine.cpu.system_call" not in message and "create" not in message
    assert told(SYSTEM) == ""
    units = dict.fromkeys(("write_share", "reuse_share"), "1")
    units |= {"rate": "1 GB/s", "device_write_rate": "1 GB/s", "l3_reach": "1 MiB"}
    values = {
        field: units.get(field.rsplit(".")[-1], "1 us") for field in calibration_fields.MACHINE
    }
    several = "".join(
        f'[[calibration]]\nfield = "{field}"\nvalues = ["{it}", "{it}"]\n'
        for field, it in values.items()
    )
    assert told(SYSTEM + several) == ""
    file.write_text(MACHINE)
    done = command("run", str(work), "--no-store")
    assert "lacks parameters that this version measures" in " ".join(done.stdout.split())
    document = laid_beside(work)
    assert "not-calibrated" in {it["condition"] for it in document["warnings"]}


def laid_beside(work: Path) -> dict[str, Any]:
    """A scenario's simulation beside a measurement of it."""
    result = work.with_name("result.json")
    measured = command("bench", "run", str(work), str(work.parent), "--no-store", "-o", str(result))
    assert measured.returncode == 0, measured.stderr
    return validate.validate(work, [result]).json()


def test_errors_are_summed_up_by_group() -> None:
    points = [
        Point("a", "disk", (1.0, 2.0, 3.0), Predicted(2.2, (1.5, 2.5))),
        Point("b", "disk", (1.0, 1.0), Predicted(0.7, (0.5, 0.9))),
        Point("c", "cache", (4.0,), Predicted(4.0, None)),
    ]
    found = summary(points)
    assert msgspec.structs.asdict(found["disk"]) == {
        "points": 2,
        "median_error": pytest.approx(0.2),
        "worst_error": pytest.approx(-0.3),
        "bias": pytest.approx(-0.1),
        "covered": pytest.approx((1 / 3 + 0) / 2),
    }
    assert found["cache"].covered is None
    assert points[0].within_repetitions and not points[1].within_repetitions


def test_cases_beyond_limits_are_made_where_limits_are_small() -> None:
    def having(limit: int, size: int) -> list[str]:
        settings = [
            Parameter("machine.write_back.bytes", (limit,), "B", ""),
            Parameter("machine.memory.size", (size,), "B", ""),
            Parameter("machine.memory.used", (0,), "B", ""),
        ]
        return [case.name for case in oversized_cases(settings)]

    assert having(5 << 30, 64 << 30) == []
    assert all("dirty limit" in name for name in having(64 << 20, 64 << 30))
    assert all("memory" in name for name in having(5 << 30, 200 << 20))
    assert len(having(64 << 20, 200 << 20)) == 4


def test_settings_as_they_are_now_are_put_over_the_files(tmp_path: Path) -> None:
    try:
        calibrate.mount_of(tmp_path)
    except ScenarioError as error:
        pytest.skip(str(error))
    machine, below = tmp_path / "machine.toml", tmp_path / "below"
    below.mkdir()
    machine.write_text(MACHINE + '[machine.write_back]\nbytes = "1 MiB"\n')
    case = Case("writes", "cache", transfers(8 << 20, 65536, ["write"], NEW, {}))
    held, free = (
        validate.twin(below, machine, settings_now=now, cases=[case], rounds=1)
        .points[0]
        .predicted.seconds
        for now in (False, True)
    )
    # Throttled by the file's limit, and not by the kernel's.
    assert held > 1.5 * free
    refused = headrace("twin", str(below), "--settings-now")
    assert refused.returncode == 2 and "it needs --machine" in refused.stderr


def test_what_is_put_over_a_machines_file_is_told(tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text(
        'system = "ext4"\n[machine.device]\nkind = "throttled"\nrate = "1 GB/s"\n'
        'read_rate = "60 MB/s"\nread_operations = 600\n[machine.read_ahead]\nwindow = "128 KiB"\n'
    )
    now = [
        Parameter("machine.read_ahead.window", (131072,), "B", "/sys/…/read_ahead_kb"),
        Parameter("machine.device.write_rate", (4e7,), "B/s", "/sys/…/write_bps_device"),
    ]
    work = '[[workload]]\nblock = "1 MiB"\n'
    given = ["machine.device.latency = 2 ms"]
    sets, settings = settings_overrides(machine, work, now, given)
    found = {it.field.rsplit(".", 1)[-1]: it for it in settings}
    assert not found["window"].changed
    assert (found["write_rate"].file, found["write_rate"].used) == (None, "40 MB/s")
    assert found["latency"].changed and found["latency"].source == "--set"
    # The kernel has these limits no more.
    assert {"read_rate", "read_operations"} <= {it for it in found if found[it].changed}
    text = scenario_for_machine(machine, work.replace("1 MiB", "64 MiB"))
    held, free = (simulate.run(simulate.load(text, sets=it)) for it in ({}, sets))
    assert held.json()["simulated_seconds"] >= free.json()["simulated_seconds"]
    with pytest.raises(ScenarioError, match=r"machine\.device\.latencie"):
        settings_overrides(machine, work, now, ["machine.device.latencie=2 ms"])
    refused = headrace("twin", str(tmp_path), "--set", "machine.device.latency=2 ms")
    assert refused.returncode == 2 and "it needs --machine" in refused.stderr
    for own in ("workload.0.block=1 MiB", "clients.processes=2", "run.seed=3", "system=ext3"):
        with pytest.raises(ScenarioError, match=f"--set {own}: a twin sets its workload"):
            settings_overrides(machine, work, now, [own])
    # What is wrong is named by the file that the user has given.
    machine.write_text("")
    with pytest.raises(ScenarioError, match="machine.toml: the system cannot be simul"):
        settings_overrides(machine, work, now, [])


def test_cases_have_names_of_their_own() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def simulated(utilisation: float, waiting: float) -> Predicted:
    """A second in ten calls, of which the device is waited for so long in each."""
    document: dict[str, Any] = {
        "simulated_seconds": 1.0,
        "operations": {"read": {"count": 10}},
        "latency": {"all": {"count": 10, "mean": 0.1}, "read": {"mean": 0.1}},
        "stations": [
            {"station": "system/client/device", "most_utilisation": utilisation, "visits": 20}
        ],
        "breakdown": [
            {"place": "system/client/processor", "seconds": 0.1 - waiting},
            {"place": "system/client/device", "seconds": waiting},
        ],
    }
    return Predicted(1.0, None, RunReport.of_document(document))


def run(seconds: float, busy: float) -> Run:
    """Samples of two windows of a second each, in which the device was as busy."""
    return Run(
        seconds,
        {
            "window_s": [1.0, 1.0],
            "device_busy": [busy, 0.0],
            "device_flushing": [0.0, 0.1],
            "device_reads_per_s": [8.0, 0.0],
            "device_writes_per_s": [1.0, 1.0],
        },
    )


def test_counters_tell_the_device_from_the_rest() -> None:
    point = Point("case", "device", (1.2, 1.4, 2.0), simulated(0.3, 0.05))
    # The middle repetition; its device worked, and flushed, beside what else there was.
    found = breakdown_from_counters(point, 1, [run(2.0, 0.9), run(1.2, 0.1), run(1.4, 0.7)])
    assert found is not None
    assert found.measured == pytest.approx({"device": 0.8, "beyond the device": 0.6})
    assert found.simulated == pytest.approx({"device": 0.5, "beyond the device": 0.5})
    assert found.transfers == pytest.approx((10, 20))
    assert found.error == pytest.approx(1.0 - 1.4)
    # Of several processes the time until all are done counts, on both sides.
    longer = replace(point.predicted, seconds=2.5)
    shared = breakdown_from_counters(replace(point, predicted=longer), 8, [run(3.0, 0.7)])
    assert shared is not None and shared.error == pytest.approx(2.5 - 3.0)
    # A device that works although nobody waits for it is busy all the same.
    busy = breakdown_from_counters(
        Point("case", "device", (1.0,), simulated(0.9, 0.0)), 1, [run(1.0, 0.0)]
    )
    assert busy is not None and busy.simulated["device"] == pytest.approx(0.9)
    # What waits for a limit has not come to the device yet, as its counters see it.
    limited = simulated(0.9, 0.08)
    device = 'kind = "throttled"\nrate = "1 GB/s"\nread_rate = "1 MB/s"'
    report = msgspec.structs.replace(
        limited.report,
        scenario=SimulatedText(f"[machine.device]\n{device}\n"),
        stations=[msgspec.structs.replace(limited.report.stations[0], residence=0.04, queue=0.6)],
    )
    limited = replace(limited, report=report)
    held = breakdown_from_counters(Point("case", "device", (1.0,), limited), 1, [run(1.0, 0.0)])
    assert held is not None
    assert held.simulated == pytest.approx({"device": 0.2, "beyond the device": 0.8})
    # No device below the measurement: nothing can be told.
    assert (
        breakdown_from_counters(point, 1, [Run(1.0, {"window_s": [1.0], "device_busy": [None]})])
        is None
    )
    assert breakdown_from_counters(point, 1, [Run(1.0, {})]) is None


def parts(name: str, measured: tuple[float, float], other: tuple[float, float]) -> Breakdown:
    names = ("device", "beyond the device")
    one, two = (dict(zip(names, side, strict=True)) for side in (measured, other))
    return Breakdown(name, "device counters", one, two, transfers=(1234.0, 567.0))


def test_the_paragraph_names_what_most_of_the_differences_is() -> None:
    found = discrepancy([parts("a", (1.0, 1.0), (0.2, 1.1)), parts("b", (1.0, 1.0), (0.9, 1.0))])
    assert found is not None and found.seconds == pytest.approx(1.0)
    assert found.shares == pytest.approx({"device": 0.9, "beyond the device": 0.1})
    assert (
        "The component 'device' has 90 % of the model's differences: over all these cases it"
        " takes 900 ms less in the simulation" in found.sentences
    )
    assert "of 'device' is in the case 'a': 1 s measured, 200 ms simulated" in found.sentences
    assert "1,234 transfers measured, 567 simulated" in found.sentences


def test_the_paragraph_says_if_it_points_at_nothing() -> None:
    names = "abc"
    sides = dict.fromkeys(names, 1.0), dict.fromkeys(names, 1.1)
    found = discrepancy([Breakdown("x", "kernel trace", *sides)])
    assert found is not None and "No single component of the model" in found.sentences
    found = discrepancy([Breakdown("x", "kernel trace", *sides, explained=True)])
    assert found is not None and "no difference remains to explain" in found.sentences
    assert found.shares == {}
    assert discrepancy([]) is None


def test_what_others_took_is_none_of_the_models() -> None:
    measured = {"processor": 1.0, "processor queue": 3.0, "device": 1.0}
    other = {"processor": 1.2, "processor queue": 0.0, "device": 0.2}
    found = discrepancy([Breakdown("x", "kernel trace", measured, other)])
    assert found is not None and found.others == pytest.approx(3.0)
    assert found.shares == pytest.approx({"device": 0.8, "processor": 0.2})
    assert "Other programs used the processors for 75 % of that" in found.sentences
    assert "'device' has 80 % of the model's differences" in found.sentences
    # A queue that only the simulation has is the model's.
    found = discrepancy([Breakdown("x", "kernel trace", {}, {"processor queue": 1.0})])
    assert found is not None and found.others == 0
    assert "'processor queue' has 100 %" in found.sentences


def headrace(*arguments: str) -> subprocess.CompletedProcess[str]:
    return command(*arguments)


def test_a_scenario_is_laid_beside_its_measurement(tmp_path: Path) -> None:
    (tmp_path / "machine.toml").write_text(MACHINE)
    scenario = tmp_path / "work.toml"
    scenario.write_text(f'system = "machine.toml"\n{WORK}')
    saved = tmp_path / "measured.json"
    done = headrace("bench", "run", str(scenario), str(tmp_path), "-o", str(saved), "--no-store")
    assert done.returncode == 0, done.stderr
    laid = headrace(
        *("validate", str(scenario), "--against", str(saved), "--against", str(saved)),
        *("--json", "--plot", str(tmp_path / "plots")),
    )
    assert (laid.returncode, laid.stderr) == (0, "")
    document = json.loads(laid.stdout)
    points = {point["name"]: point for point in document["points"]}
    measured = json.loads(saved.read_text())["latency"]
    assert points.keys() == {"write", "read"}
    assert points["read"]["measured_s"] == [measured["read"]["mean"]] * 2
    expected = points["read"]["predicted_s"] / measured["read"]["mean"] - 1
    assert points["read"]["error"] == pytest.approx(expected)
    (told,) = document["breakdowns"]
    seconds = sum(measured[name]["mean"] * 16 for name in ("write", "read"))
    assert sum(told["measured_s"].values()) == pytest.approx(seconds)
    assert "predictions lie" in document["discrepancy"]["paragraph"]
    assert (tmp_path / "plots" / "validation.png").stat().st_size > 10_000
    other = tmp_path / "other.toml"
    other.write_text(scenario.read_text().replace('"write", "read"', '"write", "sync"'))
    refused = headrace("validate", str(other), "--against", str(saved))
    assert refused.returncode == 2 and "the workloads differ" in refused.stderr
    more = tmp_path / "more.toml"
    more.write_text(scenario.read_text().replace("count = 1", "count = 1\nprocesses = 2"))
    refused = headrace("validate", str(more), "--against", str(saved))
    assert refused.returncode == 2 and "the processes differ" in refused.stderr
    refused = headrace("validate", str(scenario), "--against", str(scenario))
    assert refused.returncode == 2 and "not a saved measurement" in refused.stderr


def test_a_twin_is_predicted_and_measured(tmp_path: Path) -> None:
    try:
        calibrate.mount_of(tmp_path)
    except ScenarioError as error:
        pytest.skip(str(error))
    below = tmp_path / "below"
    below.mkdir()
    (tmp_path / "machine.toml").write_text(MACHINE)
    cases = [case for case in CASES if case.name.startswith(("cached reads", "two processes"))]
    found = validate.twin(below, tmp_path / "machine.toml", cases=cases, rounds=2, passes=2)
    assert list(below.iterdir()) == []
    assert [point.name for point in found.points] == [case.name for case in cases]
    assert all(len(point.measured) == 2 and min(point.measured) > 0 for point in found.points)
    # 48 MiB in calls of 12 KiB, each of which takes 10 us.
    assert found.points[0].predicted.seconds == pytest.approx(4096 * 10e-6, rel=1e-3)
    document = found.json()
    assert document["machine"] == MACHINE
    assert [it["name"] for it in document["breakdowns"]] == [case.name for case in cases]
    assert set(document["discrepancy"]["shares"]) <= {"device", "beyond the device"}

"""Calibration: equations that find what is known, and a real machine."""

import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from command import command, without_need
from headrace import RunError, calibrate, calibration_fields, simulate
from headrace.calibrate import other_load, settings
from headrace.calibrate.calibration import CalibrationRun
from headrace.calibrate.case import (
    COLD,
    DIRECT,
    FREE_PAGE_REPORTING_S,
    QUIESCE_S,
    quiesce_seconds,
    scenario,
    scenario_for_machine,
)
from headrace.calibrate.case import transfers as workload_of
from headrace.calibrate.checks import CHECKS
from headrace.calibrate.estimators import ESTIMATORS, calls, device, probes_for, transfers
from headrace.calibrate.estimators.copy_cost import Calls, change_points
from headrace.calibrate.estimators.pages import new_costs
from headrace.calibrate.fitted_parameter import (
    CONDITION,
    FITTED_PARAMETERS,
    FLUSH,
    NEW_BLOCK,
    Fit,
    combine,
    fit,
    not_found_warning,
)
from headrace.calibrate.limits import _limits
from headrace.calibrate.measurements import _estimate_parameters
from headrace.calibrate.memory import group_memory
from headrace.calibrate.mount import Mount
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.run_report import simulated
from headrace.calibrate.servers import (
    METHODS,
    SIZES,
    Messages,
    _messages,
    _path_mtu,
    combine_rounds,
    combine_servers,
    network_parameters,
)
from headrace.calibrate.settings import _journal
from known_machine import BALANCED, KNOWN, READ, probed
from traceable import modelled


def device_times(file: Path) -> dict[str, float]:
    """What the probes of processor and device take on a simulated machine."""
    probes = [*calls.ESTIMATOR.probes, *transfers.ESTIMATOR.probes, *device.ESTIMATOR.probes]
    return {probe.name: probed(probe, file) for probe in probes}


@pytest.mark.parametrize("depth", [None, 2, 5])
def test_the_queue_depth_of_a_device_is_found_where_it_has_one(
    tmp_path: Path, depth: int | None
) -> None:
    file = tmp_path / "machine.toml"
    text = KNOWN.replace('"2 GB/s"', '"8 GB/s"').replace('"1 GB/s"', '"8 GB/s"')
    text = text.replace('"20 us"', '"2 us"').replace('"30 us"', '"2 us"')
    file.write_text(text + ("" if depth is None else f"queue_depth = {depth}\n"))
    times = device_times(file)
    known = {
        "machine.cpu.cores": 4.0,
        "machine.cpu.system_call": 300e-9,
        "machine.cpu.transfer": 12e-6,
    }
    found = device.ESTIMATOR.common(times, known)
    assert found == ({} if depth is None else {"machine.device.queue_depth": depth})
    # Where a control group limits the device, its limits are what the curves show.
    limited = {f"machine.device.{way}_operations": 1000.0 for way in ("read", "write")}
    assert device.ESTIMATOR.common(times, known | limited) == {}


def test_a_busy_machine_is_refused_and_a_busy_round_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares = iter([0.5, 0.0, 0.1, 0.3, 0.6, 0.05])
    monkeypatch.setattr(other_load.OtherLoad, "share", lambda _: next(shares))
    monkeypatch.setattr(other_load, "LOOK_S", 0.0)
    with pytest.raises(RunError, match="other programs use 50% of the processors: .* --busy"):
        other_load.check_idle()
    other_load.check_idle()
    run = CalibrationRun.__new__(CalibrationRun)
    run._load, run._others = other_load.OtherLoad(), []
    run._times, run._checks = [], []
    run._of_round, run._checks_of_round = {}, {number: [1.0] for number in range(len(CHECKS))}
    for _ in range(2):
        run.end_round()
        run._checks_of_round = {number: [1.0] for number in range(len(CHECKS))}
    assert run.has_busy_round()
    run.end_round()
    run.drop_busiest_round()
    assert run._others == [0.1, 0.3] and len(run._times) == len(run._checks) == 2
    run._checks_of_round = {number: [1.0] for number in range(len(CHECKS))}
    run.end_round()
    run.drop_busiest_round()
    assert run._others == [0.1, 0.05] and not run.has_busy_round()
    assert other_load.describe(run._others) == (
        "Other programs used 5% to 10% of the processors during the rounds."
    )
    assert other_load.busy_warnings(run._others) == []
    (warning,) = other_load.busy_warnings([0.1, 0.3])
    assert warning.condition == "busy-machine"
    assert "up to 30% of the processors, in 1 of 2 rounds more than 20%" in warning.message


def test_the_load_of_others_is_their_user_time() -> None:
    load = other_load.OtherLoad()
    code = "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: pass"
    subprocess.run([sys.executable, "-c", code], check=True)
    # A child's time is this process's own.
    share = load.share()
    assert 0 <= share <= 1
    with subprocess.Popen([sys.executable, "-c", code]):
        time.sleep(0.5)
        # That of a running child is not yet.
        assert load.share() > 0.1


def test_concurrent_transfers_count_below_the_limits_of_a_control_group(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    limits = {f"machine.device.{way}_operations": 60e3 for way in ("read", "write")}
    file.write_text(KNOWN + "read_operations = 60e3\nwrite_operations = 60e3\n")
    limited = device_times(file)
    known = {
        "machine.cpu.cores": 4.0,
        "machine.cpu.system_call": 300e-9,
        "machine.cpu.transfer": 12e-6,
    }
    found = device.ESTIMATOR.solve(limited, known | limits)
    file.write_text(KNOWN)
    expected = device.ESTIMATOR.solve(device_times(file), known)
    for name in ("time_per_transfer", "write_time_per_transfer"):
        field = f"machine.device.{name}"
        assert found[field] == pytest.approx(expected[field], rel=0.05), name
        assert expected[field] > 0


def test_a_device_that_serves_in_bulk_is_told_from_one_that_does_not(tmp_path: Path) -> None:
    """As a virtual disk whose hypervisor has one thread for it."""
    file = tmp_path / "machine.toml"
    file.write_text(KNOWN.replace("hypervisor = {", "hypervisor = { bulk_service = true,"))
    read = [it for it in READ if it.field == "machine.cpu.cores"]
    probes = [*calls.ESTIMATOR.probes, *transfers.ESTIMATOR.probes, *device.ESTIMATOR.probes]
    times = {probe.name: probed(probe, file) for probe in probes}
    estimators = (calls.ESTIMATOR, transfers.ESTIMATOR, device.ESTIMATOR)
    found = {it.field: it for it in _estimate_parameters([times, times], read, estimators)}
    chosen = found["machine.device.hypervisor.bulk_service"]
    assert (chosen.toml(), chosen.measured) == ("true", False)
    assert "machine.device.queue_depth" not in found
    for name, value in (
        ("latency", 60e-6),
        ("write_latency", 90e-6),
        ("time_per_transfer", 20e-6),
        ("write_time_per_transfer", 30e-6),
        ("rate", 2e9),
        ("device_write_rate", 1e9),
    ):
        parameter = found[f"machine.device.{name}"]
        assert parameter.value == pytest.approx(value, rel=0.03), name
    # Of the same device that tells of each by itself nothing of it is found.
    file.write_text(KNOWN)
    times = {probe.name: probed(probe, file) for probe in probes}
    fields = {it.field for it in _estimate_parameters([times, times], read, estimators)}
    assert "machine.device.hypervisor.bulk_service" not in fields


def test_calibrating_a_simulated_machine_finds_its_parameters(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(KNOWN)
    probes = probes_for(())
    times = {probe.name: probed(probe, file) for probe in probes}
    found = {it.field: it.value for it in _estimate_parameters([times, times], READ)}
    expected = {
        "machine.cpu.system_call": 300e-9,
        "machine.cpu.library_call": 5e-9,
        "machine.cpu.transfer": 12e-6,
        "machine.cpu.page_fault": 600e-9,
        "machine.copying.page_in_l2": 200e-9,
        "machine.copying.page_in_l3": 300e-9,
        "machine.copying.page_in_memory": 500e-9,
        "machine.copying.reuse_share": 0.4,
        "machine.copying.l2_share": 0.125,
        "machine.copying.l3_share": 0.125,
        "machine.copying.write_share": 1.0,
        "machine.file_system.write_call": 400e-9,
        "machine.file_system.write_page": 100e-9,
        "machine.file_system.buffer_head": 150e-9,
        "machine.file_system.new_page": 700e-9,
        "machine.file_system.uncached_page": 450e-9,
        "machine.file_system.new_folio": 1500e-9,
        "machine.file_system.flush_page": 500e-9,
        "machine.file_system.create": 12e-6,
        "machine.file_system.unlink": 7e-6,
        "machine.file_system.lookup": 1e-6,
        "machine.device.latency": 60e-6,
        "machine.device.time_per_transfer": 20e-6,
        "machine.device.write_time_per_transfer": 30e-6,
        "machine.device.rate": 2e9,
        "machine.device.write_latency": 90e-6,
        "machine.device.device_write_rate": 1e9,
    }
    # By how many random calls happen to find their block.
    kept = found.pop("machine.copying.l3_reach")
    assert kept == pytest.approx(10 << 20, rel=0.1)
    besides = found.pop("machine.cpu.discontiguous_call")
    assert besides == pytest.approx(250e-9, rel=0.05)
    assert found.keys() == expected.keys()
    for field, value in expected.items():
        assert found[field] == pytest.approx(value, rel=0.03), field
    # What every machine's file has is told from what depends on its caches and limits.
    depends = {f"machine.copying.{it}" for it in ("l2_share", "l3_share")}
    depends |= {f"machine.copying.{it}" for it in ("page_in_l3", "page_in_memory")}
    depends |= {f"machine.device.{it}time_per_transfer" for it in ("", "write_")}
    always = found.keys() - depends | {"machine.copying.l3_reach", "machine.cpu.discontiguous_call"}
    always |= {it.field for it in FITTED_PARAMETERS}
    assert set(calibration_fields.MACHINE) == always
    assert set(calibration_fields.SERVERS) == set(METHODS)
    for fitted in FITTED_PARAMETERS:
        expected_value = BALANCED[fitted.field.rsplit(".", 1)[-1]]
        for probe in fitted.probes:
            fitted_value = fit(fitted, probe, file, probed(probe, file), {})
            assert fitted_value is not None
            assert fitted_value.value == pytest.approx(expected_value, rel=0.03), probe.name


@pytest.mark.parametrize("in_transaction", [300e-9, 1400e-9])
def test_what_pages_of_the_running_transaction_take(in_transaction: float, tmp_path: Path) -> None:
    text = KNOWN
    for old, new in {
        'write_page = "100 ns"': 'write_page = "1400 ns"\n'
        f'write_page_in_transaction = "{in_transaction} s"',
        'largest_folio = "1 MiB"': 'largest_folio = "4 KiB"',
        "[machine.device]": '[machine.file_system.journal]\nmode = "journal"\n[machine.device]',
    }.items():
        assert old in text
        text = text.replace(old, new)
    file = tmp_path / "machine.toml"
    file.write_text(text)
    field = "machine.file_system.write_page_in_transaction"
    read = [it for it in READ if it.field != "machine.memory.largest_folio"]
    read.append(Parameter("machine.memory.largest_folio", (4096,), "B", ""))
    estimators = [it for it in ESTIMATORS if it is not device.ESTIMATOR]
    probes = [probe for estimator in estimators for probe in estimator.probes]
    times = {probe.name: probed(probe, file) for probe in probes}
    # Only there do transactions have data.
    assert field not in {it.field for it in _estimate_parameters([times], read, estimators)}
    read.append(Parameter("machine.file_system.journal.mode", ("journal",), "word", ""))
    found = {it.field: it.value for it in _estimate_parameters([times], read, estimators)}
    assert found["machine.file_system.write_page"] == pytest.approx(1400e-9, rel=0.03)
    assert found[field] == pytest.approx(in_transaction, rel=0.03)


def test_a_round_that_cannot_tell_a_rate_does_not_count_for_it(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(KNOWN)
    probes = probes_for(())
    times = {probe.name: probed(probe, file) for probe in probes}
    # Somebody kept the small transfers waiting.
    disturbed = dict(times)
    for it in ("", ", mean"):
        disturbed[f"direct reads of 4 KiB{it}"] = times[f"direct reads of 1024 KiB{it}"]
    found = {it.field: it for it in _estimate_parameters([disturbed, times], READ)}
    rate = found["machine.device.rate"]
    assert rate.value == pytest.approx(2e9, rel=0.03) and rate.values[0] == rate.values[1]
    assert rate.method.endswith("from 1 of 2 rounds")
    assert found["machine.device.latency"].value == pytest.approx(60e-6, rel=0.03)
    assert "rounds" not in found["machine.device.device_write_rate"].method
    with pytest.raises(
        RunError, match="machine.device.rate cannot be estimated from direct random transfers"
    ):
        _estimate_parameters([disturbed, disturbed], READ)


def test_where_a_control_group_limits_the_device_the_median_transfer_counts(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(KNOWN)
    times = device_times(file)
    known = {"machine.cpu.cores": 4.0, "machine.cpu.system_call": 300e-9}
    waiting = {probe.name: 2 * times[probe.name] for probe in device.MEANS.values()}
    for limits, expected in (((), 0.5e9), (("machine.device.write_operations",), 1e9)):
        limited = known | dict.fromkeys(limits, 1000.0)
        found = device.ESTIMATOR.solve(times | waiting, limited)
        assert found["machine.device.device_write_rate"] == pytest.approx(expected, rel=0.03)
        # Reads are not limited.
        assert found["machine.device.rate"] == pytest.approx(1e9, rel=0.03)
        fitted_parameters = {
            it.field: it.for_machine(limited).probe.statistic for it in FITTED_PARAMETERS
        }
        assert fitted_parameters["machine.device.flush"] == ("p50" if limits else "mean")
        assert fitted_parameters["machine.device.hypervisor.new_block"] == "mean"


def test_copies_into_the_page_cache_may_take_less_than_out_of_it(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    text = KNOWN.replace('write_page = "100 ns"', 'write_page = "0 ns"')
    file.write_text(text.replace("reuse_share = 0.4", "reuse_share = 0.4\nwrite_share = 0.6"))
    probes = probes_for(())
    times = {probe.name: probed(probe, file) for probe in probes}
    found = {it.field: it.value for it in _estimate_parameters([times, times], READ)}
    for field, value in (
        ("machine.copying.write_share", 0.6),
        ("machine.file_system.write_call", 400e-9),
        ("machine.file_system.new_page", 700e-9),
        ("machine.file_system.new_folio", 1500e-9),
    ):
        assert found[field] == pytest.approx(value, rel=0.03), field
    assert found["machine.file_system.write_page"] == 0.0


def test_a_round_s_time_is_that_of_the_machine_as_it_was_then(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(KNOWN)
    fitted = next(
        it for it in FITTED_PARAMETERS if it.field == "machine.device.hypervisor.fresh_page"
    )
    slow = {"machine.device.rate": "1 GB/s"}
    taken = probed(fitted.probe, file)
    # The device alone is all of it then, and less than half of it.
    slow_fit = fit(fitted, fitted.probe, file, 2 * taken, slow)
    fast_fit = fit(fitted, fitted.probe, file, 2 * taken, {})
    assert slow_fit is not None and fast_fit is not None
    assert slow_fit.value < fast_fit.value - 1e-6


def test_memory_that_is_given_back_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    cold, direct = (
        scenario("w", workload_of(1 << 20, 4096, ["read"], io, {}), 1) for io in (COLD, DIRECT)
    )
    for given_back in (True, False):
        monkeypatch.setattr(
            "headrace.calibrate.case.memory_is_given_back", lambda it=given_back: it
        )
        assert quiesce_seconds("device", cold) == (
            FREE_PAGE_REPORTING_S if given_back else QUIESCE_S
        )
        assert quiesce_seconds("device", direct) == QUIESCE_S
        assert quiesce_seconds("cache", cold) == 0.0


def test_a_measured_time_below_the_simulated_one_gives_a_negative_value(tmp_path: Path) -> None:
    file = tmp_path / "machine.toml"
    file.write_text(KNOWN)
    sets = {FLUSH.field: "0 s"}
    for probe in FLUSH.probes:
        without = probe.seconds(simulated(scenario_for_machine(file, probe.text), sets))
        result = fit(FLUSH, probe, file, without / 2, {})
        # At least a flush for each write.
        assert result is not None and -without / 2 * 1.01 <= result.value < 0, probe.name
        assert result.share == pytest.approx(2.0)


def fits(*values: float, share: float = 0.5) -> list[Fit]:
    return [Fit(value, share) for value in values]


def test_a_fitted_parameter_is_the_estimate_over_rounds_and_probes() -> None:
    # The means of pairs of -1, 1, 2, 3, 5 and 90 are -1, 0, 0.5, 1, 1, 1.5, 2, 2, 2, 2.5, 3, 3,
    # 3.5, 4, 5, 44.5, 45.5, 46, 46.5, 47.5 and 90. The third from either end is the end of the
    # interval: of 64 sign patterns 3 have a sum of ranks below 3, less than 5 %.
    rounds = [fits(-1.0, 1.0, 2.0), fits(3.0, 5.0, 90.0)]
    result = combine(FLUSH, rounds)
    assert result.parameter.value == pytest.approx(3.0)
    assert result.parameter.values == pytest.approx((1.0, 5.0))
    assert result.parameter.interval == pytest.approx((0.5, 46.5))
    assert "interval 500 ms to 46.5 s" in result.parameter.method
    assert result.at_most is None
    record = result.parameter.record()
    assert (record.least, record.most) == ("500 ms", "46.5 s")


def test_a_fitted_parameter_that_may_be_0_is_reported() -> None:
    for rounds, value, at_most in (
        ([fits(-3e-3), fits(-1e-3), fits(1e-3)], 0.0, 1e-3),
        ([fits(-1e-3), fits(2e-3), fits(3e-3)], 2e-3, 3e-3),
        ([fits(1e-3), fits(2e-3), fits(3e-3)], 2e-3, None),
        # Nothing is hidden if all rounds agree.
        ([fits(-3e-3), fits(-2e-3), fits(-1e-3)], 0.0, None),
        ([[], []], 0.0, None),
    ):
        result = combine(FLUSH, rounds)
        assert result.parameter.value == pytest.approx(value)
        assert all(float(value) >= 0 for value in result.parameter.values)
        assert result.at_most == at_most
        warnings = not_found_warning([(FLUSH, result)])
        assert [warning.condition for warning in warnings] == ([CONDITION] if at_most else [])
        if at_most:
            assert "machine.device.flush" in warnings[0].message
            assert f"at most {1e3 * at_most:g} ms" in warnings[0].message
            assert "synchronous writes" in warnings[0].message


def test_a_negligible_effect_is_0() -> None:
    small, large = Fit(1e-6, 0.9), Fit(2e-6, 0.5)
    for rounds, value, at_most in (
        ([[small], [small], [small]], 0.0, None),
        ([[small], [large], [small]], 0.0, 2e-6),
        ([[large], [small], [large]], 2e-6, None),
    ):
        result = combine(NEW_BLOCK, rounds)
        assert result.parameter.value == pytest.approx(value)
        assert result.at_most == at_most


def test_a_line_of_three_pieces_bends_where_it_does() -> None:
    pages = np.array([2.0**power for power in range(13)])

    def calls(first: float, second: float, each: tuple[float, float, float]) -> Calls:
        middle = np.clip(pages - first, 0, second - first)
        last = np.maximum(pages - second, 0)
        total = each[0] * np.minimum(pages, first) + each[1] * middle + each[2] * last
        return Calls(pages, total, total + 7.0)

    first, second, costs = change_points(calls(64, 1024, (1.0, 2.0, 5.0)), [512.0, 8192.0])
    assert (first, second) == pytest.approx((64, 1024))
    assert costs == pytest.approx((1.0, 2.0, 5.0))
    # Where lines that bend at 1,024 and at 2,048 are nearly as good, the bend is between.
    between = calls(64, 1448, (1.0, 2.0, 3.0))
    off = np.resize([1.05, 0.95], 13)
    rough = Calls(pages, between.times * off, between.whole * off)
    _, second, _ = change_points(rough, [512.0, 8192.0])
    assert 1100 < second < 1900
    # Without a bend each piece costs the same.
    _, _, costs = change_points(calls(64, 1024, (4.0, 4.0, 4.0)), [512.0, 8192.0])
    assert costs == pytest.approx((4.0, 4.0, 4.0))


def test_limits_of_both_versions_of_control_groups_are_read(tmp_path: Path) -> None:
    (tmp_path / "io.max").write_text(
        "8:0 rbps=max wbps=9 riops=1 wiops=max\n254:0 rbps=60000000 wbps=max riops=max wiops=400\n"
    )
    assert list(_limits(tmp_path, "2", "254:0")) == [("rbps", 6e7), ("wiops", 400)]
    (tmp_path / "blkio.throttle.read_bps_device").write_text("254:0 60000000\n8:0 5\n")
    (tmp_path / "blkio.throttle.write_iops_device").write_text("254:0 400\n")
    assert list(_limits(tmp_path, "1", "254:0")) == [("rbps", 6e7), ("wiops", 400)]


@pytest.mark.parametrize("mode", ["ordered", "journal"])
def test_a_journals_size_and_the_room_that_it_needs_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    mount = Mount("ext3", ("rw", f"data={mode}"), "259:7")
    folder = tmp_path / "259:7-8"
    folder.mkdir()
    (folder / "info").write_text("0 transactions (0 requested), each up to 10922 blocks\n")
    monkeypatch.setattr("headrace.calibrate.settings.JOURNALS", tmp_path)
    monkeypatch.setattr("headrace.calibrate.settings.kernel", lambda: (6, 18))
    told = {it.field.rsplit(".", 1)[1]: it.value for it in _journal(mount)}
    assert (told["mode"], told["size"]) == (mode, 128 << 20)
    # What others need is not looked at: their journals are emptied all at once.
    assert told.get("checkpoint_at") == (pytest.approx(1 / 3) if mode == "journal" else None)


def test_an_ext4_without_a_journal_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mount = Mount("ext4", ("rw", "relatime"), "259:7")
    monkeypatch.setattr("headrace.calibrate.settings.JOURNALS", tmp_path)
    assert [it.value for it in _journal(mount)] == ["none"]
    # A device that is not there is called by its number.
    (tmp_path / "259:7-8").mkdir()
    assert next(iter(_journal(mount))).value == "ordered"
    (tmp_path / "259:7-8").rmdir()
    given = Mount("ext4", ("rw", "data=writeback"), "259:7")
    assert next(iter(_journal(given))).value == "writeback"


def test_a_kernel_that_never_looks_for_old_pages_can_be_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"background_bytes": 1 << 20, "bytes": 1 << 21}
    given |= {"expire_centisecs": 3000, "writeback_centisecs": 0}
    for name, value in given.items():
        (tmp_path / f"dirty_{name}").write_text(f"{value}\n")
    monkeypatch.setattr(settings, "VM", tmp_path)
    found = {it.field: it.text() for it in settings._write_back(Mount("ext4", (), "0:0"))}
    assert found["machine.write_back.expiry"] == "30 s"
    text = KNOWN + '[[workload]]\nblock = "1 MiB"\nphases = ["write"]\n'
    assert simulate.run(simulate.load(text, sets=found)).json()["operations"]


def test_memory_is_that_of_the_tightest_group(tmp_path: Path) -> None:
    (tmp_path / "memory.limit_in_bytes").write_text("1048576000\n")
    (tmp_path / "memory.usage_in_bytes").write_text("500000000\n")
    (tmp_path / "memory.stat").write_text("cache 7\ntotal_cache 400000000\nrss 9\n")
    names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache")
    found = group_memory(tmp_path, *names)
    assert found is not None and (found.size, found.used) == (1048576000, 100000000)
    (tmp_path / "memory.max").write_text("max\n")
    assert group_memory(tmp_path, "memory.max", "memory.current", "file") is None


def test_what_is_measured_next_is_told_and_an_interruption_leaves_nothing(tmp_path: Path) -> None:
    directory = modelled(tmp_path)
    told: list[tuple[int, int, str]] = []

    def tell(*it: object) -> None:
        told.append(it)  # type: ignore[arg-type]
        if len(told) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        calibrate.calibrate(directory, rounds=2, on_progress=tell)
    assert list(directory.iterdir()) == []
    assert [done for done, _, _ in told] == [0, 1, 2]
    assert all(done < total for done, total, _ in told)
    assert len({name for _, _, name in told}) == 3


def test_what_fails_is_told_with_where_and_in_which_measurement(tmp_path: Path) -> None:
    directory = modelled(tmp_path)
    # No file of more than 4 KiB: sh counts in blocks of 512 bytes, bash in such of 1,024.
    limited = f'ulimit -f 4; exec "{sys.executable}" -m headrace calibrate --busy "{directory}"'
    done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = without_need(done.stderr).splitlines()
    assert line.startswith(f"{directory}: ") and "File too large" in line, line
    assert any(f": {step.name}: " in line for step in CalibrationRun(directory).steps), line
    assert list(directory.iterdir()) == []


def headrace(*arguments: str) -> subprocess.CompletedProcess[str]:
    return command(*arguments)


def test_a_file_system_without_a_model_is_refused(tmp_path: Path) -> None:
    for directory, expected in (
        ("/proc", "expected one of ext2, ext3, ext4, xfs"),
        (str(tmp_path / "none"), "no such file"),
    ):
        refused = headrace("calibrate", directory)
        assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
        assert expected in refused.stderr


def test_the_network_to_a_server_follows_from_messages() -> None:
    # 12.5 MB/s of the wire, 1 us of latency, 4 us of processor for each message, 1 us for each
    # KiB; what is sent has a packet's headers once, as a rate that is measured has.
    payload = 12.5e6 * (1500 - 52) / (1500 + 38)
    latency, each, each_byte = 1e-6, 4e-6, 1e-6 / 1024

    def there_and_back(size: int) -> Messages:
        wire = (size + 90) / payload
        processor = 2 * (each + each_byte * size)
        return Messages(2 * (latency + wire) + 2 * 2 * each, processor)

    messages = {size: there_and_back(size) for size in SIZES}
    one_way = (messages[512].elapsed + messages[1].elapsed) / 2
    seconds = {"read": one_way + 100e-6, "write": one_way + 200e-6}
    found = network_parameters(messages, seconds, 1500, 52)
    assert found["network.bandwidth"] == pytest.approx(12.5e6)
    assert found["network.latency"] == pytest.approx(latency, rel=1e-2)
    assert found["hosts.cpu.send"] == found["hosts.cpu.receive"] == pytest.approx(each, rel=1e-3)
    assert found["hosts.cpu.send_rate"] == pytest.approx(1024e6)
    assert found["hosts.cpu.serve_read"] == pytest.approx(100e-6)
    assert found["hosts.cpu.serve_write"] == pytest.approx(200e-6)


def test_rounds_in_which_large_messages_took_no_longer_are_left_out() -> None:
    messages = {size: Messages(1e-3, 1e-6) for size in SIZES}
    seconds = {"read": 2e-3, "write": 2e-3}
    nothing = network_parameters(messages, seconds, 1500, 52)
    assert "network.bandwidth" not in nothing and nothing["network.latency"] > 0
    told = network_parameters(messages | {SIZES[-1]: Messages(2e-3, 1e-6)}, seconds, 1500, 52)
    of_two = combine_servers([nothing, told])
    assert of_two["network.bandwidth"] == told["network.bandwidth"]
    (found,) = [
        it
        for it in combine_rounds([told, combine_servers([nothing])])
        if it.field == "network.bandwidth"
    ]
    assert found.values == (told["network.bandwidth"],) * 2
    assert "from 1 of 2 rounds" in found.method
    with pytest.raises(RunError, match=r"network\.bandwidth cannot be estimated"):
        combine_rounds([combine_servers([nothing])] * 2)


def test_a_server_that_is_something_else_or_hangs_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as hangs:
        # Nobody takes the connection, and nobody answers.
        address = "{}:{}".format(*hangs.getsockname())
        with pytest.raises(ValueError, match=f"--server {address}: .*for 10 s"):
            _messages(address, "t", 1)
    with pytest.raises(ValueError, match="--server nowhere.invalid:1: "):
        _path_mtu("nowhere.invalid:1", "nowhere.invalid", 1)
    with pytest.raises(ValueError, match="--server 127.0.0.1:1: connecting"):
        _messages("127.0.0.1:1", "t", 1)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--server", "127.0.0.1:1"), "expected both --server and --token"),
        (
            ("--server", "127.0.0.1:1", "--token", "x"),
            "with --server: expected one of",
        ),
        (("--server", "x:1", "--token", "x", "--trace"), "expected no --trace"),
        (("--server", "x:1", "--token", "x", "--passes", "2"), "expected no --passes"),
        (
            ("--server", "[::1]:1", "--token", "x"),
            "with --server: expected one of",
        ),
        *(
            (("--server", wrong, "--token", "x"), f"--server {wrong}: expected HOST:PORT")
            for wrong in ("x", "x:", ":1", "x:port", "x:65536", "x:0", "x:-1", "::1", "::1:7417")
        ),
    ],
)
def test_servers_that_cannot_be_calibrated_are_one_clear_error(
    tmp_path: Path, options: tuple[str, ...], expected: str
) -> None:
    refused = headrace("calibrate", str(tmp_path), *options)
    assert refused.returncode == 2 and len(refused.stderr.splitlines()) == 1
    assert expected in refused.stderr


def test_a_new_folio_costs_what_small_writes_say_where_large_ones_leave_nothing() -> None:
    """XFS: new writes of a MiB take no longer than copies out of the page cache."""
    blocks = (4 << 10, 64 << 10, 1 << 20)
    whole = [3.6e-6, 8.6e-6, 59e-6]
    page, folio = new_costs([1.6e-6, 1.5e-6, -0.5e-6], whole, blocks, 1 << 20)
    assert page == pytest.approx(0, abs=20e-9)
    assert folio == pytest.approx(1.6e-6, rel=0.05)
    # What pages and folios cost is found as it is.
    costs = [0.7e-6 * count + 1.5e-6 for count in (1, 16, 256)]
    found = new_costs(costs, [cost + 5e-6 for cost in costs], blocks, 1 << 20)
    assert found == pytest.approx((0.7e-6, 1.5e-6))

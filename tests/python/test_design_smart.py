"""Risk of disks from SMART data: known answers, damaged reports, fuzzed ones."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import Command
from damage import damaged
from headrace.cli.app import run
from headrace.design.smart.reports import DamagedReport, Report, read_reports
from headrace.design.smart.risk import fleet_risk

DAY = 86400


def ata(
    serial: str, attributes: dict[int, int], hours: int = 20_000, time: int = 1_700_000_000
) -> dict[str, Any]:
    """What smartctl 7.3 writes of a SATA disk, as far as it is read."""
    table = [
        {
            "id": number,
            "name": f"Attribute_{number}",
            "value": 100,
            "worst": 100,
            "thresh": 10,
            "when_failed": "",
            "raw": {"value": raw, "string": str(raw)},
        }
        for number, raw in attributes.items()
    ]
    return {
        "json_format_version": [1, 0],
        "smartctl": {"version": [7, 3], "exit_status": 0},
        "local_time": {"time_t": time, "asctime": "Tue Nov 14 22:13:20 2023 UTC"},
        "device": {"name": f"/dev/{serial}", "type": "sat", "protocol": "ATA"},
        "model_name": "ST4000DM000-1F2168",
        "serial_number": serial,
        "user_capacity": {"blocks": 7814037168, "bytes": 4000787030016},
        "rotation_rate": 5980,
        "smart_status": {"passed": True},
        "ata_smart_attributes": {"revision": 10, "table": table},
        "power_on_time": {"hours": hours},
        "ata_smart_self_test_log": {
            "standard": {"table": [{"status": {"value": 0, "string": "Completed without error"}}]}
        },
    }


def scsi(serial: str, grown: int) -> dict[str, Any]:
    return {
        "smartctl": {"version": [7, 4], "exit_status": 0},
        "device": {"name": f"/dev/{serial}", "type": "scsi", "protocol": "SCSI"},
        "scsi_model_name": "SEAGATE ST600MM0006",
        "rotation_rate": 10500,
        "serial_number": serial,
        "smart_status": {"passed": True},
        "power_on_time": {"hours": 15000, "minutes": 3},
        "scsi_grown_defect_list": grown,
        "scsi_error_counter_log": {
            kind: {"total_uncorrected_errors": 0} for kind in ("read", "write", "verify")
        },
        "scsi_pending_defects": {"count": 0},
    }


def nvme(serial: str, warning: int, used: int) -> dict[str, Any]:
    return {
        "smartctl": {"version": [7, 3], "exit_status": 0},
        "device": {"name": f"/dev/{serial}", "type": "nvme", "protocol": "NVMe"},
        "model_name": "SAMSUNG MZQL21T9HCJR",
        "serial_number": serial,
        "smart_status": {"passed": warning == 0},
        "nvme_smart_health_information_log": {
            "critical_warning": warning,
            "available_spare": 100,
            "available_spare_threshold": 10,
            "percentage_used": used,
            "media_errors": 0,
            "power_on_hours": 9000,
        },
    }


def report(document: dict[str, Any]) -> Report:
    """Return the report of one disk. Raises DamagedReport if there is none."""
    first = next(read_reports(json.dumps(document), "x"))
    if isinstance(first, DamagedReport):
        raise first
    return first


def test_published_rates_give_the_probability_within_60_days() -> None:
    clean, bad = report(ata("a", {5: 0, 187: 0})), report(ata("b", {5: 0, 187: 3}))
    risk = fleet_risk([clean, bad])
    by_name = {it.report.serial: it for it in risk.disks}
    # 1.23 % and 34.9 % a drive-year, over 60 of 365 days.
    assert by_name["a"].probability == pytest.approx(-math.expm1(-0.0123 * 60 / 365))
    assert by_name["b"].probability == pytest.approx(-math.expm1(-0.349 * 60 / 365))
    none = (1 - 0.0020199) * (1 - 0.0557552)
    assert risk.probability == pytest.approx(1 - none, rel=1e-4)
    assert risk.disks[0].report.serial == "b"


def test_all_protocols_are_read() -> None:
    disk, sas, flash = report(ata("a", {9: 100})), report(scsi("s", 4)), report(nvme("n", 0, 85))
    assert (disk.protocol, sas.protocol, flash.protocol) == ("ATA", "SCSI", "NVMe")
    assert sas.counters["reallocated"] == 4
    assert (flash.wear, flash.solid_state, flash.power_on_hours) == (0.85, True, 9000.0)
    risk = fleet_risk([disk, sas, flash])
    actions = {it.report.serial: it.action for it in risk.disks}
    assert actions == {"a": "none", "s": "watch", "n": "plan"}
    assert risk.not_rated == 1


def test_a_counter_that_rose_within_60_days_counts_by_its_factor() -> None:
    begin = 1_700_000_000
    before = report(ata("a", {197: 0, 198: 0}, time=begin))
    after = report(ata("a", {197: 0, 198: 2}, time=begin + 20 * DAY))
    (disk,) = fleet_risk([after, before]).disks
    assert disk.rising == {"offline": 2}
    assert disk.factor == 21
    assert disk.action == "replace"
    # 21 x 0.20 % is less than what Backblaze's 34.9 % a year gives.
    assert disk.probability == pytest.approx(-math.expm1(-0.349 * 60 / 365))


def test_a_failed_self_test_is_a_scan_error() -> None:
    document = ata("a", {5: 0})
    table = document["ata_smart_self_test_log"]["standard"]["table"]
    table.append({"status": {"value": 121, "string": "Completed: read failure"}})
    (disk,) = fleet_risk([report(document)]).disks
    assert disk.signs == {"scan": 1}
    assert disk.factor == 39
    assert disk.probability_if_recent == pytest.approx(39 * -math.expm1(-0.0123 * 60 / 365))


def test_a_disk_that_fails_its_own_check_is_replaced_first() -> None:
    document = ata("a", {5: 0})
    document["smart_status"]["passed"] = False
    warned = nvme("n", 4, 3)
    risk = fleet_risk([report(ata("b", {197: 1})), report(document), report(warned)])
    assert [it.action for it in risk.disks] == ["replace", "replace", "test"]
    assert "critical warning 0x04" in risk.disks[1].advice


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("smartctl: command not found", "smartctl --json -a"),
        ("[1, 2]", "not of smartctl"),
        ('{"a": 1}', "not of smartctl"),
        ('{"smartctl": {}, "device": {"name": "/dev/sda"}}', "no SMART data"),
        ('{"smartctl": {"messages": [{"string": "Permission denied"}]}}', "Permission denied"),
        ('{"smartctl": ', "smartctl --json -a"),
        ("[" * 100_000, "smartctl --json -a"),
    ],
)
def test_damaged_reports_say_what_is_wrong(text: str, message: str) -> None:
    (found,) = read_reports(text, "disk.json")
    assert isinstance(found, DamagedReport)
    assert str(found).startswith("disk.json")
    assert message in str(found)


def test_several_reports_of_a_file_are_told_apart(tmp_path: Path, headrace: Command) -> None:
    file = tmp_path / "all.json"
    pretty = json.dumps(ata("a", {5: 8}), indent=2)
    file.write_text(f'{pretty}\n{json.dumps(nvme("n", 0, 1))}\n{{"smartctl":\n{pretty[:200]}\n')
    ended = headrace("design", "smart", file, "--json")
    assert ended.returncode == 0, ended.stderr
    document = json.loads(ended.stdout)
    assert (document["reports"], len(document["damaged"])) == (2, 2)
    assert f"{file}, report 3" in document["damaged"][0]
    shown = headrace("design", "smart", file, "--plot", tmp_path / "smart.svg")
    assert "2 damaged reports, not counted" in shown.stdout
    assert (tmp_path / "smart.svg").stat().st_size > 5000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere.json"], "/nowhere.json: no such file or directory"),
        (["/"], "/: is a directory"),
        (["FILE", "--within", "60"], '--within "60": expected a time'),
        (["FILE", "--within", "-3 d"], "it must not be negative"),
        (["FILE", "--annual-rate", "150 %"], '--annual-rate "150 %": expected a probability'),
        (["FILE", "--annual-rate", "nan"], "expected a probability"),
        (["FILE", "--plot", "/nowhere/a.png"], "/nowhere: no such directory"),
    ],
)
def test_wrong_input_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    file = tmp_path / "disk.json"
    file.write_text(json.dumps(ata("a", {5: 0})))
    assert run(["design", "smart", *[str(file) if it == "FILE" else it for it in arguments]]) == 2
    ended = capsys.readouterr()
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert message in ended.err


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_damage_is_read_or_named(data: st.DataObject) -> None:
    kinds = [ata("a", {5: 1, 9: 3, 197: 2}), scsi("s", 1), nvme("n", 1, 50)]
    document = data.draw(st.sampled_from(kinds))
    damaged(data, document, ["/dev/sda", "now", "Completed: read failure"])
    try:
        found = report(document)
    except DamagedReport as error:
        assert str(error).startswith("x")
        return
    risk = fleet_risk([found])
    assert 0 <= risk.probability <= 1
    assert risk.disks[0].advice


@settings(max_examples=200, deadline=None)
@given(text=st.text(alphabet=st.sampled_from('{}[]":,\n 0123456789smartctl_é\x00\x1b')))
def test_any_text_is_read_or_named(text: str) -> None:
    for found in read_reports(text, "x"):
        assert isinstance(found, DamagedReport | Report)


@given(
    counters=st.lists(
        st.dictionaries(st.sampled_from([5, 187, 188, 197, 198]), st.integers(0, 2**48)), max_size=8
    )
)
def test_more_errors_never_lower_the_probability(counters: list[dict[int, int]]) -> None:
    disks = [report(ata(f"d{number}", it)) for number, it in enumerate(counters)]
    clean = [report(ata(f"d{number}", {5: 0})) for number in range(len(counters))]
    assert fleet_risk(disks).probability >= fleet_risk(clean).probability


def test_disks_without_a_rate_have_no_probability_of_zero(
    headrace: Command, tmp_path: Path
) -> None:
    path = tmp_path / "nvme.json"
    path.write_text('{"smartctl": {}, "nvme_smart_health_information_log": {"media_errors": 0}}')
    ended = headrace("design", "smart", path)
    assert ended.returncode == 0, ended.stderr
    first = ended.stdout.splitlines()[0]
    assert first == "1 disk in 1 report: no probability: no disk has a failure rate"


def attribute(number: int, name: str, value: int, raw: int, text: str) -> dict[str, Any]:
    return {
        "id": number,
        "name": name,
        "value": value,
        "worst": value,
        "thresh": 0,
        "when_failed": "",
        "raw": {"value": raw, "string": text},
    }


def with_attributes(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    document = ata("A1", {})
    document["ata_smart_attributes"]["table"] = list(rows)
    return document | more


@pytest.mark.parametrize(
    ("row", "counter", "count"),
    [
        # raw16(raw16): the count and two words of the vendor.
        (
            attribute(5, "Reallocated_Sector_Ct", 100, 0x07D0_0000_0000, "0 (2000 0)"),
            "reallocated",
            0,
        ),
        (
            attribute(5, "Reallocated_Sector_Ct", 100, 0x07D0_0000_0003, "3 (2000 0)"),
            "reallocated",
            3,
        ),
        (attribute(5, "Reallocated_Sector_Ct", 100, 0x07D0_0000_0003, ""), "reallocated", 3),
        (attribute(5, "Reallocated_Sector_Ct", 100, 70_000, "70000"), "reallocated", 70_000),
        # Three words: all timeouts stand in the last; the others are those of long waits.
        (attribute(188, "Command_Timeout", 100, 0x0000_0001_0003, "0 1 3"), "timeouts", 3),
        (attribute(188, "Command_Timeout", 99, 0x0004_0004_0004, "17180131332"), "timeouts", 4),
        (attribute(188, "Command_Timeout", 100, 29, "29"), "timeouts", 29),
        (attribute(197, "Current_Pending_Sector", 100, 12, "12"), "pending", 12),
    ],
)
def test_packed_raw_values_are_read_as_smartctl_prints_them(
    row: dict[str, Any], counter: str, count: int
) -> None:
    assert report(with_attributes(row)).counters[counter] == count


def test_rates_that_seagate_packs_into_raw_values_are_no_counters() -> None:
    rows = (
        attribute(1, "Raw_Read_Error_Rate", 82, 146_938_712, "146938712"),
        attribute(7, "Seek_Error_Rate", 90, 982_538_721, "982538721"),
        attribute(195, "Hardware_ECC_Recovered", 82, 146_938_712, "146938712"),
    )
    assert report(with_attributes(*rows)).counters == {"scan": 0}


def test_a_counter_in_an_unknown_format_is_named() -> None:
    found = report(
        with_attributes(attribute(187, "Reported_Uncorrect", 100, 1 << 40, str(1 << 40)))
    )
    assert "reported" not in found.counters
    disk = fleet_risk([found]).disks[0]
    assert disk.action == "watch" and "reported uncorrectable errors (187)" in disk.advice


SSD = {"rotation_rate": 0}
PAGE_7 = {
    "pages": [
        {"number": 1, "table": [{"offset": 8, "value": 77}]},
        {"number": 7, "table": [{"offset": 8, "value": 99, "flags": {"valid": True}}]},
    ]
}


@pytest.mark.parametrize(
    ("document", "used", "source", "action"),
    [
        (
            with_attributes(
                attribute(202, "Percent_Lifetime_Remain", 0, 100, "100"),
                **SSD,
                endurance_used={"current_percent": 104},
            ),
            1.04,
            "endurance used",
            "replace",
        ),
        (
            with_attributes(attribute(231, "SSD_Life_Left", 0, 0, "0"), **SSD),
            1.0,
            "attribute 231 SSD_Life_Left",
            "replace",
        ),
        (
            with_attributes(
                attribute(233, "Media_Wearout_Indicator", 1, 0, "0"),
                **SSD,
                ata_device_statistics=PAGE_7,
            ),
            0.99,
            "device statistics",
            "plan",
        ),
        (
            scsi("W4", 0) | SSD | {"scsi_percentage_used_endurance_indicator": 103},
            1.03,
            "percentage used",
            "replace",
        ),
        (
            with_attributes(
                attribute(177, "Wear_Leveling_Count", 90, 1773, "1773"),
                attribute(202, "Exception_Mode_Status", 0, 0, "0"),
                attribute(233, "Total_LBAs_Written", 1, 5, "5"),
                **SSD,
            ),
            0.1,
            "attribute 177 Wear_Leveling_Count",
            "none",
        ),
        (nvme("N1", 0, 85), 0.85, "percentage used", "plan"),
    ],
)
def test_wear_is_read_of_each_protocol(
    document: dict[str, Any], used: float, source: str, action: str
) -> None:
    found = report(document)
    assert found.wear == pytest.approx(used) and source in found.wear_source
    disk = fleet_risk([found]).disks[0]
    assert disk.action == action
    assert action == "none" or source in disk.advice


def test_unknown_wear_of_a_solid_state_drive_is_said() -> None:
    disk = fleet_risk([report(with_attributes(**SSD))]).disks[0]
    assert disk.report.wear is None and disk.action == "watch" and "wear" in disk.advice
    # Hard disks have attributes of the same numbers and other meanings.
    head = with_attributes(attribute(231, "Temperature_Celsius", 30, 30, "30"))
    assert report(head).wear is None and not report(head).solid_state


def test_text_between_reports_and_reports_without_a_line_end() -> None:
    first, second = json.dumps(ata("A1", {197: 12}), indent=1), json.dumps(scsi("S1", 0), indent=1)
    for text in (
        f"{first}\n  Pending defect count:{second}\n",
        f"{first}{second}",
        f"{first} warning: see /dev/sdb\n\n{second}",
    ):
        found = list(read_reports(text, "x"))
        assert [it.serial for it in found if isinstance(it, Report)] == ["A1", "S1"]
        assert len(found) == 2
    damaged = list(read_reports(f"{first[:-200]}\n{second}", "x"))
    assert isinstance(damaged[0], DamagedReport) and isinstance(damaged[1], Report)

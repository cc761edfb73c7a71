"""Disks' SMART data, as `smartctl --json -a` writes it: ATA, SAS and NVMe.

The JSON is that of smartmontools 7.0 and later. Files may hold several reports, one after the
other, as a loop over disks writes them.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from headrace.design.quantities import MOST_POWER_ON_HOURS

Protocol = Literal["ATA", "SCSI", "NVMe"]

MOST_NAME = 60
"""Characters that are read of a name."""

COUNTERS: Mapping[str, str] = {
    "reallocated": "reallocated sectors (5)",
    "reported": "reported uncorrectable errors (187)",
    "timeouts": "command timeouts (188)",
    "pending": "pending sectors (197)",
    "offline": "uncorrectable sectors of offline scans (198)",
    "scan": "read failures of self-tests and background scans",
    "media": "media errors (NVMe)",
}
"""Counters that risk is judged by, with their attributes of ATA."""
ATTRIBUTES = {5: "reallocated", 187: "reported", 188: "timeouts", 197: "pending", 198: "offline"}
"""Counters of ATA attributes."""


class DamagedReport(ValueError):
    """A text is no report of smartctl about a disk."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """SMART data of one disk at one time."""

    where: str
    """File, and the number of the report in it where it has several."""
    device: str
    model: str
    serial: str
    protocol: Protocol
    solid_state: bool
    capacity: float | None = None
    """Bytes."""
    power_on_hours: float | None = None
    time: float | None = None
    """Seconds since 1970 of the report."""
    passed: bool | None = None
    """The disk's own verdict; None if it gives none."""
    failing: tuple[str, ...] = ()
    """Attributes at or below their thresholds, and critical warnings."""
    counters: dict[str, int] = {}
    """Counters that the disk has, by the names in `COUNTERS`."""
    wear: float | None = None
    """Part of the rated endurance that is used (NVMe)."""

    @property
    def name(self) -> str:
        """Device and serial number, by which people know the disk."""
        return " ".join(it for it in (self.device, self.serial) if it) or self.where


def read_reports(text: str, where: str) -> Iterator[Report | DamagedReport]:
    """Yield the reports of a file, or for each damaged one the reason.

    A report begins at a `{` in the first column, which smartctl's output has nowhere else.
    """
    pieces = [it for it in re.split(r"^(?=\{)", text, flags=re.MULTILINE) if it.strip()]
    if not pieces:
        yield DamagedReport(f"{where}: empty: expected the output of smartctl --json -a")
    for number, piece in enumerate(pieces, 1):
        place = where if len(pieces) == 1 else f"{where}, report {number}"
        try:
            yield read_report(piece, place)
        except DamagedReport as error:
            yield error


def read_report(text: str, where: str) -> Report:
    """Return the report of one disk.

    Raises:
        DamagedReport: The text is not JSON, or has no SMART data of a disk.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise DamagedReport(
            f"{where}: expected the output of smartctl --json -a: {reason}"
        ) from None
    if not isinstance(document, dict) or "smartctl" not in document:
        raise DamagedReport(
            f"{where}: JSON, but not of smartctl: expected smartctl --json -a DEVICE"
        )
    messages = [
        _text(each.get("string"))
        for each in _list(_object(document, "smartctl").get("messages"))
        if isinstance(each, dict)
    ]
    table = _object(document, "ata_smart_attributes").get("table")
    health = document.get("nvme_smart_health_information_log")
    if isinstance(table, list):
        return _ata(document, table, where)
    if isinstance(health, dict):
        return _nvme(document, health, where)
    if any(key.startswith("scsi_") for key in document):
        return _scsi(document, where)
    said = f": smartctl says {messages[0]!r}" if messages and messages[0] else ""
    raise DamagedReport(f"{where}: no SMART data{said}: expected smartctl --json -a as root")


def _ata(document: Mapping[str, Any], table: list[Any], where: str) -> Report:
    counters: dict[str, int] = {}
    failing = []
    hours = None
    for row in table:
        if not isinstance(row, dict):
            continue
        raw = _count(_object(row, "raw").get("value"))
        identifier = row.get("id")
        # A list in its place is no key.
        if isinstance(identifier, int) and raw is not None:
            if identifier in ATTRIBUTES:
                counters[ATTRIBUTES[identifier]] = raw
            elif identifier == 9:
                # Some disks pack minutes and milliseconds above the hours.
                hours = float(raw & 0xFFFFFF)
        if row.get("when_failed") == "now":
            failing.append(_text(row.get("name")) or f"attribute {identifier}"[:MOST_NAME])
    tests = _list(
        _object(_object(document, "ata_smart_self_test_log"), "extended").get("table")
        or _object(_object(document, "ata_smart_self_test_log"), "standard").get("table")
    )
    counters["scan"] = sum(
        "read failure" in _text(_object(it, "status").get("string"))
        for it in tests
        if isinstance(it, dict)
    )
    return _report(
        document,
        where,
        protocol="ATA",
        counters=counters,
        failing=failing,
        hours=hours,
    )


def _scsi(document: Mapping[str, Any], where: str) -> Report:
    counters: dict[str, int] = {}
    grown = _count(document.get("scsi_grown_defect_list"))
    if grown is not None:
        counters["reallocated"] = grown
    log = _object(document, "scsi_error_counter_log")
    errors = [
        _count(_object(log, kind).get("total_uncorrected_errors"))
        for kind in ("read", "write", "verify")
    ]
    if any(it is not None for it in errors):
        counters["reported"] = sum(it or 0 for it in errors)
    pending = _count(_object(document, "scsi_pending_defects").get("count"))
    if pending is not None:
        counters["pending"] = pending
    scan = _object(document, "scsi_background_scan")
    counters["scan"] = sum(
        key.startswith("result_") and isinstance(it, dict) for key, it in scan.items()
    )
    return _report(
        document,
        where,
        protocol="SCSI",
        counters=counters,
        failing=[],
        hours=None,
    )


def _nvme(document: Mapping[str, Any], health: Mapping[str, Any], where: str) -> Report:
    counters: dict[str, int] = {}
    media = _count(health.get("media_errors"))
    if media is not None:
        counters["media"] = media
    failing = []
    warning = _count(health.get("critical_warning"))
    if warning:
        failing.append(f"critical warning 0x{warning & 0xFF:02x}")
    spare, threshold = (
        _count(health.get(key)) for key in ("available_spare", "available_spare_threshold")
    )
    if spare is not None and threshold is not None and spare < threshold:
        failing.append(f"spare blocks {spare} % of at least {threshold} %")
    used = _count(health.get("percentage_used"))
    hours = _count(health.get("power_on_hours"))
    return _report(
        document,
        where,
        protocol="NVMe",
        counters=counters,
        failing=failing,
        hours=None if hours is None else float(hours),
        wear=None if used is None else used / 100,
    )


def _report(
    document: Mapping[str, Any],
    where: str,
    *,
    protocol: Protocol,
    counters: dict[str, int],
    failing: list[str],
    hours: float | None,
    wear: float | None = None,
) -> Report:
    powered = _count(_object(document, "power_on_time").get("hours"))
    if powered is not None:
        hours = float(powered)
    if hours is not None and hours > MOST_POWER_ON_HOURS:
        hours = None
    capacity = _count(_object(document, "user_capacity").get("bytes"))
    passed = _object(document, "smart_status").get("passed")
    time = _count(_object(document, "local_time").get("time_t"))
    return Report(
        where=where,
        device=_text(_object(document, "device").get("name")),
        model=_text(document.get("model_name")) or _text(document.get("scsi_model_name")),
        serial=_text(document.get("serial_number")),
        protocol=protocol,
        solid_state=protocol == "NVMe" or _count(document.get("rotation_rate")) == 0,
        capacity=None if capacity is None else float(capacity),
        power_on_hours=hours,
        time=None if time is None else float(time),
        passed=passed if isinstance(passed, bool) else None,
        failing=tuple(failing),
        counters=counters,
        wear=wear,
    )


def _object(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = document.get(key)
    return inner if isinstance(inner, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return " ".join(value.split())[:MOST_NAME] if isinstance(value, str) else ""


def _count(value: Any) -> int | None:
    """Return a counter; None if the value is none. smartctl's counters have 64 bits at most."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 1 << 64 else None

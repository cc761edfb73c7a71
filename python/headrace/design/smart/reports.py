"""Disks' SMART data, as `smartctl --json -a` writes it: ATA, SAS and NVMe.

The JSON is that of smartmontools 7.0 and later. Files may hold several reports, one after the
other, as a loop over disks writes them, with other text between them.

Raw values of ATA attributes are packed by many disks. A counter is the number that smartctl prints
of it: the first one of `raw.string`, which smartctl formats by its drive database.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from headrace.fields import malformation
from headrace.quantities import MOST_POWER_ON_HOURS

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
NO_OBJECT = "no JSON object, so not of smartctl"
MOST_COUNT = 1 << 32
"""A larger counter is a packed raw value that smartctl's drive database does not know."""
WORD = 0xFFFF
"""The count of the default format of the attributes 5 and 196, raw16(raw16), and of Seagate's 188,
three words of 16 bits."""
PACKED = (5, 188)
WEAR_ATTRIBUTES = (169, 177, 202, 230, 231, 232, 233)
"""Vendors' attributes of a solid-state drive's wear, if their names say so."""
WEAR_NAME = re.compile(r"wear|life|endurance", re.IGNORECASE)
NOT_WEAR_NAME = re.compile(r"protect|spare|reserv", re.IGNORECASE)


class Wear(NamedTuple):
    """Part of the rated endurance that is used, and where the figure comes from."""

    used: float
    source: str


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
    """Part of the rated endurance that is used; None if no figure gives it."""
    wear_source: str = ""
    """The figure of the wear."""
    unclear: tuple[str, ...] = ()
    """Counters that are left out, because their raw values are packed in an unknown way."""

    @property
    def name(self) -> str:
        """Device and serial number, by which people know the disk."""
        return " ".join(name for name in (self.device, self.serial) if name) or self.where


def read_reports(text: str, where: str) -> Iterator[Report | DamagedReport]:
    """Yield the reports of a file, or for each damaged one the reason.

    A report ends where its JSON ends; text up to the next `{` is skipped. smartctl 7.1 and 7.2
    print some before the JSON of a SAS disk. The report after a damaged one begins at a `{` in the
    first column, which smartctl's output has nowhere else.
    """
    documents = list(_documents(text))
    if not documents:
        reason = NO_OBJECT if text.strip() else "empty"
        yield DamagedReport(f"{where}: {reason}: expected the output of smartctl --json -a")
    for number, document in enumerate(documents, 1):
        place = where if len(documents) == 1 else f"{where}, report {number}"
        try:
            yield _report_of(document, place)
        except DamagedReport as error:
            yield error


def _documents(text: str) -> Iterator[object]:
    """Yield the JSON documents of a text, or for a damaged one its error."""
    decoder = json.JSONDecoder()
    place = text.find("{")
    while place >= 0:
        try:
            document, end = decoder.raw_decode(text, place)
            yield document
            place = text.find("{", end)
        except (ValueError, RecursionError) as error:
            yield error
            after = re.compile(r"^\{", re.MULTILINE).search(text, place + 1)
            place = -1 if after is None else after.start()


def _report_of(document: object, where: str) -> Report:
    if isinstance(document, Exception):
        reason = " ".join(malformation(document).split())
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
    unclear = []
    hours = None
    for row in table:
        if not isinstance(row, dict):
            continue
        raw = _object(row, "raw")
        identifier = row.get("id")
        # A list in its place is no key.
        if isinstance(identifier, int):
            count = _attribute_count(identifier, raw)
            if identifier in ATTRIBUTES and count is not None:
                if count < MOST_COUNT:
                    counters[ATTRIBUTES[identifier]] = count
                else:
                    unclear.append(f"{COUNTERS[ATTRIBUTES[identifier]]}: raw value {count}")
            elif identifier == 9 and (value := _count(raw.get("value"))) is not None:
                # Some disks pack minutes and milliseconds above the hours.
                hours = float(value & 0xFFFFFF)
        if row.get("when_failed") == "now":
            failing.append(_text(row.get("name")) or f"attribute {identifier}"[:MOST_NAME])
    tests = _list(
        _object(_object(document, "ata_smart_self_test_log"), "extended").get("table")
        or _object(_object(document, "ata_smart_self_test_log"), "standard").get("table")
    )
    counters["scan"] = sum(
        "read failure" in _text(_object(test, "status").get("string"))
        for test in tests
        if isinstance(test, dict)
    )
    return _report(
        document,
        where,
        protocol="ATA",
        counters=counters,
        failing=failing,
        hours=hours,
        unclear=unclear,
    )


def _attribute_count(identifier: int, raw: Mapping[str, Any]) -> int | None:
    """Return the counter of an attribute as smartctl prints it, else from its raw value."""
    given = raw.get("string")
    text = given[:MOST_NAME].strip() if isinstance(given, str) else ""
    words = [] if text.startswith("0x") else re.findall(r"\d+", text)
    count = _count(raw.get("value"))
    if words:
        # Seagate's command timeouts have all of them in the last of three words; the others are
        # those of long waits.
        last_of_three = identifier == 188 and re.fullmatch(r"\d+ \d+ \d+", text)
        count = int(words[2 if last_of_three else 0])
    packed = MOST_COUNT if identifier == 5 else WORD + 1
    if count is not None and identifier in PACKED and count >= packed:
        return count & WORD
    return count


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
    if any(error is not None for error in errors):
        counters["reported"] = sum(error or 0 for error in errors)
    pending = _count(_object(document, "scsi_pending_defects").get("count"))
    if pending is not None:
        counters["pending"] = pending
    scan = _object(document, "scsi_background_scan")
    counters["scan"] = sum(
        key.startswith("result_") and isinstance(value, dict) for key, value in scan.items()
    )
    return _report(document, where, protocol="SCSI", counters=counters, failing=[], hours=None)


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
    hours = _count(health.get("power_on_hours"))
    return _report(
        document,
        where,
        protocol="NVMe",
        counters=counters,
        failing=failing,
        hours=None if hours is None else float(hours),
    )


def _wear(document: Mapping[str, Any], solid_state: bool) -> Wear | None:
    """Return the wear of a drive, from the most general figure that it has."""
    health = _object(document, "nvme_smart_health_information_log")
    for used, source in (
        (_object(document, "endurance_used").get("current_percent"), "endurance used"),
        (health.get("percentage_used"), "percentage used"),
        (document.get("scsi_percentage_used_endurance_indicator"), "percentage used"),
        (_statistics_wear(document), "device statistics, percentage used"),
    ):
        percent = _count(used)
        if percent is not None:
            return Wear(percent / 100, source)
    if not solid_state:
        return None
    signs = []
    for row in _list(_object(document, "ata_smart_attributes").get("table")):
        if not isinstance(row, dict) or row.get("id") not in WEAR_ATTRIBUTES:
            continue
        name, left = _text(row.get("name")), _count(row.get("value"))
        is_wear = WEAR_NAME.search(name) and not NOT_WEAR_NAME.search(name)
        # The normalised value falls from 100; one that begins higher has no known scale.
        if is_wear and left is not None and left <= 100:
            source = f"the drive's own figure, attribute {row['id']} {name}"
            signs.append(Wear(1 - left / 100, source))
    return max(signs, default=None)


def _statistics_wear(document: Mapping[str, Any]) -> object:
    """Return the percentage used of ATA's device statistics, page 7."""
    for page in _list(_object(document, "ata_device_statistics").get("pages")):
        if not isinstance(page, dict) or page.get("number") != 7:
            continue
        for row in _list(page.get("table")):
            if isinstance(row, dict) and row.get("offset") == 8:
                valid = _object(row, "flags").get("valid", True)
                return row.get("value") if valid else None
    return None


def _report(
    document: Mapping[str, Any],
    where: str,
    *,
    protocol: Protocol,
    counters: dict[str, int],
    failing: list[str],
    hours: float | None,
    unclear: Sequence[str] = (),
) -> Report:
    powered = _count(_object(document, "power_on_time").get("hours"))
    if powered is not None:
        hours = float(powered)
    if hours is not None and hours > MOST_POWER_ON_HOURS:
        hours = None
    capacity = _count(_object(document, "user_capacity").get("bytes"))
    passed = _object(document, "smart_status").get("passed")
    time = _count(_object(document, "local_time").get("time_t"))
    solid_state = protocol == "NVMe" or _count(document.get("rotation_rate")) == 0
    wear = _wear(document, solid_state)
    return Report(
        where=where,
        device=_text(_object(document, "device").get("name")),
        model=_text(document.get("model_name")) or _text(document.get("scsi_model_name")),
        serial=_text(document.get("serial_number")),
        protocol=protocol,
        # Hard disks have no endurance.
        solid_state=solid_state or wear is not None,
        capacity=None if capacity is None else float(capacity),
        power_on_hours=hours,
        time=None if time is None else float(time),
        passed=passed if isinstance(passed, bool) else None,
        failing=tuple(failing),
        counters=counters,
        wear=None if wear is None else wear.used,
        wear_source="" if wear is None else wear.source,
        unclear=tuple(unclear),
    )


def _object(document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    inner = document.get(key)
    return inner if isinstance(inner, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    if not isinstance(value, str):
        return ""
    # JSON's escapes allow halves of characters, which no output does.
    return " ".join(value.encode("utf-8", "replace").decode().split())[:MOST_NAME]


def _count(value: Any) -> int | None:
    """Return a counter; None if the value is none. smartctl's counters have 64 bits at most."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 1 << 64 else None

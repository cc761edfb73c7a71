"""Types of results in Python have the fields that the structs in Rust write."""

import re
from pathlib import Path

import msgspec
import pytest

from conftest import ROOT
from headrace.measure import report as measured
from headrace.measure.jobs import report as jobs
from headrace.simulate import report as simulated

STRUCT = re.compile(
    r"#\[derive\([^)]*Serialize[^)]*\)\]\n(?:#\[[^\n]*\]\n)*pub struct (\w+) \{\n(.*?)\n\}",
    re.DOTALL,
)
FIELD = re.compile(r"((?:    #\[[^\n]*\]\n)*)    pub (\w+): ([^\n]*),\n")
STORAGE, LOAD = ROOT / "crates/storage/src", ROOT / "crates/load/src"

TYPES: list[tuple[Path, str, type[msgspec.Struct], set[str]]] = [
    (STORAGE / "system/report.rs", "Report", simulated.Report, set()),
    (STORAGE / "system/report.rs", "ScenarioReport", simulated.ScenarioText, set()),
    (STORAGE / "system/report.rs", "ReplayReport", simulated.Replay, set()),
    (STORAGE / "system/report.rs", "OperationReport", simulated.Rates, set()),
    (STORAGE / "system/report.rs", "Latency", simulated.Latency, set()),
    (STORAGE / "system/report.rs", "GroupReport", simulated.GroupReport, {"clients"}),
    (
        STORAGE / "system/report.rs",
        "Share",
        simulated.Share,
        {"window_s", "from_s", "to_s", "windows"},
    ),
    (STORAGE / "measure/stations.rs", "StationReport", simulated.Station, set()),
    (STORAGE / "measure/stations.rs", "BreakdownEntry", simulated.BreakdownEntry, set()),
    (
        STORAGE / "measure/bottleneck.rs",
        "Bottleneck",
        simulated.Bottleneck,
        {"share", "utilisation", "saturated", "next", "most_gain"},
    ),
    (STORAGE / "measure/caches.rs", "CacheReport", simulated.Cache, set()),
    (STORAGE / "measure/caches.rs", "UnwrittenReport", simulated.Unwritten, set()),
    (
        STORAGE / "measure/synced_writes.rs",
        "SyncedWrites",
        simulated.SyncedWrites,
        {"active_seconds"},
    ),
    (
        STORAGE / "measure/unfinished_requests.rs",
        "UnfinishedReport",
        simulated.Unfinished,
        {"operations"},
    ),
    (STORAGE / "measure/stop.rs", "StopReport", simulated.Stop, set()),
    (STORAGE / "measure/stop.rs", "PrecisionReport", simulated.Precision, set()),
    (STORAGE / "network/packet/counts.rs", "PacketReport", simulated.Packets, set()),
    (STORAGE / "system/outages.rs", "OutageReport", simulated.Outage, {"taken_over_by"}),
    (STORAGE / "system/outages.rs", "RepairReport", simulated.Repair, {"began_s"}),
    (STORAGE / "system/server_reports.rs", "ServerReport", simulated.Server, set()),
    (STORAGE / "system/server_reports.rs", "StationCopy", simulated.StationCopy, set()),
    (STORAGE / "system/run_warnings.rs", "RunWarning", simulated.Warned, set()),
    (LOAD / "report.rs", "Report", measured.EngineReport, set()),
    (LOAD / "report.rs", "ScenarioReport", measured.ScenarioText, set()),
    (LOAD / "report.rs", "StopReport", measured.Stop, set()),
    (LOAD / "report.rs", "SharingReport", measured.Sharing, set()),
    (LOAD / "report.rs", "CoordinationReport", measured.Coordination, set()),
    (LOAD / "report.rs", "WaitsReport", measured.Waits, set()),
    (LOAD / "report.rs", "UnfinishedReport", measured.Unfinished, set()),
    (LOAD / "report.rs", "OperationReport", measured.OperationFigures, set()),
    (LOAD / "report.rs", "PhaseReport", measured.Phase, set()),
    (LOAD / "report.rs", "ReadsReport", measured.ClassifiedReads, set()),
    (LOAD / "jobs/report.rs", "RequestsReport", jobs.Requests, set()),
    (LOAD / "jobs/report.rs", "InFlightReport", jobs.InFlight, set()),
    (LOAD / "jobs/report.rs", "JobReport", jobs.EngineJob, set()),
    (LOAD / "operation_groups.rs", "OperationGroupReport", measured.GroupFigures, set()),
    (LOAD / "file_sets.rs", "FileSetReport", measured.FileSet, set()),
    (LOAD / "latency.rs", "Latency", measured.Latency, set()),
    (LOAD / "outcome.rs", "Load", measured.Load, set()),
]
"""Source, struct, Python's type, and fields that no reader of the type needs."""


def written_fields(source: Path, struct: str) -> dict[str, bool]:
    """Return the fields that a struct writes, and whether each may be missing or null."""
    structs = dict(STRUCT.findall(source.read_text(encoding="utf-8")))
    fields = {}
    for attributes, name, _ in FIELD.findall(structs[struct] + "\n"):
        if "serde(skip)" in attributes or "flatten" in attributes:
            continue
        fields[name] = "skip_serializing_if" in attributes
    return fields


@pytest.mark.parametrize(("source", "struct", "python", "unread"), TYPES)
def test_every_written_field_is_read(
    source: Path, struct: str, python: type[msgspec.Struct], unread: set[str]
) -> None:
    written = written_fields(source, struct)
    assert written
    read = {field.encode_name: field for field in msgspec.structs.fields(python)}
    assert written.keys() - read.keys() == unread
    needed = [name for name, field in read.items() if field.required and written.get(name, False)]
    assert needed == [], "fields that may be left out have a default"


def test_every_struct_of_a_report_is_listed() -> None:
    listed = {(source, struct) for source, struct, _, _ in TYPES}
    reports = {
        (source, struct)
        for folder in (STORAGE, LOAD)
        for source in folder.rglob("*.rs")
        for struct, _ in STRUCT.findall(source.read_text(encoding="utf-8"))
        if struct.endswith("Report")
    }
    assert reports - listed == set()

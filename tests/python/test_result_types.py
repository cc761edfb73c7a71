"""Types of results in Python have the fields that the structs in Rust write."""

import re
from pathlib import Path

import msgspec
import pytest

from conftest import ROOT
from headrace import io500
from headrace.measure import report as measured
from headrace.measure.jobs import report as jobs
from headrace.simulate import report as simulated

STRUCT = re.compile(
    r"#\[derive\([^)]*Serialize[^)]*\)\]\n(?:#\[[^\n]*\]\n)*pub struct (\w+) \{\n(.*?)\n\}",
    re.DOTALL,
)
FIELD = re.compile(r"((?:    #\[[^\n]*\]\n)*)    pub (\w+): ([^\n]*),\n")
STORAGE, LOAD = ROOT / "crates/storage/src", ROOT / "crates/load/src"
WORKLOAD = ROOT / "crates/workload/src"

TYPES: list[tuple[Path, str, type[msgspec.Struct]]] = [
    (STORAGE / "system/report.rs", "Report", simulated.Report),
    (STORAGE / "system/report.rs", "ScenarioReport", simulated.ScenarioText),
    (STORAGE / "system/report.rs", "ReplayReport", simulated.Replay),
    (STORAGE / "system/report.rs", "OperationReport", simulated.Rates),
    (STORAGE / "system/report.rs", "Latency", simulated.Latency),
    (STORAGE / "system/report.rs", "GroupReport", simulated.GroupReport),
    (STORAGE / "system/report.rs", "Share", simulated.Share),
    (STORAGE / "measure/stations.rs", "StationReport", simulated.Station),
    (STORAGE / "measure/stations.rs", "BreakdownEntry", simulated.BreakdownEntry),
    (STORAGE / "measure/bottleneck.rs", "Bottleneck", simulated.Bottleneck),
    (STORAGE / "measure/caches.rs", "CacheReport", simulated.Cache),
    (STORAGE / "measure/caches.rs", "UnwrittenReport", simulated.Unwritten),
    (STORAGE / "measure/synced_writes.rs", "SyncedWrites", simulated.SyncedWrites),
    (STORAGE / "measure/unfinished_requests.rs", "UnfinishedReport", simulated.Unfinished),
    (STORAGE / "measure/stop.rs", "StopReport", simulated.Stop),
    (STORAGE / "measure/stop.rs", "PrecisionReport", simulated.Precision),
    (STORAGE / "network/packet/counts.rs", "PacketReport", simulated.Packets),
    (STORAGE / "system/outages.rs", "OutageReport", simulated.Outage),
    (STORAGE / "system/outages.rs", "RepairReport", simulated.Repair),
    (STORAGE / "system/server_reports.rs", "ServerReport", simulated.Server),
    (STORAGE / "system/server_reports.rs", "StationCopy", simulated.StationCopy),
    (STORAGE / "system/run_warnings.rs", "RunWarning", simulated.Warned),
    (LOAD / "report.rs", "Report", measured.EngineReport),
    (LOAD / "report.rs", "ScenarioReport", measured.ScenarioText),
    (LOAD / "report.rs", "StopReport", measured.Stop),
    (LOAD / "report.rs", "SharingReport", measured.Sharing),
    (LOAD / "report.rs", "CoordinationReport", measured.Coordination),
    (LOAD / "report.rs", "WaitsReport", measured.Waits),
    (LOAD / "report.rs", "UnfinishedReport", measured.Unfinished),
    (LOAD / "report.rs", "OperationReport", measured.OperationFigures),
    (WORKLOAD / "phase_report.rs", "PhaseReport", io500.Phase),
    (WORKLOAD / "io500.rs", "Io500Report", io500.Io500),
    (WORKLOAD / "io500.rs", "Io500Phase", io500.Io500Phase),
    (LOAD / "report.rs", "ReadsReport", measured.ClassifiedReads),
    (LOAD / "jobs/report.rs", "RequestsReport", jobs.Requests),
    (LOAD / "jobs/report.rs", "InFlightReport", jobs.InFlight),
    (LOAD / "jobs/report.rs", "JobReport", jobs.EngineJob),
    (LOAD / "operation_groups.rs", "OperationGroupReport", measured.GroupFigures),
    (LOAD / "file_sets.rs", "FileSetReport", measured.FileSet),
    (LOAD / "latency.rs", "Latency", measured.Latency),
    (LOAD / "outcome.rs", "Load", measured.Load),
]
"""Source, struct, and Python's type."""


def written_fields(source: Path, struct: str) -> dict[str, bool]:
    """Return the fields that a struct writes, and whether each may be missing or null."""
    structs = dict(STRUCT.findall(source.read_text(encoding="utf-8")))
    fields = {}
    for attributes, name, _ in FIELD.findall(structs[struct] + "\n"):
        if "serde(skip)" in attributes or "flatten" in attributes:
            continue
        fields[name] = "skip_serializing_if" in attributes
    return fields


@pytest.mark.parametrize(("source", "struct", "python"), TYPES)
def test_every_written_field_is_read(
    source: Path, struct: str, python: type[msgspec.Struct]
) -> None:
    written = written_fields(source, struct)
    assert written
    read = {field.encode_name: field for field in msgspec.structs.fields(python)}
    assert written.keys() - read.keys() == set()
    needed = [name for name, field in read.items() if field.required and written.get(name, False)]
    assert needed == [], "fields that may be left out have a default"


def test_every_struct_of_a_report_is_listed() -> None:
    listed = {(source, struct) for source, struct, _ in TYPES}
    reports = {
        (source, struct)
        for folder in (STORAGE, LOAD)
        for source in folder.rglob("*.rs")
        for struct, _ in STRUCT.findall(source.read_text(encoding="utf-8"))
        if struct.endswith("Report")
    }
    assert reports - listed == set()

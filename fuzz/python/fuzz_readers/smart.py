"""SMART reports of disks: the output of smartctl in JSON."""

from pathlib import Path

import msgspec

from headrace.design.smart.reports import DamagedReport, Report, read_reports
from headrace.design.smart.risk import fleet_risk
from headrace.quantities import YEAR


def _reports(path: Path) -> None:
    reports: list[Report] = []
    for report in read_reports(path.read_bytes().decode("utf-8", "replace"), str(path)):
        if isinstance(report, DamagedReport):
            assert path.name in str(report)
        else:
            reports.append(report)
    if reports:
        msgspec.json.encode(fleet_risk(reports, horizon=YEAR, rate_without_signs=0.01))


READERS = (_reports,)

"""Calibration: a machine and the file system under a directory, as a system's file."""

from headrace.calibrate.calibration import PASSES, Probing, calibrate
from headrace.calibrate.checks import Check
from headrace.calibrate.machine_work import work_on
from headrace.calibrate.measured import Calibration, Measured
from headrace.calibrate.mount import Mount, mount_of
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.servers import calibrate_servers
from headrace.calibrate.traced import TracedCalibration, timeline, traced

__all__ = [
    "PASSES",
    "Calibration",
    "Check",
    "Measured",
    "Mount",
    "Parameter",
    "Probing",
    "TracedCalibration",
    "calibrate",
    "calibrate_servers",
    "mount_of",
    "timeline",
    "traced",
    "work_on",
]

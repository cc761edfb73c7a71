"""Calibrate a machine and the file system under a directory, and save both as a machine file."""

from headrace.calibrate.calibration import PASSES, CalibrationRun, calibrate
from headrace.calibrate.case import run_workload, scenario_for_machine
from headrace.calibrate.checks import Check
from headrace.calibrate.measurements import Calibration, Measurements
from headrace.calibrate.mount import Mount, mount_of
from headrace.calibrate.parameter import Parameter
from headrace.calibrate.servers import calibrate_servers
from headrace.calibrate.settings import settings as kernel_settings
from headrace.calibrate.traced_calibration import TracedCalibration, timeline, trace_calibration

__all__ = [
    "PASSES",
    "Calibration",
    "CalibrationRun",
    "Check",
    "Measurements",
    "Mount",
    "Parameter",
    "TracedCalibration",
    "calibrate",
    "calibrate_servers",
    "kernel_settings",
    "mount_of",
    "run_workload",
    "scenario_for_machine",
    "timeline",
    "trace_calibration",
]

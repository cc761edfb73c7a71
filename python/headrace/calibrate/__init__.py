"""Calibration: a machine and the file system under a directory, as a system's file."""

from headrace.calibrate.calibration import Calibration, calibrate
from headrace.calibrate.mount import Mount, mount_of
from headrace.calibrate.parameter import Parameter

__all__ = ["Calibration", "Mount", "Parameter", "calibrate", "mount_of"]

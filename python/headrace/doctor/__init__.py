"""The parts that this machine has and lacks, and the commands that need them."""

from headrace.doctor.check import Check, State
from headrace.doctor.checks import CHECKS
from headrace.doctor.diagnosis import Diagnosis, Part, diagnose

__all__ = ["CHECKS", "Check", "Diagnosis", "Part", "State", "diagnose"]

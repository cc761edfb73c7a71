"""Reliability of storage systems: loss of data, read errors, availability."""

from headrace.design.reliability.engine import ask
from headrace.design.reliability.requirements import reliability_violations
from headrace.design.reliability.system import system_reliability

__all__ = ["ask", "reliability_violations", "system_reliability"]
